// Eigen's factorizations: at the sizes of a mode (up to some tens) faster than LAPACK's, and the
// same on every processor. Matrices without entries are none of theirs.
#include <Eigen/LU>
#include <optional>

#include <perp/core/linear/lu.hpp>

namespace perp::linear {

struct Lu::Factors {
  Eigen::PartialPivLU<Matrix> lu{};
};

Lu::Lu() : factors_(std::make_unique<Factors>()) {}
Lu::Lu(const Matrix& A) : Lu() { compute(A); }
Lu::Lu(const Lu& other) : factors_(std::make_unique<Factors>(*other.factors_)) {}
Lu::Lu(Lu&&) noexcept = default;
Lu& Lu::operator=(const Lu& other) {
  if (this != &other) factors_ = std::make_unique<Factors>(*other.factors_);
  return *this;
}
Lu& Lu::operator=(Lu&&) noexcept = default;
Lu::~Lu() = default;

void Lu::compute(const Matrix& A) {
  if (A.size() > 0) factors_->lu.compute(A);
}

Matrix Lu::solve(const Matrix& right) const {
  if (right.rows() == 0) return right;
  return factors_->lu.solve(right);
}

Vector Lu::solve(const Vector& right) const {
  if (right.size() == 0) return right;
  return factors_->lu.solve(right);
}

void Lu::solve(const Eigen::Ref<const Matrix>& right, Eigen::Ref<Matrix> solution) const {
  if (right.rows() > 0) solution = factors_->lu.solve(right);
}

void Lu::forward(const Eigen::Ref<const Matrix>& right, Matrix& solution) const {
  solution = right;
  if (right.rows() == 0) return;
  solution.noalias() = factors_->lu.permutationP() * right;
  factors().triangularView<Eigen::UnitLower>().solveInPlace(solution);
}

const Matrix& Lu::factors() const { return factors_->lu.matrixLU(); }

struct ComplexLu::Factors {
  Eigen::PartialPivLU<ComplexMatrix> lu{};
};

ComplexLu::ComplexLu() : factors_(std::make_unique<Factors>()) {}
ComplexLu::ComplexLu(const ComplexLu& other)
    : factors_(std::make_unique<Factors>(*other.factors_)) {}
ComplexLu::ComplexLu(ComplexLu&&) noexcept = default;
ComplexLu& ComplexLu::operator=(const ComplexLu& other) {
  if (this != &other) factors_ = std::make_unique<Factors>(*other.factors_);
  return *this;
}
ComplexLu& ComplexLu::operator=(ComplexLu&&) noexcept = default;
ComplexLu::~ComplexLu() = default;

void ComplexLu::compute(const ComplexMatrix& A) { factors_->lu.compute(A); }

void ComplexLu::solve(const Eigen::Ref<const ComplexVector>& right, ComplexVector& solution) const {
  solution = factors_->lu.solve(right);
}

struct FullLu::Factors {
  Eigen::Index rows, columns;
  std::optional<Eigen::FullPivLU<Matrix>> lu{};  ///< unset without entries
  [[nodiscard]] bool empty() const { return rows == 0 || columns == 0; }
};

FullLu::FullLu(const Matrix& A) : factors_(std::make_unique<Factors>(Factors{A.rows(), A.cols()})) {
  if (A.size() > 0) factors_->lu.emplace(A);
}
FullLu::FullLu(FullLu&&) noexcept = default;
FullLu& FullLu::operator=(FullLu&&) noexcept = default;
FullLu::~FullLu() = default;

int FullLu::rank() const { return factors_->empty() ? 0 : static_cast<int>(factors_->lu->rank()); }

bool FullLu::is_invertible() const {
  return factors_->empty() ? factors_->rows == factors_->columns : factors_->lu->isInvertible();
}

Vector FullLu::pivots() const {
  if (factors_->empty()) return Vector(0);
  return factors_->lu->matrixLU().diagonal();
}

int FullLu::determinant_sign() const {
  if (factors_->empty()) return 1;
  auto sign = static_cast<int>(factors_->lu->permutationP().determinant() *
                               factors_->lu->permutationQ().determinant());
  for (const double pivot : pivots()) sign *= pivot < 0 ? -1 : (pivot > 0 ? 1 : 0);
  return sign;
}

Matrix FullLu::solve(const Matrix& right) const {
  if (factors_->empty()) return Matrix::Zero(factors_->columns, right.cols());
  return factors_->lu->solve(right);
}

Vector FullLu::solve(const Vector& right) const {
  if (factors_->empty()) return Vector::Zero(factors_->columns);
  return factors_->lu->solve(right);
}

Matrix FullLu::inverse() const {
  if (factors_->empty()) return Matrix(0, 0);
  return factors_->lu->inverse();
}

Matrix FullLu::kernel() const {
  if (factors_->empty()) return Matrix::Identity(factors_->columns, factors_->columns);
  if (factors_->lu->dimensionOfKernel() == 0) return {factors_->lu->cols(), 0};
  return factors_->lu->kernel();
}

}  // namespace perp::linear
