#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include <perp/analysis/enclosure/pieces/piece.hpp>
#include <perp/analysis/enclosure/section/section_piece.hpp>

namespace perp::enclosure {

/// How far a part was followed, and how well: those further come later.
using Progress = std::tuple<bool, std::size_t, double>;

Progress progress_of(const PieceResult& result);

/// A part of the start, and what became of it.
struct Part {
  Box start{};
  PieceResult result{};
  bool is_done = false;
  bool is_last = false;  ///< it is not bisected any more
  int favours = 0;  ///< how often in a row the section form went further in parts that held it,
                    ///< less the other
  std::optional<Progress> before{};  ///< of the part that it is a half of
};

/// From section to section, or with one time for all members? The one comes further where
/// differences of time gather, the other where surfaces are met slantwise by rates that hardly
/// jump.
class Forms {
 public:
  Forms(const PieceTask& task, const SectionTask* section) : task_(task), section_(section) {}

  PieceResult run(Part& part, Effort effort) const;

 private:
  [[nodiscard]] bool is_accepted(const PieceResult& result) const {
    return !result.enclosure.lost && result.excess <= task_.options.share;
  }
  PieceResult better(Part& part, std::optional<PieceResult> section, PieceResult other) const;

  const PieceTask& task_;
  const SectionTask* section_;
};

/// Where the interval that widens others most was bisected in vain, what widens is not the linear
/// image: the intervals are tried. Each part by itself, so that the number of threads changes
/// nothing.
void try_splits(const PieceTask& task, const Forms& forms, std::vector<Part>& parts);

/// Bisects parts that were lost or are too wide, as long as the budget lasts. False: nothing is
/// left.
bool split(std::vector<Part>& parts, const EncloseOptions& options);

}  // namespace perp::enclosure
