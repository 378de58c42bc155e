#include <perp/analysis/hybrid/ways/hybrid_branches.hpp>
#include <perp/schemes/located/transition/branch_tree.hpp>

namespace perp {

SolutionBranches hybrid_branches(const Model& model, const HybridSchemes& schemes,
                                 const IntegrateOptions& options, std::size_t most) {
  bool all_were_met = true;
  SolutionBranches result = branch_tree(most, [&](const std::vector<std::size_t>& choices) {
    HybridRun run(model, schemes, options);
    run.follow(choices);
    FollowedBranch followed{{run(), run.choices()}};
    all_were_met = all_were_met && run.choices_are_complete();
    followed.goes_on = followed.branch.run.status != Status::interrupted;
    return followed;
  });
  result.complete = result.complete && all_were_met;
  return result;
}

}  // namespace perp
