#pragma once

#include <map>
#include <string>
#include <vector>

#include <perp/analysis/run/history.hpp>
#include <perp/core/law.hpp>

namespace perp::io {

/// The modes in a picture of a run: in the order of their first appearance, each with a readable name, a light colour for
/// backgrounds and a strong one for lines; sliding ones in warm colours. Colours are those of the whole run, whatever part of
/// it is drawn.
class ModeColours {
 public:
  struct Entry {
    std::string text;
    std::string light, strong;
    bool sliding;
  };

  /// `spans`: what is drawn, `whole`: the run.
  ModeColours(const std::vector<Law>& laws, const std::vector<ModeSpan>& spans, const std::vector<ModeSpan>& whole);
  [[nodiscard]] std::size_t index(const Mode& mode) const { return index_.at(mode); }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::map<Mode, std::size_t> index_;
  std::vector<Entry> entries_;
};

}  // namespace perp::io
