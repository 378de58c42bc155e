#pragma once

#include <perp/core/interval/double_word.hpp>

/// The functions of the model language on numbers of about 106 bits with proved errors: argument
/// reduction and a series, whose truncation stands beside each; rounding is bounded by DoubleWord.
namespace perp::enclosure::elementary {

/// mantissa · 2^exponent
struct Scaled {
  DoubleWord mantissa{};
  int exponent = 0;
};

/// x = (4 n + quadrant) π/2 + rest for a whole n;  |rest| ≤ π/4 up to its error
struct QuarterTurns {
  int quadrant = 0;
  DoubleWord rest{};
};

Scaled exp(const DoubleWord& x);                 ///< |x| ≤ 1000
DoubleWord log(double x);                        ///< 0 < x < ∞, x ≠ 1
QuarterTurns quarter_turns(double x);            ///< finite
DoubleWord sin_near_zero(const DoubleWord& x);   ///< |x| ≤ 0.8
DoubleWord cos_near_zero(const DoubleWord& x);   ///< |x| ≤ 0.8
DoubleWord sinh_near_zero(const DoubleWord& x);  ///< |x| ≤ 0.4
/// The angle in [0, π/2] of the direction (x, y), x, y ≥ 0 not both 0, neither below 2^−60 of the
/// other.
DoubleWord angle(const DoubleWord& y, const DoubleWord& x);
DoubleWord half_pi();
DoubleWord ln10();

}  // namespace perp::enclosure::elementary
