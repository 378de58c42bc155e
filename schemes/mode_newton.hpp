#pragma once

#include <vector>

#include <perp/core/law.hpp>
#include <perp/lcp/dense_lu.hpp>
#include <perp/schemes/implicit_step.hpp>

namespace perp {

/// How Newton's method ended in one mode.
enum class NewtonEnd {
  converged,     ///< to rounding
  inconsistent,  ///< the linearised equations contradict each other and nothing near solves them
  domain,        ///< every step leaves the domain of F or G (log of a negative number, ...)
  stalled        ///< neither in the iterations allowed
};

/// One sentence for people, e.g. "left the domain of the equations".
const char* describe(NewtonEnd end);

/// Damped Newton's method for the equations of one mode, which are smooth there: a product of λ and
/// x is what it is, whatever the law does elsewhere. A step is accepted where the residual falls,
/// or the next correction does (the natural monotonicity test, which knows no units). At a singular
/// matrix the step of least norm is taken.
class ModeNewton {
 public:
  /// `tol`: largest relative residual of what is called converged where rounding stops it earlier.
  ModeNewton(ImplicitStep& step, double tol);

  /// From (d, λ), in the mode set in the step; on return they hold the last point. Does not
  /// allocate as long as no matrix is singular.
  NewtonEnd run(Vector& d, Vector& lambda);

  /// Was a matrix singular on the way?
  [[nodiscard]] bool met_singular() const { return singular_; }
  [[nodiscard]] double relative_residual() const { return residual_; }
  [[nodiscard]] long iterations() const { return iterations_; }

  /// Is every law within the range of its branch, up to `tol` of the terms it is computed from?
  /// Called at the point of the last `run`. Returns the largest relative violation beyond rounding.
  double violation(const Vector& lambda, const Vector& w, double tol);

  /// Factorises at the last point. False: singular.
  bool factorise();
  /// The sizes of the terms the unknowns are computed from: what their rounding is relative to.
  /// After `factorise`, which must have said true.
  void sizes(Vector& d_size, Vector& lambda_size);
  /// Size of the terms that w_i, or λ_i, is computed from, through the matrix of the last
  /// `factorise` if that said true (`regular`).
  double w_size(int law, bool regular);
  double lambda_size(int law, bool regular);
  /// With a singular matrix: is x⁺ isolated, although λ is not?
  [[nodiscard]] bool determines_state() const {
    return lu_.determines(step_.jacobian(), step_.n());
  }

 private:
  bool direction();
  NewtonEnd settle();
  double correction();
  [[nodiscard]] double scaled_size(const std::vector<double>& step) const;
  double size_of(double* derivatives);

  ImplicitStep& step_;
  double tol_;
  DenseLu lu_;
  std::vector<double> direction_, work_;
  Vector d_trial_, lambda_trial_;
  bool singular_ = false, regular_now_ = true;
  double inconsistency_ = 0;
  double residual_ = 0;
  long iterations_ = 0;
};

}  // namespace perp
