// Zeros of the constraints' Taylor polynomials within a step.
#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/sparse/rise.hpp>

namespace perp {
namespace {

constexpr int most_halvings = 60;

class Rise {
 public:
  Rise(const double* c, int degree) : c_(c), degree_(degree) {}

  /// In (a, b], p(a) <= 0.
  std::optional<double> within(double a, double b, int depth) {
    const double r = (b - a) / 2, m = a + r;
    double value = 0, slope = 0;
    for (int k = degree_; k >= 0; --k) {
      slope = slope * m + value;
      value = value * m + c_[k];
    }
    // |p''| on [a, b]
    double bend = 0;
    for (int k = degree_; k >= 2; --k) bend = bend * b + k * (k - 1) * std::abs(c_[k]);
    if (value + std::abs(slope) * r + bend * r * r / 2 <= 0) return std::nullopt;
    const bool is_monotone = std::abs(slope) > bend * r;
    if (is_monotone && slope < 0) return std::nullopt;
    if (is_monotone || depth == most_halvings || m <= a || m >= b)
      return polynomial(c_, degree_, b) > 0 ? std::optional(zero(a, b)) : std::nullopt;
    if (const std::optional<double> left = within(a, m, depth + 1)) return left;
    if (value > 0) return m;  // by rounding alone: the left half found none
    return within(m, b, depth + 1);
  }

 private:
  /// Newton's method between p(a) <= 0 and p(b) > 0, halved where it leaves them.
  double zero(double a, double b) {
    double s = a + (b - a) / 2;
    for (int k = 0; k < most_halvings * 2; ++k) {
      double value = 0, slope = 0;
      for (int j = degree_; j >= 0; --j) {
        slope = slope * s + value;
        value = value * s + c_[j];
      }
      (value > 0 ? b : a) = s;
      double next = s - value / slope;
      if (!(next > a && next < b)) next = a + (b - a) / 2;
      if (next <= a || next >= b || next == s) break;
      s = next;
    }
    return b;
  }

  const double* c_;
  int degree_;
};

}  // namespace

double polynomial(const double* c, int degree, double s) {
  double value = 0;
  for (int k = degree; k >= 0; --k) value = value * s + c[k];
  return value;
}

double polynomial_size(const double* c, int degree, double s) {
  double value = 0;
  for (int k = degree; k >= 0; --k) value = value * s + std::abs(c[k]);
  return value;
}

std::optional<double> first_rise(const double* c, int degree, double h) {
  double rest = 0;
  for (int k = degree; k >= 1; --k) rest = (rest + std::abs(c[k])) * h;
  if (c[0] + rest <= 0) return std::nullopt;
  return Rise(c, degree).within(0, h, 0);
}

}  // namespace perp
