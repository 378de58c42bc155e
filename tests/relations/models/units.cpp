#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/tests/relations/models/transform.hpp>

namespace perp::relations {
namespace {

template <class Draw>
Units drawn(const RandomModel& model, const Draw& draw) {
  Units units;
  for (std::size_t j = 0; j < model.variables.size(); ++j) units.variables.push_back(draw());
  for (std::size_t j = 0; j < model.equations.size(); ++j) units.equations.push_back(draw());
  for (std::size_t i = 0; i < model.laws.size(); ++i) {
    units.arguments.push_back(std::abs(draw()));
    units.multipliers.push_back(std::abs(draw()));
  }
  units.time = std::abs(draw());
  for (std::size_t l = 0; l < model.constraints.size(); ++l) units.constraints.push_back(std::abs(draw()));
  for (std::size_t k = 0; k < model.inputs.size(); ++k) units.inputs.push_back(draw());
  return units;
}

/// λ follows w where the graph is sloped, and is fixed where its values are.
void settle_multipliers(const RandomModel& model, Units& units) {
  for (std::size_t i = 0; i < model.laws.size(); ++i) {
    switch (model.laws[i].kind) {
      case LawKind::sign:
      case LawKind::step:
      case LawKind::hysteresis:
      case LawKind::binary: units.multipliers[i] = 1; break;
      case LawKind::positive_part:
      case LawKind::absolute:
      case LawKind::saturation:
      case LawKind::dead_zone: units.multipliers[i] = 1 / units.arguments[i]; break;
      case LawKind::relay:
      case LawKind::complementarity: break;
    }
  }
}

/// u = s U in every factor: a plain one moves s into the coefficient.
void rescale(Sum& sum, const Units& units, double row) {
  for (Term& term : sum) {
    term.c *= row;
    for (Factor& factor : term.factors) {
      double s = units.time;
      if (factor.kind == Factor::Kind::variable) s = units.variables[at(factor.index)];
      if (factor.kind == Factor::Kind::law) s = units.multipliers[at(factor.index)];
      if (factor.kind == Factor::Kind::input) s = units.inputs[at(factor.index)];
      if (factor.function == Function::none && factor.offset == 0)
        term.c *= s;
      else
        factor.scale *= s;
    }
  }
}

void rescale_laws(RandomModel& model, const Units& units) {
  for (std::size_t i = 0; i < model.laws.size(); ++i) {
    RandomLaw& law = model.laws[i];
    rescale(law.argument, units, units.arguments[i]);
    // Bounds of w, those of λ where the graph is not sloped.
    double bounds = units.arguments[i];
    if (law.kind == LawKind::relay) bounds = 1 / units.multipliers[i];
    law.lower *= bounds;
    law.upper *= bounds;
  }
}

}  // namespace

Units binary_units(const RandomModel& model, std::mt19937& random, int k) {
  std::uniform_int_distribution<int> exponent(-k, k);
  return drawn(model, [&] { return std::ldexp(1.0, exponent(random)); });
}

Units decimal_units(const RandomModel& model, std::mt19937& random, double k) {
  std::uniform_real_distribution<double> exponent(-k, k);
  return drawn(model, [&] { return std::pow(10.0, exponent(random)); });
}

RandomModel in_units(const RandomModel& model, Units& units) {
  settle_multipliers(model, units);
  RandomModel result = model;
  for (std::size_t j = 0; j < result.variables.size(); ++j) {
    result.variables[j].start /= units.variables[j];
    result.variables[j].nominal /= std::abs(units.variables[j]);
  }
  for (std::size_t k = 0; k < result.equations.size(); ++k) {
    RandomEquation& equation = result.equations[k];
    rescale(equation.right, units, units.equations[k]);
    // factor · r · s_j / s_t · dX_j/dT
    if (equation.derivative >= 0)
      equation.factor *=
          units.equations[k] * units.variables[at(equation.derivative)] / units.time;
  }
  rescale_laws(result, units);
  for (std::size_t l = 0; l < result.constraints.size(); ++l) {
    result.constraints[l].factor *= units.constraints[l];
    for (RandomConstraint::Face& face : result.constraints[l].faces) rescale(face.w, units, 1);
  }
  for (std::size_t k = 0; k < result.inputs.size(); ++k) rescale(result.inputs[k].value, units, 1 / units.inputs[k]);
  for (RandomReset& reset : result.resets) {
    rescale(reset.condition, units, 1);
    for (std::size_t v = 0; v < reset.variables.size(); ++v)
      rescale(reset.values[v], units, 1 / units.variables[at(reset.variables[v])]);
  }
  for (double* moment : {&result.start, &result.end, &result.h}) *moment /= units.time;
  return result;
}

}  // namespace perp::relations
