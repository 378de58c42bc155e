// Steps in one mode, and where its constraints end it: event capturing of hybrid models is made of
// these.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/analysis/hybrid/mode_steps.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double share_of_value = 1e-11;  ///< of [0, 1]: up to where a released binary is known
constexpr int most_lengths = 120;

std::unique_ptr<Scheme> scheme_of(const Dcs& system, const Theta& options) {
  if (const std::optional<SparseLcs> matrices = as_sparse_lcs(system))
    return capturing_scheme(*matrices, options);
  return capturing_scheme(system, options);
}

}  // namespace

ModeSteps::ModeSteps(const HybridModel& model, const Dcs& system, HybridMode mode,
                     const Theta& options)
    : mode_(std::move(mode)),
      q_(model.q()),
      scheme_(scheme_of(system, options)),
      evaluator_(system) {
  for (int i = 0; i < q_; ++i)
    if (mode_.z[at(i)] == released_binary)
      for (const bool upper : {false, true}) gaps_.push_back({i, true, upper});
  for (int l = 0; l < static_cast<int>(model.g.size()); ++l)
    if (!mode_.is_idle[at(l)]) gaps_.push_back({q_ + l, false, false});
}

void ModeSteps::from(const Step& state) {
  start_ = state;
  std::fill(start_.mode.begin(), start_.mode.end(), 0);  // the only branches of this mode
  is_at_start_ = false;
}

bool ModeSteps::attempt(double t_next, double h) {
  if (!is_at_start_) scheme_->restore(start_);
  is_at_start_ = true;
  errors_.reset();
  if (scheme_->attempt(t_next, h).status != Status::solved) return false;
  scheme_->accept();
  is_at_start_ = false;
  end_ = scheme_->snapshot();
  h_ = h;
  return true;
}

void ModeSteps::transfer(Archive& archive) { archive(*scheme_, start_, end_, is_at_start_, h_, errors_); }

void ModeSteps::accept() {
  start_ = end_;
  is_at_start_ = true;
}

double ModeSteps::margin(int gap, const Step& state) const {
  const Gap& here = gaps_[at(gap)];
  if (!here.of_lambda) return -state.w[here.law];
  return here.upper ? 1 - state.lambda[here.law] : state.lambda[here.law];
}

ModeSteps::Margin ModeSteps::margin_at_end(int gap) {
  const Gap& here = gaps_[at(gap)];
  if (here.of_lambda) return {margin(gap, end_), share_of_value};
  if (!errors_) {
    const int n = evaluator_.n(), m = evaluator_.m();
    Vector z(evaluator_.inputs()), z_error = Vector::Zero(evaluator_.inputs());
    const Vector x_error = scheme_->rounding();
    z << end_.t, (end_.x - start_.x) / h_, end_.x, end_.lambda;
    z_error.segment(1, n) = 2 * x_error / h_;
    z_error.segment(1 + n, n) = x_error;
    Vector rows(n + m), errors(n + m);
    evaluator_.evaluate_bounded(z.data(), z_error.data(), rows.data(), errors.data());
    errors_ = errors.tail(m);
  }
  return {margin(gap, end_), (*errors_)[here.law]};
}

bool ModeSteps::is_violated() {
  for (int gap = 0; gap < static_cast<int>(gaps_.size()); ++gap)
    if (margin(gap, end_) < 0)
      if (const Margin here = margin_at_end(gap); here.value < -here.error) return true;
  return false;
}

bool ModeSteps::leaves_range_by_less(double share) {
  for (int gap = 0; gap < static_cast<int>(gaps_.size()); ++gap) {
    const Margin here = margin_at_end(gap);
    if (here.value < -(gaps_[at(gap)].of_lambda ? share : here.error)) return false;
  }
  return true;
}

void ModeSteps::hold_range() {
  for (const Gap& gap : gaps_)
    if (gap.of_lambda) end_.lambda[gap.law] = std::clamp(end_.lambda[gap.law], 0.0, 1.0);
}

/// Regula falsi on the constraint whose secant is 0 first, between a length that violates nothing
/// and one that does.
std::optional<double> ModeSteps::locate(double h) {
  double low = 0, high = h;
  Vector at_low(static_cast<Eigen::Index>(gaps_.size())), at_high(at_low.size());
  const auto read = [&](Vector& values) {
    for (int gap = 0; gap < values.size(); ++gap) values[gap] = margin(gap, end_);
  };
  for (int gap = 0; gap < at_low.size(); ++gap) at_low[gap] = margin(gap, start_);
  read(at_high);
  for (int k = 0; k < most_lengths; ++k) {
    // The first zero of the secants of all that are violated at `high`.
    double length = high;
    for (Eigen::Index gap = 0; gap < at_low.size(); ++gap)
      if (at_high[gap] < 0)
        length = std::min(length, low + (high - low) * std::max(at_low[gap], 0.0) /
                                            (std::max(at_low[gap], 0.0) - at_high[gap]));
    if (!(length > low && length < high) || k % 4 == 3) length = low + (high - low) / 2;
    if (length <= low || length >= high || high - low <= epsilon * std::abs(start_.t)) break;
    if (!attempt(length)) return std::nullopt;
    const bool is_beyond = is_violated();
    // On the constraint as far as rounding can tell.
    for (int gap = 0; gap < at_low.size(); ++gap)
      if (at_high[gap] < 0)
        if (const Margin here = margin_at_end(gap);
            !is_beyond && std::abs(here.value) <= here.error)
          return length;
    (is_beyond ? high : low) = length;
    read(is_beyond ? at_high : at_low);
  }
  if (low == 0) return 0.0;
  if (!attempt(low)) return std::nullopt;
  return low;
}

}  // namespace perp
