// The first step of a run, looked at alone: `perp check` asks it.
#include <algorithm>

#include <perp/analysis/run/first_step.hpp>
#include <perp/analysis/run/schemes.hpp>

namespace perp {
namespace {

double length_of(const Model& model) {
  return std::min(model.run.h, model.run.span.end - model.run.span.start);
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
  return solutions;
}

}  // namespace perp
