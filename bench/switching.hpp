#pragma once

#include <vector>

#include <perp/bench/hybrid.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/located/located.hpp>

namespace perp::bench {

/// A switching problem as a model and, for other codes, by hand; with what is known of its
/// solution.
struct Switching {
  Model model;
  double end = 0;
  Hybrid by_hand;
  std::vector<double> x_end;        ///< reference, differential variables; empty: unknown
  std::vector<double> event_times;  ///< exact, the first ones
};

/// [IFDIFF], one predator and two prey: 6 entries into sliding and 6 exits in [0, 100]; reference
/// from quadruple precision.
Switching predator_prey();
/// ẍ = -sign(x) from x = 1/2: crossings at 1, 3, 5, ... [0, 2000].
Switching relay_crossing();
/// ẋ = 1.5 sin t - sign(x) from 0: leaves the sliding mode at every arcsin(2/3) + k π and returns
/// to it.
Switching relay_sliding();

/// A run in perp that keeps the events and the ends only.
Trajectory run_located(const Switching& problem, const Located& scheme);

/// Largest error of the end, relative to its largest component, and of the known event times; NaN
/// if fewer events were found.
double end_error(const std::vector<double>& x, const Switching& problem);
double event_error(const std::vector<double>& times, const Switching& problem);
std::vector<double> event_times(const Trajectory& run);

}  // namespace perp::bench
