#pragma once

#include <algorithm>
#include <cmath>

#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/bounded.hpp>

namespace perp {

/// What the proofs need to know of their scalar: with rational numbers every sign is decided.
inline bool is_zero(const Rational& a) { return a == 0; }
inline int decided_sign(const Rational& a) { return a.sign(); }
inline bool is_decided(const Rational&) { return true; }
inline void subtract_product(Rational& a, const Rational& f, const Rational& g) {
  if (g != 0) a -= f * g;
}
inline const Rational& larger(const Rational& a, const Rational& b) { return a < b ? b : a; }
inline bool is_larger(const Rational& a, const Rational& b) { return abs(a) > abs(b); }
template <class Real>
Bounded<Real> larger(const Bounded<Real>& a, const Bounded<Real>& b) {
  return {std::max(a.value, b.value), std::max(a.error, b.error)};
}
template <class Real>
bool is_larger(const Bounded<Real>& a, const Bounded<Real>& b) {
  return std::abs(a.value) > std::abs(b.value);
}

}  // namespace perp
