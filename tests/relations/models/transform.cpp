#include <algorithm>
#include <cmath>
#include <numeric>

#include <perp/core/base/index.hpp>
#include <perp/tests/relations/models/transform.hpp>

namespace perp::relations {
namespace {

std::vector<int> shuffled(std::size_t size, std::mt19937& random) {
  std::vector<int> places(size);
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), random);
  return places;
}

template <class Change>
void for_each_factor(RandomModel& model, const Change& change) {
  for_each_sum(model, [&](Sum& sum) {
    for (Term& term : sum)
      for (Factor& factor : term.factors) change(factor);
  });
}

/// Variables and laws of every sum get new numbers.
template <class Variable, class Law>
void renumber(RandomModel& model, const Variable& variable, const Law& law) {
  for_each_factor(model, [&](Factor& factor) {
    if (factor.kind == Factor::Kind::variable) factor.index = variable(factor.index);
    if (factor.kind == Factor::Kind::law) factor.index = law(factor.index);
  });
  for (RandomConstraint& constraint : model.constraints)
    for (RandomConstraint::Face& face : constraint.faces)
      for (Literal& literal : face.when) {
        literal.law = law(literal.law);
        if (literal.beside >= 0) literal.beside = law(literal.beside);
      }
  for (RandomEquation& equation : model.equations)
    if (equation.derivative >= 0) equation.derivative = variable(equation.derivative);
  for (RandomReset& reset : model.resets)
    for (int& target : reset.variables) target = variable(target);
}

template <class T>
std::vector<T> placed(const std::vector<T>& list, const std::vector<int>& places) {
  std::vector<T> result(list.size());
  for (std::size_t k = 0; k < list.size(); ++k) result[at(places[k])] = list[k];
  return result;
}

}  // namespace

Order random_order(const RandomModel& model, std::mt19937& random) {
  return {shuffled(model.variables.size(), random), shuffled(model.equations.size(), random),
          shuffled(model.laws.size(), random), shuffled(model.constraints.size(), random)};
}

RandomModel permuted(const RandomModel& model, const Order& order) {
  RandomModel result = model;
  renumber(
      result, [&](int j) { return order.variables[at(j)]; },
      [&](int i) { return order.laws[at(i)]; });
  result.variables = placed(result.variables, order.variables);
  result.equations = placed(result.equations, order.equations);
  result.laws = placed(result.laws, order.laws);
  result.constraints = placed(result.constraints, order.constraints);
  return result;
}

RandomModel joined(const RandomModel& first, const RandomModel& second) {
  RandomModel result = first;
  RandomModel other = second;
  const int variables = static_cast<int>(first.variables.size());
  const int laws = static_cast<int>(first.laws.size());
  renumber(
      other, [&](int j) { return j + variables; }, [&](int i) { return i + laws; });
  for_each_factor(other, [&](Factor& factor) {
    if (factor.kind == Factor::Kind::input) factor.index += static_cast<int>(first.inputs.size());
  });
  for (RandomVariable variable : other.variables) {
    variable.name += "_" + std::to_string(variables);
    result.variables.push_back(variable);
  }
  for (RandomLaw law : other.laws) {
    law.name += "_" + std::to_string(variables);
    result.laws.push_back(law);
  }
  for (RandomConstraint constraint : other.constraints) {
    constraint.name += "_" + std::to_string(variables);
    result.constraints.push_back(constraint);
  }
  for (RandomInput input : other.inputs) {
    input.name += "_" + std::to_string(variables);
    result.inputs.push_back(input);
  }
  result.as_binaries = first.as_binaries || other.as_binaries;
  result.equations.insert(result.equations.end(), other.equations.begin(), other.equations.end());
  result.resets.insert(result.resets.end(), other.resets.begin(), other.resets.end());
  return result;
}

RandomModel reworded(const RandomModel& model, std::mt19937& random) {
  RandomModel result = model;
  for (RandomLaw& law : result.laws) {
    law.wording = std::uniform_int_distribution<int>(0, wordings(law.kind) - 1)(random);
    // Restitution is given by the name of the multiplier beside `perp`.
    if (law.restitution >= 0) law.wording = 0;
  }
  // Values of binaries before the start are drawn with binaries, constraints or inputs only.
  const bool has_starts = model.as_binaries || !model.constraints.empty() || !model.inputs.empty();
  if (has_starts && can_be_hybrid(model) && random() % 2 == 0) result.as_binaries = !model.as_binaries;
  for (RandomConstraint& constraint : result.constraints) constraint.is_turned = random() % 2 == 0;
  if (!is_hybrid(result) || random() % 2 == 0) result = without_inputs(result);  // operators stand beside none
  if (is_hybrid(result) && random() % 2 == 0) result.as_families = true;
  return result;
}

RandomModel without_inputs(const RandomModel& model) {
  RandomModel result = model;
  for_each_sum(result, [&](Sum& sum) {
    Sum replaced;
    for (const Term& term : sum) {
      const auto input = std::find_if(term.factors.begin(), term.factors.end(),
                                      [](const Factor& factor) { return factor.kind == Factor::Kind::input; });
      if (input == term.factors.end()) {
        replaced.push_back(term);
        continue;
      }
      Term rest = term;
      rest.factors.erase(rest.factors.begin() + (input - term.factors.begin()));
      for (const Term& of_input : model.inputs[at(input->index)].value) {
        Term product{rest.c * of_input.c, rest.factors};
        product.factors.insert(product.factors.end(), of_input.factors.begin(), of_input.factors.end());
        replaced.push_back(product);
      }
    }
    sum = replaced;
  });
  result.inputs.clear();
  return result;
}

RandomModel with_clock(const RandomModel& model) {
  RandomModel result = without_inputs(model);
  const int clock = static_cast<int>(model.variables.size());
  for_each_sum(result, [&](Sum& sum) {
    for (Term& term : sum)
      for (Factor& factor : term.factors)
        if (factor.kind == Factor::Kind::time) {
          factor.kind = Factor::Kind::variable;
          factor.index = clock;
        }
  });
  result.variables.push_back({"clock", model.start, 1});
  result.equations.push_back({clock, 1, {{1, {}}}});
  return result;
}

RandomModel shifted(const RandomModel& model, double shift) {
  RandomModel result = model;
  for_each_sum(result, [&](Sum& sum) {
    for (Term& term : sum)
      for (Factor& factor : term.factors)
        if (factor.kind == Factor::Kind::time) factor.offset += factor.scale * shift;
  });
  result.start -= shift;
  result.end -= shift;
  return result;
}

RandomModel from_origins(const RandomModel& model, const std::vector<double>& origins) {
  RandomModel result = model;
  for_each_factor(result, [&](Factor& factor) {
    if (factor.kind == Factor::Kind::variable) factor.offset -= factor.scale * origins[at(factor.index)];
  });
  for (std::size_t j = 0; j < origins.size(); ++j) result.variables[j].start += origins[j];
  for (RandomReset& reset : result.resets)
    for (std::size_t k = 0; k < reset.variables.size(); ++k)
      reset.values[k].push_back({origins[at(reset.variables[k])], {}});
  return result;
}

RandomModel perturbed(const RandomModel& model, std::mt19937& random, double amount) {
  RandomModel result = model;
  std::uniform_real_distribution<double> relative(-amount, amount);
  const auto change = [&](double& value) {
    if (std::abs(value) != 1) value *= 1 + relative(random);
  };
  for (RandomVariable& variable : result.variables) change(variable.start);
  for (RandomEquation& equation : result.equations)
    for (Term& term : equation.right) change(term.c);
  for (RandomLaw& law : result.laws)
    for (Term& term : law.argument) change(term.c);
  for (RandomConstraint& constraint : result.constraints)
    for (RandomConstraint::Face& face : constraint.faces)
      for (Term& term : face.w) change(term.c);
  return result;
}

}  // namespace perp::relations
