#pragma once

#include <perp/core/interval/interval.hpp>

/// The functions of the model language at points: bounds of f(x) for a double x of its domain,
/// mostly the two doubles around the value. There are two builds of them: from the double words of
/// this folder, point_functions.cpp, and from MPFR, point_functions_mpfr.cpp
/// (PERP_INTERVAL_FUNCTIONS of CMake), slower, for processors that the proofs about double words do
/// not cover.
namespace perp::enclosure::at_point {

Interval exp(double x);
Interval log(double x);    ///< 0 < x < ∞
Interval log10(double x);  ///< 0 < x < ∞
Interval tan(double x);
Interval asin(double x);  ///< |x| ≤ 1
Interval acos(double x);  ///< |x| ≤ 1
Interval atan(double x);
Interval sinh(double x);
Interval cosh(double x);
Interval tanh(double x);
Interval atan2(double y, double x);  ///< not on the cut y = 0, x ≤ 0
Interval pow(double x, double y);    ///< 0 < x < ∞

/// f(x), with x ∈ [quadrant π/2, (quadrant + 1) π/2] modulo 2 π.
struct Turned {
  Interval value{};
  int quadrant = 0;
};
Turned sin(double x);
Turned cos(double x);

}  // namespace perp::enclosure::at_point
