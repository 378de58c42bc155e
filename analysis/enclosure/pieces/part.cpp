// A part of the start by the form that serves it; called by the pieces of enclosures.
#include <algorithm>
#include <utility>

#include <perp/analysis/enclosure/pieces/part.hpp>

namespace perp::enclosure {
namespace {

constexpr int certain = 2;  ///< favours in a row, after which the other form is not tried

}  // namespace

Progress progress_of(const PieceResult& result) {
  return {!result.enclosure.lost, result.enclosure.rows.size(), -result.excess};
}

PieceResult Forms::run(Part& part, Effort effort) const {
  if (section_ == nullptr || effort == Effort::last || part.favours <= -certain)
    return Piece(task_, part.start, effort).run();
  if (part.favours <= 0) {
    PieceResult at_once = Piece(task_, part.start, effort).run();
    if (is_accepted(at_once)) return at_once;
    return better(part, SectionPiece(*section_, part.start, effort).run(), std::move(at_once));
  }
  std::optional<PieceResult> in_turn = SectionPiece(*section_, part.start, effort).run();
  if (in_turn && (is_accepted(*in_turn) || part.favours >= certain)) return *std::move(in_turn);
  return better(part, std::move(in_turn), Piece(task_, part.start, effort).run());
}

/// The one that is accepted, or was followed further.
PieceResult Forms::better(Part& part, std::optional<PieceResult> section, PieceResult other) const {
  const auto rank = [&](const PieceResult& result) {
    return std::pair(is_accepted(result), progress_of(result));
  };
  const bool is_better = section && rank(*section) > rank(other);
  part.favours = std::clamp(part.favours + (is_better ? 1 : -1), -certain, certain);
  return is_better ? *std::move(section) : std::move(other);
}

}  // namespace perp::enclosure
