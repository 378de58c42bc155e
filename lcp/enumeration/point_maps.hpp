#pragma once

#include <vector>

#include <perp/lcp/exact/sparse_elimination.hpp>

namespace perp {

/// One point that solves a problem, and the only mode that has it.
struct ModalPoint {
  std::vector<Bounded<long double>> y;  ///< (u, λ)
  Mode mode;
};

/// One point with all modes that have it, in their order.
struct MeetingPoint {
  std::vector<Bounded<long double>> y;
  std::vector<Mode> modes;
};

/// Which modes of a small problem have solutions, for many right-hand sides q: the inverse of each
/// mode's equations is made once, y = K r(q), with bounds of all errors.
class PointMaps {
 public:
  using Number = Bounded<long double>;

  /// Most modes that inverses are made for.
  static constexpr double most_modes = 64;

  explicit PointMaps(const Mlcp& problem);

  /// Not if the modes are too many.
  [[nodiscard]] bool usable() const { return usable_; }

  /// For q = (q1, q2): the points that lie inside of one mode, and the modes of which this is not
  /// decided; all others have no solution.
  void solve(const std::vector<Number>& q, std::vector<ModalPoint>& points,
             std::vector<Mode>& undecided) const;

  /// The points of the modes that `solve` left open, where all of them are regular and it can be said of
  /// every branch whether it holds the point: the points that lie on several branches of a law. False
  /// where something stays open.
  bool solve_meetings(const std::vector<Number>& q, const std::vector<Mode>& undecided,
                      std::vector<MeetingPoint>& points) const;

  /// Right-hand sides that a call of `solve` tries.
  [[nodiscard]] long modes() const { return static_cast<long>(maps_.size()); }

 private:
  /// A quantity of a mode that has a range: row·r(q) (+ q2_i for a w).
  struct Watched {
    std::vector<Number> row;
    int w = -1;  ///< index of q2 to add, -1 for a λ
    Interval<Number> range;
  };
  struct ModeMap {
    Mode mode;
    std::vector<std::vector<Number>> rows;       ///< K, n×n; empty: singular
    std::vector<std::vector<Number>> conflicts;  ///< singular: left null vectors
    std::vector<Watched> watched;
  };

  void add_mode(const Mode& mode);
  void watch(ModeMap& map) const;
  [[nodiscard]] std::vector<Number> scaled_q(const std::vector<Number>& q) const;
  void unscale(std::vector<Number>& y) const;
  [[nodiscard]] std::vector<Number> right_side(const ModeMap& map,
                                               const std::vector<Number>& q) const;
  [[nodiscard]] Verdict verdict(const ModeMap& map, const std::vector<Number>& q,
                                const std::vector<Number>& r) const;
  [[nodiscard]] Verdict verdict(const ModeMap& map, const std::vector<Number>& q,
                                const std::vector<Number>& r, std::vector<Number>& y) const;

  AlgebraicProblem<Number> problem_;  ///< scaled
  std::vector<double> unknown_scale_, row_scale_;
  std::vector<ModeMap> maps_;
  bool usable_ = false;
};

/// A rational number with the rounding of its last bit.
Bounded<long double> with_bounds(const Rational& value);

}  // namespace perp
