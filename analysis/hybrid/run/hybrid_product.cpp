// Runs of hybrid models side by side that share nothing but time.
#include <algorithm>
#include <memory>
#include <utility>

#include <perp/analysis/hybrid/run/hybrid_product.hpp>
#include <perp/schemes/run/run_end.hpp>
#include <perp/schemes/run/run_product.hpp>

namespace perp {
namespace {

/// Nodes that give a polynomial of a step: those of the highest order.
constexpr int most_nodes = ModeSeries::order + 1;

/// The run of a part, which is a model of its own.
class PartRun final : public StepwiseRun {
 public:
  /// Since when it is of first order comes to `first_order`, unless another one was so before it.
  PartRun(HybridPart part, const RunOptions& run, const HybridSchemes& schemes, const IntegrateOptions& output,
          FirstOrder& first_order)
      : model_(part.model.head), run_(with(std::move(part), run), schemes, output), first_order_(first_order) {}

  void start() override { run_.start(); }
  void advance() override {
    run_.advance();
    keep_earlier(run_.first_order(), first_order_);
  }
  [[nodiscard]] const Trajectory& result() const override { return run_.result(); }
  [[nodiscard]] double t() const override { return run_.now().t; }
  [[nodiscard]] Step state() override { return run_.now(); }
  [[nodiscard]] Trajectory take() override { return run_.take(); }

 private:
  const Model& with(HybridPart part, const RunOptions& run) {
    model_.run = run;
    model_.hybrid = std::make_shared<const HybridModel>(std::move(part.model));
    return model_;
  }

  Model model_;
  HybridRun run_;
  FirstOrder& first_order_;
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

/// Binaries, then constraints.
std::vector<int> laws_of(const HybridPart& part, int binaries) {
  std::vector<int> laws = part.binaries;
  for (const int l : part.constraints) laws.push_back(binaries + l);
  return laws;
}

}  // namespace

Trajectory run_hybrid_product(const Model& model, const HybridSchemes& schemes, const IntegrateOptions& output,
                              const IndependentSets& sets) {
  const HybridModel& hybrid = *model.hybrid;
  const int q = hybrid.q(), m = q + static_cast<int>(hybrid.g.size());
  RunProduct product(output, hybrid.n(), m, model.run.span, model.run.scheme == "located" ? most_nodes : 2,
                     RunProduct::Clock::own);
  const std::vector<HybridPart> parts = independent_parts(hybrid, sets);
  FirstOrder first_order;
  for (const HybridPart& part : parts)
    product.add({part.variables, laws_of(part, q)}, [&](const IntegrateOptions& of_part, StateTrace*) {
      return std::make_unique<PartRun>(part, model.run, schemes_of(part, schemes), of_part, first_order);
    });
  Trajectory result = product();
  if (!result.t.empty() && first_order.since < result.t.back())  // a part may have gone further than all together
    result.message = tell_first_order(first_order, model.run.h, "nearest_mode", "", result.message, result);
  const auto is_change = [](const Event& event) {
    return event.law >= 0 && (event.kind == EventKind::mode_change || event.kind == EventKind::sliding_entry ||
                              event.kind == EventKind::sliding_exit);
  };
  if (result.counts.contains("mode_changes"))  // parts may have gone further than all together
    result.counts["mode_changes"] = std::count_if(result.events.begin(), result.events.end(), is_change);
  return result;
}

}  // namespace perp
