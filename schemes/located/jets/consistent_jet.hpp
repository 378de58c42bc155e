#pragma once

#include <memory>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/schemes/located/jets/array/array_structure.hpp>

namespace perp {

/// Taylor coefficients of the solution that starts in one mode at time t:
///     x(t+τ) = Σ_k x.col(k) τ^k,   the same for λ and w
struct Jet {
  double t = 0;
  double unit = 1;  ///< of time, in which it was solved for
  Mode mode;
  Matrix x;       ///< n×(K+2)
  Matrix lambda;  ///< m×(K+1)
  Matrix w;       ///< m×(K+1)
  Matrix w_size;  ///< m×(K+1), sizes of the terms each coefficient of w is the sum of
  /// How many leading coefficients of each variable the equations determine; the others are
  /// arbitrary.
  std::vector<int> x_known, lambda_known, w_known;
  /// Largest residual of the derivative array, relative to the sizes of its terms; inf where
  /// Newton's method left the domain of the equations or did not converge.
  double residual = inf;
  /// The differential part of x lies on the (hidden) constraints of the mode: residual <=
  /// tolerance.
  bool consistent = false;
  /// x(t), λ(t) and the derivative of the differential part are determined: K levels resolve the
  /// index of the mode.
  bool determined = false;

  void transfer(Archive& archive) {
    archive(t, unit, mode, x, lambda, w, w_size, x_known, lambda_known, w_known, residual, consistent, determined);
  }
};

/// The sizes that "relative" refers to.
struct JetScales {
  double time = 1;  ///< in which the solution changes by its size; > 0
  Vector x{};       ///< smallest sizes of the variables that count; empty: 1 for each
  Vector lambda{};  ///< and of the multipliers
  /// The shortest time of the equations, in units of which coefficients are solved for; 0: `time`.
  double fastest = 0;
};

/// Derivatives of a jet with respect to q quantities. Entries that the equations do not determine
/// are NaN.
struct JetSensitivities {
  std::vector<Matrix> x;       ///< of x.col(0), .., x.col(K+1), n×q each
  std::vector<Matrix> lambda;  ///< of lambda.col(0), .., lambda.col(K), m×q each
  std::vector<Matrix> w;       ///< of w.col(0), .., w.col(K), m×q each
  /// How far the given derivatives leave the (hidden) constraints of the mode, relative to the
  /// sizes of the terms; rounding where they are those of solutions in the mode.
  double residual = 0;
};

/// Consistent Taylor jets of a mode, which is a smooth DAE of any index up to K+1:
///     H_[k] = 0, k = 0..K,   H = ( F(t, ẋ, x, λ),  a_i w_i + b_i λ_i − c_i ),  w = G(t, ẋ, x, λ)
/// where [k] is the k-th Taylor coefficient in time: the derivative array of levels 0..K. Unknowns
/// are x_[0..K+1] and λ_[0..K]; the differential part of x_[0], its projection on the row space of
/// ∂(F, G)/∂ẋ, is given. Solved by Newton's method with rank-revealing elimination: what the
/// equations determine is read off the null space of the last matrix. One object serves one thread.
class ConsistentJets {
 public:
  /// `levels`: K, 1 to 8; 2 resolves contacts, whose second derivative holds the multiplier.
  /// Throws InvalidInput (see `validate`, and for K out of range).
  explicit ConsistentJets(const Dcs& system, int levels = 2);
  ~ConsistentJets();
  ConsistentJets(ConsistentJets&&) noexcept;
  ConsistentJets& operator=(ConsistentJets&&) noexcept;

  [[nodiscard]] int n() const;
  [[nodiscard]] int m() const;
  [[nodiscard]] int levels() const;
  /// The jets of the same equations with other levels, at the scales, the tolerance and the ends of these; made
  /// when first asked for.
  [[nodiscard]] ConsistentJets& with_levels(int levels);
  [[nodiscard]] const Laws& laws() const;
  /// Do the equations hold products and the like of multipliers, so that one mode may have several
  /// jets? By their form.
  [[nodiscard]] bool is_nonlinear_in_multipliers() const;
  /// Do the equations hold products and the like of rates, so that one mode may have several jets? By their
  /// form.
  [[nodiscard]] bool is_nonlinear_in_rates() const;
  /// Are the equations affine in ẋ, x and λ, with constant coefficients? Then a mode without a jet
  /// has no solution; else Newton's method has found none.
  [[nodiscard]] bool is_linear() const;
  /// For each law the number of its group: laws of different groups do not influence each other in
  /// any coefficient that a jet determines. By the form of the equations.
  [[nodiscard]] const std::vector<int>& groups() const;
  /// For each variable, then for each law the number of its part: no equation connects different parts.
  [[nodiscard]] const std::vector<int>& parts() const;
  /// Is w of this law a function of t and of variables that have a given value? By the form of the equations, like this:
  [[nodiscard]] bool is_of_given(int law) const;
  /// What dw/dt of this law is a function of.
  [[nodiscard]] const RateForm& rate_form(int law) const;

  /// For each law the branch that its argument decides at (t, x), whatever the mode, see decided_laws, where `fixed` and
  /// `ended` are explained: farther from the ends of branches than `share` of the sizes of the terms of w. -1: not decided.
  std::vector<int> decided_branches(double t, const Vector& x, double share, const std::vector<int>& fixed,
                                    const std::vector<int>& ended);
  /// Those of laws that read no multiplier, where t and x are given to the bit: w is farther from its ends than the bound of its own rounding.
  [[nodiscard]] std::vector<int> given_branches(double t, const Vector& x) const;

  /// Throws InvalidInput for sizes that do not fit or are not positive.
  void set_scales(const JetScales& scales);
  [[nodiscard]] const JetScales& scales() const;
  /// How many points Newton's method may evaluate from now on, for all jets together; a jet that this ends
  /// is not found.
  void allow_work(long points);
  [[nodiscard]] bool has_run_out() const;
  /// Largest residual of a jet that is called consistent; 1e-8.
  void set_tolerance(double tolerance);
  [[nodiscard]] double tolerance() const;

  /// From now on the equations are those at these ends of branches, one value of w or infinity for each
  /// law; empty: at none. See BranchForms.
  void hold_ends(std::vector<double> ends);
  /// For each law: have the equations values without derivatives at some value of its w or λ?
  [[nodiscard]] const std::vector<char>& rough_laws() const;
  /// Is any law like that?
  [[nodiscard]] bool has_rough_laws() const;
  /// Is the end of this law held in the mode, so that its equations are others than without?
  [[nodiscard]] bool is_held(int law, const Mode& mode);

  /// The jet of `mode` at t. Of x (n) the differential part is kept, the rest is a guess; λ (m) is
  /// a guess. `rates` (n) guesses ẋ; empty: 0. Throws InvalidInput for sizes that do not fit.
  Jet solve(const Mode& mode, double t, const Vector& x, const Vector& lambda,
            const Vector& rates = {});
  /// The same, but the algebraic variables and ẋ are first made to fit to λ, which is held
  /// meanwhile: for a guess of λ that is far from the one x belongs to. `solve` does so where it
  /// fails otherwise.
  Jet solve_from(const Mode& mode, double t, const Vector& x, const Vector& lambda,
                 const Vector& rates = {});

  /// Is a consistent and determined jet that of all solutions of its mode which begin there? The rank of the derivative array
  /// tells, see has_rank_around; of equations that are not affine in ẋ it is not shown.
  bool tells_all(const Jet& jet);

  /// The differential part of x at this point: an n×n orthogonal projection P, P x is what `solve`
  /// keeps.
  Matrix differential_projection(double t, const Vector& x, const Vector& lambda,
                                 const Vector& rates = {});

  /// Derivatives of a consistent jet with respect to quantities q on which the differential part of
  /// x(t), the time t and the parameters depend:
  ///     dx_dq: n×q, its differential part counts;  dt_dq: q entries, or empty for 0;
  ///     dp_dq: parameters×q, or empty for 0
  /// by the linearised derivative array. They are those of coefficients at the moved time: where
  /// dt_dq is not 0, dx_dq is the derivative of x(t(q), q). Throws InvalidInput for shapes that do
  /// not fit and for a jet that is not consistent.
  JetSensitivities sensitivities(const Jet& jet, const Matrix& dx_dq, const Vector& dt_dq = {},
                                 const Matrix& dp_dq = {});

 private:
  Jet solve_once(const Mode& mode, double t, const Vector& x, const Vector& lambda,
                 const Vector& rates);
  void set_unit(double unit);

  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace perp
