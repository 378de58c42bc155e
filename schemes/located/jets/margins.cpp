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
};

/// Decides one margin by its first coefficient that counts.
void judge(const Margin& margin, const Matrix& value, const Matrix& size, int law, double tau,
           double eps, double moment, MarginVerdict& verdict) {
  double power = 1;
  // What the value changes by within the size of a moment: its zero is known to a share of it.
  const double drift = margin.known > 1 ? moment * std::abs(value(law, 1)) : 0;
  for (int k = 0; k < margin.known; ++k, power *= tau) {
    const double c = margin.sign * (value(law, k) - (k == 0 ? margin.bound : 0)) * power;
    const double terms =
        std::max({size(law, 0), std::abs(margin.bound), size(law, k) * power, k == 0 ? drift : 0});
    if (std::abs(c) <= eps * terms) continue;
    if (c > 0) return;
    verdict.admissible = verdict.strict = false;
    verdict.violation = std::max(verdict.violation, -c / terms);
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
    const Branch& branch = laws[i].branches[static_cast<std::size_t>(jet.mode[i])];
    const bool vertical = is_vertical(branch);
    const Range range = vertical ? branch.lambda : w_range(branch);
    const Matrix& value = vertical ? jet.lambda : jet.w;
    const Matrix& size = vertical ? lambda_size : jet.w_size;
    const int known = vertical ? jet.lambda_known[i] : jet.w_known[i];
    for (const Margin& margin : {Margin{1, range.lower, known}, Margin{-1, range.upper, known}})
      if (std::isfinite(margin.bound))
        judge(margin, value, size, law, options.tau, options.eps, moment, verdict);
  }
  return verdict;
}

}  // namespace perp
