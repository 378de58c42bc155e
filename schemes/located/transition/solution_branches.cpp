#include <perp/schemes/located/located_run.hpp>
#include <perp/schemes/located/transition/branch_tree.hpp>

namespace perp {

SolutionBranches solution_branches(const Dcs& system, const Vector& x0, Span span,
                                   const Located& scheme, const IntegrateOptions& options,
                                   std::size_t most) {
  return branch_tree(most, [&](const std::vector<std::size_t>& choices) {
    Located watching = scheme;
    watching.watches_repulsion = true;
    LocatedRun located(system, watching, options);
    FollowedBranch followed{{located(x0, span, choices), {}}};
    followed.branch.repulsion = located.choice().repulsion();
    followed.is_complete = !located.may_miss_solutions();
    const auto& met = located.choice().branchings();
    for (std::size_t k = 0; k < met.size(); ++k) {
      const std::size_t taken = k < choices.size() ? choices[k] : 0;
      followed.branch.choices.push_back({met[k].t, met[k].modes[taken], met[k].modes.size(), taken});
    }
    return followed;
  });
}

}  // namespace perp
