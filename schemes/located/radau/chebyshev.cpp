#include <fmt/format.h>
#include <cmath>
#include <numbers>

#include <perp/core/base/error.hpp>
#include <perp/schemes/located/radau/chebyshev.hpp>

namespace perp {
namespace {

/// Of the sums Σ″ with halved ends: of place k of 0..d.
double end_weight(int k, int d) { return k == 0 || k == d ? 0.5 : 1; }

/// Is |c_0| > Σ_{j≥1} |c_j|, so that Σ_j c_j T_j is nowhere 0, since |T_j| ≤ 1?
bool has_no_zero(const Vector& coefficients) {
  double sum = 0;
  for (Eigen::Index j = 1; j < coefficients.size(); ++j) sum += std::abs(coefficients[j]);
  return std::abs(coefficients[0]) > sum;
}

/// Do values at the two ends have opposite signs, neither being 0?
bool is_sign_change(double low, double high) { return (low < 0 && high > 0) || (low > 0 && high < 0); }

}  // namespace

Chebyshev::Chebyshev(int degree) : degree_(degree) {
  if (degree < 2) throw InvalidInput(fmt::format("the degree must be >= 2 but is {}", degree));
  const int d = degree;
  points_.resize(d + 1);
  transform_.resize(d + 1, d + 1);
  for (int k = 0; k <= d; ++k) points_[k] = (1 - std::cos(std::numbers::pi * k / d)) / 2;
  points_[0] = 0;
  points_[d] = 1;
  // c_j = (2/d) Σ″_k f(s_k) T_j(2 s_k − 1), both sums with halved ends; T_j(−cos θ) = (−1)^j cos
  // jθ.
  for (int j = 0; j <= d; ++j)
    for (int k = 0; k <= d; ++k) {
      const double end = end_weight(j, d) * end_weight(k, d);
      // The angle modulo 2π in integers: cos of a large argument would lose digits.
      const double cosine = std::cos(std::numbers::pi * ((j * k) % (2 * d)) / d);
      transform_(j, k) = 2.0 / d * end * (j % 2 == 0 ? 1 : -1) * cosine;
    }
}

void Chebyshev::interpolate(const Vector& values, Vector& coefficients) const {
  coefficients.noalias() = transform_ * values;
}

double Chebyshev::evaluate(const Vector& coefficients, double s) {
  const double x = 2 * s - 1;
  double previous = 0, now = 0;  // Clenshaw
  for (Eigen::Index j = coefficients.size() - 1; j > 0; --j) {
    const double next = 2 * x * now - previous + coefficients[j];
    previous = now;
    now = next;
  }
  return x * now - previous + coefficients[0];
}

void Chebyshev::differentiate(const Vector& coefficients, Vector& derivative) {
  const Eigen::Index d = coefficients.size() - 1;
  derivative.setZero(std::max<Eigen::Index>(d, 1));
  // c'_{j−1} = c'_{j+1} + 2 j c_j in 2s − 1, whose derivative with respect to s is 2.
  for (Eigen::Index j = d; j > 0; --j)
    derivative[j - 1] =
        (j + 1 < d ? derivative[j + 1] : 0) + 4 * static_cast<double>(j) * coefficients[j];
  derivative[0] /= 2;
}

void Chebyshev::sign_changes(const Vector& coefficients, std::vector<double>& zeros) {
  zeros.clear();
  if (has_no_zero(coefficients)) return;
  constexpr int points_per_degree = 4;
  const auto n = static_cast<int>(points_per_degree * coefficients.size());
  double low = 0, low_value = evaluate(coefficients, 0);
  for (int k = 1; k <= n; ++k) {
    const double high = (1 - std::cos(std::numbers::pi * k / n)) / 2;
    const double high_value = evaluate(coefficients, high);
    const auto is_low = [&](double s) { return (evaluate(coefficients, s) > 0) == (low_value > 0); };
    if (is_sign_change(low_value, high_value)) zeros.push_back(bisect(low, high, is_low).second);
    if (high_value != 0) low = high, low_value = high_value;
  }
}

}  // namespace perp
