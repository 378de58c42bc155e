#pragma once

#include <perp/core/base/types.hpp>
#include <perp/core/dcs_evaluator.hpp>

namespace perp {

/// Units of the variables at which no term that is nonlinear in one of them outgrows its row: `units` (n), halved
/// for single variables as long as the way from x by a unit to one of both sides changes a row of (F, G) by more
/// than 8 times its unit, `row_units` (n + m), and 8 times what its derivative at x tells; and no more than some
/// thousand times what the variable moves within `time` at its rate there. All in the units of the model; z =
/// (t, ẋ = 0, x, λ) is the point. Rows without a value do not count. `evaluator` is one of the system.
Vector nonlinear_units(const Dcs& system, DcsEvaluator& evaluator, const std::vector<double>& z, const Vector& units,
                       const Vector& row_units, double time);

}  // namespace perp
