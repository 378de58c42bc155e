// Zeros of functions of time by Taylor series: the moments at which laws and formulas of time alone
// switch or have a pole. Asked by TimeSwitches and PoleWatch.
#include <algorithm>
#include <cmath>
#include <deque>
#include <span>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/interval/line_range.hpp>
#include <perp/schemes/events/time_zeros.hpp>

namespace perp {
namespace {

constexpr double safe_share = 0.9;     // of the length within which the series has no zero
constexpr double decided_share = 0x1p-20;  // of the way to a zero: where its sign is still looked for
constexpr double decided = 16;             // bounds of the rounding of a value, beyond which its sign counts
constexpr int most_looks = 128;           // of a step: points at which its sign is looked at
constexpr int most_shortenings = 8;       // of a step in which the sign is another one somewhere
constexpr double least_search_share = 1e-12;  // of what is left: no step of the search is shorter

/// How far from its centre the series certainly keeps the sign of its constant, as far as its terms
/// tell: |c_0| > Σ |c_k| τ^k, and τ no longer than its last terms fall like a geometric series.
template <class Series>
double reach(const Series& series, int order, double longest) {
  double length = longest;
  const auto last = [&](int k) { return std::abs(series[k]); };
  for (int k = order - 2; k < order; ++k)
    if (last(k) > 0 && last(k - 2) > 0) length = std::min(length, std::sqrt(last(k - 2) / last(k)));
  const auto rest = [&](double tau) {
    double sum = 0;
    for (int k = order - 1; k > 0; --k) sum = (sum + last(k)) * tau;
    return sum;
  };
  if (rest(length) <= last(0)) return length;
  double low = 0, high = length;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (rest(middle) <= last(0) ? low : high) = middle;
  }
  return low;
}

/// A share of that; all of it where the sign is kept to the end of a piece, at which it is looked at again.
template <class Series>
double safe_length(const Series& series, double longest, bool is_piece) {
  const double length = reach(series, TimeZeros::order, longest);
  return is_piece && length >= longest ? length : safe_share * length;
}

}  // namespace

TimeZeros::TimeZeros(Tape tape, std::vector<int> lines)
    : tape_(std::move(tape)),
      lines_(std::move(lines)),
      series_(static_cast<std::size_t>(tape_.size())),
      values_(static_cast<std::size_t>(tape_.size())) {
  const std::vector<bool> needed = needed_lines(tape_, lines_);
  for (int k = 0; k < tape_.size(); ++k)
    if (needed[static_cast<std::size_t>(k)] && tape_[k].operation == Operation::table)
      tables_.push_back(&DataTable::of(tape_[tape_[k].b].value));
}

/// Up to where the series at t hold: the next time of any table.
double TimeZeros::end_of_pieces(double t, double end) const {
  for (const DataTable* table : tables_) {
    const auto next = std::upper_bound(table->times().begin(), table->times().end(), t);
    if (next != table->times().end()) end = std::min(end, *next);
  }
  return end;
}

void TimeZeros::expand(double t) {
  Series time(t);
  time[1] = 1;
  tape_.evaluate(std::span<const Series>(&time, 1), std::span<Series>(series_));
}

double TimeZeros::value(std::size_t k, double t) {
  tape_.evaluate(std::span<const double>(&t, 1), std::span<double>(values_));
  return values_[static_cast<std::size_t>(lines_[k])];
}

int TimeZeros::decided_sign_at(std::size_t k, double t, double bounds) {
  const RunningError time(t);
  bounded_.resize(static_cast<std::size_t>(tape_.size()));
  tape_.evaluate(std::span<const RunningError>(&time, 1), std::span<RunningError>(bounded_));
  return decided_sign(bounded_[at(lines_[k])], bounds);
}

/// The sign of line k at t, where it has this value; 0: it is rounding. Where no bound of that is known it is the value's.
int TimeZeros::sign_at(std::size_t k, double t, double value) {
  if (decided_sign_at(k, t, 1) == 0 && std::isfinite(bounded_[at(lines_[k])].error)) return 0;
  return (value > 0) - (value < 0);
}

bool TimeZeros::changes_between(double before, double after) {
  for (std::size_t k = 0; k < lines_.size(); ++k)
    if (value(k, before) * value(k, after) < 0) return true;
  return false;
}

double TimeZeros::decided_before(const Zero& zero, double since) {
  const double longest = decided_share * (zero.before - since);
  std::vector<std::size_t> open;
  for (std::size_t k = 0; k < lines_.size(); ++k)
    if (decided_sign_at(k, zero.before - longest, decided) * decided_sign_at(k, zero.after + longest, decided) < 0)
      open.push_back(k);
  const double ulp = zero.before - std::nextafter(zero.before, since);
  for (double earlier = ulp; earlier < longest; earlier *= 2) {
    std::erase_if(open, [&](std::size_t k) { return decided_sign_at(k, zero.before - earlier, decided) != 0; });
    if (open.empty()) return zero.before - earlier;
  }
  return zero.before;
}

/// Of line k, in this time.
enclosure::Interval TimeZeros::range(std::size_t k, double low, double high) {
  const enclosure::Interval time(low, high);
  ranges_.resize(at(tape_.size()));
  for (int line = 0; line <= lines_[k]; ++line)
    ranges_[at(line)] = enclosure::range_of(tape_[line], std::span(&time, 1), ranges_);
  return ranges_[at(lines_[k])];
}

/// A time within the step from t at which line k has not this sign. Halves whose range holds 0 are looked at in turn;
/// empty: it has the sign throughout, or none of so many points has another one.
std::optional<double> TimeZeros::other_sign(std::size_t k, double t, double length, int sign) {
  std::deque<std::pair<double, double>> open{{t, t + length}};
  for (int looks = 0; looks < most_looks && !open.empty(); ++looks) {
    const auto [low, high] = open.front();
    open.pop_front();
    const double middle = low + (high - low) / 2;
    if (!(low < middle && middle < high) || !range(k, low, high).contains(0.0)) continue;
    if (value(k, middle) * sign < 0) return middle;
    open.emplace_back(low, middle);
    open.emplace_back(middle, high);
  }
  return std::nullopt;
}

/// Up to a time with another sign, if there is one within the step and the sign is known.
double TimeZeros::length_with_sign(std::size_t k, double t, double length, int sign) {
  for (int i = 0; i < most_shortenings && sign != 0; ++i) {
    const std::optional<double> other = other_sign(k, t, length, sign);
    if (!other) break;
    length = *other - t;
  }
  return length;
}

std::optional<TimeZeros::Zero> TimeZeros::next(double t, double end) {
  std::optional<Zero> first;
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    const auto found = next(k, t, first ? first->after : end, false);
    if (found && (!first || found->before < first->before)) first = found;
  }
  return first;
}

std::optional<TimeZeros::Zero> TimeZeros::next(std::size_t k, double t, double end,
                                               bool with_touches) {
  const double least = least_search_share * (end - t);
  double now = t;
  int sign = 0;  // the last one that is decided
  double since = t;
  bool collapsed = false;  // a zero is nearer to `since` than steps go
  while (now < end) {
    expand(now);
    const Series& series = series_[static_cast<std::size_t>(lines_[k])];
    const double here = series[0];
    if (!std::isfinite(here)) return std::nullopt;
    if (const int own = sign_at(k, now, here); own != 0) {
      if (sign != 0) {
        if (own != sign) return between_before(end, k, since, now, sign > 0);
        if (with_touches && collapsed) return Zero{since, now, true};
      }
      sign = own;
      since = now;
    }
    const double last = end_of_pieces(now, end);
    double length = safe_length(series, last - now, last < end);
    collapsed = length < least;
    length = length_with_sign(k, now, length, sign);
    now = std::max(now + std::max(length, least), std::nextafter(now, end));
    now = std::min(now, last);
  }
  return std::nullopt;
}

/// The two doubles between which the argument leaves the sign that it has at `low` for the one that
/// it has at `high`.
TimeZeros::Zero TimeZeros::between(std::size_t k, double low, double high,
                                           bool positive) {
  const auto is_old = [&](double t) {
    const double here = value(k, t);
    return positive ? here > 0 : here < 0;
  };
  const auto is_new = [&](double t) {
    const double here = value(k, t);
    return positive ? here < 0 : here > 0;
  };
  const auto boundary = [](double from, double to, const auto& keeps) {
    for (;;) {
      const double middle = from + (to - from) / 2;
      if (middle <= from || middle >= to) return std::pair(from, to);
      (keeps(middle) ? from : to) = middle;
    }
  };
  const double before = boundary(low, high, is_old).first;
  const double after = boundary(before, high, [&](double t) { return !is_new(t); }).second;
  return {before, after};
}

/// The same, where the new sign begins before `end`.
std::optional<TimeZeros::Zero> TimeZeros::between_before(double end, std::size_t k, double low, double high,
                                                         bool positive) {
  const Zero found = between(k, low, high, positive);
  if (found.after < end) return found;
  return std::nullopt;
}

}  // namespace perp
