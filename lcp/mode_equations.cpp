#include <cstddef>

#include <perp/lcp/mode_equations.hpp>

namespace perp {
namespace {

const Branch& branch_of(const Mlcp& problem, const Mode& mode, int law) {
  const auto i = static_cast<std::size_t>(law);
  return problem.laws[i].branches.at(static_cast<std::size_t>(mode[i]));
}

}  // namespace

Matrix mode_matrix(const Mlcp& problem, const Mode& mode) {
  const int p = problem.p(), m = problem.m();
  Matrix K(p + m, p + m);
  K.topLeftCorner(p, p) = problem.M11;
  K.topRightCorner(p, m) = problem.M12;
  for (int i = 0; i < m; ++i) {
    const Branch& branch = branch_of(problem, mode, i);
    K.row(p + i).head(p) = branch.a * problem.M21.row(i);
    K.row(p + i).tail(m) = branch.a * problem.M22.row(i);
    K(p + i, p + i) += branch.b;
  }
  return K;
}

Vector mode_constant(const Mlcp& problem, const Mode& mode) {
  const int p = problem.p(), m = problem.m();
  Vector r(p + m);
  r.head(p) = -problem.q1;
  for (int i = 0; i < m; ++i) {
    const Branch& branch = branch_of(problem, mode, i);
    r[p + i] = branch.c - branch.a * problem.q2[i];
  }
  return r;
}

}  // namespace perp
