// What runs in one mode of one model have in common: made by LaneBlock when a run comes into a mode.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/schemes/lanes/lane_access.hpp>
#include <perp/schemes/lanes/lane_form.hpp>
#include <perp/schemes/lanes/lane_lu.hpp>

namespace perp::eight {
namespace {

constexpr int most_lines = 2000;  ///< whose values for eight runs stay near the processor

bool is_number(Operation operation) { return operation == Operation::constant || operation == Operation::pi; }

void add_linear_lines(const MachineCode& code, LaneForm& form) {
  const Tape& tape = code.tape();
  form.linear_lines = tape.size();
  form.linear_outputs = code.outputs();
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    if (is_number(line.operation))
      form.linear_constants.push_back(k);
    else
      form.linear.push_back({line.operation, line.a, line.b < 0 ? line.a : line.b, k});
  }
}

/// The lines of the bounded tape that others read, or that are outputs.
std::vector<char> used_lines(const LaneForm& form) {
  std::vector<char> is_used(at(form.bounded_lines), 0);
  for (const int k : form.bounded_outputs) is_used[at(k)] = 1;
  for (const LaneLine& line : form.bounded)
    if (line.operation != Operation::input) is_used[at(line.a)] = is_used[at(line.b)] = 1;
  return is_used;
}

void add_bounded_lines(const BoundedTape& tape, LaneForm& form) {
  form.bounded_lines = static_cast<int>(tape.values().size());
  form.bounded_outputs = tape.output_lines();
  std::vector<char> is_made(tape.values().size(), 0);
  for (const BoundedTape::Line& line : tape.changing()) {
    is_made[at(line.to)] = 1;
    form.bounded.push_back({line.operation, line.a, line.b < 0 ? line.a : line.b, line.to});
  }
  const std::vector<char> is_used = used_lines(form);
  for (int k = 0; k < form.bounded_lines; ++k)
    if (is_made[at(k)] == 0 && is_used[at(k)] != 0) form.bounded_constants.push_back(k);
}

Exactness exactness_of(const RunningError& number) {
  if (number.error != 0) return Exactness::none;
  if (number.value == 0) return Exactness::zero;
  return running_error::is_scale(number) ? Exactness::scale : Exactness::exact;
}

void add_kinds(const std::vector<RunningError>& constants, const std::vector<const Branch*>& branches, LaneForm& form) {
  for (const RunningError& number : constants) form.kinds.push_back(exactness_of(number));
  const auto add = [&](const auto& number) {
    for (std::size_t i = 0; i < branches.size(); ++i) form.kinds.push_back(number(i));
  };
  const auto exact = [](double value) { return exactness_of(RunningError(value)); };
  add([&](std::size_t i) {
    return form.unknown[i] >= 0 ? Exactness::none : exact(branches[i]->c / branches[i]->b);
  });
  add([&](std::size_t i) { return exact(branches[i]->a); });
  add([&](std::size_t i) { return exact(branches[i]->b); });
  add([&](std::size_t i) { return exact(branches[i]->c); });
}

}  // namespace

/// Is every step of the scheme in a mode one of backward Euler by Newton's method, with few unknowns?
bool LaneAccess::is_served(const NonlinearCapturing& scheme) {
  const ImplicitStep& step = scheme.step_;
  const DcsEvaluator& evaluator = scheme.step_.evaluator();
  const bool is_small = step.n() + step.m() <= most_unknowns && evaluator.linear_code() != nullptr &&
                        evaluator.linear_code()->tape().size() <= most_lines && !evaluator.bounded_tape().is_in_lanes();
  return is_small && scheme.theta_ == 1 && scheme.resets_.empty() &&
         scheme.options_.selector != Selector::minimal_norm && static_cast<int>(scheme.mode().size()) == step.m();
}

LaneForm LaneAccess::form(const NonlinearCapturing& scheme) {
  LaneForm form;
  ImplicitStep& step = scheme.step_;
  form.mode = scheme.mode();
  form.n = step.n(), form.m = step.m();
  if (!is_served(scheme)) return form;
  const DcsEvaluator& evaluator = step.evaluator();
  step.set_mode(form.mode);
  form.is_served = true;
  form.size = step.size();
  form.free_laws = step.free_laws_;
  form.unknown = step.unknown_;
  form.curved = step.curved_;
  form.differential = scheme.differential_;
  for (int i = 0; i < form.m; ++i) {
    form.has_a.push_back(step.branch(i).a != 0 ? 1 : 0);
    form.has_b.push_back(step.branch(i).b != 0 ? 1 : 0);
  }
  for (const ImplicitStep::Place& place : step.places_)
    form.places.push_back({place.row, place.index, static_cast<LaneForm::Kind>(place.kind)});
  add_linear_lines(*evaluator.linear_code(), form);
  add_bounded_lines(evaluator.bounded_tape(), form);
  const LaneNumbers own = numbers(scheme, form);
  add_kinds(own.bounded_constants, own.branches, form);
  return form;
}

LaneNumbers LaneAccess::numbers(const NonlinearCapturing& scheme, const LaneForm& form) {
  ImplicitStep& step = scheme.step_;
  LaneNumbers numbers;
  const Tape& tape = step.evaluator().linear_code()->tape();
  for (const int k : form.linear_constants)
    numbers.linear_constants.push_back(tape[k].operation == Operation::pi ? ScalarTraits<double>::pi() : tape[k].value);
  for (const int k : form.bounded_constants) numbers.bounded_constants.push_back(step.evaluator().bounded_tape().values()[at(k)]);
  step.set_mode(form.mode);
  for (int i = 0; i < form.m; ++i) numbers.branches.push_back(&step.branch(i));
  numbers.units.assign(step.units(), step.units() + form.size);
  return numbers;
}

/// Is the present state one from which the common step goes on: in a mode whose orientation is known, by a step of length h
/// as the last one?
bool LaneAccess::is_ready(const NonlinearCapturing& scheme, double h) {
  const NonlinearCapturing::State& now = scheme.current();
  scheme.step_.set_mode(*now.mode);
  return !scheme.start_pending_ && scheme.step_.has_units() && now.h == h && !now.fresh && !now.begins &&
         scheme.oriented_mode_ == now.mode && scheme.newton_.gate_known_ && scheme.newton_.has_asked_rows() &&
         scheme.of_high_index_.empty();
}

namespace {

Vector vector_of(const double* from, Eigen::Index size) { return Eigen::Map<const Vector>(from, size); }

}  // namespace

/// As so many steps and `accept` leave it: the rooms of the states change places.
void LaneAccess::take(NonlinearCapturing& scheme, const Made& made, double h, const State& now, const State& before,
                      const State& oldest) {
  const Mode* const mode = scheme.current().mode;
  for (long k = 0; k < (made.steps - 1) % 3 + 1; ++k) {
    const int room = scheme.previous_;
    scheme.previous_ = scheme.now_;
    scheme.now_ = scheme.trial_;
    scheme.trial_ = room;
  }
  const auto write = [&](NonlinearCapturing::State& to, const State& from) {
    to.t = from.t, to.h = h, to.mode = mode, to.residual = from.residual;
    to.weak = to.fresh = to.begins = to.entered = to.is_alone = to.knows_end = false;
    to.is_first_order = true;
    to.x = vector_of(from.x, to.x.size());
    to.d = vector_of(from.d, to.d.size());
    to.lambda = vector_of(from.lambda, to.lambda.size());
    to.w = vector_of(from.w, to.w.size());
  };
  NonlinearCapturing::State& last = scheme.states_[at(scheme.previous_)];
  if (made.steps > 1) write(last, before);
  write(scheme.states_[at(scheme.now_)], now);
  if (made.steps > 2) scheme.states_[at(scheme.trial_)].t = oldest.t;
  scheme.residual_ = std::max(scheme.residual_, made.residual);
  scheme.keep_rate(scheme.states_[at(scheme.now_)]);
  scheme.is_first_order_ = true;
  scheme.newton_.iterations_ += made.iterations;
  std::copy_n(made.last_errors, scheme.step_.size(), scheme.newton_.last_errors_.begin());
}

bool LaneAccess::look_ahead(const NonlinearCapturing& scheme, PoleWatch* poles) {
  const NonlinearCapturing::State &a = scheme.previous(), &b = scheme.current();
  return poles != nullptr && poles->look_ahead(*b.mode, {a.t, b.t, a.x, b.x, a.lambda, b.lambda});
}

void LaneAccess::follow_poles(const NonlinearCapturing& scheme, PoleWatch& poles) {
  const NonlinearCapturing::State &a = scheme.previous(), &b = scheme.current();
  poles.is_calm(*b.mode, {a.t, b.t, a.x, b.x, a.lambda, b.lambda});
}

}  // namespace perp::eight
