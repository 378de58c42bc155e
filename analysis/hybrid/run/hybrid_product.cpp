// Runs of hybrid models side by side that share nothing but time.
#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <utility>

#include <perp/analysis/hybrid/run/change_notes.hpp>
#include <perp/analysis/hybrid/run/hybrid_product.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/models/language/hybrid/lower_binaries.hpp>
#include <perp/schemes/run/run_end.hpp>
#include <perp/schemes/run/run_product.hpp>
#include <perp/schemes/run/system_runs.hpp>

namespace perp {
namespace {

/// Nodes that give a polynomial of a step: those of the highest order.
constexpr int most_nodes = ModeSeries::order + 1;

/// The run of a part, which is a model of its own.
class PartRun final : public StepwiseRun {
 public:
  PartRun(HybridPart part, const RunOptions& run, const HybridSchemes& schemes, const IntegrateOptions& output)
      : model_(part.model.head), run_(with(std::move(part), run), schemes, output) {}

  void start() override { run_.start(); }
  void advance() override { run_.advance(); }
  [[nodiscard]] const Trajectory& result() const override { return run_.result(); }
  [[nodiscard]] double t() const override { return run_.now().t; }
  [[nodiscard]] Step state() override { return run_.now(); }
  [[nodiscard]] std::string kept() override { return run_.kept(); }
  [[nodiscard]] Trajectory take() override { return run_.take(); }

 private:
  const Model& with(HybridPart part, const RunOptions& run) {
    model_.run = run;
    model_.hybrid = std::make_shared<const HybridModel>(std::move(part.model));
    return model_;
  }

  Model model_;
  HybridRun run_;
};

/// What the schemes have of single variables.
HybridSchemes schemes_of(const HybridPart& part, const HybridSchemes& schemes) {
  HybridSchemes own = schemes;
  own.located.names.clear();
  for (const Variable& variable : part.model.head.variables) own.located.names.push_back(variable.name);
  if (own.located.scale.size() == 0) return own;
  own.located.scale.setZero(part.model.n());
  for (std::size_t k = 0; k < part.variables.size(); ++k)
    own.located.scale[static_cast<Eigen::Index>(k)] = schemes.located.scale[part.variables[k]];
  return own;
}

/// The values of the binary that a law stands for, by its branches; of a constraint none.
std::vector<int> values_of(const Law& law) {
  std::vector<int> values;
  if (is_constraint(law)) return values;
  for (const Branch& branch : law.branches)
    values.push_back(is_vertical(branch) ? released_binary : static_cast<int>(branch.lambda.lower));
  return values;
}

/// Binaries, then constraints: all of them, or those without binaries, which stay beside laws.
RunProduct::Places places_of(const HybridPart& part, int binaries, const LoweredBinaries* lowered) {
  RunProduct::Places places{part.variables, part.binaries};
  if (lowered == nullptr) {
    for (const int l : part.constraints) places.laws.push_back(binaries + l);
    return places;
  }
  const HybridStructure structure = structure_of(part.model);
  for (std::size_t l = 0; l < part.constraints.size(); ++l) {
    const std::vector<int>& unknowns = structure.unknowns_of_row[part.model.f.size() + l];
    const bool is_of_binary = !unknowns.empty() && unknowns.back() >= part.model.n();
    if (!is_of_binary) places.laws.push_back(binaries + part.constraints[l]);
  }
  for (const Law& law : lowered->system.laws) places.branches.push_back(values_of(law));
  return places;
}

/// The run of a part by laws.
std::unique_ptr<StepwiseRun> run_by_laws(const HybridPart& part, const LoweredBinaries& lowered, const RunOptions& run,
                                         const HybridSchemes& schemes, const IntegrateOptions& output,
                                         CapturingFacts& facts) {
  const Vector x0 = part.model.head.x0();
  if (run.scheme == "located") return located_run(lowered.system, x0, run.span, schemes.located, output);
  return capturing_run(lowered.system, x0, run.span, schemes.steps, output, facts);
}

/// Events of the q binaries by one kind, those of laws too, and their count: parts may have gone further than all
/// together.
void tell_changes(int q, Trajectory& run) {
  for (Event& event : run.events)
    if (event.kind == EventKind::crossing && event.law >= 0 && event.law < q) event.kind = EventKind::mode_change;
  if (run.counts.contains("mode_changes"))
    run.counts["mode_changes"] = std::count_if(run.events.begin(), run.events.end(), is_change);
}

}  // namespace

Trajectory run_hybrid_product(const Model& model, const HybridSchemes& schemes, const IntegrateOptions& output,
                              const IndependentSets& sets) {
  const HybridModel& hybrid = *model.hybrid;
  const int q = hybrid.q(), m = q + static_cast<int>(hybrid.g.size());
  CapturingFacts facts;
  RunProduct product(output, hybrid.n(), m, model.run.span, model.run.scheme == "located" ? most_nodes : 2,
                     RunProduct::Clock::own);
  const std::vector<HybridPart> parts = independent_parts(hybrid, sets);
  for (const HybridPart& part : parts) {
    const std::optional<LoweredBinaries> laws = laws_alone(part, model.run.scheme);
    product.add(places_of(part, q, laws ? &*laws : nullptr),
                [&, laws](const IntegrateOptions& of_part, StateTrace*) -> std::unique_ptr<StepwiseRun> {
                  const HybridSchemes own = schemes_of(part, schemes);
                  if (laws) return run_by_laws(part, *laws, model.run, own, of_part, facts);
                  return std::make_unique<PartRun>(part, model.run, own, of_part);
                });
  }
  Trajectory result = product();
  if (!result.t.empty() && facts.first_order.since < result.t.back())
    result.message = tell_first_order(facts.first_order, schemes.steps.h, schemes.steps.selector, "", result.message,
                                      result);
  tell_changes(q, result);
  return result;
}

}  // namespace perp
