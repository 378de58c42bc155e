#include <fmt/format.h>
#include <algorithm>
#include <memory>

#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/step_choice.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>

namespace perp::cli {
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
StepChoice chosen_without_mode(const Model& model, const StepSolutions& solutions,
                               const Norm& norm) {
  Solution chosen;
  if (model.run.selector == to_string(Selector::first)) {
    const std::string name = model.run.solver.empty() ? "lemke" : model.run.solver;
    const SolveResult result = solve(solver(name), solutions.problem);
    if (result.status != Status::solved) return {result.status, result.message};
    chosen = result.solution;
  } else {
    const Nearest found = nearest(solutions.problem, solutions.set, norm);
    if (found.minimisers.empty()) return {found.status, found.message};
    chosen = found.minimisers.front();
  }
  Vector y(norm.center.size());
  y << chosen.u, chosen.lambda;
  return {Status::solved, {}, chosen.u, chosen.lambda, (norm.W * (y - norm.center)).norm()};
}

/// Of a system that is not affine: the present mode where a solution is in it, else the least norm.
StepChoice chosen_of_list(const Model& model, const StepSolutions& solutions, const Mode& present) {
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
  const Lcs* lcs = std::get_if<Lcs>(&model.system);
  const StepPath path =
      lcs != nullptr ? follow(*lcs, from, model.run.h, scheme(model.run.scheme).theta(model.run))
                     : follow(std::get<Dcs>(model.system), from, model.run.h);
  StepChoice choice{path.status, path.message};
  if (path.status == Status::solved) {
    choice.x = path.end.x;
    choice.lambda = path.end.lambda;
    choice.norm = path.norm;
  }
  choice.path = path;
  return choice;
}

std::string name_of(const std::vector<Law>& laws, const Mode& mode) {
  return mode.empty() ? "the present state" : fmt::format("[{}]", describe(laws, mode));
}

}  // namespace

StepChoice choice_of_step(const Model& model, const StepSolutions& solutions, const Vector& x,
                          double t, const Mode& present) {
  if (model.run.selector == to_string(Selector::continuation))
    return chosen_by_path(model, x, t, present);
  const Lcs* lcs = std::get_if<Lcs>(&model.system);
  if (lcs == nullptr) return chosen_of_list(model, solutions, present);
  if (solutions.set.complete && solutions.listed.empty())
    return {Status::no_solution, "the step has no solution"};
  if (present.empty() && !model.laws().empty())
    return chosen_without_mode(model, solutions, step_norm(*lcs, x));
  return chosen_by_scheme(model, x, t, present);
}

std::string describe(const StepPath& path, const Mode& present, const std::vector<Law>& laws) {
  std::string text = name_of(laws, present);
  for (const StepPath::Break& change : path.breaks) {
    const bool folds = change.jump > 0;
    // Where the present mode is not known the path begins with the choice of one.
    const bool begins = change.h == 0 && present.empty();
    if (!begins)
      text += change.h > 0 ? fmt::format(" up to h = {:.10g}", change.h) : " ends at once";
    text += folds ? fmt::format(", where the solutions fold back: a jump of {:.6g} to {}",
                                change.jump, name_of(laws, change.after))
                  : ", then " + name_of(laws, change.after);
  }
  if (path.status != Status::solved)
    text += fmt::format(" up to h = {:.10g}: {}", path.end.h, path.message);
  return text;
}

Json to_json(const StepPath& path, const Mode& present, const std::vector<Law>& laws) {
  Json breaks = Json::array();
  for (const StepPath::Break& change : path.breaks)
    breaks.push_back(
        {{"h", change.h}, {"to", describe(laws, change.after)}, {"jump", to_json(change.jump)}});
  return {{"status", to_string(path.status)},
          {"from", present.empty() ? Json(nullptr) : Json(describe(laws, present))},
          {"h", path.end.h},
          {"breaks", breaks}};
}

}  // namespace perp::cli
