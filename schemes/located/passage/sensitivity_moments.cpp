// Several events of one moment: which there are, in what order they happen, and where their derivatives end.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <ranges>
#include <string>

#include <perp/schemes/located/transition/moment_orders.hpp>
#include <perp/schemes/located/passage/sensitivity_update.hpp>

namespace perp {
namespace {

constexpr double rounding = 1e-12;       ///< of the terms of a gap's derivatives

bool is_in(const std::vector<int>& list, int number) { return std::ranges::find(list, number) != list.end(); }

}  // namespace

void SensitivityUpdate::begin_moment() {
  met_.clear();
  fired_.clear();
  struck_.clear();
  first_event_ = record_.events().size();
  is_passed_ = false;
}

void SensitivityUpdate::reset(const std::vector<int>& resets, const Step& before) {
  if (!active()) return;
  maps_.reset(resets, before.t, before.x, before.lambda);
  fired_.insert(fired_.end(), resets.begin(), resets.end());
}

void SensitivityUpdate::impact(Impact& impact, const Impact::Result& result, const Vector& x) {
  if (!active()) return;
  maps_.impact(impact, result, at_.now.t, x, at_.options.restitution, at_.scales);
  impact_ = &impact;
  for (const int law : result.laws)
    if (!is_in(struck_, law)) struck_.push_back(law);
}

void SensitivityUpdate::at_limit(const Matrix& dx, const Vector& dt) {
  if (!active()) return;
  maps_.set_event(dx, dt);
  is_passed_ = true;
}

/// Do these gaps tell the same time for every q, but for the rounding of its terms? Column by column, whatever their units.
bool SensitivityUpdate::is_same_time(const MomentEvent& one, const MomentEvent& other, const Matrix& S) const {
  const auto unsure = [&](const MomentEvent& event) -> Vector {
    const Vector terms = event.gap.law >= 0 ? Vector(sizes(S) * locator_.size(event.gap)) : event.rate.terms;
    return rounding * terms / std::abs(event.rate.by_t);
  };
  const Vector a = one.rate.time(), b = other.rate.time();
  const Vector most = a.cwiseAbs().cwiseMax(b.cwiseAbs());
  return ((a - b).array().abs() <= (same_derivative * most + unsure(one) + unsure(other)).array()).all();
}

/// What this gap tells at the end of the mode before.
MomentEvent SensitivityUpdate::event_of(const Gap& gap) const { return {gap, maps_.gap_rate(gap, at_.passage.before, before_)}; }

/// Joins the events of the same time.
void SensitivityUpdate::join(std::vector<MomentEvent>& events, MomentEvent event) const {
  const auto same = std::ranges::find_if(events, [&](const MomentEvent& other) { return is_same_time(event, other, before_); });
  if (same == events.end()) return events.push_back(std::move(event));
  same->resets.insert(same->resets.end(), event.resets.begin(), event.resets.end());
  same->contacts.insert(same->contacts.end(), event.contacts.begin(), event.contacts.end());
  same->laws.insert(same->laws.end(), event.laws.begin(), event.laws.end());
}

/// The events of the present moment by their times: resets that fire, contacts that collide, laws that change their branch. What
/// tells no time of its own follows others.
std::vector<MomentEvent> SensitivityUpdate::events_of_moment(const Mode& before, const Mode& after) const {
  std::vector<MomentEvent> events;
  std::vector<int> laws;
  for (const Gap& gap : at_.passage.gaps) {
    if (gap.law < 0 || is_in(laws, gap.law)) continue;
    const bool collides = is_in(struck_, gap.law);
    if (!collides && before[static_cast<std::size_t>(gap.law)] == after[static_cast<std::size_t>(gap.law)]) continue;
    MomentEvent event = event_of(gap);
    if (rests(gap, event.rate)) continue;
    laws.push_back(gap.law);
    (collides ? event.contacts : event.laws) = {gap.law};
    join(events, std::move(event));
  }
  for (const int reset : fired_) {
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
  for (const int law : struck_) {
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
  end(fmt::format("the solution passes {} and {} at one moment, and {}", name_of(one), name_of(other), why));
}

/// Does x jump with events of several times, or with one whose time is not that of the passage?
bool SensitivityUpdate::has_orders(const std::vector<MomentEvent>& events) const {
  if (events.empty() || is_passed_) return false;
  if (events.size() > 1) return true;
  const Vector& dt = at_.passage.dt;
  MomentEvent taken = events.front();
  taken.rate.by_q = -dt * taken.rate.by_t;
  return !is_same_time(events.front(), taken, before_);
}

/// S⁺ where x jumps with events that have several times. False: it does not exist, or is not known.
bool SensitivityUpdate::pass_in_orders(std::vector<MomentEvent> events, const Jet& after, const JumpTaken& jump) {
  const MomentEvent &first = events.front(), &last = events.back();
  if (events.size() > most_ordered || jump.change.size() > 0 || !join_pressed(events)) {
    end_between(first, last, "of their orders it is not known how the solution goes on");
    return false;
  }
  MomentOrders orders(at_, jets_, integrator_, locator_, maps_, impact_);
  std::vector<Matrix> pieces = orders(events, before_, after);
  if (pieces.empty()) {
    end_between(first, last, orders.why());
    return false;
  }
  terms_ = terms_behind(after, false);
  for (const MomentEvent& event : events) terms_ = terms_.cwiseMax(sizes(at_.passage.before.x.col(1) * event.rate.time().transpose()));
  tell_times(events, orders);
  take_pieces(std::move(pieces));
  return true;
}

/// S⁺ of the first order; that of the others, where they differ, is told with the event.
void SensitivityUpdate::take_pieces(std::vector<Matrix> pieces) {
  maps_.take(pieces.front());
  const bool is_one = std::ranges::all_of(pieces, [&](const Matrix& piece) { return are_alike(piece, pieces.front(), terms_); });
  if (is_one) return;
  ++record_.counts()["one_sided"];
  for (Event& event : record_.events() | std::views::drop(static_cast<std::ptrdiff_t>(first_event_))) {
    if (event.kind == EventKind::jump) {
      event.pieces = std::move(pieces);
      return;
    }
  }
  at_.passage.pieces = std::move(pieces);
}

/// The laws and jumps of the present moment have the times of their own events; what has several, by its resets or by the orders, has none.
void SensitivityUpdate::tell_times(const std::vector<MomentEvent>& events, const MomentOrders& orders) {
  for (Event& jump : record_.events() | std::views::drop(static_cast<std::ptrdiff_t>(first_event_)))
    if (jump.kind == EventKind::jump) tell_time(jump, events, orders);
  for (auto& [law, rate] : rates_) {
    const auto own = std::ranges::find_if(events, [law = law](const MomentEvent& event) { return is_in(event.laws, law); });
    if (own != events.end() && orders.has_several_times(*own)) rate.by_q.resize(0);
  }
}

void SensitivityUpdate::tell_time(Event& jump, const std::vector<MomentEvent>& events, const MomentOrders& orders) const {
  const auto is_its = [&](const MomentEvent& event) {
    if (jump.law >= 0) return is_in(event.contacts, jump.law);
    return !event.resets.empty() && std::ranges::all_of(fired_, [&](int reset) { return is_in(event.resets, reset); });
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
  const Vector terms = gap.law >= 0 ? Vector(sizes(maps_.dx()) * locator_.size(gap)) : rate.terms;
  return std::ranges::any_of(times, [&](const Vector& dt) {
    const Vector most = same_derivative * (terms + std::abs(rate.by_t) * dt.cwiseAbs());
    return ((rate.by_q + rate.by_t * dt).array().abs() > most.array()).any();
  });
}

/// Is the state behind a jump at the end of w that this gap is of, where no event of the moment has been?
bool SensitivityUpdate::is_landed_on(const Gap& gap) const {
  if (gap.law < 0 || gap.of_lambda || is_in(struck_, gap.law) || !is_at_end(gap)) return false;
  return std::ranges::none_of(at_.passage.gaps, [&](const Gap& other) { return other.law == gap.law; });
}

/// The state behind a jump of x is on the end of a branch or on a condition that it was not on before: states beside it go
/// another way, where some q moves it off at the event.
void SensitivityUpdate::watch_landing(const std::vector<MomentEvent>& events, const Jet& after) {
  std::vector<Vector> times{maps_.event_time()};
  for (const MomentEvent& event : events) times.push_back(event.rate.time());
  for (const Gap& gap : locator_.gaps())
    if (is_landed_on(gap) && moves_off_at(times, gap, after) && starts_between(gap, after, branch_beyond(gap))) return end_at(gap, "lands on");
  for (int k = 0; k < static_cast<int>(at_.system.resets.size()); ++k) {
    const Gap gap{.reset = k};
    if (!is_in(fired_, k) && maps_.is_on_condition(k, after) && moves_off_at(times, gap, after)) return end_at(gap, "lands on");
  }
}

/// What is at its end when others pass theirs, and stays: laws that keep their branch, and resets that do not fire.
std::vector<Gap> SensitivityUpdate::kept_gaps(const Mode& before, const Mode& after) const {
  std::vector<Gap> kept;
  const auto keeps = [&](int law) { return before[static_cast<std::size_t>(law)] == after[static_cast<std::size_t>(law)]; };
  for (const Gap& gap : at_.passage.gaps)
    if (gap.law >= 0 && !gap.of_lambda && !is_in(struck_, gap.law) && keeps(gap.law)) kept.push_back(gap);
  for (const int reset : met_)
    if (!is_in(fired_, reset)) kept.push_back({.reset = reset});
  return kept;
}

/// For other q it comes there at another moment, and on one side of q it passes its end, too.
void SensitivityUpdate::watch_kept(const std::vector<MomentEvent>& events, const Mode& before, const Mode& after) {
  for (const Gap& gap : kept_gaps(before, after)) {
    const MomentEvent here = event_of(gap);
    const bool goes_with_all = !events.empty() && std::ranges::all_of(events, [&](const MomentEvent& other) { return is_same_time(here, other, before_); });
    if (moves_off(gap, here.rate) && !goes_with_all && !has_one_rate_beyond(gap, at_.passage.before)) return end_at(gap, "touches");
  }
}

/// Behind the present event: what it passes by, and what a jump comes to.
void SensitivityUpdate::watch_moment(const Mode& before, const Jet& after, bool x_jumped) {
  if (!active() || is_passed_) return;
  const std::vector<MomentEvent> events = events_of_moment(before, after.mode);
  watch_kept(events, before, after.mode);
  if (active() && x_jumped) watch_landing(events, after);
}

void SensitivityUpdate::meet_resets(const std::vector<int>& resets) { met_ = resets; }

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
