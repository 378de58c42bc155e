#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/radau/gaps.hpp>

namespace perp {

namespace {

constexpr double most_tail = 0.05;     ///< of the variation of a gap within a step
constexpr double least_clearance = 4;  ///< of a turn from 0, in what the polynomial leaves out

/// Does a gap that was `above` come from beyond its depth to within it, at a turn that is not the end?
bool is_near_dip(bool above, bool is_end, double before, double at_turn, double depth) {
  return above && !is_end && before > depth && std::abs(at_turn) <= depth;
}

/// Is c_0 > Σ_{j≥1} |c_j|, so that Σ_j c_j T_j is positive throughout, since |T_j| ≤ 1?
bool is_positive(const Vector& coefficients) {
  double sum = 0;
  for (Eigen::Index j = 1; j < coefficients.size(); ++j) sum += std::abs(coefficients[j]);
  return coefficients[0] > sum;
}

}  // namespace

std::vector<Gap> gaps_of(const std::vector<Law>& laws, const Mode& mode) {
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const Branch& branch = laws[i].branches[static_cast<std::size_t>(mode[i])];
    const bool of_lambda = is_vertical(branch);
    const Range range = of_lambda ? branch.lambda : w_range(branch);
    const int law = static_cast<int>(i);
    if (std::isfinite(range.lower)) gaps.push_back({law, -1, of_lambda, range.lower, 1});
    if (std::isfinite(range.upper)) gaps.push_back({law, -1, of_lambda, range.upper, -1});
  }
  return gaps;
}

std::optional<GapWatch::Fall> GapWatch::first(const Matrix& values, const Vector& depth,
                                              const Vector& noise, const Vector& rise,
                                              const std::vector<char>& inside) {
  std::optional<Fall> earliest;
  dips_.clear();
  for (Eigen::Index g = 0; g < values.rows(); ++g) {
    chebyshev_.interpolate(values.row(g), coefficients_);
    std::optional<Fall> found = fall(static_cast<int>(g), depth[g], noise[g], rise[g], inside[static_cast<std::size_t>(g)] != 0);
    if (!found || (earliest && found->s >= earliest->s)) continue;
    earliest = found;
  }
  return earliest;
}

std::optional<GapWatch::Fall> GapWatch::fall(int gap, double depth, double noise, double rise, bool inside) {
  if (is_positive(coefficients_)) return std::nullopt;
  Chebyshev::differentiate(coefficients_, derivative_);
  Chebyshev::sign_changes(derivative_, turns_);
  turns_.push_back(1);
  // Between its turns the gap is monotone.
  double low = 0, low_value = Chebyshev::evaluate(coefficients_, 0);
  bool above = inside || low_value > rise;
  for (const double high : turns_) {
    const double high_value = Chebyshev::evaluate(coefficients_, high);
    const bool last = high == 1;
    if (above && high_value < -(last ? noise : depth)) {
      const auto is_above = [&](double s) { return Chebyshev::evaluate(coefficients_, s) >= 0; };
      const double zero = Chebyshev::bisect(low, high, is_above).first;
      return Fall{gap, zero, Chebyshev::evaluate(derivative_, zero), low, high};
    }
    // A dip that does not count leaves the gap where it was: on the inner side.
    if (is_near_dip(above, last, low_value, high_value, depth)) dips_.push_back({gap, high});
    low = high;
    low_value = high_value;
    above = above || high_value > rise;
  }
  return std::nullopt;
}

/// How far from 0 the polynomial is at its turns inside the step, at least.
double GapWatch::clearance_of_turns() {
  Chebyshev::differentiate(coefficients_, derivative_);
  Chebyshev::sign_changes(derivative_, turns_);
  double least = inf;
  for (const double turn : turns_) least = std::min(least, std::abs(Chebyshev::evaluate(coefficients_, turn)));
  return least;
}

bool GapWatch::is_resolved(const Vector& values, int degree, double noise) {
  chebyshev_.interpolate(values, coefficients_);
  double tail = 0, sum = 0;
  for (Eigen::Index j = 1; j < coefficients_.size(); ++j) {
    sum += std::abs(coefficients_[j]);
    if (j >= degree) tail += std::abs(coefficients_[j]);
  }
  if (tail <= noise || coefficients_[0] - sum > sum) return true;
  if (tail > most_tail * sum) return false;
  // What the polynomial leaves out is of the size of its last terms: no more than a turn stays away from 0.
  const Eigen::Index d = coefficients_.size() - 1;
  const double left_out = std::abs(coefficients_[d]) + std::abs(coefficients_[d - 1]);
  return left_out <= noise || clearance_of_turns() > least_clearance * left_out;
}

}  // namespace perp
