#include <algorithm>
#include <cmath>
#include <ctime>

#include <perp/analysis/run/constraint_check.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/models/language/hybrid/constraint_system.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/relations/outcome.hpp>

namespace perp::relations {
namespace {

Vector nominal_of(const Model& model) {
  Vector nominal(static_cast<Eigen::Index>(model.variables.size()));
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    nominal[static_cast<Eigen::Index>(j)] = std::abs(model.variables[j].nominal);
  return nominal;
}

/// The laws that events and rows of a run name.
std::vector<Law> laws_of(const Model& model) {
  return model.hybrid == nullptr ? model.laws() : constraint_system(*model.hybrid).laws;
}

/// A run whose modes are chosen by the rule nearest_mode.
Trajectory run_modes(Model model, SchemeName scheme, double tol, const IntegrateOptions& options) {
  model.run.scheme = to_string(scheme);
  model.run.tol = tol;
  return run_hybrid(model, options);
}

Trajectory run_backward_euler(const Model& model, const IntegrateOptions& options) {
  const BackwardEuler scheme{.h = model.run.h,
                             .selector = selector_from(model.run.selector),
                             .tol = model.run.tol,
                             .solver = model.run.solver,
                             .split_at_events = model.run.split_at_events};
  return integrate(model.system, model.x0(), model.run.span, scheme, options);
}

Trajectory run_located(const Model& model, double tol, const IntegrateOptions& options) {
  Located scheme{.tol = tol, .output_step = model.run.h, .restitution = model.restitution};
  scheme.scale = nominal_of(model);
  const Dcs system = model.equations ? *model.equations : as_dcs(model.lcs());
  return integrate(system, model.x0(), model.run.span, scheme, options);
}

/// What the rows of an affine system say of the states of its steps.
std::string fault_of(Model model, SchemeName scheme, const Trajectory& run) {
  if (model.hybrid != nullptr || scheme == SchemeName::located || !is_affine(model)) return {};
  model.run.scheme = to_string(scheme);
  ConstraintCheck check(model, static_cast<double>(run.size()));
  for (std::size_t k = 0; k < run.size(); ++k)
    if (!check.add({run.t[k], run.x[k], run.lambda[k], run.w[k], run.mode[k]})) return check.fault();
  return {};
}

}  // namespace

const char* to_string(SchemeName scheme) {
  return scheme == SchemeName::located ? "located" : "backward_euler";
}

bool was_chosen(const Event& event) {
  const auto says = [&](const char* words) { return event.note.find(words) != std::string::npos; };
  return says("first declared") || (event.continuations > 1 && !says("fewest changes"));
}

bool Outcome::has_choice() const {
  for (const char* count : {"several_solutions", "ties", "captured_several_solutions"})
    if (run.counts.contains(count)) return true;
  return std::any_of(run.events.begin(), run.events.end(), was_chosen);
}

Vector Outcome::at(double t) const {
  const double near = 1e-12 * (span.end - span.start);
  for (std::size_t k = run.size(); k-- > 0;)
    if (std::abs(run.t[k] - t) <= near) return run.x[k];
  return {};
}

Outcome run(const Model& model, SchemeName scheme, const RunSettings& settings) {
  Outcome outcome;
  outcome.scheme = scheme;
  outcome.nominal = nominal_of(model);
  outcome.laws = laws_of(model);
  Model settled = model;
  settled.run.h *= settings.step_factor;
  outcome.span = settled.run.span;
  outcome.h = settled.run.h;
  IntegrateOptions options;
  const std::clock_t start = std::clock();
  long rows = 0;
  options.observer = [&](const Step& /*step*/) {
    const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    outcome.is_slow = ++rows > settings.rows || spent > settings.seconds;
    return !outcome.is_slow;
  };
  try {
    outcome.run = settled.hybrid != nullptr       ? run_modes(settled, scheme, settings.tol, options)
                  : scheme == SchemeName::located ? run_located(settled, settings.tol, options)
                                                : run_backward_euler(settled, options);
    outcome.fault = fault_of(settled, scheme, outcome.run);
  } catch (const std::exception& error) {
    outcome.refusal = error.what();
  }
  return outcome;
}

Model read_random_model(const std::string& text) {
  ReadOptions known;
  known.hybrid = true;
  return read_model_text(text, "random.toml", {}, known);
}

Outcome run(const std::string& text, SchemeName scheme, const RunSettings& settings) {
  try {
    return run(read_random_model(text), scheme, settings);
  } catch (const InvalidInput& error) {
    Outcome outcome;
    outcome.refusal = error.what();
    return outcome;
  }
}

}  // namespace perp::relations
