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
    const Middle p{tangent(m), bend(b), r};
    if (p.has_no_rise()) return std::nullopt;
    if (p.is_monotone() || depth == most_halvings || !is_between(m, a, b))
      return polynomial(c_, degree_, b) > 0 ? std::optional(zero(a, b)) : std::nullopt;
    if (const std::optional<double> left = within(a, m, depth + 1)) return left;
    if (p.at.value > 0) return m;  // by rounding alone: the left half found none
    return within(m, b, depth + 1);
  }

 private:
  struct Tangent {
    double value = 0, slope = 0;
  };
  /// p(s), p'(s)
  [[nodiscard]] Tangent tangent(double s) const {
    Tangent p;
    for (int k = degree_; k >= 0; --k) {
      p.slope = p.slope * s + p.value;
      p.value = p.value * s + c_[k];
    }
    return p;
  }

  /// A bound of |p''| on [0, b].
  [[nodiscard]] double bend(double b) const {
    double bend = 0;
    for (int k = degree_; k >= 2; --k) bend = bend * b + k * (k - 1) * std::abs(c_[k]);
    return bend;
  }

  /// What is known of p up to r on both sides of a point, where |p''| is at most `bend`.
  struct Middle {
    Tangent at;
    double bend, r;

    [[nodiscard]] bool is_negative() const { return at.value + std::abs(at.slope) * r + bend * r * r / 2 <= 0; }
    [[nodiscard]] bool is_monotone() const { return std::abs(at.slope) > bend * r; }
    [[nodiscard]] bool has_no_rise() const { return is_negative() || (is_monotone() && at.slope < 0); }
  };

  static bool is_between(double s, double a, double b) { return s > a && s < b; }

  /// Newton's method between p(a) <= 0 and p(b) > 0, halved where it leaves them.
  double zero(double a, double b) {
    double s = a + (b - a) / 2;
    for (int k = 0; k < most_halvings * 2; ++k) {
      const Tangent p = tangent(s);
      (p.value > 0 ? b : a) = s;
      double next = s - p.value / p.slope;
      if (!is_between(next, a, b)) next = a + (b - a) / 2;
      if (!is_between(next, a, b) || next == s) break;
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
