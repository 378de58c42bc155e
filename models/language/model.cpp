#include <perp/core/base/error.hpp>
#include <perp/models/language/exact_numbers.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

Vector Model::x0() const {
  Vector x(static_cast<Eigen::Index>(variables.size()));
  for (std::size_t i = 0; i < variables.size(); ++i)
    x[static_cast<Eigen::Index>(i)] = variables[i].start;
  return x;
}

const Laws& Model::laws() const { return system.laws(); }

std::vector<int> Model::differential_variables() const { return system.differential(); }

std::vector<std::string> Model::input_names() const {
  std::vector<std::string> names{"t"};
  for (const Variable& variable : variables) names.push_back("der(" + variable.name + ")");
  for (const Variable& variable : variables) names.push_back(variable.name);
  for (std::size_t i = 0; i < laws().size(); ++i) {
    const bool is_named = i < multipliers.size() && !multipliers[i].empty();
    names.push_back(is_named ? multipliers[i] : "[" + laws()[i].name + "]");
  }
  if (exact_numbers)
    names.insert(names.end(), exact_numbers->names.begin(), exact_numbers->names.end());
  else
    for (const auto& parameter : parameters) names.push_back(parameter.first);
  return names;
}

const Lcs& Model::lcs() const {
  if (const Lcs* matrices = system.affine()) return *matrices;
  throw InvalidInput("model '" + name + "' is not affine; expected a model with constant matrices");
}

std::vector<VariableBounds> Model::bounds() const {
  std::vector<VariableBounds> list;
  for (std::size_t j = 0; j < variables.size(); ++j)
    if (variables[j].bounds != Range{})
      list.push_back({static_cast<int>(j), variables[j].bounds, variables[j].name,
                      variables[j].ends_at_bounds});
  return list;
}

Lcs& Model::lcs() { return const_cast<Lcs&>(std::as_const(*this).lcs()); }

Vector Outputs::at(double t, const Vector& x, const Vector& lambda) const {
  std::vector<double> inputs{t};
  const Vector xdot = derivative ? derivative(t, x, lambda) : Vector::Constant(x.size(), nan);
  inputs.insert(inputs.end(), xdot.begin(), xdot.end());
  inputs.insert(inputs.end(), x.begin(), x.end());
  inputs.insert(inputs.end(), lambda.begin(), lambda.end());
  inputs.resize(1 + 2 * static_cast<std::size_t>(x.size()) + static_cast<std::size_t>(multipliers),
                nan);
  inputs.insert(inputs.end(), parameters.begin(), parameters.end());
  std::vector<double> all(static_cast<std::size_t>(tape.size()));
  tape.evaluate(std::span<const double>(inputs), std::span<double>(all));
  Vector values(static_cast<Eigen::Index>(lines.size()));
  for (std::size_t k = 0; k < lines.size(); ++k)
    values[static_cast<Eigen::Index>(k)] = all[static_cast<std::size_t>(lines[k])];
  return values;
}

Vector Model::exact_at(double t) const {
  for (std::size_t k = exact.size(); k-- > 0;) {
    if (t < exact[k].span.start || t > exact[k].span.end) continue;
    Vector x = Vector::Constant(static_cast<Eigen::Index>(variables.size()), nan);
    exact[k].x(t, x);
    return x;
  }
  return {};
}

}  // namespace perp
