#include <algorithm>
#include <cmath>
#include <vector>

#include <perp/tests/relations/models/transform.hpp>
#include <perp/tests/relations/shrink.hpp>

namespace perp::relations {
namespace {

bool holds(const Term& term, Factor::Kind kind, int index) {
  return std::any_of(term.factors.begin(), term.factors.end(), [&](const Factor& factor) {
    return factor.kind == kind && factor.index == index;
  });
}

/// Terms with this unknown go, higher ones move down by one.
void remove_unknown(RandomModel& model, Factor::Kind kind, int index) {
  for_each_sum(model, [&](Sum& sum) {
    std::erase_if(sum, [&](const Term& term) { return holds(term, kind, index); });
    for (Term& term : sum)
      for (Factor& factor : term.factors)
        if (factor.kind == kind && factor.index > index) --factor.index;
  });
}

RandomModel without_law(RandomModel model, int law) {
  model.laws.erase(model.laws.begin() + law);
  remove_unknown(model, Factor::Kind::law, law);
  for (RandomConstraint& constraint : model.constraints) {
    std::erase_if(constraint.faces, [&](const RandomConstraint::Face& face) {
      return std::ranges::any_of(face.when, [&](const Literal& l) { return l.law == law || l.beside == law; });
    });
    for (RandomConstraint::Face& face : constraint.faces)
      for (Literal& literal : face.when) {
        if (literal.law > law) --literal.law;
        if (literal.beside > law) --literal.beside;
      }
  }
  std::erase_if(model.constraints, [](const RandomConstraint& c) { return c.faces.empty(); });
  return model;
}

/// Without variable j and equation k.
RandomModel without_variable(RandomModel model, int j, int k) {
  model.variables.erase(model.variables.begin() + j);
  model.equations.erase(model.equations.begin() + k);
  remove_unknown(model, Factor::Kind::variable, j);
  for (RandomEquation& equation : model.equations) {
    if (equation.derivative == j) equation.derivative = -1;
    if (equation.derivative > j) --equation.derivative;
  }
  std::erase_if(model.resets, [&](const RandomReset& reset) {
    return std::find(reset.variables.begin(), reset.variables.end(), j) != reset.variables.end();
  });
  for (RandomReset& reset : model.resets)
    for (int& target : reset.variables)
      if (target > j) --target;
  return model;
}

/// Every sum without one of its terms.
void without_terms(const RandomModel& model, std::vector<RandomModel>& list) {
  int count = 0;
  RandomModel counted = model;
  for_each_sum(counted, [&](Sum& sum) { count += static_cast<int>(sum.size()); });
  for (int removed = 0; removed < count; ++removed) {
    RandomModel smaller = model;
    int place = 0;
    for_each_sum(smaller, [&](Sum& sum) {
      const int inside = removed - place;
      place += static_cast<int>(sum.size());
      if (inside >= 0 && removed < place) sum.erase(sum.begin() + inside);
    });
    list.push_back(smaller);
  }
}

double rounded(double value) {
  const double digits = std::pow(10.0, std::floor(std::log10(std::abs(value))));
  return value == 0 ? 0 : std::round(value / digits) * digits;
}

/// Every coefficient and start to one digit, one at a time.
void with_round_numbers(const RandomModel& model, std::vector<RandomModel>& list) {
  const auto add = [&](const auto& choose) {
    RandomModel smaller = model;
    double* value = choose(smaller);
    const double before = *value;
    *value = rounded(before);
    if (*value != before) list.push_back(smaller);
  };
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    add([&](RandomModel& m) { return &m.variables[j].start; });
  for (std::size_t k = 0; k < model.equations.size(); ++k)
    for (std::size_t i = 0; i < model.equations[k].right.size(); ++i)
      add([&](RandomModel& m) { return &m.equations[k].right[i].c; });
  for (std::size_t k = 0; k < model.laws.size(); ++k)
    for (std::size_t i = 0; i < model.laws[k].argument.size(); ++i)
      add([&](RandomModel& m) { return &m.laws[k].argument[i].c; });
  add([&](RandomModel& m) { return &m.end; });
}

std::vector<RandomModel> smaller_models(const RandomModel& model) {
  std::vector<RandomModel> list;
  for (int i = 0; i < static_cast<int>(model.laws.size()); ++i) list.push_back(without_law(model, i));
  for (int j = 0; j < static_cast<int>(model.variables.size()); ++j)
    for (int k = 0; k < static_cast<int>(model.equations.size()); ++k)
      if (model.variables.size() > 1) list.push_back(without_variable(model, j, k));
  for (std::size_t k = 0; k < model.resets.size(); ++k) {
    list.push_back(model);
    list.back().resets.erase(list.back().resets.begin() + static_cast<int>(k));
  }
  for (std::size_t l = 0; l < model.constraints.size(); ++l) {
    list.push_back(model);
    list.back().constraints.erase(list.back().constraints.begin() + static_cast<int>(l));
  }
  without_terms(model, list);
  return list;
}

}  // namespace

RandomModel shrunk(const RandomModel& model, const std::function<bool(const RandomModel&)>& fails,
                   int tries) {
  RandomModel best = model;
  for (bool goes_on = true; goes_on && tries > 0;) {
    goes_on = false;
    std::vector<RandomModel> list = smaller_models(best);
    with_round_numbers(best, list);
    for (const RandomModel& candidate : list) {
      if (--tries < 0) break;
      if (!fails(candidate)) continue;
      best = candidate;
      goes_on = true;
      break;
    }
  }
  return best;
}

}  // namespace perp::relations
