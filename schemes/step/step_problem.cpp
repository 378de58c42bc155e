// One step as a problem whose entries are the doubles of the model.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {
namespace {

/// Is the problem of the family at θ, with its q in doubles, the exact one?
bool is_exact(const ParametricMlcp& family, const double* theta, const Mlcp& problem) {
  for (const Matrix& rest : family.rest)
    if (!rest.isZero(0)) return false;
  for (int i = 0; i < problem.p(); ++i) {
    Rational q(family.base.q1[i]);
    for (int j = 0; j < family.k(); ++j)
      if (family.Q1(i, j) != 0) q += Rational(family.Q1(i, j)) * Rational(theta[j]);
    if (q != Rational(problem.q1[i])) return false;
  }
  return true;  // a row of w has at most one term besides q2, which is 0 then
}

Piece rows_of(Piece piece, const std::vector<int>& kept) {
  for (Matrix* points : {&piece.vertices, &piece.rays, &piece.lines})
    *points = Matrix((*points)(kept, Eigen::all));
  return piece;
}

}  // namespace

Mlcp StepEquations::problem(const Vector& x, double t, double t_next, double h) {
  std::vector<double> values(at(parameters_));
  parameter(x, t, t_next, values.data());
  const ParametricMlcp of_h = family(h);
  Mlcp plain = of_h.base;
  instantiate(of_h, values.data(), plain);
  return is_exact(of_h, values.data(), plain) ? plain : lifted(x, values.data(), h);
}

/// Row i of the differential ones, E x⁺ - E s - h θ y - h (1-θ) z - h v = 0, and those of its y, z and v, but for b; with
/// θ = 1 there is no z, and v is y.
void StepEquations::write_lifted_row(int i, int y, int z, int v, double h, Mlcp& problem) const {
  const Lcs& full = lcs();
  const int n = full.n(), states = static_cast<int>(state_.size());
  const bool averaged = theta_ < 1;
  problem.M11.row(i).head(n) = full.E.row(i);
  for (int k = 0; k < states; ++k) problem.M11(i, n + k) = -full.E(i, state_[at(k)]);
  problem.M11(i, y) = averaged ? -h * theta_ : -h;
  problem.M11.row(y).head(n) = full.A.row(i);
  problem.M11(y, y) = -1;
  if (averaged) {
    problem.M11(i, z) = -h * (1 - theta_);
    problem.M11(i, v) = -h;
    for (int k = 0; k < states; ++k) problem.M11(z, n + k) = full.A(i, state_[at(k)]);
    problem.M11(z, z) = problem.M11(v, v) = -1;
  }
  problem.M12.row(v) = full.B.row(i);
}

Mlcp StepEquations::lifted(const Vector& x, const double* parameter, double h) const {
  const Lcs& full = lcs();
  const int n = full.n(), m = full.m(), states = static_cast<int>(state_.size());
  const bool averaged = theta_ < 1;
  const int differential = n - static_cast<int>(algebraic_rows_.size());
  const int first_y = n + states, first_z = first_y + differential, first_v = first_z + differential;
  const int p = averaged ? first_v + differential : first_z;
  Mlcp problem;
  problem.M11 = Matrix::Zero(p, p);
  problem.M12 = Matrix::Zero(p, m);
  problem.q1 = Vector::Zero(p);
  problem.M21 = Matrix::Zero(m, p);
  problem.M21.leftCols(n) = full.C;
  problem.M22 = full.D;
  problem.laws = full.laws;
  Vector b = full.b.constant();
  problem.q2 = full.q.constant();
  const double* varying = parameter + states;
  for (const int i : full.b.varying()) b[i] = *varying++;
  for (const int i : full.q.varying()) problem.q2[i] = *varying++;
  for (int k = 0; k < states; ++k) {  // s - x = 0
    problem.M11(n + k, n + k) = 1;
    problem.q1[n + k] = -x[state_[at(k)]];
  }
  int row = 0;  // among the differential ones
  for (int i = 0; i < n; ++i) {
    if (is_algebraic_[at(i)] != 0) {
      problem.M11.row(i).head(n) = full.A.row(i);
      problem.M12.row(i) = full.B.row(i);
      problem.q1[i] = b[i];
      continue;
    }
    const int y = first_y + row, z = first_z + row, v = averaged ? first_v + row : y;
    write_lifted_row(i, y, z, v, h, problem);
    problem.q1[v] = b[i];
    ++row;
  }
  return problem;
}

Piece of_state(Piece piece, int n, int m) {
  std::vector<int> kept;
  for (Eigen::Index j = 0; j < piece.vertices.rows(); ++j)
    if (j < n || j >= piece.vertices.rows() - m) kept.push_back(static_cast<int>(j));
  return rows_of(std::move(piece), kept);
}

namespace {

/// Places of a block's coordinates that are no added unknowns.
std::vector<int> places_in_state(const Block& block, int n) {
  std::vector<int> kept;
  for (std::size_t k = 0; k < block.u.size() + block.lambda.size(); ++k)
    if (k >= block.u.size() || block.u[k] < n) kept.push_back(static_cast<int>(k));
  return kept;
}

}  // namespace

SolutionSet of_state(SolutionSet set, int n) {
  const int added = set.p - n;
  if (added == 0) return set;
  set.p = n;
  for (Block& block : set.blocks) {
    const std::vector<int> kept = places_in_state(block, n);
    std::erase_if(block.u, [n](int j) { return j >= n; });
    std::erase_if(block.equations, [n](int i) { return i >= n; });
    for (Piece& piece : block.pieces) piece = rows_of(std::move(piece), kept);
  }
  // a start value that no equation needs has one value
  std::erase_if(set.blocks, [](const Block& block) {
    return block.u.empty() && block.lambda.empty() && !block.pieces.empty();
  });
  return set;
}

Solution of_state(Solution solution, int n) {
  solution.u = Vector(solution.u.head(n));
  return solution;
}

}  // namespace perp
