#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <perp/core/base/types.hpp>
#include <perp/lcp/exact/polynomials/positive_roots.hpp>

namespace perp {
namespace {

/// -(a mod b) up to a positive factor.
Polynomial turned_rest(Polynomial a, const Polynomial& b) {
  divide(a, b);
  for (Rational& value : a) value = -std::move(value);
  make_primitive(a);
  return a;
}

/// Sign at x, which may be infinite.
int sign_at(const Polynomial& a, double x) {
  if (std::isinf(x)) return a.back().sign();
  const Rational at(x);
  Rational value;
  for (std::size_t k = a.size(); k-- > 0;) {
    value *= at;
    value += a[k];
  }
  return value.sign();
}

/// Changes of sign along the sequence, zeros left out.
int changes_at(const std::vector<Polynomial>& sequence, double x) {
  int changes = 0, last = 0;
  for (const Polynomial& a : sequence) {
    const int sign = sign_at(a, x);
    if (sign == 0) continue;
    changes += last != 0 && sign != last ? 1 : 0;
    last = sign;
  }
  return changes;
}

/// The least power of 2 beyond 2^below up to which there is a root; up to 2^above there is one.
int power_above(const PositiveRoots& roots, int below, int above) {
  while (above - below > 1) {
    const int middle = (above + below) / 2;
    (roots.has_root_to(std::ldexp(1, middle)) ? above : below) = middle;
  }
  return above;
}

}  // namespace

PositiveRoots::PositiveRoots(Polynomial p) {
  trim(p);
  if (p.empty()) return;
  const auto first = std::find_if(p.begin(), p.end(), [](const Rational& a) { return a != 0; });
  p.erase(p.begin(), first);
  make_primitive(p);
  Polynomial derivative;
  for (std::size_t k = 1; k < p.size(); ++k) derivative.push_back(Rational(static_cast<long>(k)) * p[k]);
  sequence_.push_back(std::move(p));
  while (!derivative.empty()) {
    sequence_.push_back(std::move(derivative));
    derivative = turned_rest(sequence_[sequence_.size() - 2], sequence_.back());
  }
}

bool PositiveRoots::has_root_to(double end) const {
  return changes_at(sequence_, 0) != changes_at(sequence_, end);
}

double PositiveRoots::smallest() const {
  if (!has_root_to(inf)) return inf;
  // Between two powers of 2, then between two doubles.
  constexpr int lowest = std::numeric_limits<double>::min_exponent - std::numeric_limits<double>::digits;
  constexpr int highest = std::numeric_limits<double>::max_exponent - 1;
  if (!has_root_to(std::ldexp(1, highest))) return std::ldexp(1, highest);
  const int power = power_above(*this, lowest, highest);
  double low = std::ldexp(1, power - 1), high = std::ldexp(1, power);
  for (double middle = low + (high - low) / 2; low < middle && middle < high; middle = low + (high - low) / 2)
    (has_root_to(middle) ? high : low) = middle;
  return sign_at(sequence_.front(), high) == 0 ? high : low;
}

}  // namespace perp
