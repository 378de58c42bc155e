#pragma once

#include <vector>

#include <perp/core/dcs.hpp>

namespace perp {

/// What the argument w of a law is a function of, whatever the mode.
struct ArgumentForm {
  bool is_of_given = true;    ///< of nothing but t, variables that have a given value, and λ, its own by a constant factor
  double own = 0;             ///< that factor
  std::vector<int> others{};  ///< the laws whose λ it holds
};

/// What dw/dt of a law is a function of, where its variables have a row of F each for their rate: beside t of variables, of
/// multipliers.
struct RateForm {
  bool is_known = false;
  bool reads_states = false;
  bool reads_multipliers = false;
};

/// What the form of the equations tells about the derivative array of a Dcs, without numbers.
struct ArrayStructure {
  /// Does a derivative by ẋ, an algebraic variable or λ depend on λ? Then a mode may have several
  /// jets.
  bool nonlinear_in_multipliers = false;
  /// Does a derivative by ẋ depend on ẋ? Then the rates of a mode may have several roots.
  bool nonlinear_in_rates = false;
  /// Are there equations without ẋ that are not linear with constant coefficients?
  bool has_curved_constraints = false;
  /// For each law the number of its group. Laws of different groups do not influence each other in
  /// any coefficient w_[0..K]: their branches can be decided one group after the other.
  std::vector<int> groups;
  /// For each law: is w a function of t and of variables that have a given value, whatever the
  /// mode?
  std::vector<char> w_is_given;
  /// For each law.
  std::vector<ArgumentForm> arguments;
  std::vector<RateForm> rates;
  /// For each variable, then for each law, the number of its part: no row of (F, G) connects different parts.
  std::vector<int> parts;
  /// For each law: is w a function of t alone?
  std::vector<char> w_is_of_time;
};

/// For levels 0..K of the array (see DerivativeArray).
ArrayStructure array_structure(const Dcs& system, int levels);

}  // namespace perp
