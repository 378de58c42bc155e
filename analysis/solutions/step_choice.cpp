#include <fmt/format.h>
#include <algorithm>
#include <memory>

#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/solutions/step_choice.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/schemes/step_mlcp.hpp>

namespace perp {
namespace {

/// By the scheme itself.
StepChoice chosen_by_scheme(const Model& model, const Vector& x, double t, const Mode& present) {
  const std::unique_ptr<Scheme> scheme = capturing_scheme(model);
  const int m = model.m();
  scheme->restore({t, x, Vector::Zero(m), Vector::Zero(m), present});
  const Attempt attempt = scheme->attempt(t + model.run.h, model.run.h);
  StepChoice choice{attempt.status, scheme->message()};
  if (attempt.status != Status::solved) return choice;
  choice.norm = scheme->attempted_norm();
  scheme->accept();
  choice.x = scheme->x();
  choice.lambda = scheme->lambda();
  return choice;
}

/// Where the present mode is not known: minimal norm, or what the solver returns.
StepChoice chosen_without_mode(const Model& model, const ListedSolutions& solutions,
                               const Norm& norm) {
  Solution chosen;
  if (model.run.selector == to_string(Selector::first)) {
    const std::string name = model.run.solver.empty() ? "lemke" : model.run.solver;
    const SolveResult result = solve(solver(name), solutions.problem);
    if (result.status != Status::solved) return {result.status, result.message};
    chosen = result.solution;
  } else {
    const Nearest& found = solutions.nearest;
    if (found.minimisers.empty()) return {found.status, found.message};
    chosen = found.minimisers.front();
  }
  Vector y(norm.center.size());
  y << chosen.u, chosen.lambda;
  return {Status::solved, {}, chosen.u, chosen.lambda, (norm.W * (y - norm.center)).norm()};
}

/// Of a system that is not affine: the present mode where a solution is in it, else the least norm.
StepChoice chosen_of_list(const Model& model, const ListedSolutions& solutions, const Mode& present) {
  const auto& listed = solutions.listed;  // nearest first
  auto chosen = listed.begin();
  if (model.run.selector == to_string(Selector::keep_mode) && !present.empty())
    chosen = std::find_if(listed.begin(), listed.end(), [&](const ListedSolution& item) {
      const std::vector<Mode>& modes = item.piece.modes;
      return std::find(modes.begin(), modes.end(), present) != modes.end();
    });
  if (chosen == listed.end()) chosen = listed.begin();
  if (chosen == listed.end()) return {Status::not_solved, "nothing was found"};
  return {Status::solved, {}, chosen->nearest.u, chosen->nearest.lambda, chosen->norm};
}

StepChoice chosen_by_path(const Model& model, const Vector& x, double t, const Mode& present) {
  const Vector zero = Vector::Zero(model.m());
  const Step from{t, x, zero, zero, present};
  const StepPath path = follow(model.system, from, model.run.h, scheme(model.run.scheme).theta(model.run));
  StepChoice choice{path.status, path.message};
  if (path.status == Status::solved) {
    choice.x = path.end.x;
    choice.lambda = path.end.lambda;
    choice.norm = path.norm;
  }
  choice.path = path;
  return choice;
}

}  // namespace

StepChoice choice_of_step(const Model& model, const ListedSolutions& solutions, const Vector& x,
                          double t, const Mode& present) {
  if (model.run.selector == to_string(Selector::continuation))
    return chosen_by_path(model, x, t, present);
  const Lcs* lcs = model.system.affine();
  if (lcs == nullptr) return chosen_of_list(model, solutions, present);
  if (solutions.set.complete && solutions.listed.empty())
    return {Status::no_solution, "the step has no solution"};
  if (present.empty() && !model.laws().empty())
    return chosen_without_mode(model, solutions, step_norm(*lcs, x));
  return chosen_by_scheme(model, x, t, present);
}

}  // namespace perp
