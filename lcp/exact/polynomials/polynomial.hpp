#pragma once

#include <cstddef>
#include <vector>

#include <perp/core/base/rational.hpp>

namespace perp {

/// a_0 + a_1 x + ...: the factor of x^k in place k, the last one not 0.
using Polynomial = std::vector<Rational>;

/// Takes away the factors 0 of the highest powers.
void trim(Polynomial& a);
/// Adds x^shift factor b to a.
void add(Polynomial& a, const Polynomial& b, std::size_t shift, const Rational& factor);
/// The quotient in  a = quotient b + rest;  leaves the rest, of a smaller degree than b, in a. b is not 0.
Polynomial divide(Polynomial& a, const Polynomial& b);

}  // namespace perp
