#pragma once

#include <optional>

namespace perp {

/// The first s in (0, h] behind which p(s) = Σ_{k=0..degree} c_k s^k is positive, to rounding, for a p with
/// p(0) <= 0; none: there is no such s. Places where p touches 0 from below are none.
std::optional<double> first_rise(const double* c, int degree, double h);

/// p(s), and Σ |c_k| s^k.
///@{
double polynomial(const double* c, int degree, double s);
double polynomial_size(const double* c, int degree, double s);
///@}

}  // namespace perp
