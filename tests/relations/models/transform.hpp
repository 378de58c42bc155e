#pragma once

#include <random>
#include <vector>

#include <perp/tests/relations/models/random_model.hpp>

namespace perp::relations {

/// Units of everything in a model: old number = factor × new number.
struct Units {
  std::vector<double> variables;  ///< ≠ 0; < 0 turns a variable round
  std::vector<double> equations;  ///< the equation is multiplied by it, ≠ 0
  std::vector<double> arguments;  ///< of laws, > 0: w is multiplied by it
  std::vector<double> multipliers;  ///< of complementarities and relays, > 0; else follows the law
  double time = 1;                ///< > 0
  std::vector<double> constraints{};  ///< the constraint is multiplied by it, > 0
  std::vector<double> inputs{};       ///< ≠ 0
};

/// Powers of two 2^-k .. 2^k for everything.
Units binary_units(const RandomModel& model, std::mt19937& random, int k);

/// Decimal factors 10^-k .. 10^k with random mantissas.
Units decimal_units(const RandomModel& model, std::mt19937& random, double k);

/// The same model in these units; those of laws that follow others are written back into `units`.
RandomModel in_units(const RandomModel& model, Units& units);

/// Where each variable, equation and law of the original stands.
struct Order {
  std::vector<int> variables, equations, laws;
  std::vector<int> constraints{};
};

Order random_order(const RandomModel& model, std::mt19937& random);
RandomModel permuted(const RandomModel& model, const Order& order);

/// Both models side by side, nothing couples them; run table of the first.
RandomModel joined(const RandomModel& first, const RandomModel& second);

/// Every law stated by a random one of its equivalent statements.
RandomModel reworded(const RandomModel& model, std::mt19937& random);

/// Inputs that stand as factors of their own replaced by what they are.
RandomModel without_inputs(const RandomModel& model);

/// t is a further variable, the last one, with derivative 1.
RandomModel with_clock(const RandomModel& model);

/// The model in the time t - shift.
RandomModel shifted(const RandomModel& model, double shift);

/// The model in variables that are larger by these origins.
RandomModel from_origins(const RandomModel& model, const std::vector<double>& origins);

/// Starts and coefficients other than 0, ±1 changed by about this relative amount.
RandomModel perturbed(const RandomModel& model, std::mt19937& random, double amount);

/// Applies `change(Sum&)` to every sum of the model.
template <class Change>
void for_each_sum(RandomModel& model, const Change& change) {
  for (RandomEquation& equation : model.equations) change(equation.right);
  for (RandomLaw& law : model.laws) change(law.argument);
  for (RandomConstraint& constraint : model.constraints)
    for (RandomConstraint::Face& face : constraint.faces) change(face.w);
  for (RandomInput& input : model.inputs) change(input.value);
  for (RandomReset& reset : model.resets) {
    change(reset.condition);
    for (Sum& value : reset.values) change(value);
  }
}

}  // namespace perp::relations
