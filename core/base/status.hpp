#pragma once

namespace perp {

/// How a computation ended. Mathematical outcomes are values, never exceptions.
enum class Status {
  never_run,       ///< initial value
  solved,          ///< everything asked for was computed; its residual passed the tolerance
  no_solution,     ///< proved: the step, problem or start has no solution
  not_solved,      ///< the method gave up (iteration limit, breakdown): says nothing of existence
  not_supported,   ///< the method does not apply to this problem
  not_enumerated,  ///< the budget ended before the enumeration was complete
  interrupted      ///< the observer asked to stop, or a bound that ends the run was passed
};

/// The word that stands in messages and files, e.g. "no_solution".
const char* to_string(Status status);

/// Number of points of a solution set.
enum class Multiplicity { none, unique, finite, continuum };

/// Its word, e.g. "unique".
const char* to_string(Multiplicity multiplicity);

}  // namespace perp
