#include <algorithm>

#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

/// A sum in doubled precision with the size of its terms.
struct WideSum {
  DoubleDouble value;
  double terms = 0;

  void add(const DoubleDouble& factor, double other) {
    if (factor.high == 0 || other == 0) return;
    value = value + factor * other;
    terms += std::abs(factor.high * other);
  }
};

double ratio(double value, double rounding) {
  if (value == 0) return 0;
  return rounding > 0 && std::isfinite(value) ? std::abs(value) / rounding : inf;
}

/// By how much w, known to `rounding`, misses its branch at λ, in roundings.
double miss_of_law(const Branch& branch, double w, double lambda, double rounding) {
  const double line = branch.a * w + branch.b * lambda - branch.c;
  const double terms = std::abs(branch.b * lambda) + std::abs(branch.c);
  double miss = ratio(line, std::abs(branch.a) * rounding + 4 * unit_roundoff * terms);
  if (w < branch.w.lower) miss = std::max(miss, ratio(branch.w.lower - w, rounding));
  if (w > branch.w.upper) miss = std::max(miss, ratio(w - branch.w.upper, rounding));
  return miss;
}

}  // namespace

double residual_in_roundings(const ParametricMlcp& family, const double* theta,
                             Solution& solution) {
  const Mlcp& base = family.base;
  const int p = base.p(), m = base.m(), k = family.k();
  const double each = static_cast<double>(p + m + k + 2) * unit_roundoff;
  for (int i = 0; i < m; ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch =
        base.laws[law].branches[static_cast<std::size_t>(solution.mode[law])];
    solution.lambda[i] =
        std::clamp(solution.lambda[i], branch.lambda.lower, branch.lambda.upper);
  }
  const auto entry = [&](int j) {
    return j < p           ? solution.u[j]
           : j < p + m     ? solution.lambda[j - p]
           : j < p + m + k ? theta[j - p - m]
                           : 1.0;
  };
  double largest = solution.u.allFinite() && solution.lambda.allFinite() ? 0 : inf;
  for (int i = 0; i < p; ++i) {
    WideSum sum;
    for (int j = 0; j <= p + m + k; ++j) sum.add(family.bounded_entry(i, j), entry(j));
    largest = std::max(largest, ratio(sum.value.high, each * sum.terms));
  }
  solution.w.resize(m);
  for (int i = 0; i < m; ++i) {
    WideSum sum{{base.q2[i], 0}, std::abs(base.q2[i])};
    for (int j = 0; j < p; ++j) sum.add({base.M21(i, j), 0}, solution.u[j]);
    for (int j = 0; j < m; ++j) sum.add({base.M22(i, j), 0}, solution.lambda[j]);
    for (int j = 0; j < k; ++j) sum.add({family.Q2(i, j), 0}, theta[j]);
    solution.w[i] = sum.value.high;
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch =
        base.laws[law].branches[static_cast<std::size_t>(solution.mode[law])];
    largest = std::max(largest, miss_of_law(branch, solution.w[i], solution.lambda[i],
                                            each * sum.terms));
  }
  return largest;
}

}  // namespace perp
