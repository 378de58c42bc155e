#include <fmt/format.h>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/schemes/box/box_stepping.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/continuation/dcs_family.hpp>
#include <perp/schemes/continuation/lcs_family.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>

namespace perp {
namespace {

constexpr const char* solver_on_ranks = "petsc";  ///< whose steps are made on all ranks of the program
constexpr double shortest = 1e-3;   ///< of the step length: shorter steps have nothing to follow

StepPath follow_from(StepFamily& family, const Step& from, double h) {
  check_h(h);
  family.set_state(from.x, from.t, h);
  return follow(family, StepPoint{0, from.mode, from.x, from.lambda, from.w}, h);
}

/// Multipliers of a start: 0 where they are not known.
Vector multipliers(const char* name, const Vector& values, int m) {
  if (values.size() == 0) return Vector::Zero(m);
  if (values.size() != m || !values.allFinite())
    throw InvalidInput(fmt::format("{} must have {} finite numbers or none", name, m));
  return values;
}

/// Throws InvalidInput for a mode that is none of the laws. Empty: not known.
void check_mode(const Mode& mode, const std::vector<Law>& laws) {
  if (!mode.empty() && mode.size() != laws.size())
    throw InvalidInput(fmt::format("mode must have {} entries or none but has {}", laws.size(), mode.size()));
  for (std::size_t i = 0; i < mode.size(); ++i)
    if (mode[i] < 0 || mode[i] >= static_cast<int>(laws[i].branches.size()))
      throw InvalidInput(fmt::format("mode: law {} has no branch {}", i + 1, mode[i]));
}

/// Throws InvalidInput for a state that is none of the system.
StepPath checked_follow(StepFamily& family, int n, const Step& from, double h) {
  const auto m = static_cast<int>(family.laws().size());
  if (from.x.size() != n)
    throw InvalidInput(fmt::format("x must have {} entries but has {}", n, from.x.size()));
  if (!from.x.allFinite() || !std::isfinite(from.t)) throw InvalidInput("t and x must be finite");
  check_mode(from.mode, family.laws());
  Step start = from;
  start.lambda = multipliers("lambda", from.lambda, m);
  start.w = multipliers("w", from.w, m);
  return follow_from(family, start, h);
}

}  // namespace

PathCapturing::PathCapturing(std::unique_ptr<ModewiseScheme> within,
                             std::unique_ptr<StepFamily> family, double shortest_step)
    : within_(std::move(within)), family_(std::move(family)), shortest_(shortest_step) {}

Attempt PathCapturing::start(double t, const Vector& x0, double h, std::vector<Event>& events) {
  const Attempt attempt = within_->start(t, x0, h, events);
  message_ = within_->message();
  return attempt;
}

Attempt PathCapturing::attempt_within(double t_next, double h) {
  const Attempt attempt = within_->attempt(t_next, h);
  message_ = within_->message();
  return attempt;
}

Attempt PathCapturing::attempt(double t_next, double h) {
  trial_departures_.clear();
  if (h < shortest_ || mode().size() != family_->laws().size()) return attempt_within(t_next, h);
  const StepPath path = follow_from(*family_, {t(), x(), lambda(), w(), mode()}, h);
  if (path.status == Status::not_enumerated) {
    ++not_followed_;
    return attempt_within(t_next, h);
  }
  if (path.status != Status::solved) {
    message_ = path.message;
    return {path.status, false, 0, 0};
  }
  Attempt attempt = within_->attempt_in(path.end.mode, path.end.x, path.end.lambda, t_next, h);
  if (attempt.status != Status::solved) {
    ++not_followed_;
    return attempt_within(t_next, h);
  }
  attempt.kept_mode = path.breaks.empty();
  attempt.solutions = path.solutions;
  for (const StepPath::Break& change : path.breaks)
    for (const int law : change.laws) trial_departures_.push_back({law, change.h / h});
  return attempt;
}

void PathCapturing::accept() {
  within_->accept();
  departures_ = std::move(trial_departures_);
  trial_departures_.clear();
  if (!departures_.empty()) ++broken_;
}

Scheme::ResetOutcome PathCapturing::reset(std::vector<Event>& events, long steps) {
  ResetOutcome outcome = within_->reset(events, steps);
  message_ = within_->message();
  return outcome;
}

std::vector<Scheme::Departure> PathCapturing::departures() {
  return departures_.empty() ? within_->departures() : departures_;
}

std::vector<std::pair<Mode, double>> PathCapturing::violations(double h) {
  return within_->violations(h);
}

void PathCapturing::count(Counts& counts) const {
  within_->count(counts);
  counts["paths_with_breaks"] += broken_;
  if (not_followed_ > 0) counts["not_followed"] += not_followed_;
}

std::unique_ptr<Scheme> capturing_scheme(const Lcs& lcs, const Theta& options) {
  return capturing_scheme(sparse(lcs), options);
}

std::unique_ptr<Scheme> capturing_scheme(const SparseLcs& lcs, Theta options) {
  if (options.solver == solver_on_ranks) return std::make_unique<BoxStepping>(lcs, options);
  if (options.selector != Selector::continuation) return std::make_unique<Capturing>(lcs, options);
  options.selector = Selector::keep_mode;
  auto within = std::make_unique<Capturing>(lcs, options);
  auto family = std::make_unique<LcsFamily>(within->equations());
  return std::make_unique<PathCapturing>(std::move(within), std::move(family),
                                         shortest * options.h);
}

std::unique_ptr<Scheme> capturing_scheme(const Dcs& system, BackwardEuler options) {
  if (options.selector != Selector::continuation)
    return std::make_unique<NonlinearCapturing>(system, options);
  options.selector = Selector::keep_mode;
  return std::make_unique<PathCapturing>(std::make_unique<NonlinearCapturing>(system, options),
                                         std::make_unique<DcsFamily>(system),
                                         shortest * options.h);
}

std::unique_ptr<Scheme> capturing_scheme(const Dcs& system, const Theta& options) {
  const BackwardEuler steps{.h = options.h,
                            .selector = options.selector,
                            .tol = options.tol,
                            .solver = options.solver,
                            .refinements = options.refinements,
                            .split_at_events = options.split_at_events,
                            .petsc = options.petsc};
  if (options.theta == 1) return capturing_scheme(system, steps);
  if (options.selector == Selector::continuation)
    throw InvalidInput("selector continuation follows steps of backward_euler, not of theta < 1");
  return std::make_unique<NonlinearCapturing>(system, steps, options.theta);
}

StepPath follow(const Lcs& lcs, const Step& from, double h, double theta) {
  StepEquations equations(lcs, theta);
  LcsFamily family(equations);
  return checked_follow(family, equations.n(), from, h);
}

StepPath follow(const Dcs& system, const Step& from, double h) {
  DcsFamily family(system);
  return checked_follow(family, system.n(), from, h);
}

}  // namespace perp
