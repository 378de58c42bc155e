#include <perp/schemes/located/located_run.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>

namespace perp {

SolutionBranches solution_branches(const Dcs& system, const Vector& x0, Span span,
                                   const Located& scheme, const IntegrateOptions& options,
                                   std::size_t most) {
  SolutionBranches result;
  std::vector<std::vector<std::size_t>> open{{}};  // choices up to the last that differs
  while (!open.empty()) {
    if (result.list.size() >= most) {
      result.complete = false;
      break;
    }
    const std::vector<std::size_t> choices = std::move(open.back());
    open.pop_back();
    LocatedRun located(system, scheme, options);
    SolutionBranch branch{located(x0, span, choices), {}};
    const auto& met = located.branchings();
    for (std::size_t k = 0; k < met.size(); ++k) {
      const std::size_t taken = k < choices.size() ? choices[k] : 0;
      branch.choices.push_back({met[k].t, met[k].modes[taken], met[k].modes.size(), taken});
    }
    result.list.push_back(std::move(branch));
    // Earlier branchings and later choices are pushed first: the list is ordered by its choices.
    for (std::size_t k = choices.size(); k < met.size(); ++k)
      for (std::size_t other = met[k].modes.size() - 1; other > 0; --other) {
        std::vector<std::size_t> next = choices;
        next.resize(k, 0);
        next.push_back(other);
        open.push_back(std::move(next));
      }
  }
  return result;
}

}  // namespace perp
