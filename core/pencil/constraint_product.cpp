
#include <perp/core/linear/spectra.hpp>
#include <perp/core/pencil/constraint_product.hpp>

namespace perp {

Matrix constraint_product(const ModeDae& dae, double tol) {
  const Eigen::Index n = dae.E.rows();
  // E = U diag(s, 0) Vᵀ:  s ẋ = A11 x + A12 z,  0 = A21 x + A22 z.
  const linear::Svd of_E = linear::svd(dae.E);
  const Eigen::Index r = of_E.rank(tol), k = n - r;
  if (k == 0) return Matrix(0, 0);
  const Matrix A = of_E.U.transpose() * dae.A * of_E.V;
  const double size = A.bottomRows(k).norm() + A.rightCols(k).norm();
  // A22 = U diag(d, 0) Vᵀ: its regular part is solved for as many z.
  const linear::Svd of_A = linear::svd(A.bottomRightCorner(k, k));
  Eigen::Index solved = 0;
  while (solved < k && of_A.values[solved] > tol * size) ++solved;
  const Matrix C = of_A.U.rightCols(k - solved).transpose() * A.bottomLeftCorner(k, r);
  const Matrix B = A.topRightCorner(r, k) * of_A.V.rightCols(k - solved);
  return C * of_E.values.head(r).cwiseInverse().asDiagonal() * B;
}

}  // namespace perp
