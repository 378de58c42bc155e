#include <memory>
#include <optional>

#include <perp/schemes/lanes/affine/affine_pool.hpp>
#include <perp/schemes/lanes/ensemble.hpp>
#include <perp/schemes/lanes/lane_pool.hpp>
#include <perp/schemes/run/system_runs.hpp>
#include <perp/schemes/system_parts.hpp>
#include <perp/schemes/system_schemes.hpp>

namespace perp {
namespace {

/// A run that can be interrupted between two steps; none: it is several.
struct Begun {
  bool is_affine = false;
  CapturingFacts facts{};
  std::unique_ptr<StepwiseRun> run{};
};

/// The entries of an affine system.
std::optional<SparseLcs> entries_of(const System& system) {
  const Lcs* const matrices = system.affine();
  return matrices != nullptr ? sparse(*matrices) : as_sparse_lcs(system.functions());
}

/// Nothing where parts of it are runs of their own.
template <class Entries>
void begin(const Entries& system, const EnsembleRun& run, Begun& begun) {
  if (run.x0.size() != system.n() || independent_parts(system).size() > 1) return;
  begun.run = capturing_run(system, run.x0, run.span, as_theta(run.scheme), *run.options, begun.facts);
  begun.run->start();
}

Trajectory result_of(const EnsembleRun& run, Begun& begun) {
  if (begun.run == nullptr) return integrate(run.system, run.x0, run.span, run.scheme, *run.options);
  Trajectory result = begun.run->take();
  (begun.is_affine ? tell_affine : tell_capturing)(as_theta(run.scheme), begun.facts, result);
  return result;
}

}  // namespace

std::vector<Trajectory> integrate(std::span<const EnsembleRun> runs) {
  std::vector<std::unique_ptr<Begun>> all;
  std::vector<StepwiseRun*> affine, others;
  for (const EnsembleRun& run : runs) {
    Begun& begun = *all.emplace_back(std::make_unique<Begun>());
    const std::optional<SparseLcs> entries = entries_of(run.system);
    begun.is_affine = entries.has_value();
    entries ? begin(*entries, run, begun) : begin(run.system.functions(), run, begun);
    if (begun.run != nullptr) (begun.is_affine ? affine : others).push_back(begun.run.get());
  }
  eight::LanePool(others).finish();
  eight::AffinePool(affine).finish();
  std::vector<Trajectory> results;
  results.reserve(runs.size());
  for (std::size_t k = 0; k < runs.size(); ++k) {
    results.push_back(result_of(runs[k], *all[k]));
    all[k] = nullptr;
  }
  return results;
}

}  // namespace perp
