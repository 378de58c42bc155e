// Several events of one moment: which there are, in what order they happen, and where their derivatives end.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include <perp/schemes/located/transition/moment_orders.hpp>
#include <perp/schemes/located/passage/sensitivity_update.hpp>

namespace perp {
namespace {

bool is_in(const std::vector<int>& list, int number) { return std::ranges::find(list, number) != list.end(); }

}  // namespace

/// What happens now belongs to the present moment, where it follows at once, and something else happens than before.
void SensitivityUpdate::begin_moment() {
  if (goes_on_with_moment())
    join_moment();
  else
    begin_moment_anew();
  is_passed_ = false;
}

/// From the transition that goes on.
void SensitivityUpdate::begin_moment_anew() {
  const auto rest = [](const std::vector<int>& list, std::size_t first) { return std::vector<int>(list.begin() + static_cast<std::ptrdiff_t>(first), list.end()); };
  Moment moment{at_.passage.before.t + at_.same_moment(at_.now), at_.passage.before, maps_.dx(), at_.passage.gaps};
  const bool is_within = moment_.is_joined && !is_passed_;
  if (is_within) moment.met = moment_.met, moment.fired = rest(moment_.fired, moment_.fired_now), moment.struck = rest(moment_.struck, moment_.struck_now);
  moment.first_event = is_within ? moment_.event_now : record_.events().size();
  moment_ = std::move(moment);
}

/// Has the last transition been at this moment, and are the gaps of this one 0 before it, too?
bool SensitivityUpdate::goes_on_with_moment() const {
  const Jet &first = moment_.before, &here = at_.passage.before;
  if (first.x.size() == 0 || !(here.t <= moment_.until)) return false;
  return std::ranges::all_of(at_.passage.gaps, [&](const Gap& gap) {
    const bool has_changed = gap.law >= 0 && here.mode[static_cast<std::size_t>(gap.law)] != first.mode[static_cast<std::size_t>(gap.law)];
    return has_changed || was_at_end(gap);
  });
}

/// Is a gap of the mode before the moment 0 there?
bool SensitivityUpdate::was_at_end(const Gap& gap) const {
  const Jet& first = moment_.before;
  const double apart = moment_.until - first.t;
  if (gap.law < 0) return maps_.is_on_condition(gap.reset, first, apart);
  const Matrix& series = gap.of_lambda ? first.lambda : first.w;
  const double value = gap.at(series(gap.law, 0)), speed = series.cols() > 1 ? std::abs(series(gap.law, 1)) : 0;
  return std::abs(value) <= speed * apart || locator_.is_zero(gap, value);
}

void SensitivityUpdate::join_moment() {
  for (const Gap& gap : at_.passage.gaps) {
    const auto is_known = [&gap](const Gap& other) { return other.law == gap.law; };
    if (gap.law < 0 || std::ranges::any_of(moment_.gaps, is_known)) continue;
    const auto law = static_cast<std::size_t>(gap.law);
    if (at_.passage.before.mode[law] == moment_.before.mode[law]) moment_.gaps.push_back(gap);
  }
  moment_.fired_now = moment_.fired.size(), moment_.struck_now = moment_.struck.size(), moment_.event_now = record_.events().size();
  moment_.is_joined = true;
}

/// What happens for the second time is of a moment of its own: events that accumulate come as near.
void SensitivityUpdate::watch_repeats(const Mode& before, const Mode& after) {
  const Mode& first = moment_.before.mode;
  for (std::size_t i = 0; i < first.size() && moment_.is_joined; ++i)
    if (before[i] != first[i] && after[i] != before[i]) begin_moment_anew();
}

void SensitivityUpdate::reset(const std::vector<int>& resets, const Step& before) {
  if (!active()) return;
  maps_.reset(resets, before.t, before.x, before.lambda);
  const auto is_new = [&](int reset) { return !is_in(moment_.fired, reset) && was_at_end({.reset = reset}); };
  if (is_passed_) moment_.has_followers = true;
  if (!is_passed_ && moment_.is_joined && !std::ranges::all_of(resets, is_new)) begin_moment_anew();
  moment_.fired.insert(moment_.fired.end(), resets.begin(), resets.end());
}

void SensitivityUpdate::impact(Impact& impact, const Impact::Result& result, const Vector& x) {
  if (!active()) return;
  maps_.impact(impact, result, at_.now.t, x, at_.options.restitution, at_.scales);
  impact_ = &impact;
  const auto earlier = std::span(moment_.struck).first(moment_.struck_now);
  if (moment_.is_joined && std::ranges::any_of(result.laws, [&](int law) { return std::ranges::find(earlier, law) != earlier.end(); })) begin_moment_anew();
  for (const int law : result.laws)
    if (!is_in(moment_.struck, law)) moment_.struck.push_back(law);
}

void SensitivityUpdate::at_limit(const Matrix& dx, const Vector& dt) {
  if (!active()) return;
  maps_.set_event(dx, dt);
  moment_ = {};
  is_passed_ = true;
}

/// Do these gaps tell the same time for every q, but for the rounding of its terms? Column by column, whatever their units.
bool SensitivityUpdate::is_same_time(const MomentEvent& one, const MomentEvent& other, const Matrix& S) const {
  const auto unsure = [&](const MomentEvent& event) -> Vector {
    return rounding_of_derivatives * terms_of(at_, locator_, event.gap, event.rate, S) / std::abs(event.rate.by_t);
  };
  const Vector a = one.rate.time(), b = other.rate.time();
  const Vector most = a.cwiseAbs().cwiseMax(b.cwiseAbs());
  return ((a - b).array().abs() <= (same_derivative * most + unsure(one) + unsure(other)).array()).all();
}

/// What this gap tells at the end of the mode before the moment.
MomentEvent SensitivityUpdate::event_of(const Gap& gap) const { return {gap, maps_.gap_rate(gap, moment_.before, moment_.S)}; }

/// Joins the events of the same time.
void SensitivityUpdate::join(std::vector<MomentEvent>& events, MomentEvent event) const {
  const auto same = std::ranges::find_if(events, [&](const MomentEvent& other) { return is_same_time(event, other, moment_.S); });
  if (same == events.end()) return events.push_back(std::move(event));
  same->resets.insert(same->resets.end(), event.resets.begin(), event.resets.end());
  same->contacts.insert(same->contacts.end(), event.contacts.begin(), event.contacts.end());
  same->laws.insert(same->laws.end(), event.laws.begin(), event.laws.end());
}

/// The events of the present moment by their times: resets that fire, contacts that collide, laws that change their branch. What
/// tells no time of its own follows others.
std::vector<MomentEvent> SensitivityUpdate::events_of_moment(const Mode& after) const {
  std::vector<MomentEvent> events;
  std::vector<int> laws;
  for (const Gap& gap : moment_.gaps) {
    if (gap.law < 0 || is_in(laws, gap.law)) continue;
    const auto law = static_cast<std::size_t>(gap.law);
    const bool collides = is_in(moment_.struck, gap.law);
    if (!collides && moment_.before.mode[law] == after[law]) continue;
    MomentEvent event = event_of(gap);
    if (rests(gap, event.rate)) continue;
    laws.push_back(gap.law);
    (collides ? event.contacts : event.laws) = {gap.law};
    join(events, std::move(event));
  }
  for (const int reset : moment_.fired) {
    MomentEvent event = event_of({.reset = reset});
    event.resets = {reset};
    join(events, std::move(event));
  }
  return events;
}

/// Contacts that others press on join the event of those of their part. False: that of which is not known.
bool SensitivityUpdate::join_pressed(std::vector<MomentEvent>& events) const {
  const std::vector<int>& parts = jets_.all().parts();
  const auto part = [&](int law) { return parts[static_cast<std::size_t>(at_.system.n() + law)]; };
  std::vector<std::pair<MomentEvent*, int>> pressed;
  for (const int law : moment_.struck) {
    if (std::ranges::any_of(events, [&](const MomentEvent& event) { return is_in(event.contacts, law); })) continue;
    MomentEvent* by = nullptr;
    for (MomentEvent& event : events) {
      if (std::ranges::none_of(event.contacts, [&](int other) { return part(other) == part(law); })) continue;
      if (by != nullptr) return false;
      by = &event;
    }
    if (by == nullptr) return false;
    pressed.emplace_back(by, law);
  }
  for (const auto& [event, law] : pressed) event->contacts.push_back(law);
  return true;
}

std::string SensitivityUpdate::name_of(const MomentEvent& event) const {
  if (!event.resets.empty()) return "the condition of " + at_.system.resets[static_cast<std::size_t>(event.resets.front())].name;
  return "the end of a branch of " + at_.system.laws[static_cast<std::size_t>(event.gap.law)].name;
}

/// There are none from here on: what these events of one moment lead to has no derivative, or none that is known.
void SensitivityUpdate::end_between(const MomentEvent& one, const MomentEvent& other, const char* why) {
  // What was told of the sides of some of them alone is of no side of the moment.
  for (Event& event : record_.events() | std::views::drop(static_cast<std::ptrdiff_t>(moment_.first_event)))
    if (event.pieces.size() > 1) event.pieces.clear();
  at_.passage.pieces.clear();
  end(fmt::format("the solution passes {} and {} at one moment, and {}", name_of(one), name_of(other), why));
}

/// Have the events of the moment several times, or has one, with which x jumps, not that of the passage?
bool SensitivityUpdate::has_orders(const std::vector<MomentEvent>& events) const {
  if (events.size() != 1) return !events.empty();
  if (!moment_.has_jumped || moment_.is_joined) return false;
  MomentEvent taken = events.front();
  taken.rate.by_q = -at_.passage.dt * taken.rate.by_t;
  return !is_same_time(events.front(), taken, moment_.S);
}

/// S⁺ by the orders of events that have several times. False: it does not exist, or is not known.
bool SensitivityUpdate::pass_in_orders(std::vector<MomentEvent> events, const Jet& after, const JumpTaken& jump) {
  const MomentEvent &first = events.front(), &last = events.back();
  if (jump.change.size() > 0 || moment_.has_followers || !join_pressed(events)) {
    end_between(first, last, "of their orders it is not known how the solution goes on");
    return false;
  }
  before_ = moment_.S;
  MomentOrders orders(at_, moment_, jets_, integrator_, locator_, maps_, impact_);
  std::vector<Matrix> pieces = orders(events, after);
  if (pieces.empty()) {
    end_between(first, last, orders.why());
    return false;
  }
  moment_.is_in_orders = true;
  terms_ = terms_behind(after, false);
  for (const MomentEvent& event : events) terms_ = terms_.cwiseMax(sizes(moment_.before.x.col(1) * event.rate.time().transpose()));
  tell_times(events, orders);
  take_pieces(std::move(pieces));
  return true;
}

/// S⁺ of the first order; that of the others, where they differ, is told with the event.
void SensitivityUpdate::take_pieces(std::vector<Matrix> pieces) {
  maps_.take(pieces.front());
  const bool is_one = std::ranges::all_of(pieces, [&](const Matrix& piece) { return are_alike(piece, pieces.front(), terms_); });
  if (is_one) return;
  if (!std::exchange(moment_.is_one_sided, true)) ++record_.counts()["one_sided"];
  for (Event& event : record_.events() | std::views::drop(static_cast<std::ptrdiff_t>(moment_.first_event))) {
    if (event.kind == EventKind::jump) {
      event.pieces = std::move(pieces);
      return;
    }
  }
  at_.passage.pieces = std::move(pieces);
}

/// The laws and jumps of the present moment have the times of their own events; what has several, by its resets or by the orders, has none.
void SensitivityUpdate::tell_times(const std::vector<MomentEvent>& events, const MomentOrders& orders) {
  const auto event_of_law = [&events](int law) {
    return std::ranges::find_if(events, [law](const MomentEvent& event) { return is_in(event.laws, law); });
  };
  for (Event& told : record_.events() | std::views::drop(static_cast<std::ptrdiff_t>(moment_.first_event))) {
    if (told.kind == EventKind::jump) tell_time(told, events, orders);
    const auto own = told.kind == EventKind::jump ? events.end() : event_of_law(told.law);
    if (own != events.end() && orders.has_several_times(*own)) told.dt_dq.resize(0);
  }
  for (auto& [law, rate] : rates_) {
    const auto own = event_of_law(law);
    if (own == events.end()) continue;
    rate = own->rate;
    if (orders.has_several_times(*own)) rate.by_q.resize(0);
  }
}

void SensitivityUpdate::tell_time(Event& jump, const std::vector<MomentEvent>& events, const MomentOrders& orders) const {
  const auto is_its = [&](const MomentEvent& event) {
    if (jump.law >= 0) return is_in(event.contacts, jump.law);
    return !event.resets.empty() && std::ranges::all_of(moment_.fired, [&](int reset) { return is_in(event.resets, reset); });
  };
  const auto own = std::ranges::find_if(events, is_its);
  jump.dt_dq.resize(0);
  if (own == events.end()) return;
  jump.condition = 1 / std::abs(own->rate.by_t);
  if (!orders.has_several_times(*own)) jump.dt_dq = own->rate.time();
}

/// Does some q move the state behind an event off this gap, at the moment of the event, which has these times?
bool SensitivityUpdate::moves_off_at(const std::vector<Vector>& times, const Gap& gap, const Jet& after) const {
  const Sensitivities::GapRate rate = maps_.gap_rate(gap, after, maps_.dx());
  const Vector terms = terms_of(at_, locator_, gap, rate, maps_.dx());
  return std::ranges::any_of(times, [&](const Vector& dt) {
    const Vector most = same_derivative * (terms + std::abs(rate.by_t) * dt.cwiseAbs());
    return ((rate.by_q + rate.by_t * dt).array().abs() > most.array()).any();
  });
}

/// Is the state behind a jump on a condition, or at the end of w that this gap is of, where no event of the moment has been?
bool SensitivityUpdate::is_landed_on(const Gap& gap, const Jet& after) const {
  if (gap.reset >= 0) return !is_in(moment_.fired, gap.reset) && !was_at_end(gap) && maps_.is_on_condition(gap.reset, after);
  if (gap.law < 0 || gap.of_lambda || is_in(moment_.struck, gap.law) || !is_at_end(gap)) return false;
  return std::ranges::none_of(moment_.gaps, [&](const Gap& other) { return other.law == gap.law; });
}

/// The state behind a jump of x is on the end of a branch or on a condition that it was not on before: states beside it go
/// another way, where some q moves it off at the event.
void SensitivityUpdate::watch_landing(const std::vector<MomentEvent>& events, const Jet& after) {
  std::vector<Vector> times{maps_.event_time()};
  for (const MomentEvent& event : events) times.push_back(event.rate.time());
  for (const Gap& gap : locator_.gaps())
    if (is_landed_on(gap, after) && moves_off_at(times, gap, after) && starts_between(gap, after, branch_beyond(gap))) return end_at(gap, "lands on");
  for (int k = 0; k < static_cast<int>(at_.system.resets.size()); ++k) {
    const Gap gap{.reset = k};
    if (is_landed_on(gap, after) && moves_off_at(times, gap, after)) return end_at(gap, "lands on");
  }
}

/// What is at its end when others pass theirs, and stays: laws that keep their branch, but for those that leave it next, in the
/// same moment, and resets that do not fire.
std::vector<Gap> SensitivityUpdate::kept_gaps(const Jet& after) const {
  std::vector<Gap> kept;
  const auto keeps = [&](int law) { return moment_.before.mode[static_cast<std::size_t>(law)] == after.mode[static_cast<std::size_t>(law)]; };
  const auto leaves_next = [&](const Gap& gap) {
    const Sensitivities::GapRate rate = maps_.gap_rate(gap, after, maps_.dx());
    return rate.by_t < 0 && !rests(gap, rate);
  };
  for (const Gap& gap : moment_.gaps)
    if (gap.law >= 0 && !gap.of_lambda && !is_in(moment_.struck, gap.law) && keeps(gap.law) && !leaves_next(gap)) kept.push_back(gap);
  for (const int reset : moment_.met)
    if (!is_in(moment_.fired, reset)) kept.push_back({.reset = reset});
  return kept;
}

/// For other q it comes there at another moment, and on one side of q it passes its end, too.
void SensitivityUpdate::watch_kept(const std::vector<MomentEvent>& events, const Jet& after) {
  for (const Gap& gap : kept_gaps(after)) {
    const MomentEvent here = event_of(gap);
    const bool goes_with_all = !events.empty() && std::ranges::all_of(events, [&](const MomentEvent& other) { return is_same_time(here, other, moment_.S); });
    if (moves_off(gap, here.rate) && !goes_with_all && !has_one_rate_beyond(gap, moment_.before)) return end_at(gap, "touches");
  }
}

/// Behind the present event: what it passes by, and what a jump comes to.
void SensitivityUpdate::watch_moment(const Jet& after, bool x_jumped) {
  if (!active() || is_passed_) return;
  const std::vector<MomentEvent> events = events_of_moment(after.mode);
  watch_kept(events, after);
  if (active() && x_jumped) watch_landing(events, after);
}

void SensitivityUpdate::meet_resets(const std::vector<int>& resets) {
  for (const int reset : resets)
    if (!is_in(moment_.met, reset)) moment_.met.push_back(reset);
}

/// Some data jump at this moment, which depends on nothing. What is there for other q before or after it has two sides.
void SensitivityUpdate::watch_data(const std::vector<Gap>& gaps, double t_after) {
  if (!active()) return;
  before_ = maps_.dx();
  const Jet& here = at_.passage.before;
  const Jet there = jets_.all().solve(here.mode, t_after, here.x.col(0), here.lambda.col(0), here.x.col(1));
  if (there.consistent && there.determined && have_same_rates(here, there)) return;
  for (const Gap& gap : gaps) {
    const MomentEvent event = event_of(gap);
    const bool is_fixed = event.rate.by_q.isZero(0);
    if (!is_fixed && moves_off(gap, event.rate) && !rests(gap, event.rate) && !has_one_rate_beyond(gap, here))
      return end(fmt::format("the solution passes {} when data jump, and derivatives by what moves that have two sides", name_of(event)));
  }
}

bool SensitivityUpdate::have_same_rates(const Jet& one, const Jet& other) const {
  const Vector a = one.x.col(1), b = other.x.col(1);
  return ((a - b).array().abs() <= same_derivative * a.cwiseAbs().cwiseMax(b.cwiseAbs()).array()).all();
}

/// A mode that ends by several laws at once: which of them ends it depends on q.
void SensitivityUpdate::watch_end_of_mode() {
  if (!active()) return;
  before_ = maps_.dx();
  std::vector<MomentEvent> events;
  for (const Gap& gap : at_.passage.gaps)
    if (gap.law >= 0) {
      MomentEvent event = event_of(gap);
      if (!rests(gap, event.rate)) join(events, std::move(event));
    }
  if (events.size() > 1) end_between(events.front(), events.back(), "which of them comes first depends on what moves them");
}

}  // namespace perp
