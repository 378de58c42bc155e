#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <perp/core/lcs.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp {

/// The equations of one step of the θ-method for an Lcs, as a family in the parameter
///     p = (x_k on the columns that matter, b on its varying rows, q on its varying rows),
/// differential rows   E_i (x⁺ − x) = h (θ (A_i x⁺ + b_i⁺) + (1−θ) (A_i x + b_i)) + h B_i λ⁺,
/// algebraic rows (E_i = 0)       0 = A_i x⁺ + B_i λ⁺ + b_i⁺,
/// and the laws between w⁺ = C x⁺ + D λ⁺ + q⁺ and λ⁺. θ = 1 is backward Euler, [RAB] eq. (29).
class StepEquations {
 public:
  /// Throws InvalidInput (see `validated`). A row of E that depends on others (to the rounding of
  /// its entries) becomes an algebraic equation: those are subtracted from it.
  StepEquations(const Lcs& lcs, double theta);
  StepEquations(SparseLcs lcs, double theta);

  [[nodiscard]] const SparseLcs& system() const { return lcs_; }
  /// The same with full matrices, which are made when they are first asked for.
  [[nodiscard]] const Lcs& lcs() const;
  [[nodiscard]] const Laws& laws() const { return lcs_.laws; }
  /// E as it was given.
  [[nodiscard]] const linear::SparseMatrix& given_E() const { return E_given_; }
  /// Were rows that became algebraic equations rounded, or the E of one beside its terms?
  [[nodiscard]] bool rows_are_rounded() const { return rows_are_rounded_; }
  [[nodiscard]] double theta() const { return theta_; }
  /// ‖E (x⁺ − x)‖ as a norm over (u, λ), [RAB] eq. (31), x⁺ being the first of u.
  [[nodiscard]] Norm norm(const Vector& x) const { return norm(x, n()); }
  [[nodiscard]] Norm norm(const Vector& x, int p) const;
  [[nodiscard]] int n() const { return lcs_.n(); }
  [[nodiscard]] int m() const { return lcs_.m(); }
  [[nodiscard]] int parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<int>& algebraic_rows() const { return algebraic_rows_; }
  [[nodiscard]] bool is_algebraic_row(int i) const { return is_algebraic_[static_cast<std::size_t>(i)] != 0; }
  /// The variables that a step reads of the state it starts in, increasing.
  [[nodiscard]] const std::vector<int>& state() const { return state_; }

  /// The family of steps of length h; W = Z = E, so that its norm is ‖E (x⁺ − x)‖.
  [[nodiscard]] ParametricMlcp family(double h) const;

  /// The problem of one step from x at t to t_next, decided as one of the doubles of the model: no
  /// entry is a rounded h A or E x. Where rounding would change one, u = (x⁺, s, y, z, v) with the
  /// equations
  ///     s = x,  y = A x⁺,  z = A s,  v = B λ + b  on the differential rows,
  /// on which all but x⁺ depend, as functions of x⁺; θ = 1: y = A x⁺ + B λ + b, no z and v. Of a
  /// problem that is not rounded u = x⁺. h θ and h (1 - θ) are rounded once, and so is the mean of
  /// b.
  [[nodiscard]] Mlcp problem(const Vector& x, double t, double t_next, double h);

  /// The family's parameter for a step from x at t to t_next. Does not allocate.
  void parameter(const Vector& x, double t, double t_next, double* value) {
    for (const int j : state_) *value++ = x[j];
    if (b_varies_ || q_varies_) varying(t, t_next, value);
  }

  /// The problem of a consistent state at t: u = x with E x = E x0 on the differential rows, the
  /// algebraic equations and the laws.
  [[nodiscard]] Mlcp consistency(const Vector& x0, double t) const;

 private:
  struct Full {
    std::once_flag made;
    Lcs lcs;
  };

  void put_varying(double h, ParametricMlcp& family) const;
  void write_lifted_row(int i, int y, int z, int v, double h, Mlcp& problem) const;
  void varying(double t, double t_next, double* value);
  [[nodiscard]] Mlcp lifted(const Vector& x, const double* parameter, double h) const;

  SparseLcs lcs_;
  std::shared_ptr<Full> full_ = std::make_shared<Full>();
  double theta_;
  linear::SparseMatrix E_given_;  // before any transformation, for the norm
  bool rows_are_rounded_ = false;
  std::vector<int> algebraic_rows_;  // increasing
  std::vector<char> is_algebraic_;   // per row
  std::vector<int> state_;           // x entries in the parameter
  int parameters_ = 0;
  bool b_varies_ = false, q_varies_ = false;
  Vector b_before_, b_after_, q_after_;
};

/// Solutions of `StepEquations::problem` without what it adds to x⁺ in u.
SolutionSet of_state(SolutionSet set, int n);
Piece of_state(Piece piece, int n, int m);  ///< of the whole problem
Solution of_state(Solution solution, int n);

}  // namespace perp
