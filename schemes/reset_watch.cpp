#include <algorithm>
#include <cmath>

#include <perp/schemes/reset_watch.hpp>

namespace perp {
namespace {

constexpr int most_bisections = 60;

int sign_of(double value) { return (value > 0) - (value < 0); }

}  // namespace

ResetWatch::ResetWatch(const Dcs& system, DcsEvaluator& evaluator)
    : evaluator_(evaluator),
      resets_(system.resets),
      side_(resets_.size(), 0),
      fired_(resets_.size(), 0),
      z_(static_cast<std::size_t>(evaluator.inputs())) {
  std::size_t most = 0;
  for (const Reset& reset : resets_) most = std::max(most, reset.values.size());
  values_.resize(most);
  x_ = Vector::Zero(evaluator.n());
  lambda_ = Vector::Zero(evaluator.m());
}

double ResetWatch::condition(std::size_t reset, double t, const Vector& x, const Vector& lambda) {
  double* z = z_.data();
  *z++ = t;
  for (Eigen::Index j = 0; j < x.size(); ++j) *z++ = 0;
  for (Eigen::Index j = 0; j < x.size(); ++j) *z++ = x[j];
  for (Eigen::Index i = 0; i < lambda.size(); ++i) *z++ = lambda[i];
  return evaluator_.condition(reset, z_.data());
}

void ResetWatch::start(double t, const Vector& x, const Vector& lambda) {
  for (std::size_t k = 0; k < resets_.size(); ++k) {
    side_[k] = sign_of(condition(k, t, x, lambda));
    fired_[k] = 0;
  }
}

double ResetWatch::condition_between(std::size_t reset, double s) {
  x_ = (1 - s) * x0_ + s * x1_;
  lambda_ = (1 - s) * lambda0_ + s * lambda1_;
  return condition(reset, (1 - s) * t0_ + s * t1_, x_, lambda_);
}

ResetWatch::Firing ResetWatch::first(double t0, const Vector& x0, const Vector& lambda0, double t1,
                                     const Vector& x1, const Vector& lambda1) {
  Firing firing;
  t0_ = t0, x0_ = x0, lambda0_ = lambda0;
  t1_ = t1, x1_ = x1, lambda1_ = lambda1;
  for (std::size_t k = 0; k < resets_.size(); ++k) {
    const int from = side_[k], to = sign_of(condition(k, t1, x1, lambda1));
    const int direction = resets_[k].direction;
    if (from == 0 || to == from || (direction != 0 && direction != -from)) continue;
    // The last point on the old side, to rounding; 0 where it starts at 0.
    double low = 0, high = 1;
    if (sign_of(condition_between(k, 0)) == from)
      for (int i = 0; i < most_bisections; ++i) {
        const double middle = low + (high - low) / 2;
        (sign_of(condition_between(k, middle)) == from ? low : high) = middle;
      }
    if (firing.reset >= 0 && low >= firing.s) continue;
    firing = {static_cast<int>(k), low, fired_[k] != 0};
  }
  if (firing.reset >= 0) {
    fired_[static_cast<std::size_t>(firing.reset)] = 1;
    return firing;
  }
  for (std::size_t k = 0; k < resets_.size(); ++k) {
    const int to = sign_of(condition(k, t1, x1, lambda1));
    if (to == 0) continue;
    fired_[k] = 0;
    side_[k] = to;
  }
  return firing;
}

void ResetWatch::apply(int reset, double t, Vector& x, const Vector& lambda) {
  const auto k = static_cast<std::size_t>(reset);
  condition(k, t, x, lambda);  // writes z
  evaluator_.reset_values(k, z_.data(), values_.data());
  for (std::size_t j = 0; j < resets_[k].variables.size(); ++j)
    x[resets_[k].variables[j]] = values_[j];
  // A condition that the reset itself carries across 0 has not been crossed by the motion.
  for (std::size_t i = 0; i < resets_.size(); ++i)
    if (i != k && sign_of(condition(i, t, x, lambda)) != 0)
      side_[i] = sign_of(condition(i, t, x, lambda));
}

}  // namespace perp
