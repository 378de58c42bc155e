#pragma once

#include <complex>
#include <memory>

#include <perp/core/base/types.hpp>

namespace perp::linear {

using ComplexMatrix = Eigen::MatrixXcd;
using ComplexVector = Eigen::VectorXcd;

/// P A = L U with partial pivoting. Repeated factorizations of one size do not allocate.
class Lu {
 public:
  Lu();
  explicit Lu(const Matrix& A);
  Lu(const Lu& other);
  Lu(Lu&&) noexcept;
  Lu& operator=(const Lu& other);
  Lu& operator=(Lu&&) noexcept;
  ~Lu();

  void compute(const Matrix& A);
  /// A^-1 b, for each column of `right`.
  [[nodiscard]] Matrix solve(const Matrix& right) const;
  [[nodiscard]] Vector solve(const Vector& right) const;
  /// The same into `solution`, which is another matrix.
  void solve(const Eigen::Ref<const Matrix>& right, Eigen::Ref<Matrix> solution) const;
  /// L^-1 P b, and U, so that rows at the end of A^-1 b cost no more than those.
  void forward(const Eigen::Ref<const Matrix>& right, Matrix& solution) const;
  /// L below the diagonal (its own diagonal is 1), U on and above it.
  [[nodiscard]] const Matrix& factors() const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

/// The same for complex matrices.
class ComplexLu {
 public:
  ComplexLu();
  ComplexLu(const ComplexLu& other);
  ComplexLu(ComplexLu&&) noexcept;
  ComplexLu& operator=(const ComplexLu& other);
  ComplexLu& operator=(ComplexLu&&) noexcept;
  ~ComplexLu();

  void compute(const ComplexMatrix& A);
  void solve(const Eigen::Ref<const ComplexVector>& right, ComplexVector& solution) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

/// P A Q = L U with complete pivoting, which shows the rank.
class FullLu {
 public:
  explicit FullLu(const Matrix& A);
  FullLu(FullLu&&) noexcept;
  FullLu& operator=(FullLu&&) noexcept;
  ~FullLu();

  /// Pivots above the rounding of A.
  [[nodiscard]] int rank() const;
  [[nodiscard]] bool is_invertible() const;
  /// The pivots in the order in which they were taken.
  [[nodiscard]] Vector pivots() const;
  /// The sign of det A as it was rounded; 0 with a pivot 0.
  [[nodiscard]] int determinant_sign() const;
  /// A solution of A x = b for each column; one of several where A is singular, then of as many
  /// equations as the rank.
  [[nodiscard]] Matrix solve(const Matrix& right) const;
  [[nodiscard]] Vector solve(const Vector& right) const;
  [[nodiscard]] Matrix inverse() const;
  /// A basis of {x: A x = 0}, in columns; without columns where A is regular.
  [[nodiscard]] Matrix kernel() const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace perp::linear
