#pragma once

#include <string>
#include <vector>

#include <perp/tests/relations/outcome.hpp>

namespace perp::relations {

/// How what is in one outcome is said in another one.
struct Correspondence {
  std::vector<int> variables;   ///< index in the other outcome of each variable
  std::vector<double> factors;  ///< value here = factor × value there + origin
  std::vector<double> origins{};  ///< empty: 0
  double time_factor = 1;       ///< (t here) = time_factor × (t there) + time_shift
  double time_shift = 0;
  bool same_laws = true;  ///< laws have the same branches; else only moments are compared
  /// A start of binaries that constraints exclude is told by an event, or by a warning where laws stand for them: else such
  /// events are left out.
  bool same_start_events = true;
  bool all_events = true;  ///< there are no events but those here; else more are allowed there

  /// Variable j of a state there, as it is said here.
  [[nodiscard]] double value(std::size_t j, const Vector& there) const {
    return factors[j] * there[variables[j]] + (origins.empty() ? 0 : origins[j]);
  }
};

/// Each variable by its place, factors 1.
Correspondence identity(int variables);

/// Is it the law of several forms, whose arguments are multiples of each other?
bool is_shared(const Law& law);

/// Tolerances of a comparison, relative to the largest |x_j| and to the span.
struct Closeness {
  double state = 1e-9;
  double moment = 1e-9;
};

/// That of two runs of one problem in other words. The located scheme chooses its steps by the errors of all variables, and
/// by arithmetic that depends on the statement; each run is within its tolerance of the solution.
Closeness closeness_of(SchemeName scheme);

/// The first difference in a sentence; empty: none. Compared: refusals and status, events with kind,
/// law and branches up to a renaming of laws, states at common times and at the end.
std::string difference(const Outcome& here, const Outcome& there, const Correspondence& by,
                       const Closeness& closeness);

/// Are all states and moments the same doubles, up to the factors?
bool same_bits(const Outcome& here, const Outcome& there, const Correspondence& by);

/// The largest |x_j| of each variable over the run.
Vector sizes(const Outcome& outcome);
/// The same, no smaller than this share of its nominal value: a variable that stays 0 has no size of its own.
Vector sizes(const Outcome& outcome, double share);

}  // namespace perp::relations
