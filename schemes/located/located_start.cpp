#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

/// Length of the first step of an order-(s+1) estimate, from the first two coefficients of the
/// solution in units of the tolerance (Hairer and Wanner's rule).
constexpr double first_share = 0.01;
constexpr double multiplier_share = 0.2;  ///< of its range: no multiplier moves farther at once

/// The first coefficients of a series, 0 where the equations do not determine them.
Vector known_rates(const Matrix& series, const std::vector<int>& known) {
  Vector rates = Vector::Zero(series.rows());
  for (Eigen::Index j = 0; j < series.rows(); ++j)
    if (known[static_cast<std::size_t>(j)] > 1) rates[j] = series(j, 1);
  return rates;
}

}  // namespace

/// Finds the mode in which the solution starts; an inconsistent x0 goes to the limit of short
/// implicit steps first.
void LocatedRun::begin(const Vector& x0) {
  const int n = system_.n(), m = system_.m();
  now_ = {span_.start, x0, Vector::Zero(m), Vector::Zero(m), Mode(static_cast<std::size_t>(m), 0)};
  smooth_h_ = span_.end - span_.start;
  moved_from_ = now_;
  largest_ = x0.cwiseAbs();
  std::vector<double> z(static_cast<std::size_t>(evaluator_.inputs()), 0.0);
  std::vector<double> rows(static_cast<std::size_t>(n + m));
  z[0] = span_.start;
  std::copy(x0.begin(), x0.end(), z.begin() + Dcs::time_input() + 1 + n);
  evaluator_.evaluate(z.data(), rows.data());
  for (int i = 0; i < m; ++i) {
    const double w = rows[static_cast<std::size_t>(n + i)];
    if (!std::isfinite(w)) continue;
    now_.w[i] = w;
    // Of the branches over this w the one nearest to it; λ is the mode's business.
    const Law& law = system_.laws[static_cast<std::size_t>(i)];
    double nearest = inf;
    for (std::size_t k = 0; k < law.branches.size(); ++k) {
      const Range range = w_range(law.branches[k]);
      const double distance = std::max({range.lower - w, w - range.upper, 0.0});
      if (distance < nearest)
        nearest = distance, now_.mode[static_cast<std::size_t>(i)] = static_cast<int>(k);
    }
  }
  unsettled_ = errors_at_start();
  go_on(now_, all_laws_, {}, JumpOfX::none);
}

/// Goes on from the present time in the mode of a continuation.
void LocatedRun::enter(const Continuation& continuation) {
  const Jet& jet = continuation.jet;
  pole_.reset();
  now_.mode = continuation.mode;
  now_.x = jet.x.col(0);
  now_.lambda = jet.lambda.col(0);
  now_.w = jet.w.col(0);
  rests_ = continuation.at_end;
  flow_.set_mode(now_.mode, structure(jet).velocity_level, rests_ ? ends_ : BranchForms::Ends{});
  is_high_index_ = structure(jet).is_high_index;
  needs_jets_ = false;
  for (int k = 0; k < flow_.size(); ++k) needs_jets_ = needs_jets_ || !flow_.is_differential(k);
  flow_.gather(known_rates(jet.x, jet.x_known), known_rates(jet.lambda, jet.lambda_known), ydot_);
  flow_.gather(now_.x, now_.lambda, y_);
  radau_.start(now_.t, y_, ydot_);
  settle_sides();
  watch_algebraic_part(jet);
  make_gaps();
  h_ = std::max(std::min(first_step(jet), smooth_h_), shortest_step());
  if (options_.fixed_step > 0) h_ = options_.fixed_step;
}

/// Of the attempt: which of several roots the rates are tells where the next mode starts.
void LocatedRun::keep_rates() {
  if (!jets_.is_nonlinear_in_rates()) return;
  radau_.interpolate_derivative(1, ydot_);
  rates_before_ = ydot_.head(system_.n());
}

/// How a mode is integrated, found once for each. The laws whose multiplier only the second
/// derivative of w holds are contacts, kept by dw/dt = 0, which is of index 2; other unknowns that
/// one level of differentiation leaves open are of a higher index.
const LocatedRun::Structure& LocatedRun::structure(const Jet& jet) {
  const auto known = structures_.find(jet.mode);
  if (known != structures_.end()) return known->second;
  Structure structure;
  const Jet first = first_jets_.solve(jet.mode, jet.t, jet.x.col(0), jet.lambda.col(0),
                                      jets_.is_nonlinear_in_rates() ? Vector(jet.x.col(1)) : Vector());
  for (int i = 0; i < system_.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch = system_.laws[law].branches[static_cast<std::size_t>(jet.mode[law])];
    if (!is_vertical(branch) || first.lambda_known[law] > 0) continue;
    structure.velocity_level.resize(static_cast<std::size_t>(system_.m()), 0);
    structure.velocity_level[law] = 1;
  }
  if (structure.velocity_level.empty())
    structure.is_high_index = std::any_of(first.x_known.begin(), first.x_known.end(),
                                          [](int known_of_x) { return known_of_x == 0; });
  return structures_.emplace(jet.mode, std::move(structure)).first->second;
}

double LocatedRun::first_step(const Jet& jet) const {
  if (options_.first_step > 0 && steps_ == 0) return options_.first_step;
  double size = 0, speed = 0, bend = 0;
  for (int j = 0; j < system_.n(); ++j) {
    if (!flow_.is_differential(j)) continue;
    const double unit = options_.tol * (scales_.x[j] + std::abs(jet.x(j, 0)));
    size = std::max(size, std::abs(jet.x(j, 0)) / unit);
    speed = std::max(speed, std::abs(jet.x(j, 1)) / unit);
    if (jet.x.cols() > 2) bend = std::max(bend, std::abs(2 * jet.x(j, 2)) / unit);
  }
  const double span = span_.end - span_.start;
  // Where the state rests a multiplier may move all the same.
  double longest = 0.1 * span;
  for (const int i : flow_.free_laws()) {
    const auto law = static_cast<std::size_t>(i);
    if (jet.lambda_known[law] < 2 || jet.lambda(i, 1) == 0) continue;
    const Range range = system_.laws[law].branches[static_cast<std::size_t>(jet.mode[law])].lambda;
    const double width = range.upper - range.lower;
    const double room =
        std::isfinite(width) ? width : std::max(scales_.lambda[i], std::abs(jet.lambda(i, 0)));
    longest = std::min(longest, multiplier_share * room / std::abs(jet.lambda(i, 1)));
  }
  const double T = scales_.time;
  const double change = std::max(speed * T, bend * T * T);  // within T
  if (change == 0) return std::min(first_share * span, longest);
  if (!std::isfinite(change)) return 0;  // faster than doubles tell: the shortest step
  return std::min(T * std::pow(first_share / change, 1.0 / (stages_ + 1)), longest);
}

/// Both ways from an end at which w stays because nothing moves it.
void LocatedRun::add_resting_gaps() {
  for (int i = 0; i < system_.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch = system_.laws[law].branches[static_cast<std::size_t>(now_.mode[law])];
    double end = inf;
    if (!flow_.inert().empty() && flow_.inert()[law]) end = branch.c / branch.a;
    if (rests_ && jets_.is_held(i, now_.mode)) end = ends_[law];
    if (!std::isfinite(end)) continue;
    std::erase_if(gaps_, [&](const Gap& gap) { return gap.law == i && !gap.of_lambda; });
    for (const double sign : {1.0, -1.0})
      gaps_.push_back({i, -1, false, end, sign, -1, -1, true});
  }
}

void LocatedRun::make_gaps() {
  gaps_ = gaps_of(system_.laws, now_.mode);
  for (int k = 0; k < resets_.count(); ++k) {
    // −1 falls from above, +1 rises from below, 0 leaves the side where it is, if that is known.
    const int direction = resets_.reset(k).direction, side = resets_.side(k);
    for (const int sign : {1, -1})
      if (direction == -sign || (direction == 0 && side != -sign))
        gaps_.push_back({-1, k, false, 0, static_cast<double>(sign)});
  }
  add_resting_gaps();
  add_bound_gaps();
  const auto count = static_cast<Eigen::Index>(gaps_.size());
  samples_.resize(count, watch_.points().size());
  depth_.resize(count);
  noise_.resize(count);
  rise_.resize(count);
  inside_.assign(gaps_.size(), 1);
  // The sizes of the terms of w: what rounding and tolerance of a gap refer to.
  Matrix w_ydot, w_y, w_p;
  Vector w_t;
  ydot_ = Vector::Zero(flow_.size());
  law_sizes_ = scales_.w;
  if (system_.m() > 0 && flow_.linearize_w(now_.t, ydot_, y_, w_, w_ydot, w_y, w_t, w_p))
    for (int i = 0; i < system_.m(); ++i) {
      law_sizes_[i] = std::abs(w_[i]);
      for (int j = 0; j < flow_.size(); ++j) {
        const int n = system_.n();
        const double scale =
            j < n ? scales_.x[j]
                  : scales_.lambda[flow_.free_laws()[static_cast<std::size_t>(j - n)]];
        law_sizes_[i] += std::abs(w_y(i, j)) * std::max(std::abs(y_[j]), scale);
      }
    }
}

}  // namespace perp
