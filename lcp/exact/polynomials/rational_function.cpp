#include <algorithm>
#include <cstddef>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/polynomials/common_divisor.hpp>
#include <perp/lcp/exact/polynomials/rational_function.hpp>

namespace perp {
namespace {

Polynomial product(const Polynomial& a, const Polynomial& b) {
  if (a.size() == 1 && a[0] == 1) return b;
  if (b.size() == 1 && b[0] == 1) return a;
  Polynomial result;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] != 0) add(result, b, k, a[k]);
  return result;
}

}  // namespace

RationalFunction::RationalFunction(int order, Rational value) : order_(value == 0 ? 0 : order) {
  if (value != 0) numerator_.push_back(std::move(value));
}

RationalFunction RationalFunction::reduced(int order, Polynomial numerator,
                                           Polynomial denominator) {
  const auto first =
      std::find_if(numerator.begin(), numerator.end(), [](const Rational& v) { return v != 0; });
  if (first == numerator.end()) return {};
  RationalFunction result;
  result.order_ = order + static_cast<int>(first - numerator.begin());
  numerator.erase(numerator.begin(), first);
  if (denominator.size() > 1 && numerator.size() > 1) {
    const Polynomial divisor = common_divisor(numerator, denominator);
    if (divisor.size() > 1) {
      numerator = divide(numerator, divisor);
      denominator = divide(denominator, divisor);
    }
  }
  if (const Rational unit = denominator.front(); unit != 1) {
    for (Rational& value : numerator) value /= unit;
    for (Rational& value : denominator) value /= unit;
  }
  result.numerator_ = std::move(numerator);
  result.denominator_ = std::move(denominator);
  return result;
}

/// c_k = a_k − Σ_{i≥1} b_i c_{k−i}
Rational RationalFunction::coefficient(int power) const {
  if (is_zero() || power < order_) return 0;
  const std::size_t last = at(power - order_);
  std::vector<Rational> series;
  for (std::size_t k = 0; k <= last; ++k) {
    Rational value = k < numerator_.size() ? numerator_[k] : Rational();
    for (std::size_t i = 1; i <= k && i < denominator_.size(); ++i)
      value -= denominator_[i] * series[k - i];
    series.push_back(std::move(value));
  }
  return series.back();
}

int RationalFunction::compare(const RationalFunction& a, const RationalFunction& b) {
  if (a.sign() != b.sign()) return a.sign() < b.sign() ? -1 : 1;
  if (a.is_zero()) return 0;
  if (a.order_ != b.order_) return a.order_ > b.order_ ? -a.sign() : a.sign();
  if (a.numerator_.front() != b.numerator_.front())
    return a.numerator_.front() < b.numerator_.front() ? -1 : 1;
  return (a - b).sign();
}

RationalFunction operator+(const RationalFunction& a, const RationalFunction& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const int order = std::min(a.order_, b.order_);
  const bool alike = a.denominator_ == b.denominator_;
  Polynomial sum;
  add(sum, alike ? a.numerator_ : product(a.numerator_, b.denominator_), at(a.order_ - order), 1);
  add(sum, alike ? b.numerator_ : product(b.numerator_, a.denominator_), at(b.order_ - order), 1);
  return RationalFunction::reduced(
      order, std::move(sum), alike ? a.denominator_ : product(a.denominator_, b.denominator_));
}

RationalFunction operator-(RationalFunction a) {
  for (Rational& value : a.numerator_) value = -std::move(value);
  return a;
}

RationalFunction operator*(const RationalFunction& a, const RationalFunction& b) {
  if (a.is_zero() || b.is_zero()) return {};
  return RationalFunction::reduced(a.order_ + b.order_, product(a.numerator_, b.numerator_),
                                   product(a.denominator_, b.denominator_));
}

RationalFunction operator/(const RationalFunction& a, const RationalFunction& b) {
  if (a.is_zero()) return {};
  return RationalFunction::reduced(a.order_ - b.order_, product(a.numerator_, b.denominator_),
                                   product(a.denominator_, b.numerator_));
}

void Arithmetic<RationalFunction>::normalise(std::vector<RationalFunction>& direction) {
  RationalFunction largest;
  for (const RationalFunction& value : direction) largest = std::max(largest, size(value));
  if (largest.is_zero()) return;
  const RationalFunction unit(largest.order(), largest.leading());
  for (RationalFunction& value : direction) value /= unit;
}

}  // namespace perp
