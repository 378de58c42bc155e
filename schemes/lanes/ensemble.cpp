#include <memory>
#include <optional>

#include <perp/schemes/lanes/ensemble.hpp>
#include <perp/schemes/lanes/lane_pool.hpp>
#include <perp/schemes/run/system_runs.hpp>
#include <perp/schemes/system_parts.hpp>

namespace perp {
namespace {

/// A run that can be interrupted between two steps; none: it is several, or one of matrices.
struct Begun {
  CapturingFacts facts{};
  std::unique_ptr<StepwiseRun> run{};
};

bool is_of_one_part(const EnsembleRun& run) {
  return !as_sparse_lcs(run.system) && run.x0.size() == run.system.n() && independent_parts(run.system).size() <= 1;
}

}  // namespace

std::vector<Trajectory> integrate(std::span<const EnsembleRun> runs) {
  std::vector<std::unique_ptr<Begun>> begun;
  std::vector<StepwiseRun*> beside;
  for (const EnsembleRun& run : runs) {
    begun.push_back(std::make_unique<Begun>());
    if (!is_of_one_part(run)) continue;
    Begun& here = *begun.back();
    here.run = capturing_run(run.system, run.x0, run.span, as_theta(run.scheme), *run.options, here.facts);
    here.run->start();
    beside.push_back(here.run.get());
  }
  eight::LanePool(beside).finish();
  std::vector<Trajectory> results;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const EnsembleRun& run = runs[k];
    if (begun[k]->run == nullptr) {
      results.push_back(integrate(run.system, run.x0, run.span, run.scheme, *run.options));
      continue;
    }
    results.push_back(begun[k]->run->take());
    tell_capturing(as_theta(run.scheme), begun[k]->facts, results.back());
  }
  return results;
}

}  // namespace perp
