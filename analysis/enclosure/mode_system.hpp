#pragma once

#include <string>
#include <vector>

#include <perp/analysis/enclosure/interval_matrix.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/expression/interval_series.hpp>

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

/// A quantity that is positive inside of a mode: the distance of w or λ to an end of the branch,
///     side (w − end)   or   side (λ − end),
/// or the condition of a reset, times the side on which it is.
struct Gap {
  int law = -1;
  int reset = -1;
  bool of_multiplier = false;
  double end = 0;
  int side = 1;
};

/// g(t, x) = 0 among the equations of a mode, which gives one state by the others.
struct ModeConstraint {
  int equation = -1;  ///< of the system; -1: the argument of a law with a vertical branch
  int law = -1;
  int residual = -1;  ///< its line, on the tape of `observed`
};

/// The equations of one mode, solved by sums and products for rates, algebraic variables and
/// multipliers, each in terms of time, states and parameters. Equations that hold none of these are
/// constraints: they give one state by the others, and their time derivative takes their place.
/// Divisors are evaluated where the solution is: a mode that is singular somewhere in a set has no
/// value there, and proves nothing.
struct ModeSystem {
  Mode mode{};
  Flow flow{};      ///< its outputs are `gaps`
  Flow observed{};  ///< stands still; outputs: n variables, m multipliers, residuals of constraints
  std::vector<Gap> gaps{};
  std::vector<ModeConstraint> constraints{};
  std::vector<std::vector<int>> resets{};  ///< by reset, its values: lines on the tape of `flow`
  /// By law: w is a function of time, states and parameters, whatever the multipliers are.
  std::vector<bool> argument_of_states{};

  enum class Outcome { made, impossible, not_solved };
  Outcome outcome = Outcome::made;
  std::string reason{};  ///< why there is no flow
};

/// `near` are values of the inputs of the tape (t, variables and parameters count), by which
/// divisors are chosen. Where `free_law` is a law its λ is not determined but any number of
/// `free_values`, and the only output is its w.
ModeSystem mode_system(const Dcs& system, const StateSpace& space, const Mode& mode,
                       const std::vector<double>& near, int free_law = -1,
                       const Interval& free_values = {});

}  // namespace perp::enclosure
