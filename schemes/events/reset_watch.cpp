#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/expression/differentiate.hpp>
#include <perp/schemes/events/reset_watch.hpp>

namespace perp {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double roundings = 8;      ///< in units of the last place, of a number that a step made
constexpr int samples_of_curve = 8;  ///< along a step on which a condition is not affine
constexpr int most_bisections = 60;  ///< of a step

int sign_of(double value) { return (value > 0) - (value < 0); }

/// Is a condition affine in (t, x, λ) by its form?
bool is_affine(const Dcs& system, int line) {
  Tape tape = system.tape;
  std::vector<int> lines{line};
  for (const Derivative& d : differentiate(tape, std::vector<int>{line}, 0, system.parameter_input(0)))
    lines.push_back(d.line);
  tape = bind_inputs(tape, system.parameter_input(0), system.parameters, lines);
  return std::all_of(lines.begin() + 1, lines.end(), [&](int derivative) {
    const Operation operation = tape[derivative].operation;
    return operation == Operation::constant || operation == Operation::pi;
  });
}

/// Does a condition jump where a sign in it does? The bound of its rounding there is the jump.
bool jumps_by_sign(const Dcs& system, int line) {
  const std::vector<bool> needed = needed_lines(system.tape, std::vector<int>{line});
  for (int k = 0; k < system.tape.size(); ++k)
    if (needed[at(k)] && system.tape[k].operation == Operation::sign) return true;
  return false;
}

Vector largest(const Vector& a, const Vector& b) {
  return roundings * epsilon * a.cwiseAbs().cwiseMax(b.cwiseAbs());
}

}  // namespace

Step between(const Step& a, const Step& b, double s) {
  return {(1 - s) * a.t + s * b.t, (1 - s) * a.x + s * b.x,
          a.mode == b.mode ? Vector((1 - s) * a.lambda + s * b.lambda) : a.lambda,
          a.mode == b.mode ? Vector((1 - s) * a.w + s * b.w) : a.w, a.mode};
}

ResetWatch::ResetWatch(const Dcs& system, DcsEvaluator& evaluator)
    : evaluator_(evaluator),
      resets_(system.resets),
      sides_(resets_.size()),
      z_(static_cast<std::size_t>(evaluator.inputs())),
      z_error_(z_.size()) {
  for (const Reset& reset : resets_) {
    is_affine_.push_back(is_affine(system, reset.condition) ? 1 : 0);
    jumps_.push_back(jumps_by_sign(system, reset.condition) ? 1 : 0);
    values_.emplace_back(system.tape, reset.values, evaluator.inputs(), system.parameters);
    gradients_.push_back(gradient(system, static_cast<int>(gradients_.size())));
  }
}

ResetWatch::Gradient ResetWatch::gradient(const Dcs& system, int k) const {
  if (jumps_[at(k)] != 0) return {};
  Tape tape = system.tape;
  Gradient result;
  std::vector<int> lines;
  for (const Derivative& d : differentiate(tape, std::vector<int>{reset(k).condition}, 0, system.parameter_input(0))) {
    const bool is_of_state = d.input == 0 || (d.input > evaluator_.n() && d.input <= 2 * evaluator_.n());
    if (!is_of_state) return {};
    result.inputs.push_back(d.input);
    lines.push_back(d.line);
  }
  result.derivatives = BoundedTape(tape, lines, evaluator_.inputs(), system.parameters);
  return result;
}

int ResetWatch::side_of_motion(int k, const Step& state, double h, const Vector& d, const Vector& d_error) {
  Gradient& c = gradients_[at(k)];
  if (c.inputs.empty()) return 0;
  load(state);
  c.derivatives.run(z_.data(), nullptr);
  double change = 0, error = 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const int j = c.inputs[i] - 1 - evaluator_.n();
    const RunningError slope = c.derivatives.output(i);
    const double move = j < 0 ? h : d[j], move_error = j < 0 ? 0 : d_error[j];
    change += slope.value * move;
    error += std::abs(slope.value) * move_error + slope.error * (std::abs(move) + move_error) +
             epsilon * static_cast<double>(i + 1) * std::abs(slope.value * move);
  }
  return std::abs(change) > roundings * error ? sign_of(change) : 0;
}

std::string ResetWatch::names(const std::vector<int>& list) const {
  std::vector<std::string> names;
  for (const int k : list) names.push_back(reset(k).name);
  return fmt::format("{}", fmt::join(names, ", "));
}

ResetWatch::Errors ResetWatch::rounding(const Step& a, const Step& b) {
  return {2 * epsilon * std::max(std::abs(a.t), std::abs(b.t)), largest(a.x, b.x),
          largest(a.lambda, b.lambda)};
}

/// A step rounds its result, Σ 2 u |x|: what resets write goes on from there, so that nothing of it is forgotten.
void ResetWatch::gather(const Step& a, const Step& b) {
  if (count() < 2) return;
  if (gathered_.size() == 0) gathered_ = Vector::Zero(a.x.size());
  gathered_ += epsilon * a.x.cwiseAbs().cwiseMax(b.x.cwiseAbs());
}

ResetWatch::Errors ResetWatch::of_moment(int k, const Step& a, const Step& b, const Step& state) {
  Errors errors = rounding(a, b);
  if (count() < 2 || !(b.t > a.t)) return errors;
  if (gathered_.size() != 0) errors.x = errors.x.cwiseMax(gathered_);
  // c moves by |c(b) − c(a)| in the step; the time in which it moves by its error, and by what it is off 0 here, is the moment.
  const double change = std::abs(condition(k, b) - condition(k, a));
  const double share = (error(k, b, errors) + std::abs(condition(k, state))) / change;
  if (!(share < 1)) return errors;
  errors.t += share * (b.t - a.t);
  errors.x += share * (b.x - a.x).cwiseAbs();
  if (a.mode == b.mode) errors.lambda += share * (b.lambda - a.lambda).cwiseAbs();
  return errors;
}

ResetWatch::Errors ResetWatch::at_moment(const Step& state, const Vector& rates) {
  Errors errors = rounding(state, state);
  errors.t = roundings * epsilon * std::abs(state.t);
  errors.x += errors.t * rates.cwiseAbs();
  return errors;
}

ResetWatch::Errors ResetWatch::larger(const Errors& a, const Errors& b) {
  return {std::max(a.t, b.t), a.x.cwiseMax(b.x), a.lambda.cwiseMax(b.lambda)};
}

/// Writes (t, 0, x, λ), what the tapes of the resets are evaluated at.
void ResetWatch::load(const Step& state) {
  z_[0] = state.t;
  const auto n = static_cast<std::size_t>(evaluator_.n());
  std::fill_n(z_.begin() + 1, n, 0.0);
  std::copy(state.x.begin(), state.x.end(), z_.begin() + 1 + static_cast<std::ptrdiff_t>(n));
  std::copy(state.lambda.begin(), state.lambda.end(),
            z_.begin() + 1 + 2 * static_cast<std::ptrdiff_t>(n));
}

double ResetWatch::condition(int k, const Step& state) {
  load(state);
  return evaluator_.condition(at(k), z_.data());
}

void ResetWatch::load(const Step& state, const Errors& errors) {
  load(state);
  const auto n = static_cast<std::ptrdiff_t>(evaluator_.n());
  z_error_[0] = errors.t;
  std::copy(errors.x.begin(), errors.x.end(), z_error_.begin() + 1 + n);
  std::copy(errors.lambda.begin(), errors.lambda.end(), z_error_.begin() + 1 + 2 * n);
}

double ResetWatch::error(int k, const Step& state, const Errors& errors) {
  load(state, errors);
  return evaluator_.condition_bounded(at(k), z_.data(), z_error_.data()).error;
}

double ResetWatch::moved_by_rounding(int k, const Step& state, const Errors& errors) {
  return jumps_[at(k)] != 0 ? 0 : error(k, state, errors);
}

int ResetWatch::sign(int k, const Step& state, const Errors& errors, double more) {
  load(state, errors);
  RunningError c = evaluator_.condition_bounded(at(k), z_.data(), z_error_.data());
  c.error += more;
  return decided_sign(c);
}

std::vector<ResetWatch::Approach> ResetWatch::approaching(const Step& state, const Errors& errors,
                                                          const std::vector<int>& fired) {
  std::vector<Approach> list;
  for (int k = 0; k < count(); ++k) {
    if (!is_armed(k)) continue;
    const int now = sign(k, state, errors);
    if (now == side(k) || (now == 0 && std::ranges::find(fired, k) == fired.end()))
      list.push_back({k, condition(k, state), error(k, state, errors)});
  }
  return list;
}

bool ResetWatch::still_approaches(int k, const std::vector<Approach>& list, const Step& after,
                                  const Errors& errors) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [k](const Approach& entry) { return entry.reset == k; });
  return found != list.end() && std::abs(condition(k, after) - found->value) <=
                                    error(k, after, errors) + found->error;
}

/// The last number s between `low` and `high` at which c is not yet on the side `to`.
double ResetWatch::pass(int k, const Step& a, const Step& b, double low, double high, int to) {
  for (int i = 0; i < most_bisections; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (sign_of(condition(k, between(a, b, middle))) == to ? high : low) = middle;
  }
  return low;
}

ResetWatch::Errors ResetWatch::errors_between(const Step& a, const Step& b) const {
  const Errors errors = rounding(a, b);
  return start_errors_ ? larger(errors, *start_errors_) : errors;
}

int ResetWatch::samples_along_way(int k) const { return is_affine_[at(k)] != 0 ? 1 : samples_of_curve; }

/// Where reset k fires whose condition is on its surface up to the errors of a, and has passed it at the share `high` of the
/// way: what only the errors of the start hide is before the surface still.
ResetWatch::Firing ResetWatch::firing_at_start(int k, const Step& a, const Step& b, double high, const Side& side) {
  const bool is_before = !side.leaves && sign(k, a, rounding(a, b)) == side.side;
  return is_before ? Firing{{k}, pass(k, a, b, 0, high, -side.side)} : Firing{{k}, 0, side.leaves};
}

/// Where reset k fires between a and the share `end` of the way to b; `side` is that at a, and then
/// that before the firing or at the end. A condition that rests on its surface is moved by the rounding
/// of every step: it has left only where it is beyond all of these.
std::optional<ResetWatch::Firing> ResetWatch::scan(int k, const Step& a, const Step& b,
                                                   const Errors& errors, double end, Side& side) {
  const int samples = samples_along_way(k);
  double last = 0;      // where c was seen last, on `side` or on the surface
  bool at_once = true;  // nowhere but on the surface
  int now = 0;
  for (int i = 0; i <= samples; ++i) {
    const double s = end * i / samples;
    now = i == 0 && side.leaves ? 0 : sign(k, between(a, b, s), errors, side.rest);
    if (fires_between(k, side.side, now))
      return at_once ? firing_at_start(k, a, b, s, side) : Firing{{k}, pass(k, a, b, last, s, now)};
    if (now != 0) {
      side = {now, false};
      at_once = false;
    }
    last = s;
  }
  if (now == 0) side.rest += moved_by_rounding(k, between(a, b, last), errors);
  return std::nullopt;
}

std::optional<ResetWatch::Firing> ResetWatch::first(const Step& a, const Step& b) {
  const Errors errors = errors_between(a, b);
  gather(a, b);
  std::optional<Firing> first;
  std::vector<int> candidates;
  std::vector<Side> sides = sides_;
  for (int k = 0; k < count(); ++k) {
    const std::optional<Firing> firing = scan(k, a, b, errors, 1, sides[at(k)]);
    if (!firing) continue;
    candidates.push_back(k);
    if (!first || firing->s < first->s) first = firing;
  }
  if (!first) {
    sides_ = std::move(sides);
    if (std::none_of(sides_.begin(), sides_.end(), [](const Side& side) { return side.leaves; }))
      start_errors_.reset();
    return std::nullopt;
  }
  if (!first->is_unresolved) find_together(a, b, errors, candidates, *first);
  return first;
}

/// The candidates whose surfaces meet where the first one passes its own fire together with it; the others are followed up
/// to this moment.
void ResetWatch::find_together(const Step& a, const Step& b, const Errors& errors, const std::vector<int>& candidates,
                               Firing& first) {
  const int earliest = first.resets.front();
  const Step moment = between(a, b, first.s);
  const Errors of_this = of_moment(earliest, a, b, moment);
  first.resets.clear();
  for (int k = 0; k < count(); ++k) {
    const bool passes = std::find(candidates.begin(), candidates.end(), k) != candidates.end();
    if (k == earliest || (passes && sign(k, moment, of_this) == 0))
      first.resets.push_back(k);
    else
      scan(k, a, b, errors, first.s, sides_[at(k)]);
  }
}

std::vector<int> ResetWatch::at_jump(const Step& a, const Step& b) {
  const Errors errors = errors_between(a, b);
  std::vector<int> fired, signs;
  for (int k = 0; k < count(); ++k) {
    signs.push_back(sign(k, b, errors, sides_[at(k)].rest));
    if (fires(k, signs.back())) fired.push_back(k);
  }
  for (int k = 0; fired.empty() && k < count(); ++k)
    if (signs[at(k)] != 0) set_side(k, signs[at(k)]);
  return fired;
}

Vector ResetWatch::values(const std::vector<int>& list, const Step& before, Errors& errors) {
  Vector x = before.x;
  load(before, errors);
  for (const int k : list) {
    values_[at(k)].run(z_.data(), z_error_.data());
    const std::vector<int>& variables = reset(k).variables;
    for (std::size_t j = 0; j < variables.size(); ++j) {
      const RunningError& value = values_[at(k)].output(j);
      x[variables[j]] = value.value;
      errors.x[variables[j]] = std::max(value.error, half_ulp(value.value));
    }
  }
  return x;
}

}  // namespace perp
