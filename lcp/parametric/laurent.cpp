#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/lcp/parametric/laurent.hpp>

namespace perp {
namespace {

constexpr long double laurent_cancelled = 1e-13L;  // beside its terms; the data are doubles

}  // namespace

Laurent::Laurent(int order, long double value) : order_(value == 0 ? 0 : order) { c_[0] = value; }

long double Laurent::coefficient(int power) const {
  const int k = power - order_;
  return k < 0 || k >= terms ? 0 : c_[at(k)];
}

Laurent Laurent::magnitude() const {
  Laurent result = *this;
  for (long double& value : result.c_) value = std::abs(value);
  return result;
}

/// Makes c_0 the first coefficient that is not 0.
void Laurent::normalise() {
  const auto first = std::find_if(c_.begin(), c_.end(), [](long double v) { return v != 0; });
  if (first == c_.end()) {
    order_ = 0;
    return;
  }
  order_ += static_cast<int>(first - c_.begin());
  std::fill(std::move(first, c_.end(), c_.begin()), c_.end(), 0.0L);
}

Laurent operator+(const Laurent& a, const Laurent& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  Laurent sum;
  sum.order_ = std::min(a.order_, b.order_);
  for (int k = 0; k < Laurent::terms; ++k) {
    const long double left = a.coefficient(sum.order_ + k), right = b.coefficient(sum.order_ + k);
    sum.c_[at(k)] = Arithmetic<long double>::difference(left, -right);
  }
  sum.normalise();
  return sum;
}

Laurent operator-(const Laurent& a) {
  Laurent result = a;
  for (long double& value : result.c_) value = -value;
  return result;
}

Laurent operator*(const Laurent& a, const Laurent& b) {
  if (a.is_zero() || b.is_zero()) return {};
  Laurent product;
  product.order_ = a.order_ + b.order_;
  for (int k = 0; k < Laurent::terms; ++k) {
    long double sum = 0, size = 0;
    for (int i = 0; i <= k; ++i) {
      const long double term = a.c_[at(i)] * b.c_[at(k - i)];
      sum += term;
      size += std::abs(term);
    }
    product.c_[at(k)] = std::abs(sum) <= laurent_cancelled * size ? 0 : sum;
  }
  return product;
}

Laurent operator/(const Laurent& a, const Laurent& b) {
  if (a.is_zero()) return {};
  Laurent quotient;
  quotient.order_ = a.order_ - b.order_;
  for (int k = 0; k < Laurent::terms; ++k) {
    long double rest = a.c_[at(k)], size = std::abs(rest);
    for (int i = 1; i <= k; ++i) {
      const long double term = b.c_[at(i)] * quotient.c_[at(k - i)];
      rest -= term;
      size += std::abs(term);
    }
    quotient.c_[at(k)] = std::abs(rest) <= laurent_cancelled * size ? 0 : rest / b.c_[0];
  }
  return quotient;
}

void Arithmetic<Laurent>::normalise(std::vector<Laurent>& direction) {
  Laurent largest;
  for (const Laurent& value : direction) largest = std::max(largest, value.magnitude());
  if (largest.is_zero()) return;
  const Laurent unit(largest.order(), largest.coefficient(largest.order()));
  for (Laurent& value : direction) value /= unit;
}

bool Arithmetic<Laurent>::is_small(const Laurent& value, const Laurent& size, long double tol) {
  for (int k = value.order(); k < value.order() + Laurent::terms; ++k)
    if (std::abs(value.coefficient(k)) > tol * std::abs(size.coefficient(k))) return false;
  return true;
}

}  // namespace perp
