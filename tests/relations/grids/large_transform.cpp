#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/tests/relations/grids/large_model.hpp>

namespace perp::relations {

LargeModel in_units(const LargeModel& model, const LargeUnits& units) {
  LargeModel result = model;
  for (std::size_t j = 0; j < model.start.size(); ++j) {
    result.start[j] /= units.variables[j];
    result.b[j] *= units.equations[j];
    result.s[j] *= units.equations[j];
  }
  const auto by = [&](const LargeModel::Entry& entry) { return units.equations[at(entry.row)] * units.variables[at(entry.column)]; };
  for (LargeModel::Entry& entry : result.E) entry.value *= by(entry) / units.time;
  for (LargeModel::Entry& entry : result.A) entry.value *= by(entry);
  for (std::size_t i = 0; i < model.laws.size(); ++i) {
    LargeModel::Law& law = result.laws[i];
    law.B *= units.equations[at(law.row)] * units.multipliers[i];
    law.c *= units.arguments[i] * units.variables[at(law.column)];
    law.q *= units.arguments[i];
    law.p *= units.arguments[i];
    law.force /= units.multipliers[i];
  }
  result.omega *= units.time;
  result.h /= units.time;
  return result;
}

LargeModel permuted(const LargeModel& model, const std::vector<int>& variables, const std::vector<int>& equations,
                    const std::vector<int>& laws) {
  LargeModel result = model;
  for (std::size_t j = 0; j < model.start.size(); ++j) result.start[at(variables[j])] = model.start[j];
  for (std::size_t i = 0; i < model.b.size(); ++i) {
    result.b[at(equations[i])] = model.b[i];
    result.s[at(equations[i])] = model.s[i];
  }
  for (std::vector<LargeModel::Entry>* list : {&result.E, &result.A})
    for (LargeModel::Entry& entry : *list) entry = {equations[at(entry.row)], variables[at(entry.column)], entry.value};
  for (std::size_t i = 0; i < model.laws.size(); ++i) {
    LargeModel::Law law = model.laws[i];
    law.row = equations[at(law.row)];
    law.column = variables[at(law.column)];
    result.laws[at(laws[i])] = law;
  }
  return result;
}

LargeModel joined(const LargeModel& first, const LargeModel& second) {
  LargeModel result = first;
  const int n = first.n();
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(result.start, second.start);
  append(result.b, second.b);
  append(result.s, second.s);
  for (const LargeModel::Entry& entry : second.E) result.E.push_back({n + entry.row, n + entry.column, entry.value});
  for (const LargeModel::Entry& entry : second.A) result.A.push_back({n + entry.row, n + entry.column, entry.value});
  for (LargeModel::Law law : second.laws) {
    law.row += n;
    law.column += n;
    result.laws.push_back(law);
  }
  return result;
}

LargeModel perturbed(const LargeModel& model, std::mt19937& random, double amount) {
  std::uniform_real_distribution<double> relative(1 - amount, 1 + amount);
  LargeModel result = model;
  for (std::vector<double>* list : {&result.start, &result.b, &result.s})
    for (double& value : *list) value *= relative(random);
  for (LargeModel::Law& law : result.laws) {
    law.q *= relative(random);
    law.force *= relative(random);
  }
  return result;
}

}  // namespace perp::relations
