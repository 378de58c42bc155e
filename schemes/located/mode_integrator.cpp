// Radau IIA in the present mode: made by the run, which takes its attempts.
#include <algorithm>
#include <cmath>

#include <perp/schemes/located/mode_integrator.hpp>

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

/// Factors that round nothing: the scale of a variable may be given as any number.
Vector powers_of_two(const Vector& scales) {
  return scales.unaryExpr([](double scale) { return std::exp2(std::ilogb(scale)); });
}

}  // namespace

ModeIntegrator::ModeIntegrator(const LocatedState& at, ModeJets& jets)
    : at_(at),
      jets_(jets),
      flow_(at.system, at.options.sensitivities.parameters),
      radau_(flow_, at.stages,
             {.rtol = at.options.tol, .atol = Vector::Constant(at.system.n(), at.options.tol)}),
      algebraic_(at, flow_) {}

void ModeIntegrator::set_scales() {
  radau_.set_tolerance({.rtol = at_.options.tol, .atol = at_.options.tol * at_.scales.x});
  radau_.set_units(powers_of_two(at_.scales.x), powers_of_two(at_.scales.lambda));
}

void ModeIntegrator::enter(const Jet& jet, bool first) {
  const ModeJets::Structure& structure = jets_.structure(jet);
  flow_.set_mode(at_.now.mode, structure.velocity_level, jets_.ends_of_mode());
  is_high_index_ = structure.is_high_index;
  needs_jets_ = false;
  for (int k = 0; k < flow_.size(); ++k) needs_jets_ = needs_jets_ || !flow_.is_differential(k);
  flow_.gather(known_rates(jet.x, jet.x_known), known_rates(jet.lambda, jet.lambda_known), ydot_);
  flow_.gather(at_.now.x, at_.now.lambda, y_);
  radau_.start(at_.now.t, y_, ydot_);
  const double asked = first ? at_.options.first_step : 0;
  length_ = std::max(std::min(asked > 0 ? asked : first_length(jet), smooth_length_), at_.shortest_step());
  if (at_.options.fixed_step > 0) length_ = at_.options.fixed_step;
}

void ModeIntegrator::watch(const Jet& jet) { algebraic_.watch(jet.t, jet.x.col(1)); }

Radau::Outcome ModeIntegrator::attempt(double h) {
  radau_.resolve(algebraic_.roots().unresolved());
  const Radau::Outcome outcome = radau_.attempt(h);
  if (outcome != Radau::Outcome::solved) return outcome;
  // The last correction of the stages may have left the domain of the equations.
  radau_.interpolate_derivative(1, ydot_);
  return flow_.evaluate(at_.now.t + h, ydot_, radau_.end(), y_) ? outcome : Radau::Outcome::domain;
}

void ModeIntegrator::propose_length(double h) {
  const double next = at_.options.fixed_step > 0 ? h : radau_.proposed_step();
  // Steps that were short because of an event or the end say nothing about the length wanted.
  const bool was_short = h < length_ && at_.options.fixed_step == 0;
  length_ = was_short ? std::max(next, std::min(length_, smooth_length_)) : next;
  smooth_length_ = length_;
}

void ModeIntegrator::accept() {
  // Of the attempt: which of several roots the rates are tells where the next mode starts.
  if (jets_.all().is_nonlinear_in_rates()) {
    radau_.interpolate_derivative(1, ydot_);
    rates_ = ydot_.head(at_.system.n());
  }
  radau_.accept();
}

Step ModeIntegrator::ahead(double time) const {
  Step ahead = at_.now;
  flow_.scatter(y_ + time * ydot_, ahead.x, ahead.lambda);
  ahead.t += time;
  return ahead;
}

Step ModeIntegrator::on_polynomial(double s, double h) {
  radau_.interpolate(s, y_);
  return at_interpolated(s, h);
}

Step ModeIntegrator::sample(double s, double h) {
  solve_at(s, AlgebraicPart::Asked::to_look);
  return at_interpolated(s, h);
}

Step ModeIntegrator::tell(double s, double h) {
  if (!solve_at(s, AlgebraicPart::Asked::to_tell)) algebraic_.lose(y_);
  return at_interpolated(s, h);
}

/// y_ at the share s of the attempt. False: its algebraic unknowns are not solved for.
bool ModeIntegrator::solve_at(double s, AlgebraicPart::Asked asked) {
  radau_.interpolate(s, y_);
  return !needs_jets_ || algebraic_.correct(radau_, s, asked, y_);
}

/// At the share s of the attempt of length h, with y_.
Step ModeIntegrator::at_interpolated(double s, double h) {
  Step state{at_.now.t + s * h, at_.now.x, at_.now.lambda, at_.now.w, at_.now.mode};
  radau_.interpolate_derivative(s, ydot_);
  flow_.scatter(y_, state.x, state.lambda);
  if (at_.system.m() > 0 && !flow_.w(state.t, ydot_, y_, state.w)) state.w.setConstant(nan);
  return state;
}

Step ModeIntegrator::end_of_attempt(double t) {
  return with_jet(t, [this](const Step& state) { return jets_.at_state(state); });
}

Step ModeIntegrator::row_of_attempt(double t) {
  return with_jet(t, [this](const Step& state) { return jets_.values_at(state); });
}

std::optional<Step> ModeIntegrator::row_on_polynomial(double t, double h) {
  const double s = (t - at_.now.t) / h;
  if (!solve_at(s, AlgebraicPart::Asked::to_tell)) return std::nullopt;
  Step state = at_interpolated(s, h);
  state.t = t;
  if (!needs_jets_) return state;
  const Jet jet = jets_.values_at(state);
  flow_.gather(state.x, state.lambda, y_);
  if (!jet.consistent || !jet.determined || !algebraic_.is_root_of(radau_, y_, jet)) return state;
  state.x = jet.x.col(0);
  state.lambda = jet.lambda.col(0);
  state.w = jet.w.col(0);
  return state;
}

/// Unknowns that have no rates by the jet at the end of the attempt.
template <class JetAt>
Step ModeIntegrator::with_jet(double t, const JetAt& jet_at) {
  Step state{t, Vector::Zero(at_.system.n()), Vector::Zero(at_.system.m()), Vector::Zero(at_.system.m()),
             at_.now.mode};
  flow_.scatter(radau_.end(), state.x, state.lambda);
  if (needs_jets_) {
    const Jet jet = jet_at(state);
    if (jet.consistent && jet.determined && algebraic_.is_root_of(radau_, radau_.end(), jet)) {
      state.x = jet.x.col(0);
      state.lambda = jet.lambda.col(0);
      state.w = jet.w.col(0);
      return state;
    }
  }
  radau_.interpolate_derivative(1, ydot_);
  if (!flow_.w(t, ydot_, radau_.end(), state.w)) state.w.setConstant(nan);
  return state;
}

ModeIntegrator::Speed ModeIntegrator::speed(const Continuation& continuation) {
  flow_.set_mode(continuation.mode, {}, jets_.ends());
  flow_.gather(continuation.jet.x.col(0), continuation.jet.lambda.col(0), y_);
  ydot_ = Vector::Zero(flow_.size());
  ydot_.head(at_.system.n()) = continuation.jet.x.col(1);
  Vector H;
  Matrix H_ydot, H_y;
  if (!flow_.linearize(continuation.jet.t, ydot_, y_, H, H_ydot, H_y)) return {inf, 0};
  for (int j = 0; j < at_.system.n(); ++j)
    if (!flow_.is_differential(j)) ydot_[j] = 0;  // its rate may be undetermined
  const auto rates = H_ydot.topLeftCorner(at_.system.n(), at_.system.n());
  return {(rates * ydot_.head(at_.system.n())).norm(), (rates * at_.scales.x).norm() / at_.scales.time};
}

/// By the first two coefficients of the solution in units of the tolerance.
double ModeIntegrator::first_length(const Jet& jet) const {
  double speed = 0, bend = 0;
  for (int j = 0; j < at_.system.n(); ++j) {
    if (!flow_.is_differential(j)) continue;
    const double unit = at_.options.tol * (at_.scales.x[j] + std::abs(jet.x(j, 0)));
    speed = std::max(speed, std::abs(jet.x(j, 1)) / unit);
    if (jet.x.cols() > 2) bend = std::max(bend, std::abs(2 * jet.x(j, 2)) / unit);
  }
  const double span = at_.span.end - at_.span.start;
  const double longest = std::min(0.1 * span, longest_by_multipliers(jet));
  const double T = at_.scales.time;
  const double change = std::max(speed * T, bend * T * T);  // within T
  if (change == 0) return std::min(first_share * span, longest);
  if (!std::isfinite(change)) return 0;  // faster than doubles tell: the shortest step
  return std::min(T * std::pow(first_share / change, 1.0 / (at_.stages + 1)), longest);
}

/// Where the state rests a multiplier may move all the same.
double ModeIntegrator::longest_by_multipliers(const Jet& jet) const {
  double longest = inf;
  for (const int i : flow_.free_laws()) {
    const auto law = static_cast<std::size_t>(i);
    if (jet.lambda_known[law] < 2 || jet.lambda(i, 1) == 0) continue;
    const Range range = at_.system.laws[law].branches[static_cast<std::size_t>(jet.mode[law])].lambda;
    const double width = range.upper - range.lower;
    const double room =
        std::isfinite(width) ? width : std::max(at_.scales.lambda[i], std::abs(jet.lambda(i, 0)));
    longest = std::min(longest, multiplier_share * room / std::abs(jet.lambda(i, 1)));
  }
  return longest;
}

bool ModeIntegrator::law_sizes(Vector& sizes) {
  Matrix w_ydot, w_y, w_p;
  Vector w, w_t, y;
  flow_.gather(at_.now.x, at_.now.lambda, y);
  if (!flow_.linearize_w(at_.now.t, Vector::Zero(flow_.size()), y, w, w_ydot, w_y, w_t, w_p)) return false;
  Vector units;
  flow_.gather(at_.scales.x, at_.scales.lambda, units);
  // |w| + Σ_j |∂w/∂y_j| max(|y_j|, unit of y_j)
  sizes = w.cwiseAbs();
  for (int i = 0; i < at_.system.m(); ++i)
    for (int j = 0; j < flow_.size(); ++j) sizes[i] += std::abs(w_y(i, j)) * std::max(std::abs(y[j]), units[j]);
  return true;
}

}  // namespace perp
