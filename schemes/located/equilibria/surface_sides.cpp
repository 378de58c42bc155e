// The sides of the surfaces on which an equilibrium slides: called by the search for equilibria.
#include <algorithm>
#include <optional>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/equilibria/surface_sides.hpp>
#include <perp/schemes/located/jets/margins.hpp>

namespace perp {
namespace {

constexpr std::size_t most_surfaces = 6;  ///< at once: 2^6 sides

/// The branches beside a sliding one: those that its w is an end of.
std::vector<int> branches_beside(const Law& law, int sliding) {
  const Branch& surface = law.branches[static_cast<std::size_t>(sliding)];
  const double w = surface.c / surface.a;
  std::vector<int> list;
  for (int b = 0; b < static_cast<int>(law.branches.size()); ++b) {
    const Branch& side = law.branches[static_cast<std::size_t>(b)];
    if (b == sliding || is_vertical(side)) continue;
    if (const Range range = w_range(side); range.lower == w || range.upper == w) list.push_back(b);
  }
  return list;
}

/// The series of the solution in reversed time.
Jet reversed(Jet jet) {
  for (Matrix* series : {&jet.w, &jet.lambda})
    for (Eigen::Index k = 1; k < series->cols(); k += 2) series->col(k) *= -1;
  return jet;
}

/// Does the solution of this mode at the point leave, or arrive? None: neither is shown.
std::optional<bool> leaves(ConsistentJets& jets, double t, const Equilibrium& point, const Mode& mode) {
  const Jet jet = jets.solve(mode, t, point.x, point.lambda);
  if (!jet.consistent || !jet.determined) return std::nullopt;
  const auto lies_inside = [&](const Jet& series) {
    const MarginVerdict verdict = judge_margins(series, jets.laws(), jets.scales(), MarginOptions{});
    return verdict.admissible && verdict.strict;
  };
  if (lies_inside(jet)) return true;
  return lies_inside(reversed(jet)) ? std::optional<bool>(false) : std::nullopt;
}

/// Does some motion in the mode fall, or grow?
///@{
bool has_falling(Stability stability) { return stability == Stability::attracting || stability == Stability::saddle; }
bool has_growing(Stability stability) {
  return stability == Stability::repelling || stability == Stability::saddle || stability == Stability::unstable;
}
///@}

/// Of a point that no solution is known to leave, or none to approach.
Stability one_way(Stability in_mode, const SurfaceSides& sides, bool grows) {
  if (!sides.complete) return grows ? Stability::unstable : Stability::unknown;
  if (sides.list.empty()) return in_mode;
  if (in_mode == Stability::rigid) return grows ? Stability::repelling : Stability::attracting;
  return grows && !has_growing(in_mode) ? Stability::unstable : in_mode;
}

}  // namespace

SurfaceSides surface_sides(ConsistentJets& jets, double t, const Equilibrium& point, const std::vector<int>& sliding) {
  if (sliding.size() > most_surfaces) return {.complete = false};
  SurfaceSides sides;
  if (sliding.empty()) return sides;
  std::vector<Mode> modes{point.mode};
  for (const int law : sliding) {
    const auto i = static_cast<std::size_t>(law);
    std::vector<Mode> more;
    for (const Mode& mode : modes)
      for (const int branch : branches_beside(jets.laws()[i], point.mode[i])) {
        more.push_back(mode);
        more.back()[i] = branch;
      }
    modes = std::move(more);
  }
  std::ranges::sort(modes);
  for (const Mode& mode : modes)
    if (const std::optional<bool> is_leaving = leaves(jets, t, point, mode)) sides.list.push_back({mode, *is_leaving});
  sides.complete = sides.list.size() == modes.size();
  return sides;
}

Stability with_sides(Stability in_mode, const SurfaceSides& sides) {
  const auto is_leaving = [](const Equilibrium::Side& side) { return side.leaves; };
  const bool grows = has_growing(in_mode) || std::ranges::any_of(sides.list, is_leaving);
  const bool falls = has_falling(in_mode) || !std::ranges::all_of(sides.list, is_leaving);
  return grows && falls ? Stability::saddle : one_way(in_mode, sides, grows);
}

}  // namespace perp
