#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace perp {

/// The zero of a gap as a function of the length of the step, by the secant method between a length where it is
/// positive and one where it is not; every other step halves what lies between where secants are slow, as towards a zero
/// of a higher order.
struct ZeroSearch {
  double low, high;
  double length;           ///< that is tried, or was found
  double slope;            ///< of the gap, by the length
  bool fell = false;       ///< below 0 by more than its noise
  bool rose = false;       ///< above 0
  bool lost = false;       ///< has no value somewhere
  bool at_once = false;    ///< the zero is at the start
  bool converged = false;  ///< to what rounding of t lets see
  bool is_zero = false;    ///< the last value, to the bit

  ZeroSearch(double lower, double upper, double first, double slope_there)
      : low(lower), high(upper), length(first), slope(slope_there) {}

  /// Has it come to no zero, and met no value below 0 nor none at all, up to the length h of the whole step?
  [[nodiscard]] bool found_nothing(double h) const { return !converged && !fell && high == h; }

  /// `value_at(length)`: the gap at the end of a step; `h`: the length of the whole step from t; `least`: lengths below
  /// are none; `noise`: of a value.
  template <class ValueAt>
  void run(const ValueAt& value_at, double t, double h, double least, double noise) {
    bool goes_on = true;
    for (int k = 0; k < most_iterations && goes_on; ++k) {
      if (falls_at_once(least)) {
        at_once = true;
        return;
      }
      if (length <= least) probe(h);
      const double value = value_at(length);
      slow_ = k >= most_secants;
      halves_ = slow_ && k % 2 == 0;
      goes_on = std::isfinite(value) ? take(value, noise, rounding_of_time(k) * std::max(std::abs(t), length)) : halve();
    }
  }

 private:
  static constexpr int most_secants = 16;  ///< as many as a simple zero needs, and more
  static constexpr int most_iterations = most_secants + 2 * std::numeric_limits<double>::digits;
  static constexpr double probe_share = 1e-2;  ///< of a step whose polynomial falls at its start

  /// As near as a search comes in a few steps, or in many.
  static double rounding_of_time(int iterations) {
    return (iterations < 5 ? 1 : 8) * std::numeric_limits<double>::epsilon();
  }
  /// Is the zero at the start, to within this length?
  [[nodiscard]] bool falls_at_once(double least) const { return length <= least && (fell || probed_); }
  /// The polynomial of the step of length h falls at once: does a full step?
  void probe(double h) {
    probed_ = true;
    length = probe_share * h;
  }
  /// The gap has no value at this length.
  bool halve() {
    lost = true;
    high = length;
    length = (low + high) / 2;
    return true;
  }
  /// The gap has this value at this length. False: the zero is no farther than `unseen`, or there is no double between
  /// the two lengths.
  bool take(double value, double noise, double unseen) {
    fell |= value < -noise;
    rose |= value > 0;
    is_zero = value == 0;
    (value > 0 ? low : high) = length;
    if (last_length_ >= 0 && length != last_length_ && value != last_value_)
      slope = (value - last_value_) / (length - last_length_);
    last_length_ = length;
    last_value_ = value;
    const double next = length - value / slope;
    // The distance that a slow secant tells is far below that of a zero of a higher order.
    converged = is_zero || (slow_ ? high - low <= unseen : slope < 0 && std::abs(next - length) <= unseen);
    return !converged && advance(next);
  }
  bool advance(double next) {
    if (halves_ || !(next > low && next < high)) next = low + (high - low) / 2;
    if (next <= low || next >= high) return false;
    length = next;
    return true;
  }

  double last_length_ = -1, last_value_ = 0;
  bool slow_ = false;    // secants are
  bool halves_ = false;
  bool probed_ = false;  // a full step where the polynomial falls at once
};

}  // namespace perp
