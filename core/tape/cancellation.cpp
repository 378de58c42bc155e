#include <limits>

#include <perp/core/tape/cancellation.hpp>

namespace perp {

Matrix without_cancelled(const Matrix& U, const Matrix& M, double tol) {
  if (M.size() == 0) return Matrix::Zero(U.rows(), M.cols());
  constexpr double rounding_of_U = 16 * std::numeric_limits<double>::epsilon();
  const Matrix sizes = U.cwiseAbs() * M.cwiseAbs();
  const auto largest = M.cwiseAbs().colwise().maxCoeff().eval();
  Matrix product = U * M;
  for (Eigen::Index j = 0; j < product.cols(); ++j)
    for (Eigen::Index i = 0; i < product.rows(); ++i)
      if (std::abs(product(i, j)) <= tol * sizes(i, j) + rounding_of_U * largest[j])
        product(i, j) = 0;
  return product;
}

}  // namespace perp
