#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <perp/core/base/interruption.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/linear/rank_elimination.hpp>

namespace perp {

/// The largest residual in units of the terms of its row.
inline double relative_residual(const Vector& residual, const Vector& row_sizes) {
  double largest = 0;
  for (Eigen::Index i = 0; i < residual.size(); ++i) {
    const double size = std::abs(residual[i]);
    if (size > 0) largest = std::max(largest, size / std::max(row_sizes[i], size));
  }
  return largest;
}

/// Damped Newton's method with a rank-revealing elimination, for equations that may be redundant or
/// leave unknowns open. A step is accepted where the next correction with the same matrix falls
/// (the natural monotonicity test, which knows no units) or the residual does; at a singular matrix
/// the independent equations are solved and unknowns without a pivot stay. `Equations` has
///     const Vector& residual();   const Matrix& matrix();     // at the present unknowns
///     const Vector& sizes();      const Vector& row_sizes();  // of unknowns, and of terms of rows
///     double relative_residual();
///     bool evaluate();                                        // false: not finite
///     void move(double share, const Vector& step);            // unknowns += share·step
///     bool is_linear();                                       // the matrix never changes
class RankNewton {
 public:
  static constexpr double rank_tolerance = 1e-11;  ///< pivots of a scaled matrix below are zero

  /// Which step is taken where the equations leave unknowns open.
  enum class Open {
    stay,    ///< unknowns without a pivot stay
    nearest  ///< the shortest step, in units of the sizes
  };

  explicit RankNewton(Open open = Open::stay, int most_iterations = 40)
      : open_(open), most_iterations_(most_iterations) {}

  /// From the present unknowns, where the equations are evaluated. False: it left the domain or did
  /// not converge (to what the independent equations ask for: look at the residual). On return the
  /// elimination is that of the last matrix.
  template <class Equations>
  bool run(Equations& equations);

  [[nodiscard]] const RankElimination& elimination() const { return elimination_; }

  /// How many more points all runs may evaluate together, from now on.
  void allow(long points) { left_ = points; }
  /// Have the runs since then come to that end? What they did not find tells nothing.
  [[nodiscard]] bool has_run_out() const { return left_ <= 0; }

  /// Factorises the matrix at the present unknowns. `tolerance`: pivots of the scaled matrix below are zero.
  template <class Equations>
  void factorise(const Equations& equations, double tolerance = rank_tolerance) {
    elimination_.factorise(equations.matrix(), equations.sizes(), equations.row_sizes(), tolerance);
  }
  /// The change of the unknowns that a residual asks for, with the last matrix.
  void solve(const Vector& residual, Vector& step) const {
    if (open_ == Open::stay)
      elimination_.solve(residual, step);
    else
      elimination_.solve_least_norm(residual, step);
  }

 private:
  static constexpr double settled = 1e-13;         ///< relative correction that ends the iteration
  static constexpr double near_rounding = 1e-9;    ///< a correction below that stays is rounding
  static constexpr double shortest = 1e-6;         ///< share of a step

  template <class Equations>
  double correction(Equations& equations, Vector& step);
  template <class Equations>
  std::optional<double> search_line(Equations& equations, double size);
  /// Is a correction of this size rounding: it is small, and the next one hardly smaller?
  static bool stays(double size, double next) { return size <= near_rounding && next > size / 4; }
  [[nodiscard]] double relative_size(const Vector& change) const {
    double largest = 0;
    for (Eigen::Index j = 0; j < change.size(); ++j)
      largest = std::max(largest, std::abs(change[j]) / sizes_[j]);
    return largest;
  }

  Open open_;
  int most_iterations_;
  long left_ = std::numeric_limits<long>::max();
  RankElimination elimination_;
  Vector step_, correction_, sizes_;
};

/// Factorises at the present unknowns; the Newton step there and its relative size.
template <class Equations>
double RankNewton::correction(Equations& equations, Vector& step) {
  factorise(equations);
  solve(equations.residual(), step);
  sizes_ = equations.sizes();
  return relative_size(step);
}

/// Moves the unknowns by the longest accepted share 1, 1/2, ... of the step of that relative size. The size of the next
/// correction with the same matrix, or nothing: no share was accepted.
template <class Equations>
std::optional<double> RankNewton::search_line(Equations& equations, double size) {
  const double residual = equations.relative_residual();
  sizes_ = equations.sizes();  // the same for both corrections
  double moved = 0;
  for (double share = 1; share > shortest; share /= 2) {
    if (--left_ < 0) return std::nullopt;
    equations.move(moved - share, step_);
    moved = share;
    if (!equations.evaluate()) continue;
    solve(equations.residual(), correction_);
    const double next = relative_size(correction_);
    if (next <= std::max((1 - share / 4) * size, settled) ||
        equations.relative_residual() <= (1 - share / 2) * residual || size <= near_rounding)  // rounding holds it there
      return next;
  }
  return std::nullopt;
}

template <class Equations>
bool RankNewton::run(Equations& equations) {
  double size = correction(equations, step_);
  for (int iteration = 0; iteration < most_iterations_; ++iteration) {
    check_interruption();
    if (!(size < inf)) return false;
    if (size <= settled) return true;
    const std::optional<double> with_same_matrix = search_line(equations, size);
    if (!with_same_matrix) return false;
    const double next = equations.is_linear() ? *with_same_matrix : correction(equations, correction_);
    if (stays(size, *with_same_matrix) || next <= settled) return true;
    step_.swap(correction_);
    size = next;
  }
  return false;
}

}  // namespace perp
