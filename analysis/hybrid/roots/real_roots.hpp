#pragma once

#include <vector>

#include <perp/core/base/rational.hpp>

namespace perp {

/// Σ_k c_k x^k in rational numbers.
using RationalPolynomial = std::vector<Rational>;

/// The polynomial of degree at most values.size() - 1 with these values at 0, 1, 2, ...; without
/// leading zeros.
RationalPolynomial interpolate(const std::vector<Rational>& values);

/// The distinct real roots, increasing, each to 2^-64 of itself: by Sturm's theorem, so that there
/// are no others. Of the polynomial 0 none.
std::vector<Rational> real_roots(RationalPolynomial p);

}  // namespace perp
