#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/convergence/grid_run.hpp>

namespace perp {

/// What is measured of a run.
enum class ErrorKind {
  end,         ///< max_j |x_j(T) - reference_j(T)|
  trajectory,  ///< the maximum of that over the grid points of the run
  events       ///< the largest |difference| of the times of events
};
/// How many there are.
inline constexpr std::size_t error_kinds = 3;

/// The word of the option: end, trajectory, events.
const char* to_string(ErrorKind kind);

/// What runs are compared with.
struct StudyReference {
  std::string text{};  ///< what it is
  long steps = 0;      ///< of the run that made it, 0: none did
  /// State of the compared variables, size 0 or NaN where it is unknown.
  std::function<Vector(double t)> state{};
  std::optional<std::vector<EventMark>> events{};  ///< none: unknown
  std::optional<std::vector<double>> jumps{};  ///< times of them
  /// Its own errors of each kind as estimated; 0: taken as exact; NaN: cannot be told.
  std::vector<double> own_errors = std::vector<double>(error_kinds, 0.0);
};

/// Why an error counts for no order.
enum class Refusal {
  none,
  not_solved,  ///< the run has no end
  end_time,    ///< the run ends at t_N ≠ T
  rounding,    ///< nothing but rounding errors
  reference,   ///< not far enough above the error of the reference
  events,      ///< the events are not those of the reference
  jumps,       ///< nor is the number of jumps
  no_events,   ///< neither has events
  times        ///< the reference has no state at the times of the run
};
/// A few words for a table.
const char* to_string(Refusal refusal);

/// An error of one kind of one run.
struct Measured {
  double value = nan;                     ///< the error, in units of x or t
  Refusal refusal = Refusal::not_solved;  ///< none: it counts for the order
  std::string detail{};  ///< of the refusals events, jumps and times, for people
  int left_out = 0;      ///< states between a jump of the run and that of the reference
};

/// Below this an error is nothing but rounding: every step may add a rounding error of the size of
/// what is compared.
double rounding_level(double scale, long steps);

/// An error counts where it is this many times as large as the reference's own error: one of first
/// order is 15 times that of a run with h / 16, and half of it says that something else goes on.
inline constexpr double reference_margin = 8;

/// The error of a run of the span [start, T]; the run may end later.
Measured measure(ErrorKind kind, const GridRun& run, const StudyReference& reference, Span span);

}  // namespace perp
