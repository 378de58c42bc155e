#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/lcp/grid/grid_box.hpp>
#include <perp/schemes/step/point/point_step.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// Steps of backward Euler of problems from grids of two or three dimensions, a membrane over an obstacle: E diagonal, A
/// symmetric between neighbours, and laws 0 <= w ⊥ λ >= 0 that bound one variable each, in whose equation alone their multiplier
/// stands. Such a step is min and max of its variables around (E - h A) x = E x_k + h b: see `GridBox`. Where E - h A is an
/// M-matrix it has exactly one solution, and one of every shorter length too.
class GridStep {
 public:
  static constexpr int fewest_nodes = 1000;  ///< of a grid; of fewer the equations of a step are factored

  /// Null: the equations, which must outlive it, have another form, or are those of a grid of fewer dimensions. A string, whose
  /// errors grow with the square of its nodes beyond all use, has no steps by it, but modes near those of its steps.
  static std::unique_ptr<GridStep> of(const StepEquations& equations, int least_dimensions = 2);

  /// The equations become those of steps of this length from here, see `StepEquations::parameter`. False: they are not
  /// certified.
  bool set(double h, const double* parameter);
  /// Are steps of this length certified to have exactly one solution?
  bool is_certified(double h);
  /// Do such steps move a consistent state by no more than a multiple of their length? With E regular and constant bounds
  ///     Δx' (E - h A) Δx <= h Δx' (A x + b + B λ).
  [[nodiscard]] bool is_continuous() const;

  using Outcome = GridBox::Outcome;
  /// The step in this mode.
  Outcome solve(const Mode& mode);
  /// From there to the mode that has the solution; false: it was not found.
  bool find(Mode& mode);
  /// From there to one near it, by numbers as they are.
  void find_near(Mode& mode);

  // Of the last solution:
  void write(Vector& x, Vector& lambda, Vector& w, Vector& rounding) const;
  void write_ends(std::vector<PointStep::Margin>& ends) const;
  /// Is an end of a branch so near that another mode may have the solution too?
  [[nodiscard]] bool is_at_end() const;

  /// Active sets that were solved, those of coarser grids and iterations of conjugate gradients on this one, of all lengths.
  void add_to(Counts& counts) const;

 private:
  /// A law of one variable, w = c x + q, whose multiplier has the factor b in the equation of the variable.
  struct Bound {
    int node = 0, free_branch = 0;  ///< of its two branches that with λ = 0
    double b = 1, c = 1;
    [[nodiscard]] bool is_lower() const { return c > 0; }
  };
  /// A number with a bound of its error.
  struct Bounded {
    double value, error;
  };

  GridStep(const StepEquations& equations, const linear::GridShape& shape) : equations_(equations), shape_(shape) {}
  bool list_bounds();
  [[nodiscard]] std::optional<Bound> bound_of(int law) const;
  [[nodiscard]] bool has_own_rates() const;
  [[nodiscard]] std::optional<linear::GridMatrix> matrix(double h) const;
  [[nodiscard]] double constant(const Signal& signal, int row, std::size_t first_varying) const;
  void put_right_side();
  void put_bounds();
  [[nodiscard]] Bounded w(int law) const;
  [[nodiscard]] Bounded lambda(int law) const;
  [[nodiscard]] bool is_held(int law) const;
  void hold(const Mode& mode);
  void write_mode(Mode& mode) const;
  [[nodiscard]] GridBox::Counts counts() const;

  const StepEquations& equations_;
  linear::GridShape shape_;
  std::vector<Bound> bounds_;
  bool has_upper_ = false;
  double h_ = nan;
  const double* parameter_ = nullptr;
  std::unique_ptr<GridBox> box_;
  std::vector<double> q_;  // of each law
  GridBox::Counts earlier_;  // of lengths before
};

}  // namespace perp
