#pragma once

#include <cstdint>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/types.hpp>

namespace perp {

/// The equations of one backward Euler step of a Dcs in one mode, with d = x⁺ − x as the unknown so
/// that short steps lose no digits:
///     0 = F(t⁺, d/h, x + d, λ),   a_i w_i + b_i λ_i = c_i,   w = G(t⁺, d/h, x + d, λ)
/// A branch with a = 0 fixes its λ, which is then no unknown: y = (d, the other λ).
class ImplicitStep {
 public:
  /// Throws InvalidInput (see `validate`).
  explicit ImplicitStep(const Dcs& system);

  [[nodiscard]] int n() const { return evaluator_.n(); }
  [[nodiscard]] int m() const { return evaluator_.m(); }
  [[nodiscard]] const std::vector<Law>& laws() const { return laws_; }
  [[nodiscard]] DcsEvaluator& evaluator() { return evaluator_; }
  /// Are there equations in which a multiplier is multiplied by an unknown?
  [[nodiscard]] bool is_nonlinear_in_lambda() const { return nonlinear_in_lambda_; }

  /// From x to t_next by a step of length h.
  void set_step(const Vector& x, double t_next, double h);
  /// Instead of a step: the consistent states at t. Rows of F with derivatives become
  /// ∂F/∂ẋ d = 0, the derivatives of F being taken at ẋ = 0.
  void set_consistency(const Vector& x, double t);
  void set_mode(const Mode& mode) { set_mode(mode, false); }
  /// The equations 0 = F alone, every λ held where it is: the curve along which a mode is searched
  /// for solutions.
  void hold_lambda(const Mode& mode) { set_mode(mode, true); }
  [[nodiscard]] const Branch& branch(int law) const {
    return *branch_[static_cast<std::size_t>(law)];
  }

  /// The rows of F without derivatives, and w, at (t, ẋ = 0, x, λ).
  void constraints(double t, const Vector& x, const Vector& lambda, Vector& equations, Vector& w);

  /// Number of unknowns.
  [[nodiscard]] int size() const { return size_; }
  /// Law of the unknown n + k.
  [[nodiscard]] const std::vector<int>& free_laws() const { return free_laws_; }
  /// λ of the laws whose branch fixes it.
  void fix(Vector& lambda) const;
  /// Adds the share s of a step of the unknowns.
  void move(const Vector& d, const Vector& lambda, double s, const double* step, Vector& d_moved,
            Vector& lambda_moved) const;

  /// Computes residual, terms and jacobian at (d, λ). False if a number is not finite.
  bool linearise(const Vector& d, const Vector& lambda);

  [[nodiscard]] const double* residual() const { return residual_.data(); }  ///< size()
  /// Sizes of the terms that the residuals are sums of.
  [[nodiscard]] const double* terms() const { return terms_.data(); }
  [[nodiscard]] const double* jacobian() const { return jacobian_.data(); }  ///< row after row
  /// Largest residual relative to its terms.
  [[nodiscard]] double relative_residual() const;
  /// The same where rounding elsewhere is let through: a row of terms that vanish by cancellation
  /// has a relative residual of 1, and nothing can improve it.
  [[nodiscard]] double lenient_residual() const;
  /// The largest unknown, states before and after the step included.
  [[nodiscard]] double overall() const { return overall_; }

  // At the point of the last `linearise`:
  void w(Vector& value) const;
  /// a w + b λ − c of a law.
  [[nodiscard]] double law_residual(int law, double lambda) const {
    return branch(law).a * rows_[static_cast<std::size_t>(n() + law)] + branch(law).b * lambda -
           branch(law).c;
  }
  /// Size of the terms of w_i, and its derivatives with respect to y.
  double w_derivatives(int law, double* derivatives) const;
  /// ‖∂F/∂ẋ d‖, the norm of [RAB] eq. (31).
  [[nodiscard]] double norm(const Vector& d) const;

 private:
  enum class Kind : std::uint8_t { time, derivative, variable, multiplier };
  struct Place {  // of an entry of the evaluator
    int row;      // of F, then G
    int index;    // of the input among those of its kind
    Kind kind;
  };

  void set_mode(const Mode& mode, bool hold);
  void add(int row, double factor, const Place& place, double derivative, const Vector& d,
           const Vector& lambda);

  DcsEvaluator evaluator_;
  std::vector<Law> laws_;
  std::vector<Place> places_;
  std::vector<char> has_derivatives_;  // rows of F
  bool nonlinear_in_lambda_ = false;

  Vector x_;
  double t_ = 0, h_ = 1;
  bool consistency_ = false;

  std::vector<const Branch*> branch_;
  std::vector<int> free_laws_, unknown_;  // unknown_[i]: that of λ_i, -1: fixed
  int size_ = 0;

  std::vector<double> z_, rows_, derivatives_, residual_, terms_, jacobian_;
  std::vector<double> slopes_;  // per row: sum of |derivatives| of unknowns
  double overall_ = 0;          // the largest unknown
};

}  // namespace perp
