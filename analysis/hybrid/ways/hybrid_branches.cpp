#include <perp/analysis/hybrid/ways/hybrid_branches.hpp>

namespace perp {

SolutionBranches hybrid_branches(const Model& model, const HybridSchemes& schemes,
                                 const IntegrateOptions& options, std::size_t most) {
  SolutionBranches result;
  std::vector<std::vector<std::size_t>> open{{}};  // choices up to the last that differs
  while (!open.empty()) {
    if (result.list.size() >= most) {
      result.complete = false;
      break;
    }
    const std::vector<std::size_t> choices = std::move(open.back());
    open.pop_back();
    HybridRun run(model, schemes, options);
    run.follow(choices);
    SolutionBranch branch{run(), run.choices()};
    result.complete = result.complete && run.choices_are_complete();
    const bool is_interrupted = branch.run.status == Status::interrupted;
    if (is_interrupted) {
      result.complete = false;
      open.clear();
    }
    const std::vector<SolutionBranch::Choice>& met = branch.choices;
    // Earlier moments and later choices are pushed first: the list is ordered by its choices.
    for (std::size_t k = choices.size(); k < met.size() && !is_interrupted; ++k)
      for (std::size_t other = met[k].of - 1; other > 0; --other) {
        std::vector<std::size_t> next = choices;
        next.resize(k, 0);
        next.push_back(other);
        open.push_back(std::move(next));
      }
    result.list.push_back(std::move(branch));
  }
  return result;
}

}  // namespace perp
