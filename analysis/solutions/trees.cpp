// The discrete and the continuous solutions of a model from one start, wherever they split.
#include <fmt/format.h>
#include <variant>

#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/analysis/solutions/trees.hpp>
#include <perp/core/base/error.hpp>

namespace perp {
namespace {

constexpr long most_merged = 10'000;  // solutions of one step of a tree by levels
constexpr long most_branches = 64;    // of one step of a run

/// Is the piece a continuum of x⁺, not of multipliers only?
bool has_one_x(const Piece& piece, Eigen::Index n) {
  if (piece.dimension == 0) return true;
  const Matrix x = piece.vertices.topRows(n);
  const double size = x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0;
  const double spread = x.cols() > 1 ? (x.colwise() - x.col(0)).cwiseAbs().maxCoeff() : 0;
  return spread <= solution_tolerance * size && piece.rays.topRows(n).isZero(0) &&
         piece.lines.topRows(n).isZero(0);
}

StepChoices choices_of(const ListedSolutions& solutions, double t_next, Eigen::Index n) {
  StepChoices choices;
  choices.complete = solutions.set.complete && solutions.all_listed;
  if (!choices.complete)
    choices.note = solutions.all_listed ? solutions.set.certificate
                                        : fmt::format("more than {} solutions", most_merged);
  for (const ListedSolution& item : solutions.listed) {
    const Solution& point = item.nearest;
    if (point.u.size() != n) {
      choices.complete = false;
      choices.note = "a continuum whose nearest point was not found";
      continue;
    }
    choices.list.push_back({{t_next, point.u, point.lambda, point.w, point.mode},
                            item.norm,
                            has_one_x(item.piece, n)});
  }
  return choices;
}

}  // namespace

MergedTree merged_tree_of(const Model& model, const Vector& x, double t, int steps,
                          long max_nodes) {
  if (model.run.scheme != "backward_euler" && model.run.scheme != "theta")
    throw InvalidInput(
        fmt::format("--tree is of the steps of backward_euler or theta, but the scheme is {}: add "
                    "--scheme backward_euler",
                    model.run.scheme));
  const std::vector<Reset>& resets = model.system.resets();
  if (!resets.empty())
    throw InvalidInput(fmt::format("--tree does not follow resets, but the model has '{}'",
                                   resets.front().name));
  StepLister lister(model);
  const auto list = [&](const Vector& from, double time, double h) {
    return choices_of(lister(from, time, h, most_merged), time + h, from.size());
  };
  MergedTreeOptions options{.h = model.run.h, .steps = steps, .max_nodes = max_nodes};
  // The θ-method's steps depend on all variables, backward Euler's on those with a derivative.
  if (model.run.scheme != "theta") options.state = model.differential_variables();
  return merged_tree(list, x, t, options);
}

std::vector<TreeNode> solution_tree_of(const Model& model) {
  StepLister lister(model);
  const auto list = [&](const Vector& x, double t, double h) {
    std::vector<Choice> choices;
    for (const ListedSolution& item : lister(x, t, h, most_branches).listed) {
      const Solution& point = item.nearest;
      choices.push_back({{t + h, point.u, point.lambda, point.w, point.mode}, item.norm});
    }
    return choices;
  };
  return solution_tree([&] { return capturing_scheme(model); }, list, model.laws(), model.x0(),
                       model.run.span.start, {.end = model.run.span.end, .h = model.run.h});
}

SolutionBranches solution_branches_of(const Model& model, bool rows) {
  IntegrateOptions options;
  options.keep = rows;
  options.bounds = model.bounds();
  if (model.hybrid != nullptr) return run_hybrid_branches(model, options);
  Located located = located_options(model);
  if (!rows) located.output_step = 0;
  return solution_branches(equations_of(model), model.x0(), model.run.span, located, options);
}

}  // namespace perp
