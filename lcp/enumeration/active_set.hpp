#pragma once

#include <cstddef>
#include <limits>

#include <perp/lcp/mode_point.hpp>

namespace perp {

/// Do all violated laws of an active set method move at once, or the first one alone? All, as long as their number
/// falls below its best within ten steps; then the first, until it does: see `ActiveSet`.
class BlockPivots {
 public:
  bool takes_all(std::size_t violated);

 private:
  std::size_t best_ = std::numeric_limits<std::size_t>::max();
  int left_ = 0;
};

/// The primal-dual active set method: every law that its branch's point violates moves to its nearest other
/// branch, all at once. Such steps end in finitely many where M = M22 - M21 M11⁻¹ M12 is an M-matrix, or its
/// inverse is one, and may cycle on other P-matrices from three laws on. So the number of violated laws has to
/// fall below its best within ten steps, else the first violated law alone moves until it does: Murty's
/// rule, which is finite for every P-matrix of laws with two branches (Kostreva 1978; Júdice and Pires 1994).
class ActiveSet {
 public:
  /// Of an equilibrated problem, which outlives it.
  ActiveSet(const Mlcp& problem, double tolerance) : problem_(problem), tolerance_(tolerance) {}

  /// From a mode to an admissible one by at most `limit` modes. False: a mode on the way has no point, or they
  /// did not suffice.
  bool run(Mode mode, long limit);

  [[nodiscard]] const Mode& mode() const { return mode_; }
  [[nodiscard]] const ModePoint& point() const { return point_; }
  [[nodiscard]] long iterations() const { return iterations_; }

 private:
  void move(Mode& mode, bool all) const;

  const Mlcp& problem_;
  double tolerance_;
  Mode mode_;
  ModePoint point_;
  long iterations_ = 0;
};

}  // namespace perp
