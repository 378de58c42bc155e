#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/dcs.hpp>
#include <perp/tests/relations/models/model_transform.hpp>

namespace perp::relations {
namespace {

Dcs dcs_of(const Model& model) {
  return model.equations ? *model.equations : as_dcs(model.lcs());
}

/// Copies lines of one tape to another one on which inputs have their own lines.
class Copy {
 public:
  Copy(const Tape& from, Tape& to, std::vector<int> inputs)
      : from_(from), to_(to), inputs_(std::move(inputs)), copied_(at(from.size()), -1) {}

  int operator()(int line) {
    int& known = copied_[at(line)];
    if (known >= 0) return known;
    const Instruction& what = from_[line];
    if (what.operation == Operation::constant) return known = to_.constant(what.value);
    if (what.operation == Operation::input) return known = inputs_[at(what.a)];
    const int a = what.a < 0 ? -1 : (*this)(what.a);
    const int b = what.b < 0 ? -1 : (*this)(what.b);
    return copied_[at(line)] = to_.apply(what.operation, a, b);
  }

 private:
  const Tape& from_;
  Tape& to_;
  std::vector<int> inputs_, copied_;
};

int scaled(Tape& tape, int line, double factor) {
  return factor == 1 ? line : tape.apply(Operation::multiply, tape.constant(factor), line);
}

/// W = k w, λ = l Λ:  a w + b λ = c  is  (a/k) W + (b l) Λ = c.
Law in_units(Law law, double k, double l) {
  law.branches.change([&](std::vector<Branch>& branches) {
    for (Branch& branch : branches) {
      branch.a /= k;
      branch.b *= l;
      branch.w = {branch.w.lower * k, branch.w.upper * k};
      branch.lambda = {branch.lambda.lower / l, branch.lambda.upper / l};
    }
  });
  return law;
}

/// The model with another system; what only holds for the old one goes.
Model with_system(Model model, const Dcs& system) {
  model.equations = system;
  if (auto lcs = as_lcs(system))
    model.system = *lcs;
  else
    model.system = system;
  model.outputs = {};
  model.exact.clear();
  return model;
}

/// Where inputs of a system stand on the tape of a joined one: variables, laws and parameters of the
/// other part come before them.
std::vector<int> inputs_in(const Dcs& part, Dcs& whole, int n, int m, int variable, int law,
                           int parameter) {
  std::vector<int> inputs;
  inputs.push_back(whole.tape.input(0));
  for (int j = 0; j < part.n(); ++j) inputs.push_back(whole.tape.input(1 + variable + j));
  for (int j = 0; j < part.n(); ++j) inputs.push_back(whole.tape.input(1 + n + variable + j));
  for (int i = 0; i < part.m(); ++i) inputs.push_back(whole.tape.input(1 + 2 * n + law + i));
  for (std::size_t k = 0; k < part.parameters.size(); ++k)
    inputs.push_back(whole.tape.input(1 + 2 * n + m + parameter + static_cast<int>(k)));
  return inputs;
}

void append(const Dcs& part, Dcs& whole, std::vector<int> inputs, int variable) {
  Copy copy(part.tape, whole.tape, std::move(inputs));
  for (const int line : part.F) whole.F.push_back(copy(line));
  for (const int line : part.G) whole.G.push_back(copy(line));
  for (Reset reset : part.resets) {
    reset.condition = copy(reset.condition);
    for (int& line : reset.values) line = copy(line);
    for (int& target : reset.variables) target += variable;
    whole.resets.push_back(reset);
  }
  for (const Law& law : part.laws) whole.laws.push_back(law);
  whole.parameters.insert(whole.parameters.end(), part.parameters.begin(), part.parameters.end());
}

}  // namespace

SystemUnits units_in_powers(const Model& model, std::mt19937& random, double base, int k) {
  std::uniform_int_distribution<int> exponent(-k, k);
  const auto draw = [&](std::size_t size) {
    std::vector<double> factors(size);
    for (double& factor : factors) factor = std::pow(base, exponent(random));
    return factors;
  };
  const std::size_t n = model.variables.size(), m = model.laws().size();
  return {draw(n), draw(n), draw(m), draw(m), std::pow(base, exponent(random))};
}

Model in_units(const Model& model, const SystemUnits& units) {
  const Dcs old = dcs_of(model);
  const int n = old.n(), m = old.m();
  Dcs system;
  Tape& tape = system.tape;
  std::vector<int> inputs{scaled(tape, tape.input(0), units.time)};
  for (int j = 0; j < n; ++j)
    inputs.push_back(scaled(tape, tape.input(1 + j), units.variables[at(j)] / units.time));
  for (int j = 0; j < n; ++j)
    inputs.push_back(scaled(tape, tape.input(1 + n + j), units.variables[at(j)]));
  for (int i = 0; i < m; ++i)
    inputs.push_back(scaled(tape, tape.input(1 + 2 * n + i), units.multipliers[at(i)]));
  for (std::size_t k = 0; k < old.parameters.size(); ++k)
    inputs.push_back(tape.input(1 + 2 * n + m + static_cast<int>(k)));
  append(old, system, inputs, 0);
  for (int i = 0; i < n; ++i)
    system.F[at(i)] = scaled(tape, system.F[at(i)], units.equations[at(i)]);
  for (int i = 0; i < m; ++i) {
    system.G[at(i)] = scaled(tape, system.G[at(i)], units.arguments[at(i)]);
    system.laws.changed(at(i)) =
        in_units(system.laws[at(i)], units.arguments[at(i)], units.multipliers[at(i)]);
  }
  for (Reset& reset : system.resets)
    for (std::size_t v = 0; v < reset.values.size(); ++v)
      reset.values[v] = scaled(tape, reset.values[v], 1 / units.variables[at(reset.variables[v])]);

  Model result = with_system(model, system);
  for (std::size_t j = 0; j < result.variables.size(); ++j) {
    result.variables[j].start /= units.variables[j];
    result.variables[j].nominal /= units.variables[j];
    Range& bounds = result.variables[j].bounds;
    bounds = {bounds.lower / units.variables[j], bounds.upper / units.variables[j]};
  }
  for (double* moment : {&result.run.span.start, &result.run.span.end, &result.run.h})
    *moment /= units.time;
  return result;
}

Model permuted(const Model& model, const std::vector<int>& variables,
               const std::vector<int>& equations, const std::vector<int>& laws) {
  const Dcs old = dcs_of(model);
  const int n = old.n(), m = old.m();
  Dcs system;
  std::vector<int> inputs{system.tape.input(0)};
  for (int j = 0; j < n; ++j) inputs.push_back(system.tape.input(1 + variables[at(j)]));
  for (int j = 0; j < n; ++j) inputs.push_back(system.tape.input(1 + n + variables[at(j)]));
  for (int i = 0; i < m; ++i) inputs.push_back(system.tape.input(1 + 2 * n + laws[at(i)]));
  for (std::size_t k = 0; k < old.parameters.size(); ++k)
    inputs.push_back(system.tape.input(1 + 2 * n + m + static_cast<int>(k)));
  append(old, system, inputs, 0);

  const Dcs placed = system;
  for (int j = 0; j < n; ++j) system.F[at(equations[at(j)])] = placed.F[at(j)];
  for (int i = 0; i < m; ++i) {
    system.G[at(laws[at(i)])] = placed.G[at(i)];
    system.laws.changed(at(laws[at(i)])) = placed.laws[at(i)];
  }
  for (Reset& reset : system.resets)
    for (int& target : reset.variables) target = variables[at(target)];

  Model result = with_system(model, system);
  for (int j = 0; j < n; ++j) result.variables[at(variables[at(j)])] = model.variables[at(j)];
  if (!model.restitution.empty())
    for (int i = 0; i < m; ++i) result.restitution[at(laws[at(i)])] = model.restitution[at(i)];
  return result;
}

Model joined(const Model& first, const Model& second) {
  const Dcs a = dcs_of(first), b = dcs_of(second);
  const int n = a.n() + b.n(), m = a.m() + b.m();
  Dcs system;
  append(a, system, inputs_in(a, system, n, m, 0, 0, 0), 0);
  append(b, system,
         inputs_in(b, system, n, m, a.n(), a.m(), static_cast<int>(a.parameters.size())), a.n());
  Model result = first;
  result.variables.insert(result.variables.end(), second.variables.begin(),
                          second.variables.end());
  if (!first.restitution.empty() || !second.restitution.empty()) {
    result.restitution.resize(at(a.m()), 0);
    std::vector<double> rest = second.restitution;
    rest.resize(at(b.m()), 0);
    result.restitution.insert(result.restitution.end(), rest.begin(), rest.end());
  }
  return with_system(result, system);
}

}  // namespace perp::relations
