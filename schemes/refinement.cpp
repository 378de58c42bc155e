// Passes a step in shorter ones that keep their mode, from one change of mode to the next.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/schemes/leaps.hpp>
#include <perp/schemes/safeguard.hpp>
#include <perp/schemes/step/known_part.hpp>

namespace perp {
namespace {

constexpr int most_changes = 32;      ///< changes of mode followed within one step
constexpr int most_shorter = 64;      ///< steps made shorter because long ones have no solution
constexpr double last_moment = 1e-6;  ///< of the step length
constexpr double says_nothing = 0x1p-34;  ///< of the step length: a shorter step that stays in its mode does not tell its end
constexpr int most_settling = 3;      ///< steps after a change, the index of a contact

/// Has the last accepted step kept its mode by the rounding of a margin alone, which the step from there to `left`, if it
/// kept the mode, would certainly bring below 0? The scheme stands where it stood.
bool is_past_end(Scheme& scheme, double left) {
  const std::vector<int> beyond = scheme.laws_beyond_end();
  if (beyond.empty()) return false;
  const Step here = scheme.snapshot();
  std::vector<Scheme::Departure> departures;
  if (take_step(scheme, here, left, left - here.t)) departures = scheme.departures();
  scheme.restore(here);
  return std::ranges::any_of(departures, [&](const Scheme::Departure& departure) {
    return std::ranges::find(beyond, departure.law) != beyond.end();
  });
}

/// Changes of mode right before the end of a solution are rounding: the solution ends in the mode
/// before.
void forget_last_moment(Scheme& scheme, Refinement& result, double h) {
  while (!result.changes.empty() && scheme.t() - result.changes.back().before.t < last_moment * h) {
    scheme.restore(result.changes.back().before);
    result.changes.pop_back();
  }
}

/// A change in one moment leaves algebraic variables that are its impulses, and a constraint that sets in stops the rates that it
/// opposes one step after its own: a landing ends with v⁺ = -q/δ, what its length δ makes of the distance q, and the next step with
/// v⁺ = 0. One step more of that length belongs to the change, and further ones as long as what they move does not shrink with δ.
void make_settling_steps(Scheme& scheme, double t_next, double length) {
  for (int k = 0; k < most_settling && scheme.t() + length < t_next; ++k) {
    const Step here = scheme.snapshot();
    const Attempt attempt = scheme.attempt(here.t + length, length);
    if (attempt.status != Status::solved || !attempt.kept_mode) return;
    const Vector whole = scheme.motion(here.x, scheme.attempted());
    const Vector nothing = Vector::Zero(whole.size());
    if (k == 0) {
      scheme.accept();
      continue;
    }
    if (unsteady_rows(scheme, here, whole, length, nothing).empty()) return;
    if (!take_step(scheme, here, here.t + length, length)) return;  // shorter ones took its place
  }
}

/// These steps, and the algebraic variables that a longer one has.
void settle(Scheme& scheme, double t_next, double length, double h) {
  make_settling_steps(scheme, t_next, length);
  begin_known(scheme, t_next, h);
}

/// Notes that the scheme has left the mode of `before` at that moment. Changes in one moment are one change: that of
/// the last, from where the first began.
LocatedChange& add_change(Scheme& scheme, const Step& before, double moment, double h, Refinement& result) {
  const bool same_moment =
      !result.changes.empty() && before.t - result.changes.back().before.t < last_moment * h;
  if (!same_moment) result.changes.push_back({before, {}, moment, 0});
  LocatedChange& here = result.changes.back();
  here.after = scheme.snapshot();
  here.norm = scheme.motion(here.before.x, here.after.x).norm();
  here.rounding = scheme.drift(here.before.x.cwiseAbs().cwiseMax(here.after.x.cwiseAbs()), 1);
  return here;
}

/// Does a step of this length from the current state keep its mode, and not by the rounding of a margin alone? The scheme
/// stands where it stood.
bool stays(Scheme& scheme, double length) {
  const Step here = scheme.snapshot();
  const Attempt next = scheme.attempt(here.t + length, length);
  if (next.status != Status::solved || !next.kept_mode) return false;
  scheme.accept();
  const bool is_inside = scheme.laws_beyond_end().empty();
  scheme.restore(here);
  return is_inside;
}

/// The shortest landing by a step of twice this length and more that a step in the same mode can follow: what q/δ is left
/// of the rate stops in it. False: there is none, and the scheme stands anywhere.
bool lands_to_stay(Scheme& scheme, const Step& before, const Mode& mode, double length, double longest) {
  for (double step = 2 * length; step <= longest; step *= 2) {
    if (!take_step(scheme, before, before.t + step, step) || scheme.mode() != mode) return false;
    if (stays(scheme, step)) return true;
  }
  return false;
}

/// A landing from a state that rounding has put beyond the surface, by q, leaves it with v⁺ = q/δ at once. Made again by longer
/// steps, as long as such a jump shrinks with the length, and until it stays.
void land_by_longer_step(Scheme& scheme, const Step& before, double t_next, double h) {
  const Step first = scheme.snapshot();
  double length = first.t - before.t;
  if (stays(scheme, length)) return;
  const double longest = std::min(t_next - before.t, longest_moment * h);
  Vector moved = scheme.motion(before.x, first.x).cwiseAbs();
  for (double step = 2 * length; step <= longest; step *= 2) {
    if (!take_step(scheme, before, before.t + step, step) || scheme.mode() != first.mode) break;
    const Vector longer = scheme.motion(before.x, scheme.x()).cwiseAbs();
    const Vector least = scheme.motion_rounding(before.x, scheme.x());
    if (!((moved - longer).array() > (jump_share * moved).array().max(least.array())).any()) break;
    moved = longer;
    length = step;
  }
  const auto returns = [&] {
    if (!take_step(scheme, before, before.t + length, length)) scheme.restore(first);
  };
  returns();
  if (!stays(scheme, length) && !lands_to_stay(scheme, before, first.mode, length, longest)) returns();
}

/// The shortest step from `low` that has a solution, by doubling the one to `high`. Where it keeps the mode, but is too
/// short to move the state, stands for a moment, or has passed an end that rounding hides, the mode ends within its
/// rounding: a longer one leaves it. So it does where a step of the length `told` has left the mode at `high`: the rounding of
/// a margin grows as steps get shorter, and those that keep the mode by less than that length do not tell that it goes on.
class LeavingStep {
 public:
  LeavingStep(Scheme& scheme, double low, double high, double t_next, double h, double told)
      : scheme_(scheme), low_(low), high_(high), t_next_(t_next), shortest_(says_nothing * h), told_(told), length_(high - low) {}

  Attempt attempt() {
    attempt_ = scheme_.attempt(high_, length_);
    while (tells_nothing() && has_longer()) {
      length_ *= 2;
      attempt_ = scheme_.attempt(low_ + length_, length_);
      is_gone_ = false;
    }
    return attempt_.kept_mode || is_gone_ ? scheme_.attempt(low_ + length_, length_) : attempt_;
  }

 private:
  [[nodiscard]] bool has_longer() const { return low_ + 2 * length_ <= t_next_; }
  /// Does the attempted step move nothing beyond its rounding?
  bool rests() {
    const Vector moved = scheme_.motion(scheme_.x(), scheme_.attempted()).cwiseAbs();
    return (moved.array() <= scheme_.motion_rounding(scheme_.x(), scheme_.x()).array()).all();
  }
  /// Does a step of twice the length keep the mode?
  bool comes_back() {
    is_gone_ = true;
    const Attempt longer = scheme_.attempt(low_ + 2 * length_, 2 * length_);
    return longer.status == Status::solved && longer.kept_mode;
  }
  bool tells_nothing() {
    if (attempt_.status != Status::solved) return true;
    if (attempt_.kept_mode) return length_ < std::max(shortest_, told_) || rests() || !stays(scheme_, length_);
    // A state that slides lies beside its surface by rounding: a tiny step leaves the mode, and a longer one keeps it.
    return length_ < shortest_ && has_longer() && rests() && comes_back();
  }

  Scheme& scheme_;
  double low_, high_, t_next_, shortest_, told_, length_;
  Attempt attempt_;
  bool is_gone_ = false;  // was another step attempted since?
};

/// The work of `refine`, but for the states at both ends.
class Refiner {
 public:
  Refiner(Scheme& scheme, double t_next, double h, int refinements)
      : scheme_(scheme), t_next_(t_next), h_(h), floor_(std::ldexp(h, -refinements)) {}

  Refinement run() {
    for (int change = 0; change <= most_changes; ++change)
      if (pass_mode(change == most_changes || scheme_.is_short_of_work())) return std::move(result_);
    fail(Status::not_solved, "too many changes within one step" + reason_);
    return std::move(result_);
  }

 private:
  bool pass_mode(bool is_last);
  void note(const Attempt& attempt, double length);
  void accept_rest(bool keeps_mode);
  Step end_of_mode();
  void exhaust_mode();
  bool advance(double to);
  bool lengthen();
  bool leave_mode(const Step& before);
  void stop(const Step& before, Status status);
  void begin_mode(const Step& before, double moment);
  // True: the work ends with this.
  bool finish() {
    result_.status = Status::solved;
    return true;
  }
  bool fail(Status status, std::string message) {
    result_.status = status;
    result_.message = std::move(message);
    return true;
  }

  Scheme& scheme_;
  double t_next_, h_, floor_;
  // The present mode: where the scheme stands in it, and how far away a step has left it or had no solution, whose length may
  // then be the reason, as where it took a nearer solution than that in the mode.
  double low_ = 0, high_ = 0;
  double told_ = 0;  // the length of that step, where it is short and has a solution in another mode; else 0
  bool too_long_ = false, is_choice_ = false;  // of the last attempt; of the last that was no step in the mode
  Vector rounding_;          // of the last step that kept it
  bool is_at_path_ = false;  // is the scheme's state the last one of the path? else `here_` has it
  Step here_;
  std::vector<Leap> leaps_;  // of what left it
  int shorter_ = 0;          // steps made shorter
  int nearer_ = 0;           // those of the present mode that it was chosen for
  std::string reason_;       // why the last whole rest of the step could not be made
  Refinement result_;
};

/// Goes to the end of the present mode and into the next one. True: the work has ended.
bool Refiner::pass_mode(bool is_last) {
  low_ = scheme_.t();
  const Attempt rest = scheme_.attempt(t_next_, t_next_ - low_);
  if (rest.status == Status::solved && (rest.kept_mode || is_last)) {
    accept_rest(rest.kept_mode);
    return finish();
  }
  note(rest, t_next_ - low_);
  if (rest.status == Status::not_solved) reason_ = ": " + scheme_.message();
  const Step before = end_of_mode();
  if (shorter_ == most_shorter) {
    fail(Status::not_solved, fmt::format("{} steps shorter than {:g} did not pass it{}", shorter_, h_, reason_));
    forget_last_moment(scheme_, result_, h_);
    return true;
  }
  if (scheme_.t() >= t_next_) return finish();
  return leave_mode(before);
}

/// Notes whether the length of an attempt may be the reason that it is no step in the present mode. Longer than a moment, it may
/// be so by its curvature, too.
void Refiner::note(const Attempt& attempt, double length) {
  too_long_ = attempt.status != Status::solved || attempt.is_choice;
  if (attempt.status == Status::solved && attempt.kept_mode) return;
  is_choice_ = attempt.is_choice;
  told_ = too_long_ || length > longest_moment * h_ ? 0 : length;
}

/// Accepts the step to the end, and its change of mode, the last that is followed.
void Refiner::accept_rest(bool keeps_mode) {
  const Step before = scheme_.snapshot();
  scheme_.accept();
  if (!keeps_mode) add_change(scheme_, before, scheme_.t(), h_, result_);
}

/// The state at the end of the present mode, see `exhaust_mode` and `known_state`.
Step Refiner::end_of_mode() {
  high_ = t_next_;
  nearer_ = 0, is_at_path_ = false;
  leaps_.clear();
  const Step start = scheme_.snapshot();
  const std::size_t first = result_.path.size();
  exhaust_mode();
  return known_state(scheme_, start, result_.path, first, h_, rounding_);
}

/// Advances in the present mode as far as it goes, by bisection. On return the scheme stands at `low_`, and no step from there
/// to `high_`, at most `floor_` away, keeps the mode. Where one has no solution, or not the nearest in the mode, its length may
/// be the reason: from nearer it is tried again, as often as lengths for which the mode is chosen shrink with its rest.
void Refiner::exhaust_mode() {
  while (high_ - low_ > floor_) {
    const double middle = low_ + (high_ - low_) / 2;
    if (middle <= low_ || middle >= high_) return;
    const bool was_too_long = too_long_;
    if (!advance(middle))
      high_ = middle;
    else if (was_too_long && !lengthen())
      return;
    if (is_choice_ && nearer_ >= most_shorter) return;
  }
}

/// Makes the step there, if it keeps the mode.
bool Refiner::advance(double to) {
  const Attempt attempt = scheme_.attempt(to, to - low_);
  note(attempt, to - low_);
  if (attempt.status != Status::solved) return false;
  if (!attempt.kept_mode) {
    leaps_.push_back({to - low_, scheme_.motion(scheme_.x(), scheme_.attempted())});
    return false;
  }
  const Step& before = is_at_path_ ? result_.path.back() : here_ = scheme_.snapshot();
  scheme_.accept();
  Vector rounding = scheme_.rounding();
  if (to < high_ && is_past_end(scheme_, high_)) {
    is_choice_ = false;
    told_ = 0;
    scheme_.restore(before);
    return false;
  }
  keep_unknown(scheme_, before, unknown_part(scheme_, before, rounding));
  rounding_.swap(rounding);
  result_.path.push_back(scheme_.snapshot());
  low_ = to;
  return is_at_path_ = true;
}

/// Makes longer and longer steps, after one that was short enough. False: they came to the end, or are too many.
bool Refiner::lengthen() {
  double length = high_ - low_;
  while (advance(high_)) {
    int& count = is_choice_ ? nearer_ : shorter_;
    if (low_ >= t_next_ || (++count == most_shorter && !is_choice_)) return false;
    length *= 2;
    high_ = std::min(low_ + length, t_next_);
  }
  return true;
}

/// Leaves the mode, whose last state is `before`, by a step as short as there is one, or by the whole rest. True: it is the end.
bool Refiner::leave_mode(const Step& before) {
  Attempt attempt = LeavingStep(scheme_, low_, high_, t_next_, h_, told_).attempt();
  const bool ends_here = attempt.status == Status::solved;
  if (!ends_here) attempt = scheme_.attempt(t_next_, t_next_ - low_);
  if (attempt.status != Status::solved) {
    stop(before, attempt.status);
    return true;
  }
  leave_by_known_step(scheme_, before, t_next_, h_);
  if (scheme_.mode() == before.mode)
    keep_unknown(scheme_, before, unknown_part(scheme_, before));
  else
    land_by_longer_step(scheme_, before, t_next_, h_);
  leaps_.push_back({scheme_.t() - low_, scheme_.motion(before.x, scheme_.x())});
  if (grow_without_bound(leaps_, motion_by_rounding(scheme_, before.x))) {
    scheme_.restore(before);
    return fail(Status::not_solved,
                "the only way on is a jump that grows without bound as the steps get shorter: the solution ends");
  }
  // A step that is longer, for what rounding makes of a shorter one, moves the end of the mode nowhere.
  begin_mode(before, ends_here ? high_ : t_next_);
  return scheme_.t() >= t_next_ && finish();
}

/// Ends the work where no step leads on.
void Refiner::stop(const Step& before, Status status) {
  if (t_next_ - low_ <= end_of_step * h_) {
    // Too short a rest to tell anything: the state is that at the end of the step.
    Step end = before;
    end.t = t_next_;
    scheme_.restore(end);
    finish();
    return;
  }
  fail(status, status == Status::no_solution
                   ? scheme_.message()
                   : fmt::format("no step from here was solved, not even one of {:.3g}: {}", high_ - low_, scheme_.message()));
  forget_last_moment(scheme_, result_, h_);
}

/// Notes what the step that left the mode has changed, and lets the next mode settle.
void Refiner::begin_mode(const Step& before, double moment) {
  const bool changes_mode = scheme_.mode() != before.mode;
  if (changes_mode) scheme_.departures();  // for whether the mode before has lost its branch
  std::vector<int> lost = changes_mode ? scheme_.lost_variables() : std::vector<int>{};
  if (changes_mode) settle(scheme_, t_next_, scheme_.t() - before.t, h_);
  result_.path.push_back(scheme_.snapshot());
  LocatedChange& here = add_change(scheme_, before, moment, h_, result_);
  if (!lost.empty()) here.lost = std::move(lost);
}

}  // namespace

Refinement refine(Scheme& scheme, double t_next, double h, int refinements) {
  Step from = scheme.snapshot();
  Refinement result = Refiner(scheme, t_next, h, refinements).run();
  result.from = std::move(from);
  result.to = scheme.snapshot();
  return result;
}

}  // namespace perp
