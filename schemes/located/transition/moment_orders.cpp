// Several events of one moment in every order: asked by the sensitivities.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/transition/moment_orders.hpp>

namespace perp {
namespace {

constexpr double same_state = 1e-9;  ///< of the units of the variables: what moments that are one up to same_moment make of rates

bool has(const std::vector<int>& list, int number) { return std::ranges::find(list, number) != list.end(); }

bool is_of(const std::vector<const MomentEvent*>& events, int law) {
  return std::ranges::any_of(events, [law](const MomentEvent* event) { return has(event->laws, law) || has(event->contacts, law); });
}

/// The mode with these branches of the laws of an event.
void copy_branches(const MomentEvent& event, const Mode& from, Mode& to) {
  for (const std::vector<int>* laws : {&event.laws, &event.contacts})
    for (const int law : *laws) to[static_cast<std::size_t>(law)] = from[static_cast<std::size_t>(law)];
}

}  // namespace

Vector terms_of(const LocatedState& at, const EventLocator& locator, const Gap& gap, const Sensitivities::GapRate& rate, const Matrix& S) {
  if (gap.law < 0) return rate.terms;
  return (S.array().abs().colwise() / at.scales.x.array()).colwise().maxCoeff().transpose() * locator.size(gap);
}

/// The parts of the equations, see ConsistentJets::parts, that this event reads or moves.
std::vector<int> MomentOrders::parts_of(const MomentEvent& event) const {
  std::vector<int> touched;
  for (const std::vector<int>* laws : {&event.laws, &event.contacts})
    for (const int law : *laws) touched.push_back(at_.system.n() + law);
  for (const int reset : event.resets) std::ranges::copy(maps_.touched_by(reset), std::back_inserter(touched));
  for (int& entry : touched) entry = jets_.all().parts()[static_cast<std::size_t>(entry)];
  return touched;
}

/// The places of events that parts connect.
std::vector<std::vector<std::size_t>> MomentOrders::groups(const std::vector<MomentEvent>& events) const {
  struct Group {
    std::vector<std::size_t> places;
    std::vector<int> parts;
  };
  std::vector<Group> found;
  for (std::size_t k = 0; k < events.size(); ++k) {
    Group group{{k}, parts_of(events[k])};
    const auto is_apart = [&group](const Group& other) {
      return std::ranges::none_of(other.parts, [&group](int part) { return has(group.parts, part); });
    };
    const auto connected = std::stable_partition(found.begin(), found.end(), is_apart);
    for (auto other = connected; other != found.end(); ++other) {
      std::ranges::copy(other->places, std::back_inserter(group.places));
      std::ranges::copy(other->parts, std::back_inserter(group.parts));
    }
    found.erase(connected, found.end());
    found.push_back(std::move(group));
  }
  std::vector<std::vector<std::size_t>> places;
  for (Group& group : found) std::ranges::sort(places.emplace_back(std::move(group.places)));
  return places;
}

/// The given order first, then those in which events of one group change their places. Empty: a group has too many.
std::vector<MomentOrders::Order> MomentOrders::orders(const std::vector<MomentEvent>& events) const {
  Order given;
  for (const MomentEvent& event : events) given.push_back(&event);
  std::vector<Order> found{given};
  for (const std::vector<std::size_t>& places : groups(events)) {
    if (places.size() > most_ordered) return {};
    std::vector<std::size_t> others = places;
    while (std::ranges::next_permutation(others).found) {
      Order order = given;
      for (std::size_t k = 0; k < places.size(); ++k) order[places[k]] = given[others[k]];
      found.push_back(std::move(order));
    }
  }
  return found;
}

std::vector<Matrix> MomentOrders::operator()(const std::vector<MomentEvent>& events, const Jet& after) {
  const Matrix dx = maps_.at_event(), S = maps_.dx();
  const Vector dt = maps_.event_time();
  std::vector<Matrix> pieces;
  why_ = "of the orders of so many events not all are compared";
  for (const Order& order : orders(events)) {
    std::optional<Matrix> piece = in_order(order, {moment_.before.x.col(0), moment_.before, moment_.S}, after);
    if (!piece) {
      pieces.clear();
      break;
    }
    pieces.push_back(std::move(*piece));
  }
  // The state of the maps is that of the events as they were taken.
  integrator_.use_equations(after);
  maps_.take(S);
  maps_.set_event(dx, dt);
  return pieces;
}

std::optional<Matrix> MomentOrders::in_order(const Order& order, State state, const Jet& after) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    const MomentEvent& event = *order[k];
    const Order pending(order.begin() + static_cast<std::ptrdiff_t>(k) + 1, order.end());
    const Sensitivities::GapRate rate = maps_.gap_rate(event.gap, state.jet, state.S);
    why_ = "of an order of these it is not known how the solution goes on";
    if (!passes(event, rate)) return std::nullopt;
    compare_times(event, rate, state.S);
    maps_.take(state.S);
    maps_.at_event(state.jet, rate.time());
    state.x = jump(event, state);
    std::optional<Jet> next = after;
    if (!pending.empty()) next = between(event, pending, state.jet.mode, state.x, after);
    if (!next) return std::nullopt;
    why_ = "the state behind them depends on their order";
    if (pending.empty() && !leads_to(state.x, after)) return std::nullopt;
    integrator_.use_equations(*next);
    if (!event.resets.empty() || !event.contacts.empty()) maps_.project(next->t, next->x.col(0), next->lambda.col(0), {});
    maps_.leave(*next);
    state.S = maps_.complete(*next, maps_.dx()).dx;
    state.jet = std::move(*next);
  }
  if (!state.S.allFinite()) return std::nullopt;
  return std::move(state.S);
}

/// Does the gap of this event fall in this order, too?
bool MomentOrders::passes(const MomentEvent& event, const Sensitivities::GapRate& rate) const {
  return std::isfinite(rate.by_t) && std::abs(rate.by_t) > resting * std::abs(event.rate.by_t) && (rate.by_t > 0) == (event.rate.by_t > 0);
}

/// Keeps that the event has another time than before the moment, beyond the rounding of the terms of both.
void MomentOrders::compare_times(const MomentEvent& event, const Sensitivities::GapRate& rate, const Matrix& S) {
  const Vector unsure = rounding_of_derivatives * terms_of(at_, locator_, event.gap, rate, S) / std::abs(rate.by_t);
  const Vector one = event.rate.time(), other = rate.time(), most = one.cwiseAbs().cwiseMax(other.cwiseAbs());
  const bool is_same = ((one - other).array().abs() <= (same_derivative * most + unsure).array()).all();
  if (!is_same && !has_several_times(event)) moved_.push_back(&event);
}

/// x behind the event; the maps jump with it.
Vector MomentOrders::jump(const MomentEvent& event, const State& state) {
  Vector x = state.x;
  const double t = state.jet.t;
  if (!event.resets.empty()) {
    const Vector lambda = state.jet.lambda.col(0);
    maps_.reset(event.resets, t, x, lambda);
    x = maps_.reset_values(event.resets, t, x, lambda);
  }
  if (!event.contacts.empty() && impact_ != nullptr) {
    maps_.impact(*impact_, {x, event.contacts}, t, x, at_.options.restitution, at_.scales);
    x = impact_->map(t, x, event.contacts);
  }
  return x;
}

/// The mode between this event and the pending ones: that before with the branches of the event, else that behind all with those
/// of the pending ones as they were.
std::optional<Jet> MomentOrders::between(const MomentEvent& event, const Order& pending, const Mode& mode, const Vector& x,
                                         const Jet& after) {
  Mode near = mode, far = after.mode;
  copy_branches(event, after.mode, near);
  for (const MomentEvent* other : pending) copy_branches(*other, moment_.before.mode, far);
  for (const Mode& tried : {near, far}) {
    Jet jet = jets_.all().solve(tried, after.t, x, moment_.before.lambda.col(0));
    if (jet.consistent && jet.determined && holds(event, pending, jet)) return jet;
  }
  return std::nullopt;
}

/// Does the solution go on in this mode behind the event? All laws are on their branches, and those of the event go into theirs.
bool MomentOrders::holds(const MomentEvent& event, const Order& pending, const Jet& jet) const {
  const auto is_inside = [&](const Gap& gap) {
    if (is_of(pending, gap.law)) return true;
    const Matrix& series = gap.of_lambda ? jet.lambda : jet.w;
    const double value = gap.at(series(gap.law, 0)), rate = gap.sign * series(gap.law, 1);
    const bool is_at_end = std::abs(value) <= std::abs(rate) * at_.same_moment(at_.now) || locator_.is_zero(gap, value);
    const bool is_own = !gap.of_lambda && (has(event.laws, gap.law) || has(event.contacts, gap.law));
    return is_own && is_at_end ? rate >= 0 : value >= 0 || is_at_end;
  };
  return std::ranges::all_of(gaps_of(at_.system.laws, jet.mode), is_inside);
}

/// Is this the state behind all events?
bool MomentOrders::leads_to(const Vector& x, const Jet& after) const {
  for (int j = 0; j < at_.system.n(); ++j) {
    if (!jets_.evaluator().is_differential(j)) continue;
    const double size = std::max(at_.scales.x[j], std::abs(x[j]));
    if (!(std::abs(x[j] - after.x(j, 0)) <= same_state * size)) return false;
  }
  return true;
}

}  // namespace perp
