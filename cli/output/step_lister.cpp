#include <algorithm>
#include <numeric>

#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/step_solutions.hpp>
#include <perp/schemes/step/step_solutions.hpp>

namespace perp::cli {
namespace {

ListedSolution listed(const StepSolution& found) {
  ListedSolution item;
  item.nearest = {found.x, found.lambda, found.w, found.mode, found.residual};
  item.norm = found.norm;
  item.piece.modes = {found.mode};
  item.piece.modes.insert(item.piece.modes.end(), found.also.begin(), found.also.end());
  const Eigen::Index size = found.x.size() + found.lambda.size();
  item.piece.vertices.resize(size, 1);
  item.piece.vertices << found.x, found.lambda;
  item.piece.rays.resize(size, 0);
  item.piece.lines.resize(size, 0);
  return item;
}

/// What Newton's method in every mode found, in the form of an enumerated step.
StepSolutions solutions_of_step(const Dcs& system, const Vector& x, double t, double h,
                                long limit) {
  const perp::StepSolutions found = solutions(system, x, t, h);
  StepSolutions result;
  result.problem.q1 = Vector::Zero(system.n());
  result.problem.laws = system.laws;
  result.set.p = system.n();
  result.set.m = system.m();
  result.note = found.note.empty() ? "by Newton's method in every mode" : found.note;
  Block block;
  block.u.resize(static_cast<std::size_t>(system.n()));
  std::iota(block.u.begin(), block.u.end(), 0);
  block.lambda.resize(static_cast<std::size_t>(system.m()));
  std::iota(block.lambda.begin(), block.lambda.end(), 0);
  block.equations = block.u;
  for (const StepSolution& solution : found.list) {
    ListedSolution item = listed(solution);
    if (!solution.isolated)
      result.note += "; a solution is one of a continuum";
    else if (!solution.lambda_determined)
      result.note += "; the multipliers of a solution are some of a continuum";
    block.pieces.push_back(item.piece);
    if (static_cast<long>(result.listed.size()) < limit) result.listed.push_back(std::move(item));
  }
  block.different_u = count_different_x(found.list);
  result.all_listed = result.listed.size() == found.list.size();
  result.set.certificate = result.note;
  result.set.blocks.push_back(std::move(block));
  std::stable_sort(
      result.listed.begin(), result.listed.end(),
      [](const ListedSolution& a, const ListedSolution& b) { return a.norm < b.norm; });
  return result;
}

}  // namespace

StepLister::StepLister(const Model& model, const EnumerateOptions& limits)
    : model_(model), limits_(limits) {
  if (const Lcs* lcs = std::get_if<Lcs>(&model.system))
    equations_.emplace(*lcs, step_options(model).theta);
}

StepSolutions StepLister::operator()(const Vector& x, double t, double h, long limit) {
  if (equations_) return solutions_of_step(*equations_, x, t, h, limit, limits_);
  return solutions_of_step(std::get<Dcs>(model_.system), x, t, h, limit);
}

}  // namespace perp::cli
