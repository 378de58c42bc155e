// Events that sets pass without being boxed; called by the pieces of enclosures.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/modes/event_window.hpp>

namespace perp::enclosure {
namespace {

constexpr int trials = 8;  ///< radii of a window

Interval with_zero(const Interval& a) { return hull(a, Interval(0)); }

/// Is it the same formula on both tapes, without these inputs?
bool same_formula(const Tape& a, int i, const Tape& b, int j,
                  std::map<std::pair<int, int>, bool>& known, const std::vector<int>& different) {
  if (i < 0 || j < 0) return i == j;
  const auto [place, is_new] = known.try_emplace({i, j}, false);
  if (!is_new) return place->second;
  const Instruction x = a[i], y = b[j];
  if (x.operation != y.operation) return false;
  bool same = false;
  if (x.operation == Operation::constant)
    same = x.value == y.value;
  else if (x.operation == Operation::input)
    same = x.a == y.a && std::find(different.begin(), different.end(), x.a) == different.end();
  else
    same = same_formula(a, x.a, b, y.a, known, different) &&
           same_formula(a, x.b, b, y.b, known, different);
  return known[{i, j}] = same;
}

}  // namespace

EventWindow::EventWindow(ModeFlows& flows, double t, const Doubleton& set, ModeFlow& from,
                         const std::vector<Monitor>& monitors, int reached, double shortest)
    : flows_(flows),
      t_(t),
      set_(set),
      from_(from),
      monitors_(monitors),
      reached_(monitors[static_cast<std::size_t>(reached)]),
      shortest_(shortest),
      fired_in_(&from) {
  const Gap& gap = from.system.gaps[static_cast<std::size_t>(reached_.gap)];
  if (gap.reset < 0) return;
  const int direction = flows.system().resets[static_cast<std::size_t>(gap.reset)].direction;
  if (direction == 0 || direction == -reached_.side) fired_ = {gap.reset};
}

/// All other gaps stay positive between the common time and the event, or fall until then.
bool EventWindow::is_alone() {
  later_.clear();
  const auto sign = [&](const Monitor& monitor, int order) {
    return certain_sign(gap_range(from_.window, monitor, order, with_zero(delta_), set_));
  };
  for (const Monitor& monitor : monitors_) {
    if (monitor.gap == reached_.gap || sign(monitor, 0) > 0) continue;
    if (monitor.trend == Trend::falling && sign(monitor, 1) < 0)
      later_.push_back(monitor);
    else
      return has_other(monitor);
  }
  return true;
}

/// A gap that falls all the time until the event and is positive there was so before: it is 0
/// later.
bool EventWindow::is_first() {
  if (later_.empty()) return true;
  if (!from_.expand(time(), states_, 2, true))
    return fail("the equations have no value everywhere on the surface");
  for (const Monitor& monitor : later_)
    if (!(certain_sign(from_.jet().output(monitor.gap, 0)) == monitor.side))
      return has_other(monitor);
  return true;
}

bool EventWindow::has_other(const Monitor& monitor) {
  other_ = monitor.gap;
  return fail("another branch may end at the same time");
}

/// δ over the times between the common one and the events, by the values of m now; then the centre,
/// S* and what resets make of it.
bool EventWindow::locate_states(const Interval& value) {
  delta_ = common({delta_},
                  {-value / gap_range(from_.window, reached_, 1, with_zero(delta_), set_)})[0];
  return is_alone() && locate_center(radius_) && shrink() && reset_states(from_, fired_);
}

bool EventWindow::locate() {
  const Interval t(t_);
  if (!from_.expand(t, set_.box(), 2, false))
    return fail("the equations have no value everywhere in the set");
  const Interval side(reached_.side);
  const Interval guess =
      side * from_.jet().output(reached_.gap, 0) / (side * from_.jet().output(reached_.gap, 1));
  if (!guess.has_value()) return fail("the surface is not met transversally");
  radius_ = std::max(1.25 * magnitude(guess), shortest_);
  for (int trial = 0; trial < trials; ++trial) {
    // a little longer: times are rounded
    const double proved = radius_ + 2 * shortest_;
    if (!from_.window.prepare_window(t, set_.box(), t, points(set_.center()), proved))
      return fail("the time of the event is not known closely enough");
    const Interval slope = gap_range(from_.window, reached_, 1, symmetric(radius_), set_);
    if (!(slope.hi < 0)) return fail("the surface is not met transversally");
    const Interval value = gap_range(from_.window, reached_, 0, Interval(0), set_);
    delta_ = -value / slope;
    if (magnitude(delta_) <= radius_) return locate_states(value);
    radius_ = 1.1 * magnitude(delta_);
  }
  return fail("the time of the event is not known closely enough");
}

/// Newton's method for the centre; the window holds it, since its box does.
bool EventWindow::locate_center(double radius) {
  const Interval side(reached_.side);
  const Interval value = side * from_.window.center_output(reached_.gap, 0, Interval(0));
  Interval slope = side * from_.window.output(reached_.gap, 1, symmetric(radius));
  for (int round = 0; round < 3; ++round) {
    center_delta_ = -value / slope;
    if (!(magnitude(center_delta_) <= radius)) return fail("the centre of the set has no event");
    slope = side * from_.window.center_output(reached_.gap, 1, with_zero(center_delta_));
  }
  // mean value forms need what lies between the centre and the members
  for (std::size_t i = 0; i < set_.box().size(); ++i)
    if (!set_.box()[i].contains(set_.center()[i])) delta_ = hull(delta_, center_delta_);
  return true;
}

/// P − f ∇mᵀ/m'
IntervalMatrix EventWindow::onto_surface(IntervalMatrix P, const Box& rates) const {
  const int n = set_.states();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (!gradient_[static_cast<std::size_t>(j)].is_zero())
        P(i, j) -=
            rates[static_cast<std::size_t>(i)] * gradient_[static_cast<std::size_t>(j)] / slope_;
  return P;
}

/// S* by the mean value form of the map onto the surface: J = (I − f ∇mᵀ/m')(S*) Φ_1.
bool EventWindow::shrink() {
  const Interval time = this->time(), side(reached_.side);
  const int n = set_.states();
  states_ = from_.window.box_at(delta_);
  center_ = from_.window.centre_at(center_delta_);
  flow_ = from_.window.flow_jacobian(delta_);
  IntervalMatrix of_center{Matrix(Matrix::Identity(n, n))};
  from_.window.complete(Interval(t_) + center_delta_, center_, of_center, states_);
  Box copy = center_;
  from_.window.complete(time, copy, flow_, states_);
  for (int round = 0; round < 3; ++round) {
    if (!from_.expand(time, states_, 2, true))
      return fail("the equations have no value everywhere on the surface");
    rates_.clear();
    gradient_.clear();
    for (int i = 0; i < n; ++i) {
      rates_.push_back(from_.jet().coefficient(i, 1));
      gradient_.push_back(side * from_.jet().output_derivative(reached_.gap, i, 0));
    }
    slope_ = side * from_.jet().output(reached_.gap, 1);
    if (!(slope_.hi < 0)) return fail("the surface is not met transversally");
    if (round == 2) break;
    const IntervalMatrix P = onto_surface(IntervalMatrix{Matrix(Matrix::Identity(n, n))}, rates_);
    states_ = common(states_, set_.image_box(center_, P * flow_));
  }
  return is_first();
}

/// A jump of a rate times ∇mᵀ/m'.
void EventWindow::add_jump(IntervalMatrix& K, int state, const Interval& jump) const {
  for (int j = 0; j < set_.states(); ++j)
    if (!gradient_[static_cast<std::size_t>(j)].is_zero() && !jump.is_zero())
      K(state, j) += jump * gradient_[static_cast<std::size_t>(j)] / slope_;
}

/// R' + (f_2(R) − Ṙ) ∇mᵀ/m'; rates that are the same formula before and after do not jump.
IntervalMatrix EventWindow::bracket(ModeFlow& to, const Successor& next, bool& has_value) const {
  IntervalMatrix K = reset_;
  has_value = true;
  if (next.same_rates) return K;
  const std::vector<int> jumping =
      next.keeps_implicit ? std::vector<int>() : to.system.flow.implicit.inputs;
  if (!to.expand(time(), after_, 2, false)) {
    has_value = false;
    return K;
  }
  std::map<std::pair<int, int>, bool> known;
  for (int i = 0; i < set_.states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (fired_.empty() && same_formula(from_.system.flow.tape, from_.system.flow.rates[at],
                                to.system.flow.tape, to.system.flow.rates[at], known, jumping))
      continue;
    add_jump(K, i, to.jet().coefficient(i, 1) - after_rates_[at]);
  }
  return K;
}

/// By state: is it not set, and is its rate the same formula before and after?
std::vector<bool> EventWindow::with_same_rates(const ModeFlow& to) const {
  const Flow &before = from_.system.flow, &after = to.system.flow;
  std::map<std::pair<int, int>, bool> known;
  std::vector<bool> same;
  for (std::size_t i = 0; i < before.rates.size(); ++i)
    same.push_back(same_formula(before.tape, before.rates[i], after.tape, after.rates[i], known,
                                after.implicit.inputs));
  for (const Flow* flow : {&before, &after})
    for (const DependentState& dependent : flow->dependents)
      same[static_cast<std::size_t>(dependent.state)] = false;
  const std::vector<int>& variables = flows_.space().variables;
  for (const int k : fired_)
    for (const int j : flows_.system().resets[static_cast<std::size_t>(k)].variables)
      for (std::size_t i = 0; i < variables.size(); ++i) same[i] = same[i] && variables[i] != j;
  return same;
}

/// The states U that the event does not touch, now or later: nor what acts on them. Their rates are
/// the same functions of t and x_U before and after, and they do not jump: x_U is a solution of
/// x_U' = f_U(t, x_U) forth to the event of a member and of the same equation back, so that, f_U
/// being smooth, it comes back to what it was at the common time.
std::vector<bool> EventWindow::untouched(const ModeFlow& to) const {
  const std::vector<bool> same = with_same_rates(to);
  const Flow& flow = from_.system.flow;
  std::vector<bool> list = same;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::vector<bool> acting = states_acting_on(flow, flow.rates[i]);
    for (std::size_t j = 0; j < list.size(); ++j) list[i] = list[i] && (!acting[j] || same[j]);
  }
  return list;
}

/// Is it a gap of such states only, and of the old mode too? Then it is along the new mode from the
/// event back what it was along the old one, where `is_alone` has found it positive; not if it is
/// to be 0 later.
bool EventWindow::is_watched(const ModeFlow& to, const Monitor& monitor,
                             const std::vector<bool>& kept) const {
  const Flow &before = from_.system.flow, &after = to.system.flow;
  const int line = after.outputs[static_cast<std::size_t>(monitor.gap)];
  std::map<std::pair<int, int>, bool> known;
  for (const Monitor& other : monitors_) {
    const int old = before.outputs[static_cast<std::size_t>(other.gap)];
    if (other.gap == reached_.gap || other.side != monitor.side ||
        !same_formula(before.tape, old, after.tape, line, known, after.implicit.inputs))
      continue;
    const std::vector<bool> acting = states_acting_on(before, old);
    for (std::size_t i = 0; i < acting.size(); ++i)
      if (acting[i] && !kept[i]) return false;
    return std::none_of(later_.begin(), later_.end(),
                        [&other](const Monitor& later) { return later.gap == other.gap; });
  }
  return false;
}

/// S* as a set, for mean value forms.
Doubleton EventWindow::section(const IntervalMatrix& K) const {
  const IntervalMatrix P = onto_surface(K, after_rates_);  // R' − Ṙ ∇mᵀ/m'
  Doubleton section = set_;
  section.move(center_after_, P * flow_, after_);
  return section;
}

/// The state that moves m most; −1: of none a derivative of m is known to be no 0.
int EventWindow::held_state() const {
  int held = -1;
  double most = 0;
  for (int i = 0; i < set_.states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double share = std::abs(middle(gradient_[at]) * middle(rates_[at]));
    if (!(share > most) || gradient_[at].contains(0.0)) continue;
    most = share;
    held = i;
  }
  return held;
}

/// All members have m = 0, as the centre has: the state that moves m most follows from the others,
///     y_i − ŷ_i = −Σ_{j ≠ i} (∂m/∂x_j)/(∂m/∂x_i) (y_j − ŷ_j)
void EventWindow::hold_on_surface(IntervalMatrix& J) const {
  const int n = set_.states(), held = held_state();
  if (held < 0) return;
  for (int k = 0; k < n; ++k) {
    Interval sum;
    for (int j = 0; j < n; ++j) {
      const Interval& slope = gradient_[static_cast<std::size_t>(j)];
      if (j != held && !slope.is_zero() && !J(j, k).is_zero())
        sum -= slope / gradient_[static_cast<std::size_t>(held)] * J(j, k);
    }
    J(held, k) = sum;
  }
}

IntervalMatrix EventWindow::surface_jacobian() const {
  const int n = set_.states();
  const IntervalMatrix P = onto_surface(IntervalMatrix{Matrix(Matrix::Identity(n, n))}, rates_);
  IntervalMatrix J = P * flow_;
  hold_on_surface(J);
  return J;
}

std::optional<Doubleton> EventWindow::on_surface(ModeFlow& to) {
  IntervalMatrix J = surface_jacobian();
  if (!fired_.empty()) J = reset_ * J;
  if (!to.window.prepare_window(time(), after_, Interval(t_) + center_delta_, center_after_,
                                4 * shortest_))
    return std::nullopt;
  Box F = center_after_;
  to.window.complete(time(), F, J, after_);
  to.window.project(time(), F, J, after_);
  Doubleton there = set_;
  there.move(F, J, after_);
  return there;
}

/// Through the event and back these are what they were:  φ_i(x) = x̂_i + (x_i − x̂_i).
void EventWindow::keep(const std::vector<bool>& states, Box& F, IntervalMatrix& J,
                       Box& other) const {
  for (int i = 0; i < set_.states(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!states[at]) continue;
    F[at] = Interval(set_.center()[at]);
    other[at] = set_.box()[at];
    for (int j = 0; j < set_.states(); ++j) J(i, j) = Interval(i == j ? 1 : 0);
  }
}

// From the event to the common time and back the new mode holds: until there its gaps are tested
// from the event, from there on by steps.
std::optional<Doubleton> EventWindow::pass(ModeFlow& to, const Successor& successor) {
  const double radius = std::max(magnitude(delta_), width(delta_)) + 4 * shortest_;
  const Interval start = time();
  if (!to.window.prepare_window(start, after_, Interval(t_) + center_delta_, center_after_,
                                radius)) {
    fail("the new mode could not be followed over the window of the event");
    return std::nullopt;
  }
  const Doubleton on_surface = section(reset_);
  const std::vector<bool> kept = untouched(to);
  for (const Monitor& monitor : successor.monitors) {
    if (is_watched(to, monitor, kept)) continue;
    const int order = monitor.trend == Trend::bending ? 2 : monitor.trend == Trend::rising ? 1 : 0;
    const Interval m = gap_range(to.window, monitor, order, with_zero(-delta_), on_surface);
    if (certain_sign(m) <= 0) {
      fail("the new mode may end within the window of the event");
      return std::nullopt;
    }
  }
  bool has_value = false;
  const IntervalMatrix K = bracket(to, successor, has_value);
  if (!has_value) {
    fail("the equations have no value everywhere on the surface");
    return std::nullopt;
  }
  IntervalMatrix J = to.window.flow_jacobian(-delta_) * (K * flow_);
  Box F = to.window.centre_at(-center_delta_);
  Box other = to.window.box_at(-delta_);
  to.window.complete(Interval(t_), F, J, other);
  to.window.project(Interval(t_), F, J, other);
  keep(kept, F, J, other);
  Doubleton moved = set_;
  moved.move(F, J, other);
  return moved;
}

}  // namespace perp::enclosure
