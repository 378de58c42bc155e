#pragma once

#include <functional>

namespace perp {

/// The integral of f over [a, b], to rounding where f has derivatives or a kink (Gauss and Kronrod, 7 and
/// 15 points; the part in which they differ most is halved, within a budget).
double integral(const std::function<double(double)>& f, double a, double b);

/// The largest value of f in [a, b], found between the nodes of a sample and refined to rounding; not
/// looked for closer where the sample stays below `known` by more than its neighbours differ.
double largest(const std::function<double(double)>& f, double a, double b, double known);

}  // namespace perp
