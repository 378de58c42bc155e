#pragma once

#include <perp/lcp/exact/polynomials/polynomial.hpp>

namespace perp {

/// The common divisor of two polynomials of the highest degree, with integer factors without a common divisor; {1} where
/// they have none. Neither is 0. By its images modulo primes: one of degree 0 shows that there is none, and one that
/// divides both polynomials, of the degree of an image, is the highest.
Polynomial common_divisor(Polynomial a, Polynomial b);

}  // namespace perp
