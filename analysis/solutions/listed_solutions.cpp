#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/schemes/step/step_solutions.hpp>

namespace perp {
namespace {

/// A set that holds one piece of the whole problem.
SolutionSet single(const SolutionSet& all, const Piece& piece) {
  SolutionSet set = all;
  set.complete = true;  // of this piece everything is known
  Block block;
  block.u.resize(static_cast<std::size_t>(set.p));
  block.lambda.resize(static_cast<std::size_t>(set.m));
  std::iota(block.u.begin(), block.u.end(), 0);
  std::iota(block.lambda.begin(), block.lambda.end(), 0);
  block.equations = block.u;
  block.pieces.push_back(piece);
  set.blocks.assign(1, block);
  return set;
}

/// The columns of a matrix as rational numbers.
std::vector<std::vector<Rational>> exactly(const Matrix& points) {
  std::vector<std::vector<Rational>> columns;
  for (Eigen::Index k = 0; k < points.cols(); ++k)
    columns.emplace_back(points.col(k).begin(), points.col(k).end());
  return columns;
}

double distance(const Piece& piece, const Vector& y) {
  if (piece.dimension == 0) return (piece.vertices.col(0) - y).norm();
  const ExactNorm norm = ExactNorm::of(Matrix::Identity(y.size(), y.size()), y);
  return root(exact_nearest({exactly(piece.vertices), exactly(piece.rays), exactly(piece.lines)}, norm).square);
}

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
ListedSolutions solutions_of_step(const Dcs& system, const Vector& x, double t, double h,
                                  long limit) {
  const StepSolutions found = solutions(system, x, t, h);
  ListedSolutions result;
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
    else if (!solution.simple)
      result.note +=
          "; the matrix at a solution is singular: a multiple root, or one of a continuum";
    else if (!solution.lambda_determined)
      result.note += "; the multipliers of a solution are some of a continuum";
    block.pieces.push_back(item.piece);
    if (static_cast<long>(result.listed.size()) < limit) result.listed.push_back(std::move(item));
  }
  block.different_u = found.count_different_x();
  result.all_listed = result.listed.size() == found.list.size();
  result.set.certificate = result.note;
  result.set.blocks.push_back(std::move(block));
  std::stable_sort(
      result.listed.begin(), result.listed.end(),
      [](const ListedSolution& a, const ListedSolution& b) { return a.norm < b.norm; });
  return result;
}

}  // namespace

ListedSolutions solutions_of_step(StepEquations& equations, const Vector& x, double t, double h,
                                  long limit, const EnumerateOptions& limits) {
  ListedSolutions result;
  const ParametricMlcp family = equations.family(h);
  std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
  equations.parameter(x, t, t + h, parameter.data());
  result.problem = family.base;
  instantiate(family, parameter.data(), result.problem);
  const Mlcp exact = equations.problem(x, t, t + h, h);
  const SolutionSet whole = enumerate(exact, limits);  // with what the exact problem adds to x⁺
  result.set = of_state(whole, equations.n());
  const Norm norm = equations.norm(x, exact.p());
  result.nearest = nearest(exact, whole, norm);
  for (Solution& minimiser : result.nearest.minimisers)
    minimiser = of_state(minimiser, equations.n());
  std::vector<Piece> found = pieces(whole, limit + 1);
  result.all_listed = static_cast<long>(found.size()) <= limit;
  if (!result.all_listed) found.pop_back();
  for (Piece& piece : found) {
    ListedSolution item;
    const Nearest point = nearest(exact, single(whole, piece), norm);
    if (point.status == Status::solved) {
      item.nearest = of_state(point.minimisers.front(), equations.n());
      item.norm = point.norm;
    }
    item.piece = of_state(std::move(piece), equations.n(), equations.m());
    result.listed.push_back(std::move(item));
  }
  std::stable_sort(
      result.listed.begin(), result.listed.end(),
      [](const ListedSolution& a, const ListedSolution& b) { return a.norm < b.norm; });
  return result;
}

bool mark_chosen(ListedSolutions& solutions, const Vector& x, const Vector& lambda) {
  constexpr double tolerance = 1e-7;  // pieces are much further apart or the same
  Vector y(x.size() + lambda.size());
  y << x, lambda;
  // In units of the largest of all solutions; where all are 0, so is the distance.
  double size = y.norm();
  for (const ListedSolution& item : solutions.listed)
    if (item.piece.vertices.cols() > 0)
      size = std::max(size, item.piece.vertices.colwise().norm().maxCoeff());
  ListedSolution* closest = nullptr;
  double smallest = inf;
  for (ListedSolution& item : solutions.listed) {
    const double gap = distance(item.piece, y);
    if (gap > tolerance * size || gap >= smallest) continue;
    smallest = gap;
    closest = &item;
  }
  if (closest == nullptr) return false;
  closest->chosen = true;
  return true;
}

StepLister::StepLister(const Model& model, const EnumerateOptions& limits) : limits_(limits) {
  if (const Lcs* lcs = model.system.affine())
    equations_.emplace(*lcs, step_options(model).theta);
  else
    functions_ = model.system.functions();
}

ListedSolutions StepLister::operator()(const Vector& x, double t, double h, long limit) {
  if (equations_) return solutions_of_step(*equations_, x, t, h, limit, limits_);
  return solutions_of_step(functions_, x, t, h, limit);
}

}  // namespace perp
