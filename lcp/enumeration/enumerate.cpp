#include <fmt/format.h>
#include <string>

#include <perp/lcp/enumeration/triangular_search.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>
#include <perp/lcp/parametric/certificate.hpp>

namespace perp {
namespace {

/// What was reached, summed up over the blocks.
struct Progress {
  std::size_t finished = 0, unique = 0;
  double share = 1;  ///< of the first block that is not finished
  long modes = 0;
};

/// Why the set is complete, or how far the search got.
std::string certificate_of(const SolutionSet& set, const Progress& progress,
                           const EnumerateOptions& options) {
  const std::size_t blocks = set.blocks.size();
  if (set.complete && progress.unique > 0)
    return fmt::format(
        "complete: {}, {} of them with at most one solution (positive definite "
        "with monotone laws, hence a P-matrix), the others enumerated, {} nodes",
        laws_in_blocks(set.m, blocks), progress.unique, set.nodes);
  if (set.complete)
    return fmt::format("complete enumeration: {}, {} nodes", laws_in_blocks(set.m, blocks),
                       set.nodes);
  return fmt::format(
        "not proved complete: {} of {} blocks finished, {:.3g} % of the next one, {} nodes of at "
        "most {} (long proofs count as several), {} modes with solutions of at most {}",
        progress.finished, blocks, progress.finished == blocks ? 100 : 100 * progress.share,
        set.nodes, options.max_nodes, progress.modes, options.max_solutions);
}

}  // namespace

SolutionSet enumerate(const Mlcp& problem, const EnumerateOptions& options) {
  validate(problem);
  SolutionSet set;
  set.p = problem.p();
  set.m = problem.m();
  set.blocks = independent_blocks(problem);
  Progress progress;
  for (Block& block : set.blocks) {
    EnumerateOptions left = options;
    left.max_nodes -= set.nodes;
    left.max_solutions -= progress.modes;
    const Mlcp part = subproblem(problem, block);
    BlockFindings found = search_triangular(part, left);
    block.pieces = std::move(found.pieces);
    block.different_u = count_different_u(part, block.pieces);
    set.nodes += found.nodes;
    progress.modes += found.modes;
    progress.unique += found.unique ? 1 : 0;
    if (found.finished)
      ++progress.finished;
    else if (progress.share == 1)
      progress.share = found.explored;
  }
  set.complete = progress.finished == set.blocks.size();
  set.certificate = certificate_of(set, progress, options);
  return set;
}

}  // namespace perp
