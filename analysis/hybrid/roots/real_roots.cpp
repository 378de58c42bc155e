#include <algorithm>

#include <perp/analysis/hybrid/roots/real_roots.hpp>

namespace perp {
namespace {

constexpr int digits = 64;      ///< binary, of a root
constexpr long tiny = -1100;    ///< 2 to this power: roots nearer to 0 are 0
constexpr int most_halvings = 4096;

void trim(RationalPolynomial& p) {
  while (!p.empty() && p.back() == 0) p.pop_back();
}

Rational value(const RationalPolynomial& p, const Rational& x) {
  Rational sum;
  for (std::size_t k = p.size(); k-- > 0;) {
    sum *= x;
    sum += p[k];
  }
  return sum;
}

RationalPolynomial derivative(const RationalPolynomial& p) {
  RationalPolynomial result;
  for (std::size_t k = 1; k < p.size(); ++k) result.push_back(Rational(static_cast<long>(k)) * p[k]);
  return result;
}

/// p becomes its remainder by d, its quotient is returned.
RationalPolynomial divide(RationalPolynomial& p, const RationalPolynomial& d) {
  RationalPolynomial quotient(p.size() < d.size() ? 0 : p.size() - d.size() + 1);
  for (std::size_t k = quotient.size(); k-- > 0;) {
    quotient[k] = p[k + d.size() - 1] / d.back();
    for (std::size_t i = 0; i < d.size(); ++i) p[k + i] -= quotient[k] * d[i];
  }
  trim(p);
  return quotient;
}

/// Positive multiples have the same signs and smaller numbers.
void shorten(RationalPolynomial& p) {
  if (!p.empty()) make_primitive(p);
}

/// p and its successors by Euclid's algorithm with -remainder.
std::vector<RationalPolynomial> sturm_chain(const RationalPolynomial& p) {
  std::vector<RationalPolynomial> chain{p, derivative(p)};
  while (chain.back().size() > 1) {
    RationalPolynomial rest = chain[chain.size() - 2];
    divide(rest, chain.back());
    if (rest.empty()) break;
    for (Rational& c : rest) c = -c;
    shorten(rest);
    chain.push_back(std::move(rest));
  }
  return chain;
}

int sign_changes(const std::vector<RationalPolynomial>& chain, const Rational& x) {
  int changes = 0, before = 0;
  for (const RationalPolynomial& p : chain) {
    const int sign = value(p, x).sign();
    if (sign == 0) continue;
    changes += before != 0 && sign != before ? 1 : 0;
    before = sign;
  }
  return changes;
}

/// All roots are in between this and its negative: a power of two.
Rational bound_of_roots(const RationalPolynomial& p) {
  Rational sum = 1;
  for (std::size_t k = 0; k + 1 < p.size(); ++k) sum += abs(p[k] / p.back());
  return ldexp(Rational(1), binary_size(sum) + 1);
}

/// The only root in (low, high], to its digits. A sum of powers of two ends where the root does.
Rational refined(const RationalPolynomial& p, Rational low, Rational high) {
  if (value(p, high) == 0) return high;
  const int side = value(p, high).sign();
  for (int k = 0; k < most_halvings; ++k) {
    Rational middle = ldexp(low + high, -1);
    const Rational width = high - low, size = abs(middle);
    const bool is_known = !(size == 0) && binary_size(width) < binary_size(size) - digits;
    if (is_known || binary_size(width) < tiny) return middle;
    const int sign = value(p, middle).sign();
    if (sign == 0) return middle;
    (sign == side ? high : low) = std::move(middle);
  }
  return ldexp(low + high, -1);
}

void isolate(const std::vector<RationalPolynomial>& chain, const Rational& low,
             const Rational& high, std::vector<Rational>& roots) {
  const int count = sign_changes(chain, low) - sign_changes(chain, high);
  if (count <= 0) return;
  if (count == 1) {
    roots.push_back(refined(chain.front(), low, high));
    return;
  }
  const Rational middle = ldexp(low + high, -1);
  isolate(chain, low, middle, roots);
  isolate(chain, middle, high, roots);
}

}  // namespace

RationalPolynomial interpolate(const std::vector<Rational>& values) {
  // Newton's divided differences at 0, 1, 2, ...
  std::vector<Rational> c = values;
  for (std::size_t k = 1; k < c.size(); ++k)
    for (std::size_t i = c.size(); i-- > k;)
      c[i] = (c[i] - c[i - 1]) / Rational(static_cast<long>(k));
  RationalPolynomial result;
  for (std::size_t k = c.size(); k-- > 0;) {
    // result (x - k) + c_k
    RationalPolynomial next(result.size() + 1);
    for (std::size_t i = 0; i < result.size(); ++i) {
      next[i + 1] += result[i];
      next[i] -= Rational(static_cast<long>(k)) * result[i];
    }
    next[0] += c[k];
    result = std::move(next);
  }
  trim(result);
  return result;
}

std::vector<Rational> real_roots(RationalPolynomial p) {
  trim(p);
  std::vector<Rational> roots;
  if (p.size() < 2) return roots;
  shorten(p);
  std::vector<RationalPolynomial> chain = sturm_chain(p);
  if (chain.back().size() > 1) {  // a common divisor with p': roots once
    p = divide(p, chain.back());
    chain = sturm_chain(p);
  }
  const Rational bound = bound_of_roots(p);
  isolate(chain, -bound, bound, roots);
  return roots;
}

}  // namespace perp
