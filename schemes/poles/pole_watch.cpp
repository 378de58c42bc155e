// Tells steps that pass a pole of a formula, which no implicit equation at the end of a step sees.
// The run loop asks it after each step.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/schemes/poles/pole_watch.hpp>

namespace perp {
namespace {

constexpr int most_zero_bisections = 60;
constexpr int most_sections = 50;        ///< golden ones, to the least value of a divisor
/// At a pole of order 3/4, up to which its integral is finite, a row changes by 64 times as much between the
/// nearer two distances. Beside a steep row a pole shows nearer only.
using pole_distance::far, pole_distance::wide, pole_distance::narrow;
using pole_distance::beyond, pole_distance::of_end;
constexpr double nearer = 0x1p-8;
constexpr int most_nearer = 3;
constexpr double pole_growth = 64, singular_growth = 2;  ///< at singularities of the orders 3/4 and 1/8
/// Shares of a step before and behind its end within which a singularity takes h f(x⁺) away from ∫ f dt.
constexpr double before_end = 0x1p-2, behind_end = 0x1p-3;
constexpr double resolved = 0x1p-28;  ///< of t: narrow shares of such a path are some ulps of t
constexpr double steps_ahead = 64;   ///< that functions of time are searched at once

using Values = std::vector<RunningError>;

/// One divisor along the path.
class Course {
 public:
  Course(WatchedFormulas& formulas, std::size_t k, const SolutionPath& path)
      : formulas_(formulas), k_(k), path_(path) {}

  /// The first share in [low, high] that is seen not to have the sign that it has at `low`.
  double end_of_sign(double low, double high, int sign) {
    for (int i = 0; i < most_zero_bisections; ++i) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (sign_at(middle) == sign ? low : high) = middle;
    }
    return high;
  }

  /// Where the least |value| is not told from 0, if it is; by golden sections.
  std::optional<double> touch(double low, double high, int sign) {
    constexpr double golden = 0.6180339887498949;
    const auto value = [&](double s) { return sign * at(s).value; };
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = value(left), at_right = value(right);
    for (int i = 0; i < most_sections; ++i) {
      const double s = at_left < at_right ? left : right;
      if (sign_at(s) != sign) return end_of_sign(0, s, sign);
      if (at_left < at_right) {
        high = right, right = left, at_right = at_left;
        at_left = value(left = high - golden * (high - low));
      } else {
        low = left, left = right, at_left = at_right;
        at_right = value(right = low + golden * (high - low));
      }
    }
    const double least = at_left < at_right ? left : right;
    return decided_sign(at(least, true)) == sign ? std::nullopt : std::optional(least);
  }

 private:
  RunningError at(double s, bool tolerant = false) {
    formulas_.divisors(path_, s, tolerant, values_);
    return values_[k_];
  }
  int sign_at(double s) { return decided_sign(at(s)); }

  WatchedFormulas& formulas_;
  std::size_t k_;
  const SolutionPath& path_;
  Values values_;
};

/// Does the parabola through three values of one sign come near 0, or pass it, between them?
bool may_touch(double first, double middle, double last, int sign) {
  const double bend = sign * (first - 2 * middle + last) / 2;
  const double slope = sign * (-3 * first + 4 * middle - last) / 2;  // per half of the path
  if (!(bend > 0) || !(slope < 0) || !(-slope < 4 * bend)) return false;
  const double least = sign * first - slope * slope / (4 * bend);
  return least <= std::min(std::abs(first), std::abs(last)) / 2;
}

/// Does some row grow towards the zero of a divisor at the share s from each side that is seen, between
/// these distances times `scale`?
bool grows(WatchedFormulas& formulas, const SolutionPath& path, double s, double scale, bool at_rest, double growth) {
  Vector values, errors;
  const auto change = [&](double from, double to, double sign) {  // at least (−1) or at most (1)
    formulas.rows(path, from, at_rest, values, errors);
    const Vector base = values, base_errors = errors;
    formulas.rows(path, to, at_rest, values, errors);
    const Vector size = (values - base).cwiseAbs() + sign * (errors + base_errors);
    return Vector(size.unaryExpr([](double x) { return std::isfinite(x) ? x : inf; }));
  };
  Vector before, after;
  for (const double side : {-1.0, 1.0}) {
    const double room = side < 0 ? s : 2 - 1 / beyond - s;
    if (!(room >= 4 * wide * scale)) continue;
    const double middle = s + side * wide * scale;
    const Vector first = change(s + side * std::min(room, far * scale), middle, 1);
    const Vector last = change(middle, s + side * narrow * scale, -1);
    before = before.size() == 0 ? first : Vector(before.cwiseMin(first));
    after = after.size() == 0 ? last : Vector(after.cwiseMin(last));
  }
  for (Eigen::Index row = 0; row < before.size(); ++row)
    if (std::isfinite(before[row]) && after[row] > growth * before[row]) return true;
  return false;
}

/// The rates that are not solved for are constant on the path, but so large behind a pole that beside them
/// nothing grows.
bool grows(WatchedFormulas& formulas, const SolutionPath& path, double s, double growth) {
  double scale = 1;
  for (int k = 0; k < most_nearer; ++k, scale *= nearer) {
    if (scale * (path.b.t - path.a.t) < resolved * std::abs(path.time(s))) break;
    if (grows(formulas, path, s, scale, false, growth) || grows(formulas, path, s, scale, true, growth))
      return true;
  }
  return false;
}

/// The straight path over the moment of a share, from `longer` before it to as much behind.
SolutionPath around_share(const SolutionPath& path, double s, double longer) {
  const double t = path.time(s);
  SolutionPath around{path.a, path.b};
  const Vector rate = path.rate(), x = path.a.x + s * (path.b.x - path.a.x);
  around.a.t = t - longer, around.a.x = x - longer * rate;
  around.b.t = t + longer, around.b.x = x + longer * rate;
  return around;
}

/// A path too short for the digits of t is looked at beyond its ends, as a straight one.
bool is_pole(WatchedFormulas& formulas, const SolutionPath& path, double s, double growth = pole_growth) {
  const double longer = resolved * std::abs(path.time(s));
  if (path.b.t - path.a.t >= longer) return grows(formulas, path, s, growth);
  return grows(formulas, around_share(path, s, longer), 0.5, growth);
}

/// Does some row jump at the share s: is it as far apart at a narrow distance from it as at a wide one?
bool jumps(WatchedFormulas& formulas, const SolutionPath& path, double s, bool at_rest) {
  Vector values, errors;
  const auto apart = [&](double distance, double sign) {  // at least (−1) or at most (1)
    formulas.rows(path, s - distance, at_rest, values, errors);
    const Vector before = values, before_errors = errors;
    formulas.rows(path, s + distance, at_rest, values, errors);
    return Vector((values - before).cwiseAbs() + sign * (errors + before_errors));
  };
  const Vector far_apart = apart(wide, 1), near_apart = apart(narrow, -1);
  return (near_apart.array() > far_apart.array() / 2).any();
}

/// The same where a path is too short for the digits of t.
bool is_jump(WatchedFormulas& formulas, const SolutionPath& path, double s) {
  const double longer = resolved * std::abs(path.time(s));
  const SolutionPath around = path.b.t - path.a.t >= longer ? path : around_share(path, s, longer);
  const double share = path.b.t - path.a.t >= longer ? s : 0.5;
  return jumps(formulas, around, share, false) || jumps(formulas, around, share, true);
}

/// The next zero of a function of time that may be one, from `from` on, if it is on the path up to `end`;
/// else the search remembers it, or how far there is none.
std::optional<TimeZeros::Zero> next_zero(WatchedFormulas& formulas, std::size_t k, double from,
                                         double end, double length) {
  WatchedFormulas::Search& search = formulas.searches()[k];
  for (;;) {
    if (!search.zero) {
      if (search.until >= end) return std::nullopt;
      from = std::max(from, search.until);
      search.until = std::max(end, from + steps_ahead * length);
      search.zero = formulas.time_zeros().next(k, from, search.until, true);
      if (!search.zero) return std::nullopt;
    }
    const TimeZeros::Zero zero = *search.zero;
    if (zero.before > end) return std::nullopt;
    const bool is_before = zero.after < from;
    if (!is_before && (!zero.touches || formulas.is_zero_between(k, zero.before, zero.after))) return zero;
    search.zero.reset();
    search.until = std::max(zero.after, std::nextafter(zero.before, inf));
  }
}

}  // namespace

/// Nearer to a zero than where a pole was seen its rounding may hide what grows.
bool PoleWatch::is_seen_pole(WatchedFormulas& formulas, std::size_t k, bool of_time, const SolutionPath& path,
                             double s) {
  if (seen_.holds(formulas, k, of_time, path.time(s))) return true;
  const auto is_one = [&] {
    return formulas.is_cut(k, of_time) ? is_jump(formulas, path, s) : is_pole(formulas, path, s);
  };
  if (!is_one()) return false;
  Values at_start;
  if (!of_time) formulas.divisors(path, 0, false, at_start);
  seen_ = {&formulas, k, of_time, path.time(beyond), of_time ? 0 : std::abs(at_start[k].value)};
  return true;
}

/// The first zero of a function of time on the path that is a pole, as a share of it. The zeros of the
/// path are kept: its step may be made shorter.
std::optional<double> PoleWatch::pole_of_time(WatchedFormulas& formulas, std::size_t k,
                                              const SolutionPath& path) {
  WatchedFormulas::Search& search = formulas.searches()[k];
  const double length = path.b.t - path.a.t, end = path.a.t + beyond * length;
  std::optional<TimeZeros::Zero> first;
  std::optional<double> pole;
  double from = path.a.t;
  while (!pole) {
    const auto zero = next_zero(formulas, k, from, end, length);
    if (!zero) break;
    if (!first) first = zero;
    const double s = (zero->before + (zero->after - zero->before) / 2 - path.a.t) / length;
    if (is_seen_pole(formulas, k, true, path, s)) pole = s;
    search.zero.reset();
    search.until = from = std::max(zero->after, std::nextafter(zero->before, inf));
  }
  if (first) search = {first->before, first};
  return pole;
}

namespace {

/// The first zero of a divisor on the path, as far as three values of it tell.
std::optional<double> zero_of(WatchedFormulas& formulas, std::size_t k, const Values& first,
                              const Values& middle, const Values& last, const SolutionPath& path) {
  const int sign = decided_sign(first[k]);
  if (sign == 0) return std::nullopt;
  Course course(formulas, k, path);
  if (decided_sign(middle[k]) != sign) return course.end_of_sign(0, beyond / 2, sign);
  if (decided_sign(last[k], of_end) != sign) return course.end_of_sign(beyond / 2, beyond, sign);
  if (may_touch(first[k].value, middle[k].value, last[k].value, sign))
    return course.touch(0, beyond, sign);
  return std::nullopt;
}

/// The same, of divisors alone.
std::optional<double> zero_of_divisor(WatchedFormulas& formulas, std::size_t k, const Values& first,
                                      const Values& middle, const Values& last, const SolutionPath& path) {
  if (formulas.is_cut(k, false)) return std::nullopt;
  return zero_of(formulas, k, first, middle, last, path);
}

}  // namespace

std::optional<PoleWatch::Pole> PoleWatch::at(const Singularity& found, const SolutionPath& path) {
  if (!(found.s < inf)) return std::nullopt;
  const double t = path.time(found.s);
  if (found.kind == Singularity::Kind::meeting)
    return Pole{t, fmt::format("two roots of the equations for rates or algebraic variables meet at t = {:.6g}, a fold: "
                               "no solution goes on from there, or several do", t)};
  if (found.kind == Singularity::Kind::cut)
    return Pole{t, fmt::format("the equations jump at t = {:.6g}, where an angle atan2(y, x) passes its "
                               "cut, y = 0 with x < 0", t)};
  return Pole{t, fmt::format("the equations have a pole at t = {:.6g}, which no step passes", t)};
}

PoleWatch::PoleWatch(const Dcs& system) {
  ExplicitForms forms(system);
  if (forms.may_divide()) forms_ = std::move(forms);
}

PoleWatch::PoleWatch(const SparseLcs& lcs) {
  watch_signal(lcs.b, formulas_);
  watch_signal(lcs.q, formulas_);
}

/// A state without a mode has none.
FormulaList& PoleWatch::formulas_of(const Mode& mode) {
  if (!forms_ || static_cast<int>(mode.size()) != forms_->m()) return formulas_;
  if (latest_ != nullptr && latest_->first == mode) return latest_->second;
  const auto [place, is_new] = of_modes_.try_emplace(mode);
  if (is_new) watch_mode(*forms_, mode, place->second);
  latest_ = &*place;
  return place->second;
}

PoleWatch::Singularity::Kind PoleWatch::kind_of(const WatchedFormulas& formulas, std::size_t k, bool of_time) {
  return formulas.is_cut(k, of_time) ? Singularity::Kind::cut : Singularity::Kind::pole;
}

PoleWatch::Singularity PoleWatch::first_on_path(const SolutionPath& path) {
  Singularity first;
  Values at_start, at_middle, at_end;
  for (const auto& formulas : formulas_of(path.b.mode)) {
    formulas->divisors(path, 0, false, at_start);
    formulas->divisors(path, beyond / 2, false, at_middle);
    formulas->divisors(path, beyond, false, at_end);
    for (std::size_t k = 0; k < at_start.size(); ++k) {
      const auto s = zero_of(*formulas, k, at_start, at_middle, at_end, path);
      if (s && *s < first.s && is_seen_pole(*formulas, k, false, path, *s))
        first = {*s, kind_of(*formulas, k, false)};
    }
    for (FollowedUnknowns& unknowns : formulas->followed()) {
      keep_first({unknowns.pole(path).value_or(inf)}, first);
      keep_first({unknowns.meeting().value_or(inf), Singularity::Kind::meeting}, first);
    }
  }
  return first;
}

std::optional<PoleWatch::Pole> PoleWatch::pass(const SolutionPath& path) {
  if (!(path.b.t > path.a.t)) return std::nullopt;
  const std::optional<Pole> pole = at(first_on_path(path), path);
  std::optional<Pole> in_time = pass_in_time(path);
  return in_time && !(pole && pole->t < in_time->t) ? in_time : pole;
}

/// Where a divisor is 0 next to the end of a step, at the share s of the path there.
std::optional<PoleWatch::Pole> PoleWatch::singular_pole(WatchedFormulas& formulas, const SolutionPath& end, double s) {
  if (is_pole(formulas, end, s)) return at({s}, end);
  if (!is_pole(formulas, end, s, singular_growth)) return std::nullopt;
  const double t = end.time(s);
  return Pole{t, fmt::format("a divisor of the equations is 0 at t = {:.6g}, where a step ends", t)};
}

std::optional<PoleWatch::Pole> PoleWatch::singular_end(const SolutionPath& path) {
  if (!(path.b.t > path.a.t)) return std::nullopt;
  const auto step_at = [&](double s, const Step& like) {
    return Step{path.time(s), path.state(s), like.lambda, like.w, like.mode};
  };
  Values first, middle, last;
  // In the mode before from before the end, in the mode behind from behind it, as far as it has values.
  for (const Step* side : {&path.a, &path.b}) {
    const SolutionPath end{step_at(1 - before_end, *side), step_at(1 + behind_end, *side)};
    const bool is_back = side == &path.b;
    const SolutionPath seen = is_back ? SolutionPath{end.b, end.a} : end;
    for (const auto& formulas : formulas_of(side->mode)) {
      formulas->divisors(seen, 0, false, first);
      formulas->divisors(seen, beyond / 2, false, middle);
      formulas->divisors(seen, beyond, false, last);
      for (std::size_t k = 0; k < first.size(); ++k) {
        const auto zero = zero_of_divisor(*formulas, k, first, middle, last, seen);
        if (!zero) continue;
        if (auto pole = singular_pole(*formulas, end, is_back ? 1 - *zero : *zero)) return pole;
      }
    }
  }
  return std::nullopt;
}

namespace {

/// Does a divisor that was as large as `size` pass 0, from next to it?
bool is_passed(double before, double after, double size) {
  const bool keeps_sign = (before > 0 && after > 0) || (before < 0 && after < 0);
  return !keeps_sign && std::abs(before) <= narrow * size;
}

}  // namespace

std::optional<PoleWatch::Pole> PoleWatch::jump_over(const Step& before, const Vector& after) {
  if (seen_.formulas == nullptr || seen_.of_time || !(before.t <= seen_.until)) return std::nullopt;
  SolutionPath path{before, before};
  path.b.t = std::nextafter(before.t, inf);
  path.b.x = after;
  const auto is_seen = [&](const auto& formulas) { return formulas.get() == seen_.formulas; };
  const FormulaList& list = formulas_of(before.mode);
  const auto found = std::ranges::find_if(list, is_seen);
  if (found == list.end() || (*found)->is_cut(seen_.k, false)) return std::nullopt;
  Values first, last;
  (*found)->divisors(path, 0, false, first);
  (*found)->divisors(path, 1, false, last);
  return is_passed(first[seen_.k].value, last[seen_.k].value, seen_.size) ? at({0}, path) : std::nullopt;
}

bool PoleWatch::leaves_branch(const SolutionPath& path) {
  return std::ranges::any_of(formulas_of(path.b.mode), [&](const auto& formulas) {
    return std::ranges::any_of(formulas->followed(),
                               [&](const FollowedUnknowns& unknowns) { return unknowns.leaves(path); });
  });
}

std::optional<PoleWatch::Pole> PoleWatch::pass_path(const Step& from, const std::vector<Step>& path,
                                                   double end) {
  Step last = from;
  for (const Step& next : path) {
    if (next.mode == last.mode)
      if (auto pole = pass({last, next})) return pole;
    last = next;
  }
  last.t = end;
  return pass_in_time({from, last});
}

std::optional<PoleWatch::Pole> PoleWatch::pass_in_time(const SolutionPath& path) {
  if (!(path.b.t > path.a.t)) return std::nullopt;
  Singularity first;
  for (const auto& formulas : formulas_of(path.b.mode))
    for (std::size_t k = 0; k < formulas->time_zeros().count(); ++k)
      if (const auto s = pole_of_time(*formulas, k, path); s && *s < first.s)
        first = {*s, kind_of(*formulas, k, true)};
  return at(first, path);
}

}  // namespace perp
