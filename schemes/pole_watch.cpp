// Tells steps that pass a pole of a formula, which no implicit equation at the end of a step sees.
// The run loop asks it after each step.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/schemes/pole_watch.hpp>
#include <perp/schemes/watched_formulas.hpp>

namespace perp {
namespace {

constexpr double beyond = 1 + 0x1p-10;  ///< of the way: a zero so near behind its end is at its end
constexpr int most_zero_bisections = 60;
constexpr int most_sections = 50;        ///< golden ones, to the least value of a denominator
constexpr double wide = 0x1p-12, narrow = 0x1p-20;  ///< distances from a zero, of the way
/// At a pole of order one a row grows by wide/narrow from one to the other, at one of order 3/4, up
/// to which its integral is finite, by this.
constexpr double pole_growth = 64;
constexpr double resolved = 0x1p-28;  ///< of t: narrow shares of such a way are some ulps of t
constexpr int points_of_touch = 16;  ///< at which a denominator that touches 0 is looked at
constexpr double steps_ahead = 64;   ///< that functions of time are searched at once

using Values = std::vector<RunningError>;

/// One denominator along the way.
class Course {
 public:
  Course(WatchedFormulas& formulas, std::size_t k, const Step& a, const Step& b)
      : formulas_(formulas), k_(k), a_(a), b_(b) {}

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
    return std::nullopt;
  }

 private:
  RunningError at(double s) {
    formulas_.denominators(a_, b_, s, values_);
    return values_[k_];
  }
  int sign_at(double s) { return decided_sign(at(s)); }

  WatchedFormulas& formulas_;
  std::size_t k_;
  const Step &a_, &b_;
  Values values_;
};

/// Does the parabola through three values of one sign come near 0, or pass it, between them?
bool may_touch(double first, double middle, double last, int sign) {
  const double bend = sign * (first - 2 * middle + last) / 2;
  const double slope = sign * (-3 * first + 4 * middle - last) / 2;  // per half of the way
  if (!(bend > 0) || !(slope < 0) || !(-slope < 4 * bend)) return false;
  const double least = sign * first - slope * slope / (4 * bend);
  return least <= std::min(std::abs(first), std::abs(last)) / 2;
}

/// Does some row grow towards the zero of a denominator at the share s from each side that is seen?
/// The rates of the way are constant, but so large behind a pole that beside them nothing grows.
bool grows(WatchedFormulas& formulas, const Step& a, const Step& b, double s, bool at_rest) {
  Vector base, base_errors, values, errors;
  formulas.rows(a, b, s > 0.5 ? 0 : 1, at_rest, base, base_errors);
  // By how much each row differs from the base, at least (sign -1) or at most (1).
  const auto change = [&](double share, double sign) {
    formulas.rows(a, b, share, at_rest, values, errors);
    const Vector size = (values - base).cwiseAbs() + sign * (errors + base_errors);
    return Vector(size.unaryExpr([](double x) { return std::isfinite(x) ? x : inf; }));
  };
  Vector before = Vector::Constant(base.size(), inf), after = before;
  for (const double side : {-1.0, 1.0}) {
    if (!(s + side * wide >= 0 && s + side * wide <= 2 - 1 / beyond)) continue;
    before = before.cwiseMin(change(s + side * wide, 1));
    after = after.cwiseMin(change(s + side * narrow, -1));
  }
  for (Eigen::Index row = 0; row < before.size(); ++row)
    if (std::isfinite(before[row]) && after[row] > pole_growth * before[row]) return true;
  return false;
}

/// A way too short for the digits of t is looked at beyond its ends.
bool is_pole(WatchedFormulas& formulas, Step a, Step b, double s) {
  const double length = b.t - a.t, t = a.t + s * length, longer = resolved * std::abs(t);
  if (length < longer) {
    const Vector rate = (b.x - a.x) / length, x = a.x + s * (b.x - a.x);
    a.t = t - longer, a.x = x - longer * rate;
    b.t = t + longer, b.x = x + longer * rate;
    s = 0.5;
  }
  return grows(formulas, a, b, s, false) || grows(formulas, a, b, s, true);
}

/// The first zero of a function of time on the way that is a pole, as a share of it.
std::optional<double> pole_of_time(WatchedFormulas& formulas, std::size_t k, const Step& a,
                                   const Step& b) {
  WatchedFormulas::Search& search = formulas.searches()[k];
  const double length = b.t - a.t, end = a.t + beyond * length;
  if (!search.zero && search.until >= end) return std::nullopt;
  for (double from = std::max(a.t, search.zero ? a.t : search.until); from < end;) {
    if (!search.zero) {
      search.until = std::max(end, from + steps_ahead * length);
      search.zero = formulas.time_zeros().next(k, from, search.until, true);
      if (!search.zero) return std::nullopt;
    }
    if (search.zero->before > end) return std::nullopt;
    const TimeZeros::Zero zero = *search.zero;
    search.zero.reset();
    search.until = from = std::max(zero.after, std::nextafter(zero.before, inf));
    if (zero.after < a.t) continue;
    if (zero.touches && !formulas.is_zero_between(k, zero.before, zero.after)) continue;
    const double s = (zero.before + (zero.after - zero.before) / 2 - a.t) / length;
    if (!is_pole(formulas, a, b, s)) continue;
    search.zero = zero;  // it stays where it is: the step will be made shorter
    return s;
  }
  return std::nullopt;
}

/// The first zero of a denominator on the way, as far as three values of it tell.
std::optional<double> zero_of(WatchedFormulas& formulas, std::size_t k, const Values& first,
                              const Values& middle, const Values& last, const Step& a,
                              const Step& b) {
  const int sign = decided_sign(first[k]);
  if (sign == 0) return std::nullopt;
  Course course(formulas, k, a, b);
  if (decided_sign(middle[k]) != sign)
    return course.end_of_sign(0, beyond / 2, sign);
  if (decided_sign(last[k]) != sign) return course.end_of_sign(beyond / 2, beyond, sign);
  if (may_touch(first[k].value, middle[k].value, last[k].value, sign))
    return course.touch(0, beyond, sign);
  return std::nullopt;
}

std::optional<PoleWatch::Pole> at_share(double s, const Step& a, const Step& b) {
  if (!(s < inf)) return std::nullopt;
  const double t = (1 - s) * a.t + s * b.t;
  return PoleWatch::Pole{
      t, fmt::format("the equations have a pole at t = {:.6g}, which no step passes", t)};
}

}  // namespace

bool WatchedFormulas::is_zero_between(std::size_t k, double low, double high) {
  Values values;
  for (int i = 0; i <= points_of_touch; ++i) {
    denominators_of_time(low + (high - low) * i / points_of_touch, values);
    if (decided_sign(values[k]) == 0) return true;
  }
  return false;
}

PoleWatch::PoleWatch(const Dcs& system) { watch_system(system, formulas_); }

PoleWatch::PoleWatch(const Lcs& lcs) {
  watch_signal(lcs.b, formulas_);
  watch_signal(lcs.q, formulas_);
}

PoleWatch::~PoleWatch() = default;

/// As a share of the way; infinite: there is none.
double PoleWatch::first_on_way(const Step& a, const Step& b, bool poles_only) {
  double first = inf;
  Values at_start, at_middle, at_end;
  for (const auto& formulas : formulas_) {
    formulas->denominators(a, b, 0, at_start);
    formulas->denominators(a, b, beyond / 2, at_middle);
    formulas->denominators(a, b, beyond, at_end);
    for (std::size_t k = 0; k < at_start.size(); ++k) {
      const auto s = zero_of(*formulas, k, at_start, at_middle, at_end, a, b);
      if (s && *s < first && (!poles_only || is_pole(*formulas, a, b, *s))) first = *s;
    }
  }
  return first;
}

std::optional<PoleWatch::Pole> PoleWatch::pass(const Step& a, const Step& b) {
  if (!(b.t > a.t)) return std::nullopt;
  const std::optional<Pole> pole = at_share(first_on_way(a, b, true), a, b);
  std::optional<Pole> in_time = pass_in_time(a, b);
  return in_time && !(pole && pole->t < in_time->t) ? in_time : pole;
}

std::optional<PoleWatch::Pole> PoleWatch::zero_on_way(const Step& a, const Step& b) {
  if (!(b.t > a.t)) return std::nullopt;
  std::optional<Pole> zero = at_share(first_on_way(a, b, false), a, b);
  if (zero) zero->text.clear();
  return zero;
}

std::optional<PoleWatch::Pole> PoleWatch::pass_in_time(const Step& a, const Step& b) {
  if (!(b.t > a.t)) return std::nullopt;
  double first = inf;
  for (const auto& formulas : formulas_)
    for (std::size_t k = 0; k < formulas->time_zeros().count(); ++k)
      if (const auto s = pole_of_time(*formulas, k, a, b)) first = std::min(first, *s);
  return at_share(first, a, b);
}

}  // namespace perp
