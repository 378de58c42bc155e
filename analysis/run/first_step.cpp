// The first step of a run, looked at alone: `perp check` asks it.
#include <algorithm>

#include <perp/analysis/run/first_step.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>

namespace perp {
namespace {

double length_of(const Model& model) {
  return std::min(model.run.h, model.run.span.end - model.run.span.start);
}

/// Where a search of too many modes has found one x⁺: is there no other, by a certificate of steps of this length?
bool has_one_x(const Model& model, const SolutionSet& set) {
  if (set.complete || count_of_u(set) != 1) return false;
  return length_of(model) <= longest_monotone_step(model.system.functions(), step_options(model).theta);
}

}  // namespace

Trajectory first_step(Model model) {
  model.run.span.end = model.run.span.start + length_of(model);
  return scheme(model.run.scheme).run(model, {});
}

bool starts(const Model& model, const Trajectory& run) {
  return !run.mode.empty() && (!run.mode.front().empty() || model.laws().empty());
}

ListedSolutions solutions_of_first_step(const Model& model, const Trajectory& run,
                                        long most_listed) {
  ListedSolutions solutions =
      StepLister(model)(run.x.front(), model.run.span.start, length_of(model), most_listed);
  if (run.status == Status::solved) mark_chosen(solutions, run.x.back(), run.lambda.back());
  solutions.has_one_x = has_one_x(model, solutions.set);
  return solutions;
}

}  // namespace perp
