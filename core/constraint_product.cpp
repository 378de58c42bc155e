#include <Eigen/SVD>

#include <perp/core/constraint_product.hpp>

namespace perp {

Matrix constraint_product(const ModeDae& dae, double tol) {
  const Eigen::Index n = dae.E.rows();
  constexpr int full = Eigen::ComputeFullU | Eigen::ComputeFullV;
  // E = U diag(s, 0) Vᵀ:  s ẋ = A11 x + A12 z,  0 = A21 x + A22 z.
  Eigen::JacobiSVD<Matrix> of_E(dae.E, full);
  of_E.setThreshold(tol);
  const Eigen::Index r = of_E.rank(), k = n - r;
  if (k == 0) return Matrix(0, 0);
  const Matrix A = of_E.matrixU().transpose() * dae.A * of_E.matrixV();
  const double size = A.bottomRows(k).norm() + A.rightCols(k).norm();
  // A22 = U diag(d, 0) Vᵀ: its regular part is solved for as many z.
  const Eigen::JacobiSVD<Matrix> of_A(A.bottomRightCorner(k, k), full);
  Eigen::Index solved = 0;
  while (solved < k && of_A.singularValues()[solved] > tol * size) ++solved;
  const Matrix C = of_A.matrixU().rightCols(k - solved).transpose() * A.bottomLeftCorner(k, r);
  const Matrix B = A.topRightCorner(r, k) * of_A.matrixV().rightCols(k - solved);
  return C * of_E.singularValues().head(r).cwiseInverse().asDiagonal() * B;
}

}  // namespace perp
