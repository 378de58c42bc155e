// The points from which StepSearch starts Newton's method in a mode.
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/step/step_search.hpp>

namespace perp {
namespace {

constexpr std::size_t most_gridded = 3;  ///< free multipliers up to which all combinations start
/// Of the Newton step from a state that stays: where that leads nowhere, further ones on its line.
constexpr double far_starts[] = {1, -1, 2, -2, 4, -4, 16, -16, 0.25, -0.25, 256, -256, 4096, -4096, 65536, -65536};

/// The values of λ on a branch: its bounds of w count too where it slopes.
Range range_of_lambda(const Branch& branch) {
  Range range = branch.lambda;
  if (branch.b != 0) {
    const auto at = [&](double w) { return (branch.c - branch.a * w) / branch.b; };
    range.lower = std::max(range.lower, std::min(at(branch.w.lower), at(branch.w.upper)));
    range.upper = std::min(range.upper, std::max(at(branch.w.lower), at(branch.w.upper)));
  }
  return range;
}

/// Values of λ on a branch, increasing: `shares` of the way between its ends, closer to them where
/// there are more; beyond an open end by powers of ten.
std::vector<double> samples(const Branch& branch, std::size_t count) {
  const Range range = range_of_lambda(branch);
  const bool below = std::isfinite(range.lower), above = std::isfinite(range.upper);
  std::vector<double> shares{0, 0.5, 1};
  if (count > 3) shares = {0, 0.03, 0.3, 0.7, 0.97, 1};
  if (count > 6)
    shares = {0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999, 0.9999, 1};
  std::vector<double> list;
  for (const double share : shares) {
    if (below && above) {
      list.push_back(range.lower + share * (range.upper - range.lower));
      continue;
    }
    // A share of a half line or of the line, by a map that has its end at 1 (and at 0).
    const double far = std::min(share, 0.9999);
    if (below)
      list.push_back(range.lower + far / (1 - far));
    else if (above)
      list.push_back(range.upper - (1 - std::max(share, 1e-4)) / std::max(share, 1e-4));
    else
      list.push_back(std::tan(3.14 * (far - 0.5)));
  }
  return list;
}

}  // namespace

/// Multipliers to start from, in the mode that is set: those given, then the middles and the ends
/// of the branches.
std::vector<Vector> StepSearch::starts(const Vector& lambda) const {
  std::vector<Vector> list(4, lambda);
  for (const int law : step_.free_laws()) {
    const std::vector<double> values = samples(step_.branch(law), 3);
    list[1][law] = values[1];
    list[2][law] = values[0];
    list[3][law] = values[2];
  }
  return list;
}

/// All combinations of values of the free multipliers, in the mode that is set.
std::vector<Vector> StepSearch::grid(const Vector& lambda) const {
  const std::vector<int>& free = step_.free_laws();
  if (free.empty() || free.size() > most_gridded) return {};
  std::vector<Vector> list{lambda};
  for (const int law : free) {
    std::vector<Vector> longer;
    for (const Vector& start : list)
      for (const double value : samples(step_.branch(law), free.size() == 1   ? 15
                                                           : free.size() == 2 ? 6
                                                                              : 3)) {
        longer.push_back(start);
        longer.back()[law] = value;
      }
    list = std::move(longer);
  }
  return list;
}

/// Moves d_ so that w of the law gets as far within its branch as it is outside. False: it is not outside, or by no number.
bool StepSearch::move_inside(int law, std::vector<double>& slopes) {
  const Range range = w_range(step_.branch(law));
  const double missing = std::clamp(w_[law], range.lower, range.upper) - w_[law];
  if (missing == 0 || !std::isfinite(missing)) return false;
  // The least change, in the units of the variables, that moves w by 2 missing.
  step_.w_derivatives(law, slopes.data());
  Vector slope(step_.n());
  for (int j = 0; j < step_.n(); ++j)
    slope[j] = std::ldexp(slopes[static_cast<std::size_t>(j)], step_.units()[j]);
  const double square = slope.squaredNorm();
  if (!(square > 0) || !std::isfinite(square)) return false;
  for (int j = 0; j < step_.n(); ++j)
    d_[j] += std::ldexp(2 * missing * slope[j] / square, step_.units()[j]);
  return true;
}

/// Newton's method from a point at which the arguments of laws are as far within the branches that
/// are set as they are outside of them at d = 0, where the equations may have no values: √w a little
/// below 0. Is the mode decided?
bool StepSearch::search_inside(const Mode& mode, const Vector& lambda, FoundSolutions& found) {
  d_ = Vector::Zero(step_.n());
  lambda_ = lambda;
  step_.set_mode(mode);
  step_.fix(lambda_);
  (void)step_.linearise(d_, lambda_);  // w has a value where F has none
  step_.w(w_);
  std::vector<double> slopes(static_cast<std::size_t>(step_.size()));
  bool is_moved = false;
  for (int law = 0; law < step_.m(); ++law) is_moved = move_inside(law, slopes) || is_moved;
  bool inside = false;
  return is_moved && try_from(mode, found, inside) == NewtonEnd::converged;
}

/// Newton's method from points on the line of its first step from d = 0: the only unit that the
/// equations of the step give to an unknown rate, or, where that leads nowhere, from the units of
/// the unknowns. All roots that this leads to. Is the mode decided?
bool StepSearch::search_far(const Mode& mode, const Vector& lambda, FoundSolutions& found) {
  d_ = Vector::Zero(step_.n());
  lambda_ = lambda;
  step_.set_mode(mode);
  Vector direction = d_, multipliers = lambda_;
  bool is_decided = false;
  const auto search = [&] {
    for (const double share : far_starts) {
      bool inside = false;
      d_ = share * direction;
      lambda_ = lambda + share * (multipliers - lambda);
      is_decided = try_from(mode, found, inside) == NewtonEnd::converged || is_decided;
    }
  };
  if (newton_.first_step(direction, multipliers)) search();
  if (is_decided) return true;
  multipliers = lambda;
  for (int j = 0; j < step_.n(); ++j) direction[j] = std::ldexp(1, step_.units()[j]);
  search();
  return is_decided;
}

}  // namespace perp
