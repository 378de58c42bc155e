#pragma once

#include <vector>

#include <perp/analysis/enclosure/interval_matrix.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/interval/interval_series.hpp>

namespace perp::enclosure {

/// What the states of an enclosure are, in every mode: the variables whose derivative occurs in the
/// equations, then the parameters that are wider than two neighbouring doubles, with rate 0.
struct StateSpace {
  std::vector<int> variables{};   ///< numbers of variables, by state
  std::vector<int> parameters{};  ///< numbers of parameters, of the states behind
  Box values{};                   ///< of all parameters

  [[nodiscard]] int states() const {
    return static_cast<int>(variables.size() + parameters.size());
  }
};

StateSpace state_space(const Dcs& system, const Box& parameters);

/// What the inputs of the system's tape are along a solution; those of unknowns are unused.
std::vector<SeriesInput> series_inputs(const Dcs& system, const StateSpace& space);

/// The unknowns (inputs of ẋ, of algebraic variables, of λ) that a line of the system holds.
std::vector<int> unknowns_of(const Dcs& system, const StateSpace& space, int line);

}  // namespace perp::enclosure
