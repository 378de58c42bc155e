#pragma once

#include <random>
#include <vector>

#include <perp/models/language/model.hpp>

namespace perp::relations {

/// Factors of a system as it was read: old number = factor × new number, laws: new w = factor × w.
struct SystemUnits {
  std::vector<double> variables, equations, arguments, multipliers;
  double time = 1;
};

/// Factors of random integer exponents from -k to k.
SystemUnits units_in_powers(const Model& model, std::mt19937& random, double base, int k);

/// The same model on a tape in other units. Its system is affine where that of the model is.
Model in_units(const Model& model, const SystemUnits& units);

/// Variable j, equation j and law i stand at the places given.
Model permuted(const Model& model, const std::vector<int>& variables,
               const std::vector<int>& equations, const std::vector<int>& laws);

/// Both systems side by side.
Model joined(const Model& first, const Model& second);

}  // namespace perp::relations
