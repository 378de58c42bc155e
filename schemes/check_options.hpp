#pragma once

#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

// What every scheme asks of its options. Each throws InvalidInput with what was found.

void check_h(double h);                   ///< > 0, finite
void check_theta(double theta);           ///< in [1/2, 1]
void check_tolerance(double tol);         ///< in (0, 1)
void check_refinements(int refinements);  ///< in [8, 45]
/// A finite, increasing span, with the times that a run must hit inside of it, increasing.
void check_span(Span span, const std::vector<double>& times);
/// 4 ε max(|start|, |end|): steps below it differ by the rounding of t more than by their length.
double smallest_h(Span span);
/// The same, and steps of length h that times of the span can tell apart.
void check_steps(Span span, double h, const std::vector<double>& times);

}  // namespace perp
