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

/// The branch of a law in the mode of the solution.
const Branch& branch_of(const Mlcp& base, const Solution& solution, int i) {
  const auto law = static_cast<std::size_t>(i);
  return base.laws[law].branches[static_cast<std::size_t>(solution.mode[law])];
}

/// M11 u + M12 λ + q1 of a row of the family at θ.
WideSum equation_at(const ParametricMlcp& family, const double* theta, const Solution& solution, int row) {
  const int p = family.base.p(), m = family.base.m(), k = family.k();
  WideSum sum;
  for (int j = 0; j < p; ++j) sum.add(family.bounded_entry(row, j), solution.u[j]);
  for (int j = 0; j < m; ++j) sum.add(family.bounded_entry(row, p + j), solution.lambda[j]);
  for (int j = 0; j < k; ++j) sum.add(family.bounded_entry(row, p + m + j), theta[j]);
  sum.add(family.bounded_entry(row, p + m + k), 1.0);
  return sum;
}

/// w of a law: M21 u + M22 λ + q2 of the family at θ.
WideSum argument_at(const ParametricMlcp& family, const double* theta, const Solution& solution, int law) {
  const Mlcp& base = family.base;
  WideSum sum{{base.q2[law], 0}, std::abs(base.q2[law])};
  for (int j = 0; j < base.p(); ++j) sum.add({base.M21(law, j), 0}, solution.u[j]);
  for (int j = 0; j < base.m(); ++j) sum.add({base.M22(law, j), 0}, solution.lambda[j]);
  for (int j = 0; j < family.k(); ++j) sum.add({family.Q2(law, j), 0}, theta[j]);
  return sum;
}

}  // namespace

double residual_in_roundings(const ParametricMlcp& family, const double* theta,
                             Solution& solution) {
  const Mlcp& base = family.base;
  const int p = base.p(), m = base.m();
  const double each = static_cast<double>(p + m + family.k() + 2) * unit_roundoff;
  for (int i = 0; i < m; ++i) {
    const Branch& branch = branch_of(base, solution, i);
    solution.lambda[i] =
        std::clamp(solution.lambda[i], branch.lambda.lower, branch.lambda.upper);
  }
  double largest = solution.u.allFinite() && solution.lambda.allFinite() ? 0 : inf;
  for (int i = 0; i < p; ++i) {
    const WideSum sum = equation_at(family, theta, solution, i);
    largest = std::max(largest, ratio(sum.value.high, each * sum.terms));
  }
  solution.w.resize(m);
  for (int i = 0; i < m; ++i) {
    const WideSum sum = argument_at(family, theta, solution, i);
    solution.w[i] = sum.value.high;
    largest = std::max(largest, miss_of_law(branch_of(base, solution, i), solution.w[i], solution.lambda[i],
                                            each * sum.terms));
  }
  return largest;
}

}  // namespace perp
