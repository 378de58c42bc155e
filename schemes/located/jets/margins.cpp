#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/jets/margins.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>

namespace perp {
namespace {

/// The series of a margin, ±(value − bound), and the sizes of its terms.
struct Margin {
  double sign;
  double bound;
  int known;
  double rate;  ///< with which the value came
};

/// What has margins in a law: λ on a vertical branch, else w.
struct Quantity {
  Range range;
  const Matrix& value;
  const Matrix& size;
  int known;
  double rate;
};

/// With which w came to this moment; of λ it is not asked.
double rate_of(const MarginOptions& options, int law, bool is_of_lambda) {
  return is_of_lambda || options.rates.size() == 0 ? 0 : options.rates[law];
}

/// `lambda_size`: of the terms of the coefficients of λ.
Quantity quantity_of(const Jet& jet, const std::vector<Law>& laws, int law, const Matrix& lambda_size,
                     const MarginOptions& options) {
  const auto i = static_cast<std::size_t>(law);
  const Branch& branch = laws[i].branches[static_cast<std::size_t>(jet.mode[i])];
  const double rate = rate_of(options, law, is_vertical(branch));
  if (is_vertical(branch)) return {branch.lambda, jet.lambda, lambda_size, jet.lambda_known[i], rate};
  return {w_range(branch), jet.w, jet.w_size, jet.w_known[i], rate};
}

/// What the value changes by within the size of a moment: its zero is known to a share of it.
double drift_of(const Margin& margin, const Matrix& value, int law, double moment) {
  return margin.known > 1 ? moment * std::max(std::abs(value(law, 1)), margin.rate) : 0;
}

/// |c| relative to its terms; of a w that time alone moves no term has a size.
double violation_of(double c, double terms) { return -c / (terms > 0 ? terms : -c); }

/// Decides one margin by its first coefficient that counts.
void judge(const Margin& margin, const Matrix& value, const Matrix& size, int law,
           const MarginOptions& options, double moment, MarginVerdict& verdict) {
  double near_power = 1, far_power = 1;
  double passed_over = 0;  // what the near coefficients that do not count are farther away
  const double drift = drift_of(margin, value, law, moment);
  for (int k = 0; k < margin.known; ++k, near_power *= options.tau, far_power *= options.far_tau) {
    const bool is_near = k < options.near;
    const double power = is_near ? near_power : far_power;
    const double coefficient = margin.sign * (value(law, k) - (k == 0 ? margin.bound : 0));
    const double c = coefficient * power;
    const double terms =
        std::max({size(law, 0), std::abs(margin.bound), size(law, k) * power, k == 0 ? drift : 0});
    if (std::abs(c) <=
        (is_near ? options.eps * terms : std::max(options.eps * terms, passed_over))) {
      passed_over = std::max(passed_over, std::abs(coefficient) * far_power);
      continue;
    }
    if (c > 0) return;
    verdict.admissible = verdict.strict = false;
    verdict.violation = std::max(verdict.violation, violation_of(c, terms));
    return;
  }
  verdict.strict = false;
  verdict.open.push_back(law);
}

}  // namespace

MarginVerdict judge_margins(const Jet& jet, const std::vector<Law>& laws, const JetScales& scales,
                            const MarginOptions& options, const std::vector<char>& ignored) {
  MarginVerdict verdict;
  const double moment = one_moment(options.eps, scales.time, jet.t) / options.eps;
  Matrix lambda_size = jet.lambda.cwiseAbs();
  if (scales.lambda.size() > 0 && lambda_size.size() > 0)
    lambda_size.col(0) = lambda_size.col(0).cwiseMax(scales.lambda);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (!ignored.empty() && ignored[i]) continue;
    const int law = static_cast<int>(i);
    const Quantity of = quantity_of(jet, laws, law, lambda_size, options);
    const Margin lower{1, of.range.lower, of.known, of.rate}, upper{-1, of.range.upper, of.known, of.rate};
    for (const Margin& margin : {lower, upper})
      if (std::isfinite(margin.bound)) judge(margin, of.value, of.size, law, options, moment, verdict);
  }
  return verdict;
}

}  // namespace perp
