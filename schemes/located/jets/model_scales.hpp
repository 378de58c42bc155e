#pragma once

#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>

namespace perp {

/// The units in which the numbers of a system are of the size 1: of time, of the variables, of the
/// multipliers, of the w. In units that are 2^k times smaller they are 2^k times larger, bit for
/// bit.
struct ModelScales {
  double time = 1;
  /// The shortest time in which a term of F drives a derivative, <= time; a power of two.
  double fastest = 1;
  Vector x;       ///< n
  Vector lambda;  ///< m
  Vector w;       ///< m
};

/// Units T, X_j, Λ_i and those of the rows, R_k, in which the terms of every row are alike: with c
/// an entry of the derivatives of (F, G) at (t, 0, x, 0),
///     log₂|c| + log₂ (unit of its column) − log₂ R_k ≈ 0     (X_j/T for ẋ_j),
/// and likewise for the numbers of the laws, the values x_j and the known scales, by least squares
/// in which small entries count less. In other units of a variable or of time the result is the
/// same times the unit; what nothing tells is 1. `known` (n): of the variables, 0 where none is. T is no longer than the
/// span. That bound where it is passed, and that of an X_j within which a nonlinear term outgrows its row (see
/// `nonlinear_units`), are relations of their own.
ModelScales model_scales(const Dcs& system, const Vector& x, Span span, const Vector& known);
/// The same with an evaluator of that system.
ModelScales model_scales(const Dcs& system, DcsEvaluator& evaluator, const Vector& x, Span span,
                         const Vector& known);

/// How far two times near t may be apart and be one moment: this share of a time of the model, and
/// what the rounding of t hides. From where time is counted changes the latter alone.
double one_moment(double share, double time, double t);

}  // namespace perp
