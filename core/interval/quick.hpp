#pragma once

#include <perp/core/interval/elementary.hpp>

/// The functions that models use most, in doubles with corrections from tables: known to 2^−60 or
/// so, which is enough for bounds that are nearly always neighbours, in a tenth of the time of
/// `elementary`, which makes the tables and takes the arguments that are left out here.
namespace perp::enclosure::quick {

/// e^x for |x| ≤ 700; the low part of the mantissa need not be small.
elementary::Scaled exp(double x);

/// x = (4 n + quadrant) π/2 ± (rest + low), the sum to within 2^−98.
struct Turns {
  int quadrant = 0;
  double rest = 0, low = 0;  ///< of |x|: not negative
  bool is_negative = false;
  bool is_known = false;  ///< |x| ≤ 2^20, and no multiple of π/2 within 2^−25
};
Turns quarter_turns(double x);

/// The sine and cosine of what is left.
///@{
DoubleWord sine(const Turns& turns);
DoubleWord cosine(const Turns& turns);
///@}

}  // namespace perp::enclosure::quick
