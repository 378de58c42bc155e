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

/// With which w came to this moment.
double rate_of(const MarginOptions& options, int law) { return options.rates.size() == 0 ? 0 : options.rates[law]; }

/// Sizes of the coefficients of λ, their values at least those of the model.
Matrix sizes_of(const Matrix& lambda, const Vector& scales) {
  Matrix sizes = lambda.cwiseAbs();
  if (scales.size() > 0 && sizes.size() > 0) sizes.col(0) = sizes.col(0).cwiseMax(scales);
  return sizes;
}

/// The sign of the first coefficient behind the value that is none of the rounding of its own terms: where the margin is 0 and no
/// coefficient moves it by more than its value may be off, that still tells to which side it goes. 0: there is none.
int direction(const Margin& margin, const Matrix& value, const Matrix& size, int law, const MarginOptions& options) {
  for (int k = 1; k < std::min(margin.known, options.near); ++k)
    if (std::abs(value(law, k)) > options.eps * size(law, k)) return margin.sign * value(law, k) > 0 ? 1 : -1;
  return 0;
}

/// Notes that a margin becomes negative, by a coefficient c beside these terms. Of a w that time alone moves no term has a size.
void violate(double c, double terms, MarginVerdict& verdict) {
  verdict.admissible = verdict.strict = false;
  verdict.violation = std::max(verdict.violation, -c / (terms > 0 ? terms : -c));
}

/// The margin that no coefficient counts of, beside the size of its value.
void judge_by_direction(int side, int law, MarginVerdict& verdict) {
  if (side > 0) return;
  verdict.strict = false;
  if (side < 0)
    verdict.admissible = false;
  else
    verdict.open.push_back(law);
}

/// Decides one margin by its first coefficient that counts.
void judge(const Margin& margin, const Matrix& value, const Matrix& size, int law,
           const MarginOptions& options, double moment, MarginVerdict& verdict) {
  double near_power = 1, far_power = 1;
  double passed_over = 0;  // what the near coefficients that do not count are farther away
  // What the value changes by within the size of a moment: its zero is known to a share of it.
  double drift = margin.known > 1 ? moment * std::max(std::abs(value(law, 1)), margin.rate) : 0;
  double bound = margin.bound;
  for (int k = 0; k < margin.known; ++k, near_power *= options.tau, far_power *= options.far_tau, drift = 0, bound = 0) {
    const bool is_near = k < options.near;
    const double power = is_near ? near_power : far_power;
    const double coefficient = margin.sign * (value(law, k) - bound);
    const double c = coefficient * power;
    const double terms = std::max({size(law, 0), std::abs(margin.bound), size(law, k) * power, drift});
    if (std::abs(c) <= std::max(options.eps * terms, is_near ? 0 : passed_over)) {
      passed_over = std::max(passed_over, std::abs(coefficient) * far_power);
      continue;
    }
    if (!(c > 0)) violate(c, terms, verdict);
    return;
  }
  judge_by_direction(direction(margin, value, size, law, options), law, verdict);
}

}  // namespace

MarginVerdict judge_margins(const Jet& jet, const std::vector<Law>& laws, const JetScales& scales,
                            const MarginOptions& options, const std::vector<char>& ignored) {
  MarginVerdict verdict;
  const double moment = one_moment(options.eps, scales.time, jet.t) / options.eps;
  const Matrix lambda_size = sizes_of(jet.lambda, scales.lambda);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (!ignored.empty() && ignored[i]) continue;
    const int law = static_cast<int>(i);
    const Branch& branch = laws[i].branches[static_cast<std::size_t>(jet.mode[i])];
    const auto judge_both = [&](const Range& range, const Matrix& value, const Matrix& size, int known, double rate) {
      for (const Margin& margin : {Margin{1, range.lower, known, rate}, Margin{-1, range.upper, known, rate}})
        if (std::isfinite(margin.bound)) judge(margin, value, size, law, options, moment, verdict);
    };
    // Of λ it is not asked with which rate it came to this moment.
    if (is_vertical(branch))
      judge_both(branch.lambda, jet.lambda, lambda_size, jet.lambda_known[i], 0);
    else
      judge_both(w_range(branch), jet.w, jet.w_size, jet.w_known[i], rate_of(options, law));
  }
  return verdict;
}

}  // namespace perp
