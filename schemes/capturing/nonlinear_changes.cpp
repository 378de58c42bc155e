// Resets where laws change their branches within a step: multipliers and algebraic variables jump there, and conditions
// with them.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp {
namespace {

constexpr double same_share = 0x1p-40;  ///< of a step: changes that are no further apart are at one moment

}  // namespace

/// What the constraints say of a state in its mode: its algebraic variables, λ and w. As they are where they say nothing.
void NonlinearCapturing::put_on_constraints(Step& state) {
  Vector x = state.x;
  solve_constraints(step_, newton_, state.t, state.mode, x, state.lambda, state.w);
  for (int j = 0; j < step_.n(); ++j)
    if (is_algebraic(j)) state.x[j] = x[j];
}

/// The laws that change between a and b, the last way of the path, with the shares of it at which they leave the mode of
/// a; those that are not listed do at its start.
std::vector<Scheme::Departure> NonlinearCapturing::changes_within(const Step& a, const Step& b) {
  if (previous().t != a.t) return {};
  std::vector<Departure> list = departures();
  std::erase_if(list, [&](const Departure& departure) {
    const auto law = static_cast<std::size_t>(departure.law);
    return a.mode[law] == b.mode[law] || !(departure.s < 1);
  });
  return list;
}

/// The state at the moment of `before`, with the multipliers, algebraic variables and branches of b for all but these laws.
Step NonlinearCapturing::behind_change(const Step& before, const Step& b, const std::vector<int>& staying) {
  Step after = before;
  for (std::size_t i = 0; i < b.mode.size(); ++i) {
    if (std::ranges::find(staying, static_cast<int>(i)) != staying.end()) continue;
    const auto law = static_cast<Eigen::Index>(i);
    after.mode[i] = b.mode[i];
    after.lambda[law] = b.lambda[law];
    after.w[law] = b.w[law];
  }
  for (int j = 0; j < step_.n(); ++j)
    if (is_algebraic(j)) after.x[j] = b.x[j];
  put_on_constraints(after);
  return after;
}

/// The last way of the path, from a to b in another mode, as states in between: in the mode of a to where the first laws
/// leave it, from there on in theirs. Two states at one moment are a jump.
std::vector<Step> NonlinearCapturing::way_of_change(const Step& a, const Step& b) {
  const std::vector<Departure> changes = changes_within(a, b);
  double s = changes.empty() ? 0 : 1;
  for (const Departure& change : changes) s = std::min(s, change.s);
  std::vector<int> later;
  for (const Departure& change : changes)
    if (change.s > s + same_share) later.push_back(change.law);
  std::vector<Step> way{a};
  if (s > 0) {
    way.push_back(between(a, b, s));
    put_on_constraints(way.back());
  }
  way.push_back(behind_change(way.back(), b, later));
  if (way.back().mode != b.mode) way.push_back(at_old_values(way.back(), b));
  way.push_back(b);
  return way;
}

/// The state of b as it is seen in the mode of a: the variables with rates are there, the others are those of a.
Step NonlinearCapturing::at_old_values(const Step& a, const Step& b) const {
  Step state = a;
  state.t = b.t;
  for (int j = 0; j < step_.n(); ++j)
    if (!is_algebraic(j)) state.x[j] = b.x[j];
  return state;
}

/// The resets that may fire and whose condition is 0 at the end of a mode, or comes to be 0 behind its change.
std::vector<int> NonlinearCapturing::armed_on_surface(const Step& state, const Step& behind) {
  const ResetWatch::Errors errors = ResetWatch::rounding(state, behind);
  std::vector<int> found;
  for (int k = 0; k < resets_.count(); ++k)
    if (resets_.is_armed(k) && (resets_.sign(k, state, errors) == 0 || resets_.sign(k, behind, errors) == 0))
      found.push_back(k);
  return found;
}

/// Of these resets those that the motion in this mode, ranges left out, leads to the side on which they fire: a law on the
/// same surface holds it there.
std::vector<int> NonlinearCapturing::passing_in_old_mode(const Step& state, const Step& behind) {
  std::vector<int> open = armed_on_surface(state, behind), passing;
  if (open.empty()) return passing;
  const Step now = snapshot();
  restore(state);
  for (const int exponent : looks)
    if (const std::optional<Step> ahead = step_in_old_mode(std::ldexp(options_.h, exponent)))
      std::erase_if(open, [&](int k) {
        const int side = side_ahead(k, state, *ahead);
        if (resets_.fires(k, side)) passing.push_back(k);
        return side != 0;
      });
  std::ranges::sort(passing);
  restore(now);
  return passing;
}

/// The state a short step ahead in the present mode, ranges left out.
std::optional<Step> NonlinearCapturing::step_in_old_mode(double h) {
  const double t_next = t() + h;
  if (!(t_next > t())) return std::nullopt;
  is_first_order_ = true;
  set_step(t_next, h);
  if (!solve_mode(h)) return std::nullopt;
  return Step{t_next, x() + trial().d, trial().lambda, w(), mode()};
}

/// The side to which a condition moves from a state to one ahead; 0: not beyond their errors.
int NonlinearCapturing::side_ahead(int k, const Step& state, const Step& ahead) {
  const double change = resets_.condition(k, ahead) - resets_.condition(k, state);
  const ResetWatch::Errors errors = ResetWatch::rounding(state, ahead);
  if (!(std::abs(change) > resets_.error(k, ahead, errors) + resets_.error(k, state, errors))) return 0;
  return change > 0 ? 1 : -1;
}

/// The end of a step of h·2^exponent from the current state. Nothing: there is none.
std::optional<Step> NonlinearCapturing::step_ahead(int exponent) {
  const double h = std::ldexp(options_.h, exponent);
  if (!(t() + h > t()) || attempt(t() + h, h).status != Status::solved) return std::nullopt;
  return Step{trial().t, trial().x, trial().lambda, trial().w, *trial().mode};
}

/// Conditions that the motion carries back from their surface for a way which their rounding hides, and behind it after
/// that: their side is that of their first derivative, and they will pass the surface again.
void NonlinearCapturing::arm_turned_back(std::vector<int> open) {
  std::erase_if(open, [&](int k) { return !resets_.is_behind(k); });
  if (open.empty()) return;
  const Step now = snapshot();
  for (const int exponent : looks) {
    const std::optional<Step> ahead = step_ahead(exponent);
    if (!ahead) continue;
    Vector d_error(step_.n()), lambda_error(step_.m());
    set_step(ahead->t, trial().h);
    step_.set_mode(ahead->mode);
    step_.linearise(trial().d, trial().lambda);
    step_.bound(trial().d, trial().lambda);
    if (!newton_.factorise()) return;
    newton_.errors(d_error, lambda_error);
    for (const int k : open)
      if (const int side = resets_.side_of_motion(k, now, trial().h, trial().d, d_error); side == -resets_.side(k))
        resets_.leave_to(k, side);
    return;
  }
}

/// Do short steps from the current state move it by less the shorter they are? Else no motion goes on from it but by a jump.
bool NonlinearCapturing::goes_on_without_jump() {
  std::optional<Vector> shortest;
  for (const int exponent : looks) {
    const std::optional<Step> ahead = step_ahead(exponent);
    if (!ahead) continue;
    const Vector moved = motion(x(), ahead->x).cwiseAbs();
    if (shortest) {
      const Vector least = motion_rounding(x(), ahead->x).cwiseMax(moved / 2);
      return (shortest->array() <= least.array()).all();
    }
    shortest = moved;
  }
  return false;
}

/// Of these resets, which the motion in the old mode leads to where they fire, those that the laws which change there do not
/// turn or hold: laws change first. All of them where nothing but a jump goes on, as at a contact.
std::vector<int> NonlinearCapturing::not_turned_by_laws(std::vector<int> open, const Step& state) {
  if (open.empty()) return open;
  const Step now = snapshot();
  restore(state);
  std::vector<int> passing = open;
  if (goes_on_without_jump()) {
    passing.clear();
    for (const int exponent : looks) {
      const std::optional<Step> ahead = step_ahead(exponent);
      if (!ahead) continue;
      std::erase_if(open, [&](int k) {
        const int side = side_ahead(k, state, *ahead);
        if (resets_.fires(k, side)) passing.push_back(k);
        return side != 0;
      });
    }
    std::ranges::sort(passing);
  }
  restore(now);
  return passing;
}

/// The laws with memory whose argument is at the end of their branch in this state, or beyond it.
std::vector<int> NonlinearCapturing::memory_at_end(const Step& state, const ResetWatch::Errors& errors) {
  std::vector<int> laws;
  for (int i = 0; i < step_.m(); ++i)
    if (step_.laws()[at(i)].memory) laws.push_back(i);
  if (laws.empty()) return laws;
  const auto [w, error] = bounded_w(state, Vector::Zero(step_.n()), errors);
  const std::vector<int> with_rates = step_.laws_of_rates();
  std::erase_if(laws, [&](int i) {
    const Range range = w_range(step_.laws()[at(i)].branches[at(state.mode[at(i)])]);
    const bool is_inside = w[i] + error[i] < range.upper && w[i] - error[i] > range.lower;
    return is_inside || std::ranges::find(with_rates, i) != with_rates.end();
  });
  return laws;
}

/// The mode in which resets find this state: laws with memory that the motion takes over the end of their branch there have
/// changed, and do not forget it whatever resets do.
Mode NonlinearCapturing::mode_at_resets(const Step& state, const ResetWatch::Errors& errors) {
  Mode mode = state.mode;
  std::vector<int> open = memory_at_end(state, errors);
  if (open.empty()) return mode;
  const Step now = snapshot();
  restore(state);
  if (!goes_on_without_jump()) open.clear();
  const Vector w = bounded_w(state, Vector::Zero(step_.n()), errors).first;
  for (const int exponent : looks) {
    if (open.empty()) break;
    const std::optional<Step> ahead = step_ahead(exponent);
    if (!ahead) continue;
    const auto [w_ahead, error] = bounded_w(*ahead, Vector::Zero(step_.n()), ResetWatch::rounding(state, *ahead));
    std::erase_if(open, [&](int i) {
      if (!(std::abs(w_ahead[i] - w[i]) > 2 * error[i])) return false;
      mode[at(i)] = ahead->mode[at(i)];
      return true;
    });
  }
  restore(now);
  return mode;
}

/// Resets at the moment at which the mode of `before` ends and that of `after` begins, on the way to `end`: those whose
/// conditions jump to their other side, beside the laws that change; and those that pass it together with such a law,
/// which computes again from what they set.
std::optional<Scheme::ResetOutcome> NonlinearCapturing::fire_at_change(const Step& before, const Step& after, const Step& end,
                                                                       std::vector<int> jumping, std::vector<Event>& events) {
  std::vector<int> fired = jumping;
  for (const int k : not_turned_by_laws(passing_in_old_mode(before, after), before))
    if (std::ranges::find(fired, k) == fired.end()) fired.push_back(k);
  if (fired.empty()) return std::nullopt;
  std::ranges::sort(fired);
  ResetOutcome outcome{ResetOutcome::Kind::applied, before.t, end.t, {}, {}};
  // Laws change first: where conditions jump, values are computed from what they are in the new mode.
  Step state = jumping.empty() ? before : after;
  if (jumping.empty()) {
    outcome.until = before.t;
    for (std::size_t i = 0; i < end.mode.size(); ++i)
      if (before.mode[i] != end.mode[i]) outcome.laws.push_back(static_cast<int>(i));
  }
  apply(fired, std::move(state), {before.t, end.t}, ResetWatch::rounding(before, after), outcome, events);
  return outcome;
}

/// The first resets on the way from a to b in another mode. Of a way that is not the last of its path, a short step over
/// what may be a jump, only the ends are known.
std::optional<Scheme::ResetOutcome> NonlinearCapturing::reset_on_change(const Step& a, const Step& b, bool is_last,
                                                                        std::vector<Event>& events) {
  std::vector<Step> way = is_last ? way_of_change(a, b) : std::vector<Step>{a, at_old_values(a, b), b};
  if (!is_last)
    if (auto outcome = fire_at_change(a, way[1], b, {}, events)) return outcome;
  for (std::size_t k = 1; k < way.size(); ++k) {
    const Step &from = way[k - 1], &to = way[k];
    if (from.mode != to.mode) {
      if (auto outcome = fire_at_change(from, to, b, resets_.at_jump(from, to), events)) return outcome;
    } else if (const std::optional<ResetWatch::Firing> firing = resets_.first(from, to)) {
      return fire(from, to, *firing, events);
    }
  }
  return std::nullopt;
}

/// A law with memory that is on another branch at b than at a may have left it where its argument
/// is back by now: has it a step from a to t on the branch of a, beside the others of a or of b?
bool NonlinearCapturing::lasts_until(int law, const Step& a, const Step& b, double t) {
  if (!(t > a.t)) return true;
  Mode others = b.mode;
  others[static_cast<std::size_t>(law)] = a.mode[static_cast<std::size_t>(law)];
  for (const Mode& mode : {a.mode, others}) {
    restore(a);
    if (attempt_in(mode, a.x, a.lambda, t, t - a.t).status == Status::solved) return true;
  }
  return false;
}

/// w of the laws at a state of these rates, with the errors that those of the state give it.
std::pair<Vector, Vector> NonlinearCapturing::bounded_w(const Step& state, const Vector& rate, const ResetWatch::Errors& errors) {
  const auto n = static_cast<std::ptrdiff_t>(step_.n());
  std::vector<double> z(static_cast<std::size_t>(step_.evaluator().inputs())), z_error(z.size());
  Vector rows(step_.n() + step_.m()), row_errors(rows.size());
  z[0] = state.t;
  z_error[0] = errors.t;
  std::copy(rate.begin(), rate.end(), z.begin() + 1);
  std::copy(state.x.begin(), state.x.end(), z.begin() + 1 + n);
  std::copy(errors.x.begin(), errors.x.end(), z_error.begin() + 1 + n);
  std::copy(state.lambda.begin(), state.lambda.end(), z.begin() + 1 + 2 * n);
  std::copy(errors.lambda.begin(), errors.lambda.end(), z_error.begin() + 1 + 2 * n);
  step_.evaluator().evaluate_bounded(z.data(), z_error.data(), rows.data(), row_errors.data());
  return {rows.tail(step_.m()), row_errors.tail(step_.m())};
}

/// The arguments of laws where the attempted step begins, with the rates that led there. Nothing where no law has memory.
StepSearch::Arguments NonlinearCapturing::arguments_before() {
  if (start_pending_ || std::ranges::none_of(step_.laws(), [](const Law& law) { return law.memory; })) return {};
  const Step now = snapshot();
  const Vector rate = last_rate_.size() == step_.n() ? last_rate_ : Vector(Vector::Zero(step_.n()));
  auto [w, rounding] = bounded_w(now, rate, ResetWatch::rounding(now, now));
  return {std::move(w), std::move(rounding)};
}

/// The laws that change their branch between a and b, but whose argument at b is on the branch before
/// still, or on the end of it.
std::vector<int> NonlinearCapturing::laws_still_on(const Step& a, const Step& b, const ResetWatch::Errors& errors) {
  if (a.mode == b.mode) return {};
  const auto [w, error] = bounded_w(b, (b.x - a.x) / (b.t - a.t), errors);
  std::vector<int> laws;
  for (std::size_t i = 0; i < a.mode.size() && i < b.mode.size(); ++i) {
    if (a.mode[i] == b.mode[i]) continue;
    if (step_.laws()[i].memory) {
      if (lasts_until(static_cast<int>(i), a, b, b.t)) laws.push_back(static_cast<int>(i));
      continue;
    }
    const auto law = static_cast<Eigen::Index>(i);
    const Range range = w_range(step_.laws()[i].branches[static_cast<std::size_t>(a.mode[i])]);
    if (w[law] + error[law] >= range.lower && w[law] - error[law] <= range.upper) laws.push_back(static_cast<int>(i));
  }
  return laws;
}

}  // namespace perp
