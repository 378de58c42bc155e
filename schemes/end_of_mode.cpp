// Finds the end of a mode within a step. The run loop asks for it before it lets a step change its mode.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/schemes/end_of_mode.hpp>
#include <perp/schemes/leaps.hpp>
#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr int most_secants = 16;    ///< of a step tried as the end of its mode: more than simple zeros of its margin need
constexpr int most_shares = 112;    ///< tried in all: halvings, every other one behind these, find it in fewer
constexpr int most_nudges = 6;      ///< from a share that rounding holds on the other side of the end
constexpr int most_failures = 16;   ///< shares without a solution: a law with memory is thrown over less than the last of them
constexpr double at_once = 0x1p-30;  ///< share of a step that tells in which mode it begins; changes before it may be rounding
constexpr double at_end = 0x1p-40;  ///< share of a step before its end that is its end
constexpr double end_known_to = 0x1p-46;  ///< share of a step up to which the end of its mode is known
constexpr double near_pole = 0x1p-20;     ///< share of a step before what may be a pole; there it moves less by 2^-26
constexpr double grows_at_pole = 0x1p10;  ///< times more motion than there; nothing that has a rate grows so

/// The longest share of a step that keeps its mode, between one that does and one that does not. Of the
/// first of its margins, each in units of its value before the step, secants tell where it is 0.
class EndOfMode {
 public:
  /// The step of this share has left the mode. Returns the share of it at which the first law did; 0:
  /// none.
  double leaves(double share, const std::vector<Scheme::Departure>& departures) {
    double first = departures.empty() ? 0 : 1;
    for (const Scheme::Departure& departure : departures) {
      first = std::min(first, departure.s);
      if (!is_watched(departure.law)) laws_.push_back(departure.law);
    }
    left_ = share;
    is_left_by_law_ = !departures.empty();
    add(share, first > 0 ? 1 - 1 / first : nan);  // on its end to rounding, it tells nothing
    return first;
  }
  /// The step of this share has kept it. Laws that no longer step has left do not end it.
  void keeps(double share, const std::vector<Scheme::Departure>& approaches) {
    double first = inf;
    for (const Scheme::Departure& approach : approaches)
      if (is_watched(approach.law)) first = std::min(first, approach.s);
    kept_ = share;
    approaches_ = first < inf;
    add(share, 1 - 1 / first);
  }
  /// The step of this share has kept it by rounding alone: is one of the laws beyond its end?
  [[nodiscard]] bool is_passed(const std::vector<Scheme::Departure>& approaches) const {
    return std::any_of(approaches.begin(), approaches.end(), [this](const auto& approach) {
      return approach.s < 1 && is_watched(approach.law);
    });
  }
  /// The step of this share has no solution.
  void fails(double share) {
    left_ = share;
    is_left_by_law_ = false;
    add(share, nan);
  }

  /// The longest share that has kept the mode; 0: none has.
  [[nodiscard]] double kept() const { return kept_; }
  /// Is it the end of the mode, to rounding?
  [[nodiscard]] bool is_found() const {
    if (left_ - kept_ <= end_known_to) return true;
    if (tries_ > most_secants) return false;  // the secant of such a zero tells too short a way
    const double rest = secant() - kept_;
    return last_.share == kept_ && rest >= 0 && rest <= end_known_to;
  }
  /// Is the mode left where the longest step that keeps it brings none of these laws nearer to its end?
  [[nodiscard]] bool is_left_suddenly() const { return kept_ > 0 && !approaches_ && left_ - kept_ <= end_known_to; }
  /// Do laws leave the mode in the shortest step that does not keep it? Else its equations have no solution there.
  [[nodiscard]] bool is_left_by_law() const { return is_left_by_law_; }
  /// The share to try next.
  double next() {
    if (tries_ >= most_secants && tries_ % 2 == 0) return middle();  // towards a zero of a higher order secants are slow
    double share = secant();
    // On the end itself no margin tells, and rounding may hold the state on the other side.
    if (tried_ == left_ && left_ < 1) {
      const double nudged = (1 - std::ldexp(1.0, 4 * nudges_ - 50)) * left_;
      if (!(share < nudged)) {
        if (nudges_ == most_nudges) return middle();
        ++nudges_;
        share = nudged;
      }
    }
    return share > kept_ && share < left_ ? share : middle();
  }

 private:
  struct Point {
    double share = 0, margin = 1;
  };

  [[nodiscard]] bool is_watched(int law) const {
    return std::find(laws_.begin(), laws_.end(), law) != laws_.end();
  }
  /// A share whose margin is not known leaves the secant as it is.
  void add(double share, double margin) {
    tried_ = share;
    ++tries_;
    if (!std::isfinite(margin)) return;
    before_ = last_;
    last_ = {share, margin};
  }
  [[nodiscard]] double middle() const { return kept_ + (left_ - kept_) / 2; }
  /// NaN: no two shares tell.
  [[nodiscard]] double secant() const {
    const bool forward = before_.share < last_.share;
    const Point &a = forward ? before_ : last_, &b = forward ? last_ : before_;
    return a.share + (b.share - a.share) * (a.margin / (a.margin - b.margin));
  }

  std::vector<int> laws_;  // that ended it
  bool is_left_by_law_ = false;
  bool approaches_ = false;  // does one of them, by the longest step that kept it?
  double kept_ = 0, left_ = 1;
  double tried_ = 0;  // last
  int tries_ = 0;      // how many were tried
  int nudges_ = 0;
  Point before_, last_;
};

/// The search for the end of the mode of `before` within the step of length h from there, which has left it.
class EndSearch {
 public:
  EndSearch(Scheme& scheme, const Step& before, double h, const std::vector<Scheme::Departure>& departures)
      : scheme_(scheme), before_(before), h_(h), first_(end_.leaves(1, departures)) {}

  /// The share of the step at which the first law has left the mode, as the whole step tells; 0: none.
  [[nodiscard]] double first() const { return first_; }

  /// Is the step beyond a pole of its mode? After `finds_end`.
  [[nodiscard]] bool is_before_pole() const { return is_before_pole_; }

  /// Where the mode has no solution at the end of the whole step: makes the longest step that keeps it if laws leave it
  /// behind that, before its equations lose their solution. False: they do not, as far as was found.
  bool finds_end_by_law() { return finds_end() && !is_before_pole_ && end_.is_left_by_law(); }

  /// Makes the longest step that keeps the mode, or one before a pole. False: none was found.
  bool finds_end() {
    bool goes_on = true;
    for (int k = 0; k < most_shares && goes_on; ++k) goes_on = tries_next();
    // Beyond a pole of the step stands no end of the mode: half of the way there what grows with 1/(1 - h/h0) is doubled.
    is_before_pole_ = end_.is_left_suddenly() && is_pole();
    if (is_before_pole_) return goes_to(end_.kept() / 2);
    return is_there_ || (end_.kept() > 0 && goes_to(end_.kept()));
  }

 private:
  Attempt attempt(double share) {
    scheme_.restore(before_);
    return scheme_.attempt_end(before_.t + share * h_, share * h_);
  }

  /// A shorter step, which may be that to the end: `is_there_`. False: no other is tried.
  bool tries_next() {
    if (end_.is_found()) return false;
    const double share = std::min(end_.next(), 1 - least_share);
    if (share < least_share) return false;
    const std::optional<bool> keeps = keeps_mode(share);
    if (!keeps) end_.fails(share);
    if (!keeps && ++failures_ == most_failures) return false;
    is_there_ = keeps.value_or(false) && (share == 1 - least_share || end_.is_found());
    return !is_there_;
  }

  /// Makes the step of this share, which then tells where the next one has to end. Does it keep the mode? Nothing: it has
  /// no solution.
  std::optional<bool> keeps_mode(double share) {
    const Attempt made = attempt(share);
    if (made.status != Status::solved) return std::nullopt;
    scheme_.accept();
    const std::vector<Scheme::Departure> ends = made.kept_mode ? scheme_.approaches() : scheme_.departures();
    const bool keeps = made.kept_mode && !end_.is_passed(ends);
    if (keeps)
      end_.keeps(share, ends);
    else
      end_.leaves(share, ends);
    return keeps;
  }

  /// Does what the equations of the mode move grow without bound towards the longest step that keeps it? E - hA is singular
  /// there: longer steps are on another branch of these equations than short ones.
  bool is_pole() {
    const double kept = end_.kept(), shorter = kept - near_pole * kept;
    if (!goes_to(shorter)) return false;
    // What the rounding of the step moves a variable at rest by, which is 0 but for that, does not grow from there.
    const Vector least =
        scheme_.motion(before_.x, scheme_.x()).cwiseAbs().cwiseMax(motion_by_rounding(scheme_, before_.x));
    if (!goes_to(kept)) return false;
    return (scheme_.motion(before_.x, scheme_.x()).cwiseAbs().array() > grows_at_pole * least.array()).any();
  }

  /// Makes the step of this share, if it keeps the mode.
  bool goes_to(double share) {
    const Attempt made = attempt(share);
    if (made.status != Status::solved || !made.kept_mode) return false;
    scheme_.accept();
    return true;
  }

  Scheme& scheme_;
  const Step& before_;
  double h_;
  EndOfMode end_;
  double first_;
  int failures_ = 0;
  bool is_there_ = false;  // does the scheme stand at the end of the mode?
  bool is_before_pole_ = false;
};

/// After a step that kept its mode: is it beyond the end of one of these laws' branches, if by rounding alone?
bool is_beyond(Scheme& scheme, const std::vector<Scheme::Departure>& departures) {
  const std::vector<int> beyond = scheme.laws_beyond_end();
  return std::ranges::any_of(departures, [&](const Scheme::Departure& departure) {
    return std::ranges::find(beyond, departure.law) != beyond.end();
  });
}

/// Where the mode ends with the step, but for the rounding of the steps before: makes the step in
/// the mode, shorter by as little as that needs, and as its end on the right side does, where a step that is its end has
/// that. Its end is still t_next.
bool end_with_mode(Scheme& scheme, const Step& before, double t_next, double h, double share,
                   const std::vector<Scheme::Departure>& departures) {
  const auto takes = [&](double rest) {
    scheme.restore(before);
    const Attempt attempt = scheme.attempt(t_next, (1 - rest) * h);
    if (attempt.status != Status::solved || !attempt.kept_mode) return false;
    scheme.accept();
    return true;
  };
  double kept = 0;
  for (double rest = std::max(1 - share, 0x1p-52); rest <= at_end; rest *= 4) {
    if (!takes(rest)) continue;
    if (!is_beyond(scheme, departures)) return true;
    if (kept == 0) kept = rest;
  }
  if (kept > 0 && takes(kept)) return true;
  scheme.restore(before);
  return false;
}

/// The last of the changes in the first moments of a step, as a share of it; 0: there are none.
double last_early(const std::vector<Scheme::Departure>& departures) {
  double last = 0;
  for (const Scheme::Departure& departure : departures)
    if (departure.s < 2 * least_share) last = std::max(last, departure.s);
  return last > at_once ? last : 0;
}

/// The mode that a step has ended in, where one of these departures is at its start and a law has changed from its branch
/// before without one; else empty.
Mode mode_with_led_laws(const Scheme& scheme, const Mode& before, const std::vector<Scheme::Departure>& departures) {
  if (std::ranges::none_of(departures, [](const Scheme::Departure& departure) { return departure.s <= at_once; })) return {};
  for (int i = 0; i < static_cast<int>(before.size()); ++i)
    if (scheme.mode()[at(i)] != before[at(i)] &&
        std::ranges::none_of(departures, [&](const Scheme::Departure& departure) { return departure.law == i; }))
      return scheme.mode();
  return {};
}

/// Makes the step that leaves its mode once more, for what the scheme says of it, and goes back.
void repeat(Scheme& scheme, const Step& before, double t_next, double h) {
  if (scheme.attempt(t_next, h).status != Status::solved) return;
  scheme.accept();
  (void)scheme.departures();
  scheme.restore(before);
}

}  // namespace

ModeEnd go_to_end_of_mode(Scheme& scheme, const Step& before, double t_next, double h) {
  if (scheme.attempt(t_next, h).status != Status::solved) return {};
  scheme.accept();
  const std::vector<Scheme::Departure> departures = scheme.departures();
  const bool is_lost = departures.empty() && !scheme.lost_variables().empty();
  Mode after = mode_with_led_laws(scheme, before.mode, departures);
  EndSearch search(scheme, before, h, departures);
  const bool is_end = search.first() >= 1 - at_end;
  if (is_end && end_with_mode(scheme, before, t_next, h, search.first(), departures)) return {true};
  if (search.first() >= least_share && search.finds_end()) return {true, 0, {}, search.is_before_pole()};
  if (is_lost && search.finds_end_by_law()) return {true};
  scheme.restore(before);
  if (is_lost) repeat(scheme, before, t_next, h);
  return {false, last_early(departures), std::move(after)};
}

bool pass_change_at_once(Scheme& scheme, const Step& before, double h, const Mode& after, const Vector& rounding) {
  const double length = at_once * h, t_next = before.t + length;
  if (!(t_next > before.t) || scheme.ends_surely_in(after, t_next, length)) return false;
  const Attempt attempt = scheme.attempt(t_next, length);
  if (attempt.status != Status::solved || attempt.kept_mode) return false;
  const Vector whole = scheme.motion(before.x, scheme.attempted());
  scheme.accept();
  const bool leads_elsewhere = scheme.mode() != after && scheme.mode() != before.mode;
  scheme.restore(before);
  return leads_elsewhere && unsteady_rows(scheme, before, whole, length, rounding).empty() &&
         take_step(scheme, before, t_next, length);
}

bool pass_brief_mode(Scheme& scheme, const Step& before, const Vector& whole, double h, double early,
                     const Vector& rounding) {
  const double length = 2 * early * h, t_next = before.t + length;
  if (!(t_next > before.t)) return false;
  if (!go_to_end_of_mode(scheme, before, t_next, length).is_reached &&
      !(skips_modes(scheme, before, t_next, length) && pass_first_change(scheme, before, t_next, length, rounding)))
    return false;

  // At the rates of the whole step, a row would move by that share of it at most.
  const Vector moved = scheme.motion(before.x, scheme.x()).cwiseAbs();
  const Vector least = rounding.cwiseMax(scheme.motion_rounding(before.x, before.x));
  const bool matters = (moved.array() > least.array().max(2 * least_share * whole.array().abs())).any();
  if (!matters) scheme.restore(before);
  return matters;
}

}  // namespace perp
