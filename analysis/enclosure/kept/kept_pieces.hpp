#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/kept/piece_archive.hpp>

namespace perp::enclosure {

/// Answers about pieces of an enclosure by the question that they are of, so that one that goes on asks only what was not
/// answered before. Several threads may ask.
class KeptPieces {
 public:
  /// Of what was kept, if anything was. Throws ArchiveError.
  explicit KeptPieces(const EncloseOptions::KeptState& state);

  /// The answer that was kept, or that of `compute`.
  template <class Answer, class Compute>
  Answer answer(const std::string& question, const Compute& compute) {
    if (!is_wanted_) return compute();
    Answer found;
    if (const std::string known = known_answer(question); !known.empty()) {
      Archive archive(known);
      archive(found);
      archive.expect_end();
      return found;
    }
    found = compute();
    Archive archive;
    archive(found);
    add(question, archive.bytes());
    return found;
  }

 private:
  [[nodiscard]] std::string known_answer(const std::string& question);
  void add(const std::string& question, const std::string& bytes);

  const EncloseOptions::KeptState& state_;
  bool is_wanted_;
  std::mutex mutex_;
  std::map<std::string, std::string> answers_;
};

/// The questions about one part of a system.
struct PieceKeeper {
  KeptPieces& kept;
  std::string part{};

  template <class Answer, class Compute>
  Answer answer(const std::string& question, const Compute& compute) const {
    return kept.answer<Answer>(part + question, compute);
  }
};

}  // namespace perp::enclosure
