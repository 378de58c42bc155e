#include <algorithm>
#include <cmath>

#include <perp/schemes/newton/branch_follower.hpp>

namespace perp {
namespace {

constexpr int first_lengths[] = {-24, -48, -96, -192, -384, -768};  ///< h 2^k, the first that is solved
constexpr int most_lengths = 200;             ///< at which it is solved
constexpr double most_growth = 4;             ///< from one length to the next
constexpr double least_growth = 1 + 0x1p-10;  ///< of a chain that goes on
constexpr double most_power = 8;              ///< of the length, that an unknown follows
constexpr double same_power = 0.125;          ///< relative: powers that were the same between three lengths

}  // namespace

bool BranchFollower::follow(double h, const Start& start, Vector& d, Vector& lambda) {
  if (!begin(h, start, d, lambda)) return false;
  before_.length = earlier_.length = 0;
  reach_ = d.cwiseAbs();
  double growth = 2;
  for (int count = 0; count < most_lengths && growth >= least_growth; ++count) {
    last_.d = d;
    last_.lambda = lambda;
    if (last_.length == h) return true;
    const double tried = last_.length * growth < h ? last_.length * growth : h;
    if (!go_on(tried, d, lambda)) {
      growth = std::sqrt(growth);
      d = last_.d;
      lambda = last_.lambda;
      continue;
    }
    reach_ = (d - last_.d).cwiseAbs();
    std::swap(earlier_, before_);
    std::swap(before_, last_);
    last_.length = tried;
    growth = std::min(growth * growth, most_growth);
  }
  return false;
}

/// The first length: where √x ends soon, Newton's steps leave its domain unless those of time are much
/// shorter than that end is away.
bool BranchFollower::begin(double h, const Start& start, Vector& d, Vector& lambda) {
  const Vector nothing = Vector::Zero(d.size());
  for (const int k : first_lengths) {
    last_.length = std::ldexp(h, k);
    if (!(last_.length > 0)) break;
    set_length_(last_.length);
    d = nothing;
    lambda = start.lambda;
    if (is_solved(last_.length, start.is_guess, d, lambda)) return true;
    bool left_domain = newton_.left_domain();
    if (start.rate.size() > 0) {
      d = last_.length * start.rate;
      lambda = start.lambda;
      if (is_solved(last_.length, start.is_guess, d, lambda)) return true;
      left_domain = left_domain || newton_.left_domain();
    }
    if (!left_domain) break;
  }
  return false;
}

/// The next length, from what grows with it, from what stays, or from powers of it: where √x ends, x does so
/// with the square of the length.
bool BranchFollower::go_on(double length, Vector& d, Vector& lambda) {
  set_length_(length);
  d = last_.d * (length / last_.length);
  lambda = last_.lambda;
  if (is_next(length, d, lambda)) return true;
  d = last_.d;
  lambda = last_.lambda;
  if (is_next(length, d, lambda)) return true;
  d = last_.d;
  lambda = last_.lambda;
  newton_.put_on_branches(d, lambda);
  if (lambda != last_.lambda && is_next(length, d, lambda)) return true;
  return follows_powers(length, d, lambda) && is_next(length, d, lambda);
}

/// Powers of the length through the last two solutions, where they lead through the one before as well:
/// roots that are about to meet follow none.
bool BranchFollower::follows_powers(double length, Vector& d, Vector& lambda) const {
  if (earlier_.length == 0) return false;
  const auto all = d.size() + lambda.size();
  for (Eigen::Index j = 0; j < all; ++j) {
    const auto of = [&](const Link& link) { return j < d.size() ? link.d[j] : link.lambda[j - d.size()]; };
    const auto power = [&](const Link& a, const Link& b) {
      const double ratio = of(b) / of(a);
      return of(a) == of(b) ? 0 : std::log(ratio) / std::log(b.length / a.length);  // NaN: another sign
    };
    const double p = power(before_, last_), p_before = power(earlier_, before_);
    if (!(std::abs(p) <= most_power && std::abs(p - p_before) <= same_power * std::max(std::abs(p), 1.0))) return false;
    (j < d.size() ? d[j] : lambda[j - d.size()]) = of(last_) * std::pow(length / last_.length, p);
  }
  return true;
}

bool BranchFollower::is_solved(double length, bool is_guess, Vector& d, Vector& lambda) {
  const NewtonEnd end = is_guess ? newton_.run(d, lambda) : newton_.run_near(d, lambda);
  return end == NewtonEnd::converged && (newton_.is_local() || is_guess) &&
         has_orientation_(newton_.orientation(), length);
}

/// A solution near the last one, on the way to which the matrix hardly changes: no other root of a variable can be there.
bool BranchFollower::is_next(double length, Vector& d, Vector& lambda) {
  return is_solved(length, false, d, lambda) &&
         newton_.leads_straight(last_.d, last_.lambda, d, lambda, rooted_, reach_);
}

}  // namespace perp
