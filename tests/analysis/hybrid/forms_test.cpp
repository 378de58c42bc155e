#include <doctest/doctest.h>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/hybrid/constraint_system.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/read_model.hpp>

// A model whose binaries are laws exactly, beside the same one with its constraints as they stand.
namespace {

using perp::Model;
using perp::Trajectory;

struct Forms {
  Model laws, constraints;
};

/// None where no laws stand for the binaries of a model of the zoo.
std::unique_ptr<Forms> forms_of(const std::string& name) {
  perp::KnownNames known;
  known.hybrid = true;
  const std::string file = perp::find_model(name);
  const std::vector<perp::Override> set{{"run.scheme", "located"}, {"run.tol", "1e-12"}};
  auto forms = std::make_unique<Forms>();
  forms->laws = perp::read_model(file, set, known);
  if (forms->laws.hybrid || forms->laws.binaries.empty()) return nullptr;
  const perp::HybridModel hybrid = *perp::read_model_file(file, known).read_hybrid(set);
  forms->constraints = forms->laws;
  const perp::Dcs system = constraint_system(hybrid);
  Model& model = forms->constraints;
  model.hybrid = std::make_shared<const perp::HybridModel>(hybrid);
  model.system = system;
  model.equations = system;
  model.multipliers.resize(static_cast<std::size_t>(system.m()));
  model.arguments.assign(static_cast<std::size_t>(system.m()), "");
  model.outputs = {{}, system.tape, {}, system.m(), system.parameters};
  return forms;
}

Trajectory run(const Model& model) {
  perp::IntegrateOptions options;
  for (int k = 1; k < 10; ++k)
    options.times.push_back(model.run.span.start +
                            k * (model.run.span.end - model.run.span.start) / 10.3);
  return perp::scheme(model.run.scheme).run(model, options);
}

/// The last state at or before t.
std::size_t at_time(const Trajectory& trajectory, double t) {
  std::size_t k = 0;
  while (k + 1 < trajectory.size() && trajectory.t[k + 1] <= t) ++k;
  return k;
}

TEST_CASE("binaries as laws and as constraints are the same trajectory, on every model of the zoo") {
  int compared = 0;
  for (const std::string& name : perp::zoo()) {
    const auto forms = forms_of(name);
    if (!forms) continue;
    CAPTURE(name);
    ++compared;
    const Trajectory laws = run(forms->laws), constraints = run(forms->constraints);
    CHECK(laws.status == constraints.status);
    const perp::Span span = forms->laws.run.span;
    for (int k = 1; k < 10; ++k) {
      const double t = span.start + k * (span.end - span.start) / 10.3;
      if (t > laws.t.back() || t > constraints.t.back()) break;
      const perp::Vector a = laws.x[at_time(laws, t)], b = constraints.x[at_time(constraints, t)];
      CHECK((a - b).cwiseAbs().maxCoeff() <= 1e-9 * (1 + a.cwiseAbs().maxCoeff()));
    }
  }
  CHECK(compared >= 4);
}

}  // namespace
