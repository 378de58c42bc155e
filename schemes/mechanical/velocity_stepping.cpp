#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>

#include <perp/core/base/error.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/mechanical/velocity_stepping.hpp>

namespace perp {
namespace {

constexpr int most_newton_steps = 30;             ///< of Newton's method in one step
constexpr double least_change = 1e-12;  ///< relative change that ends Newton's method
constexpr double stagnation = 1e-8;             ///< ... if it no longer gets smaller
constexpr double negligible = 1e-9;             ///< share of the velocities that is no approach
constexpr double rounding_of_velocity = 1e-14;  ///< share of the velocities that is no opening
constexpr double hardly_open = 1e-6;            ///< share of the free motion that is no gap
constexpr double start_tolerance = 1e-9;        ///< share of a gap's terms and of its motion in a step that x0 may violate
constexpr int most_enumerated = 16;  ///< contacts up to which a failure of Lemke is examined

void check(const MoreauJean& options, int m) {
  check_h(options.h);
  check_theta(options.theta);
  check_tolerance(options.tol);
  const auto count = options.restitution.size();
  if (count != 0 && count != static_cast<std::size_t>(m))
    throw InvalidInput(fmt::format(
        "restitution must have one entry for each of the {} laws but has {}", m, count));
  for (const double e : options.restitution)
    if (!(e >= 0 && e <= 1))
      throw InvalidInput(fmt::format("restitution must be in [0, 1] but has {}", e));
}

}  // namespace

VelocityStepping::VelocityStepping(const Dcs& system, const MoreauJean& options)
    : system_(system), options_(options) {
  check(options, system_.m());
  if (options_.restitution.empty())
    options_.restitution.assign(static_cast<std::size_t>(system_.m()), 0.0);
  for (Record& record : records_)
    record.state = {0, Vector::Zero(system_.n()), Vector::Zero(system_.m()),
                    Vector::Zero(system_.m()), Mode(static_cast<std::size_t>(system_.m()), 0)};
  x_before_ = x_ = Vector::Zero(system_.n());
  change_ = Vector::Zero(static_cast<Eigen::Index>(system_.velocities().size()));
  v_before_ = Vector::Zero(static_cast<Eigen::Index>(system_.velocities().size()));
}

Attempt VelocityStepping::unsolved(Status status, std::string why) {
  message_ = std::move(why);
  return {status, false, 0, 0};
}

/// h Σ_k |G_ik| (|v_k| + h |a_k|) + h |∂g_i/∂t|, a = M⁻¹ f: what the gaps change by in a step from x0, forces of contacts apart.
Vector VelocityStepping::motion_of_gaps(double t, const Vector& x0, double h) {
  Vector v(static_cast<Eigen::Index>(system_.velocities().size()));
  for (Eigen::Index k = 0; k < v.size(); ++k) v[k] = x0[system_.velocities()[static_cast<std::size_t>(k)]];
  MechanicalSystem::Dynamics dynamics;
  system_.evaluate(t, Vector::Zero(v.size()), x0, dynamics);
  const Vector a = linear::Lu(dynamics.A).solve(dynamics.F);
  const Vector motion = before_.G.cwiseAbs() * (v.cwiseAbs() + h * a.cwiseAbs()) + before_.g_t.cwiseAbs();
  return h * motion.unaryExpr([](double value) { return std::isfinite(value) ? value : 0; });
}

Attempt VelocityStepping::start(double t, const Vector& x0, double h, std::vector<Event>& events) {
  if (x0.size() != system_.n())
    throw InvalidInput(fmt::format("x0 must have {} entries but has {}", system_.n(), x0.size()));
  if (!x0.allFinite()) throw InvalidInput("x0 must be finite");
  if (const auto reason = system_.objection(t, x0))
    throw InvalidInput(fmt::format("moreau_jean does not apply at the start: {}", *reason));
  system_.evaluate(t, x0, before_);
  Step& state = current().state;
  state = {t, x0, Vector::Zero(system_.m()), before_.g, Mode(state.mode.size(), 0)};
  const Vector motion = motion_of_gaps(t, x0, h);
  for (int i = 0; i < system_.m(); ++i) {
    if (before_.g[i] >= -start_tolerance * (before_.size[i] + motion[i])) continue;
    Event event;
    event.kind = EventKind::inconsistent_start;
    event.t = event.t_before = event.t_after = t;
    event.law = i;
    event.x_before = event.x_after = x0;
    event.size = -before_.g[i];
    event.note = fmt::format("x0 violates law '{}': its gap is {:.6g}",
                             system_.laws()[static_cast<std::size_t>(i)].name, before_.g[i]);
    events.push_back(event);
    return unsolved(Status::no_solution, event.note + "; start with gaps >= 0");
  }
  // The forces of contacts that are closed from the start are those of a short first step.
  const double probe = std::ldexp(h, -10);
  const Attempt found = attempt(t + probe, probe);
  if (found.status != Status::solved) return found;
  const bool impacts = std::any_of(touches_.begin(), touches_.end(),
                                   [](const Touch& touch) { return touch.is_impact; });
  if (!impacts) {
    state.lambda = trial().state.lambda;
    state.mode = trial().state.mode;
  }
  x_before_ = x0;
  penetration_ = 0;
  return found;
}

void VelocityStepping::advance_positions(double h, const Vector& v, Vector& x) const {
  const Vector& from = current().state.x;
  const auto& positions = system_.positions();
  for (std::size_t j = 0; j < positions.size(); ++j) {
    const int k = system_.velocity_of()[j];
    x[positions[j]] =
        from[positions[j]] + system_.velocity_factor()[j] * h *
                                 (options_.theta * v[k] + (1 - options_.theta) * v_before_[k]);
  }
}

/// The matrix of many steps is one, to the bit.
void VelocityStepping::factorise() {
  const auto bytes = static_cast<std::size_t>(J_.size()) * sizeof(double);
  const bool is_known = factored_J_.rows() == J_.rows() && (bytes == 0 || std::memcmp(factored_J_.data(), J_.data(), bytes) == 0);
  if (is_known && bytes > 0) return;
  factored_J_ = J_;
  scaling_.compute(J_);  // pivots that do not depend on units
  scaled_J_ = J_;
  scaling_.apply_to(scaled_J_);
  factors_.compute(scaled_J_);
}

// 0 = F at t + θ h, q_θ = q + θ h v_θ, v_θ = θ v⁺ + (1−θ) v, v̇ = (v⁺ − v)/h. The rows and their
// derivative by v⁺ are multiplied by h:   h F,   A + θ h C + θ² h² K.
void VelocityStepping::linearise(double h) {
  const double theta = options_.theta;
  advance_positions(theta * h, v_, x_);
  const auto& velocities = system_.velocities();
  for (std::size_t k = 0; k < velocities.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    x_[velocities[k]] = theta * v_[i] + (1 - theta) * v_before_[i];
  }
  v_dot_ = (v_ - v_before_) / h;
  system_.evaluate(current().state.t + theta * h, v_dot_, x_, dynamics_);
  J_ = dynamics_.A + theta * h * dynamics_.C + theta * theta * h * h * dynamics_.K;
  factorise();
  misfit_ = -h * dynamics_.F;
  scaling_.apply_rows_to(misfit_);
  factors_.solve(misfit_, change_);
  scaling_.unscale_in_place(change_);
}

/// Is the last change of v⁺ its rounding, or small and no longer getting smaller?
bool VelocityStepping::has_settled(double change, double last) const {
  const double size = std::max({v_.lpNorm<Eigen::Infinity>(), v_before_.lpNorm<Eigen::Infinity>(),
                                v_free_.lpNorm<Eigen::Infinity>()});
  return change <= least_change * size || (change >= last / 2 && change <= stagnation * size);
}

Status VelocityStepping::solve_velocities(double h) {
  double last = inf;
  for (int iteration = 0; iteration < most_newton_steps; ++iteration) {
    ++iterations_;
    linearise(h);
    if (!change_.allFinite()) {
      message_ = "the equations have no finite value or the mass matrix is singular";
      return Status::not_solved;
    }
    v_last_ = v_;
    v_ += change_;
    if (!touches_.empty()) {
      const Status status = solve_impacts();
      if (status != Status::solved) return status;
    }
    if (system_.is_affine() || v_.size() == 0) return Status::solved;
    const double change = (v_ - v_last_).lpNorm<Eigen::Infinity>();
    if (has_settled(change, last)) return Status::solved;
    last = change;
  }
  message_ = fmt::format("Newton's method does not converge in {} iterations; try a smaller h",
                         most_newton_steps);
  return Status::not_solved;
}

/// Σ_k |G_ik| |v_free,k − v_k|: what the velocity of a gap changes by without P.
double VelocityStepping::free_change(const MechanicalSystem::Contacts& at, int i) const {
  return at.G.row(i).cwiseAbs().dot((v_free_ - v_before_).cwiseAbs());
}

/// What the law of a contact demands that would be violated. `regular`: the regular step in units of this one.
VelocityStepping::Touch VelocityStepping::touch_of(int i, double regular) const {
  Touch touch{};
  touch.law = i;
  touch.before = free_.G.row(i).dot(v_before_) + before_.g_t[i];
  const double turn = (free_.G.row(i) - before_.G.row(i)).dot(v_before_);
  const double terms = free_.G.row(i).cwiseAbs().dot(v_before_.cwiseAbs() + v_free_.cwiseAbs()) +
                       std::abs(before_.g_t[i]);
  touch.resting =
      regular * (free_change(free_, i) + std::abs(turn) + std::abs(free_.g_t[i] - before_.g_t[i])) +
      negligible * terms;
  const bool approaches = -touch.before > touch.resting;
  const double e = options_.restitution[static_cast<std::size_t>(i)];
  const double factor = touch.before > rounding_of_velocity * terms ? 1 : approaches ? e : 0;
  touch.bound = factor == 0 ? 0 : -factor * touch.before;
  touch.is_impact = approaches;
  return touch;
}

// Which contacts would be violated at the end of the step without P, and what their law demands.
void VelocityStepping::find_touches(double t_next, double h) {
  touches_.clear();
  x_ = current().state.x;
  advance_positions(h, v_free_, x_);
  system_.evaluate(t_next, x_, free_);
  const auto is_open = [&](int i) {
    const double noise = hardly_open * h * free_change(free_, i) + 1e-15 * free_.size[i];
    return free_.g[i] > noise;
  };
  bool all_open = true;
  for (int i = 0; i < system_.m(); ++i) all_open = all_open && is_open(i);
  if (all_open) return;

  // One gradient for U, U⁺ and P, or else P could do work; that of the end, so that a velocity
  // which keeps U⁺ = 0 follows a curved obstacle.
  system_.evaluate(current().state.t, current().state.x, before_);
  // A step that is short only to land on a requested time does not tell impacts more finely.
  const double regular = std::max(1.0, options_.h / h);
  for (int i = 0; i < system_.m(); ++i)
    if (!is_open(i)) touches_.push_back(touch_of(i, regular));
}

// The linearised equations for v⁺ beside the laws of the contacts in touches_:
//     0 = J (v⁺ − v_) − B P,   w = G v⁺ + g_t − bound,
// where v_ is v⁺ for P = 0. v⁺ stays an unknown: in w as a function of P alone the terms of a
// resting contact cancel to noise, and the scale of the problem would be lost with them.
Status VelocityStepping::solve_impacts() {
  ++impact_problems_;
  const auto count = static_cast<Eigen::Index>(touches_.size());
  impact_.M11 = J_;
  impact_.q1 = -(J_ * v_);
  impact_.M12.resize(v_.size(), count);
  impact_.M21.resize(count, v_.size());
  impact_.M22.setZero(count, count);
  impact_.q2.resize(count);
  impact_.laws.resize(touches_.size(), complementarity());
  for (Eigen::Index a = 0; a < count; ++a) {
    const Touch& touch = touches_[static_cast<std::size_t>(a)];
    impact_.M12.col(a) = -free_.B.col(touch.law);
    impact_.M21.row(a) = free_.G.row(touch.law);
    impact_.q2[a] = free_.g_t[touch.law] - touch.bound;
  }
  SolveOptions solve_options;
  solve_options.tol = options_.tol;
  SolveResult result = solve(solver("lemke"), impact_, solve_options);
  if (result.status != Status::solved && count <= most_enumerated)
    result = solve(solver("enumerate"), impact_, solve_options);
  if (result.status == Status::solved) {
    v_ = result.solution.u;
    P_ = result.solution.lambda;
    attempted_residual_ = result.solution.residual;
    return Status::solved;
  }
  std::string names;
  for (const Touch& touch : touches_)
    names += (names.empty() ? "'" : ", '") +
             system_.laws()[static_cast<std::size_t>(touch.law)].name + "'";
  message_ = result.status == Status::no_solution
                 ? fmt::format("no impulses keep the contacts {} from being violated", names)
                 : fmt::format("the impact problem of the contacts {}: {}", names, result.message);
  return result.status;
}

Attempt VelocityStepping::attempt(double t_next, double h) {
  const auto& velocities = system_.velocities();
  for (std::size_t k = 0; k < velocities.size(); ++k)
    v_before_[static_cast<Eigen::Index>(k)] = x()[velocities[k]];
  v_ = v_before_;
  v_free_ = v_before_;
  touches_.clear();
  attempted_residual_ = 0;
  Status status = solve_velocities(h);
  if (status != Status::solved) return unsolved(status, message_);
  v_free_ = v_;
  if (system_.m() > 0) find_touches(t_next, h);
  if (!touches_.empty()) status = solve_velocities(h);
  if (status != Status::solved) return unsolved(status, message_);
  finish(t_next, h);
  return {Status::solved, trial().state.mode == mode() && trial().jumps.empty(), 1, 0};
}

/// Share of the step at which the gap of a law falls to 0, on a straight line.
double VelocityStepping::crossing(int law) const {
  const double start = std::max(0.0, before_.g[law]), end = free_.g[law];
  return end < start ? std::min(1.0, start / (start - end)) : 0;
}

/// λ, the mode and the jumps of the contacts that push.
void VelocityStepping::write_impulses(double t_next, double h, Record& next) const {
  Step& state = next.state;
  state.lambda.setZero(system_.m());
  std::fill(state.mode.begin(), state.mode.end(), 0);
  next.jumps.clear();
  for (std::size_t a = 0; a < touches_.size(); ++a) {
    const Touch& touch = touches_[a];
    const double P = P_[static_cast<Eigen::Index>(a)];
    if (!(P > 0)) continue;
    const double after = free_.G.row(touch.law).dot(v_) + free_.g_t[touch.law];
    state.lambda[touch.law] = P / h;
    state.mode[static_cast<std::size_t>(touch.law)] = std::abs(after) <= touch.resting ? 1 : 0;
    if (touch.is_impact) next.jumps.push_back(jump(touch, t_next, h));
  }
}

void VelocityStepping::finish(double t_next, double h) {
  Record& next = trial();
  Step& state = next.state;
  state.t = t_next;
  state.x = current().state.x;
  advance_positions(h, v_, state.x);
  const auto& velocities = system_.velocities();
  for (std::size_t k = 0; k < velocities.size(); ++k)
    state.x[velocities[k]] = v_[static_cast<Eigen::Index>(k)];
  write_impulses(t_next, h, next);
  next.departures.clear();
  for (int i = 0; i < system_.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    if (state.mode[law] == mode()[law]) continue;
    next.departures.push_back({i, state.mode[law] == 1 ? crossing(i) : 0.0});
  }
  if (system_.m() > 0) {
    system_.evaluate(t_next, state.x, after_);
    state.w = after_.g;
  }
}

Event VelocityStepping::jump(const Touch& touch, double t_next, double h) const {
  const double s = crossing(touch.law);
  Event event;
  event.kind = EventKind::jump;
  event.t_before = t();
  event.t_after = t_next;
  event.t = t() + s * (t_next - t());
  event.law = touch.law;
  event.from = mode()[static_cast<std::size_t>(touch.law)];
  event.to = trial().state.mode[static_cast<std::size_t>(touch.law)];
  event.x_before = x();
  const auto& positions = system_.positions();
  for (std::size_t j = 0; j < positions.size(); ++j) {
    const int k = system_.velocity_of()[j];
    event.x_before[positions[j]] +=
        system_.velocity_factor()[j] * s * h * (v_before_[k] + options_.theta * s * (v_free_[k] - v_before_[k]));
  }
  // The velocities are those that the law of impact compares.
  event.x_after = event.x_before;
  for (std::size_t k = 0; k < system_.velocities().size(); ++k)
    event.x_after[system_.velocities()[k]] = v_[static_cast<Eigen::Index>(k)];
  event.size = (v_ - v_before_).norm();
  const double after = free_.G.row(touch.law).dot(v_) + free_.g_t[touch.law];
  event.note =
      fmt::format("impact: velocity of the gap {:.6g} before, {:.6g} after", touch.before, after);
  return event;
}

void VelocityStepping::accept() {
  x_before_ = current().state.x;
  std::swap(now_, trial_);
  impacts_ += static_cast<long>(current().jumps.size());
  impact_residual_ = std::max(impact_residual_, attempted_residual_);
  if (system_.m() > 0) penetration_ = std::max(penetration_, -current().state.w.minCoeff());
}

double VelocityStepping::attempted_norm() const { return (trial().state.x - x()).norm(); }

void VelocityStepping::restore(const Step& state) {
  current().state = state;
  current().departures.clear();
  current().jumps.clear();
}

void VelocityStepping::interpolate(double s, Vector& x) const {
  x = (1 - s) * x_before_ + s * current().state.x;
}

std::vector<std::pair<Mode, double>> VelocityStepping::violations(double /*h*/) { return {}; }

void VelocityStepping::count(Counts& counts) const {
  counts["impacts"] += impacts_;
  counts["impact_problems"] += impact_problems_;
  counts["newton_iterations"] += iterations_;
}

}  // namespace perp
