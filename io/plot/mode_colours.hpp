#pragma once

#include <map>
#include <string>
#include <vector>

#include <perp/analysis/run/history.hpp>
#include <perp/core/law.hpp>

namespace perp::io {

/// The modes of a run as pictures show them: in the order of their first appearance, each with a
/// readable name, a light colour for backgrounds and a strong one for lines; sliding ones in warm
/// colours.
class ModeColours {
 public:
  struct Entry {
    std::string text;
    std::string light, strong;
    bool sliding;
  };

  ModeColours(const std::vector<Law>& laws, const std::vector<ModeSpan>& spans);
  [[nodiscard]] std::size_t index(const Mode& mode) const { return index_.at(mode); }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::map<Mode, std::size_t> index_;
  std::vector<Entry> entries_;
};

}  // namespace perp::io
