// What is known of the pieces of an enclosure: called by `enclose`.
#include <perp/analysis/enclosure/kept/kept_pieces.hpp>

namespace perp::enclosure {

KeptPieces::KeptPieces(const EncloseOptions::KeptState& state)
    : state_(state), is_wanted_(state.due != nullptr || !state.from.empty()) {
  if (state.from.empty()) return;
  Archive archive(state.from);
  archive(answers_);
  archive.expect_end();
}

/// Empty: none.
std::string KeptPieces::known_answer(const std::string& question) {
  const std::lock_guard lock(mutex_);
  const auto place = answers_.find(question);
  return place == answers_.end() ? "" : place->second;
}

void KeptPieces::add(const std::string& question, const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  answers_[question] = bytes;
  if (!state_.due || !state_.due()) return;
  Archive archive;
  archive(answers_);
  state_.keep(archive.bytes());
}

}  // namespace perp::enclosure
