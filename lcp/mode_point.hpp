#pragma once

#include <vector>

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// The point that the equations of a mode determine and how far it is from the mode's branches.
struct ModePoint {
  double violation = inf;  ///< sum over the laws of the distance from the mode's branch; inf: no point
  Vector u, lambda;
  std::vector<int> violated{};  ///< laws off their branch by more than a tolerance, the worst first
};

/// Of an equilibrated problem (see `equilibrate`), distances above `tolerance` being violations. A singular
/// mode has one of its points, or none where its equations contradict each other.
ModePoint point_of_mode(const Mlcp& problem, const Mode& mode, double tolerance);

/// How many modes of the problem, `most` of them at most, a search may solve one by one with full matrices: as many as about 1e9
/// multiplications allow, a few seconds, but no fewer than a hundred.
long most_points(const Mlcp& problem, long most);

/// The branch of a violated law of that point that is nearest to its (w, λ), but for the present one.
int next_branch(const Mlcp& problem, const Mode& mode, const ModePoint& point, const Vector& w, int law);

}  // namespace perp
