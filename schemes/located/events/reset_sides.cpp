// Sides of the conditions of resets: asked by the locator for gaps, by the run and its transitions for what fires.
#include <algorithm>
#include <cmath>

#include <perp/schemes/located/events/reset_sides.hpp>

namespace perp {
namespace {

constexpr int most_looks = 6;  ///< tried lengths of a step past an event
constexpr double shorter_look = 1.0 / 64;
constexpr double rounding_of_unit = 0x1p-49;  ///< of the unit of a variable

}  // namespace

/// Rounding of states that a step led to. A variable that rests at 0 is known to that of its unit, not of itself.
ResetWatch::Errors ResetSides::rounding(const Step& a, const Step& b) const {
  Errors errors = ResetWatch::rounding(a, b);
  errors.x = errors.x.cwiseMax(rounding_of_unit * at_.scales.x);
  return errors;
}

ResetWatch::Errors ResetSides::errors_at_event(const Step& state) const {
  ResetWatch::Errors errors = rounding(at_.moved_from, state);
  errors.t += at_.same_moment(state);
  const Jet& jet = at_.passage.before;
  if (jet.x.cols() > 1) errors.x += errors.t * jet.x.col(1).cwiseAbs();
  if (jet.lambda.cols() > 1) errors.lambda += errors.t * jet.lambda.col(1).cwiseAbs();
  return errors;
}

ResetWatch::Errors ResetSides::errors_at_start() {
  const Jet jet = jets_.at_state(at_.now);
  Vector rates = Vector::Zero(at_.system.n());
  for (int j = 0; j < at_.system.n(); ++j)
    if (jet.consistent && jet.x_known[static_cast<std::size_t>(j)] > 1) rates[j] = jet.x(j, 1);
  Errors errors = ResetWatch::at_moment(at_.now, rates);
  // What the equations determine at the start is a result of Newton's method.
  for (int j = 0; j < at_.system.n(); ++j)
    if (!jets_.evaluator().is_differential(j))
      errors.x[j] = std::max(errors.x[j], rounding_of_unit * std::max(at_.scales.x[j], std::abs(at_.now.x[j])));
  return errors;
}

double ResetSides::noise(int reset) {
  const double error = watch_.error(reset, at_.now, errors_now());
  return std::isfinite(error) ? error : 0;
}

bool ResetSides::is_error_of_steps(int reset, double variation, double h) {
  const double tol = at_.options.tol;
  Errors errors = errors_now();
  errors.x = errors.x.cwiseMax(tol * at_.now.x.cwiseAbs().cwiseMax(at_.scales.x));
  if (!(variation <= watch_.error(reset, at_.now, errors))) return false;
  // Σ |∂c/∂x_j ẋ_j| h + |∂c/∂t| h in the middle of the step.
  const Step middle = integrator_.on_polynomial(0.5, h);
  Vector rates;
  integrator_.radau().interpolate_derivative(0.5, rates);
  errors.t = h;
  errors.x = h * rates.head(at_.system.n()).cwiseAbs();
  errors.lambda.setZero();
  return variation <= std::sqrt(tol) * watch_.error(reset, middle, errors);
}

ResetWatch::Errors ResetSides::errors_now() const {
  const Errors here = rounding(at_.moved_from, at_.now);
  return event_errors_ ? ResetWatch::larger(here, *event_errors_) : here;
}

void ResetSides::follow(const Vector& points, double h) {
  for (const double s : points) {
    if (!(s < 1)) break;
    const Step state = integrator_.sample(s, h);
    const Errors errors =
        ResetWatch::larger(errors_now(), rounding(at_.now, state));
    for (int k = 0; k < watch_.count(); ++k) {
      const int side = watch_.sign(k, state, errors);
      if (side != 0 && !watch_.fires(k, side)) watch_.set_side(k, side);
    }
  }
}

int ResetSides::settle() {
  if (!unsettled_) return 0;
  // A condition that is 0 is on the side that the rates of the mode lead it to:
  //     c(t + τ, x + τ ẋ, λ + τ λ̇) − c(t, x, λ)   beyond its rounding, with τ that changes c little.
  const Step ahead = integrator_.ahead(at_.same_moment(at_.now));
  const Errors moved = rounding(at_.now, ahead);
  int passed = 0;
  for (int k = 0; k < watch_.count(); ++k) {
    int side = watch_.sign(k, at_.now, *unsettled_);
    // One that has yet to pass stays on its side, wherever the motion before the reset would have led it.
    if (side == 0 && watch_.still_approaches(k, approaching_, at_.now, *unsettled_)) continue;
    const double change = watch_.condition(k, ahead) - watch_.condition(k, at_.now);
    const double error = watch_.error(k, ahead, moved) + watch_.error(k, at_.now, moved);
    if (side == 0 && std::abs(change) > error) {
      side = change > 0 ? 1 : -1;
      const int direction = watch_.reset(k).direction;
      if (direction == 0 || direction == side) ++passed;
    }
    watch_.set_side(k, side);
  }
  event_errors_ = std::move(unsettled_);
  event_end_ = at_.now.t + 2 * event_errors_->t;
  unsettled_.reset();
  approaching_.clear();
  return passed;
}

bool ResetSides::watch_step() {
  bool changed = false;
  const Errors errors = errors_now();
  if (at_.now.t > event_end_) event_errors_.reset();
  for (int k = 0; k < watch_.count(); ++k) {
    const int now = watch_.sign(k, at_.now, errors);
    if (now == 0 || now == watch_.side(k) || watch_.fires(k, now)) continue;
    watch_.set_side(k, now);
    changed = true;
  }
  return changed;
}

std::vector<int> ResetSides::at_state(const Step& state) {
  std::vector<int> sides;
  for (int k = 0; k < watch_.count(); ++k)
    sides.push_back(unsettled_ ? watch_.sign(k, state, *unsettled_) : watch_.side(k));
  return sides;
}

std::vector<int> ResetSides::met(const Step& state, const Errors& errors) {
  std::vector<int> list;
  for (int k = 0; k < watch_.count(); ++k) {
    const int now = watch_.sign(k, state, errors);
    if (watch_.is_armed(k) && (now == 0 || watch_.fires(k, now))) list.push_back(k);
  }
  return list;
}

std::vector<int> ResetSides::passing(const std::vector<int>& met, const Step& state,
                                     const Vector& points) {
  std::vector<int> list, open = met;
  const Errors errors = errors_at_event(state);
  double h = integrator_.length();
  for (int look = 0; look < most_looks && !open.empty(); ++look, h *= shorter_look) {
    if (integrator_.radau().attempt(h) != Radau::Outcome::solved) continue;
    for (const double s : points) {
      const Step ahead = integrator_.sample(s, h);
      const Errors moved =
          ResetWatch::larger(errors, rounding(state, ahead));
      std::erase_if(open, [&](int k) {
        const int to = watch_.sign(k, ahead, moved);
        if (watch_.fires(k, to)) list.push_back(k);
        return to != 0;
      });
    }
    break;
  }
  std::sort(list.begin(), list.end());
  return list;
}

void ResetSides::fire(int reset) {
  if (std::find(fired_here_.begin(), fired_here_.end(), reset) == fired_here_.end()) fired_here_.push_back(reset);
}

}  // namespace perp
