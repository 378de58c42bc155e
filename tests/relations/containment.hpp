#pragma once

#include <string>
#include <vector>

namespace perp::relations {

/// Random points of a set of starts and parameters, run by the event-located scheme at its sharpest,
/// beside the rows of the set's enclosure.
struct Containment {
  long points = 0;      ///< runs
  long refused = 0;     ///< points whose model was refused or whose run has no state at a row
  long states = 0;      ///< that were compared: one for each point and time with rows
  long misses = 0;      ///< of these, in no row
  std::string first{};  ///< the first miss: values, t, variable and how far it is outside
  int rows = 0;
  bool is_lost = false;      ///< the enclosure ended before the span
  double least_share = 0;    ///< smallest distance of a state to the bounds, in shares of the tolerance; < 0: outside
};

struct ContainmentOptions {
  long points = 100;
  double seconds = 1e300;  ///< of the processor, after which no further point is run
  unsigned seed = 1;
  double slack = 1e-9;  ///< of the largest size of a variable over a run: what that may be wrong by
};

/// Of a model text whose intervals, as "[a, b]", are drawn from, at these times.
Containment contained(const std::string& text, const std::vector<double>& times,
                      const ContainmentOptions& options);

}  // namespace perp::relations
