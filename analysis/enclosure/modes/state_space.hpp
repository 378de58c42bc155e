#pragma once

#include <set>
#include <vector>

#include <perp/analysis/enclosure/interval_matrix.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/interval/series/interval_series.hpp>

namespace perp::enclosure {

/// What the states of an enclosure are, in every mode: the variables whose derivative occurs in the
/// equations, then the parameters that are wider than two neighbouring doubles, with rate 0.
struct StateSpace {
  std::vector<int> variables{};   ///< numbers of variables, by state
  std::vector<int> parameters{};  ///< numbers of parameters, of the states behind
  Box values{};                   ///< of all parameters
  /// Numbers of parameters that are functions of time, measurable and within their values: no
  /// states.
  std::vector<int> disturbances{};

  /// Algebraic variables that are names of formulas, see `without_names`.
  std::vector<int> names{};

  /// By state: its rate is 0 in every mode and no reset sets it.
  std::vector<bool> constant{};

  [[nodiscard]] int states() const {
    return static_cast<int>(variables.size() + parameters.size());
  }
};

StateSpace state_space(const Dcs& system, const Box& parameters,
                       const std::vector<int>& disturbances = {});

/// The same system with what is written by names put in their place: an algebraic variable that one
/// equation gives as y = e(t, x, λ), with a divisor that is a constant and 0 nowhere, is e in all other
/// formulas. Those that hold no λ first; they become the names of the space.
Dcs without_names(const Dcs& system, StateSpace& space);

/// What the inputs of the system's tape are along a solution; those of unknowns are unused.
/// Disturbances are constants here: what is computed of values holds at every time, of first
/// derivatives along a solution at almost every time, where the quantity itself holds none of them.
std::vector<SeriesInput> series_inputs(const Dcs& system, const StateSpace& space);

/// The inputs of constants (parameters, literals that are no doubles) that are not 0 anywhere in the set.
std::set<int> nonzero_inputs(const Dcs& system, const StateSpace& space);

/// The states that a line of a flow depends on, now or later: those it holds, and those that the
/// rates of these hold.
std::vector<bool> states_acting_on(const Flow& flow, int line);

/// The unknowns (inputs of ẋ, of algebraic variables, of λ) that a line of the system holds.
std::vector<int> unknowns_of(const Dcs& system, const StateSpace& space, int line);

}  // namespace perp::enclosure
