#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <perp/core/base/types.hpp>
#include <perp/lcp/exact/double_double.hpp>

namespace perp {

struct BinaryScaling;

/// Numbers known as high + low with a bound of their distance from the exact ones.
struct BoundedMatrix {
  Matrix high, low, error;

  BoundedMatrix() = default;
  BoundedMatrix(Eigen::Index rows, Eigen::Index columns)
      : high(Matrix::Zero(rows, columns)),
        low(Matrix::Zero(rows, columns)),
        error(Matrix::Zero(rows, columns)) {}

  [[nodiscard]] DoubleDouble operator()(Eigen::Index i, Eigen::Index j) const {
    return {high(i, j), low(i, j)};
  }
  void set(Eigen::Index i, Eigen::Index j, const DoubleDouble& value) {
    high(i, j) = value.high;
    low(i, j) = value.low;
  }
  [[nodiscard]] BoundedMatrix rows(Eigen::Index first, Eigen::Index count) const {
    BoundedMatrix part;
    part.high = high.middleRows(first, count);
    part.low = low.middleRows(first, count);
    part.error = error.middleRows(first, count);
    return part;
  }
  /// Entries that their error bound does not tell from 0 become 0, within a bound that holds on.
  void snap();
};

/// The entries of X become 0 that the inverse of K has not, by the places of the entries of K alone.
void clear_impossible(const BoundedMatrix& K, Matrix& X);

/// An approximate inverse X of K, which is known within its errors, with |I - X K|: what bounds need of K.
class BoundedInverse {
 public:
  /// Nothing where |I - X K| is not small: K is singular, or so near to it that this X does not tell.
  static std::optional<BoundedInverse> of(const BoundedMatrix& K);
  /// The same in smaller scales than bring the entries of K near 1, where those may take a right side out of the range of
  /// doubles, as along a chain; nothing where they do not.
  static std::optional<BoundedInverse> in_limited_scales(const BoundedMatrix& K);

  /// Solves K Y = R, R within its errors, and bounds the error of every entry of Y:
  ///     |Y - Y*| ≤ |X| |R - K Y| + |I - X K| |Y - Y*|
  /// False: a bound is not finite, or R holds numbers too small to be scaled.
  bool solve(const BoundedMatrix& R, BoundedMatrix& Y) const;
  /// A bound of |K⁻¹| r, r ≥ 0, entry by entry.
  [[nodiscard]] Vector image(const Vector& r) const;
  /// vᵀ X, about vᵀ K⁻¹.
  [[nodiscard]] Vector combination(const Vector& v) const;
  /// Numbers kept.
  [[nodiscard]] std::size_t storage() const;

 private:
  struct Parts;
  static std::optional<BoundedInverse> in_scales(const BoundedMatrix& K, BinaryScaling scaling, bool is_limited);
  explicit BoundedInverse(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

/// The same for one R alone. False where K has no such inverse either.
bool solve_bounded(const BoundedMatrix& K, const BoundedMatrix& R, BoundedMatrix& Y);

}  // namespace perp
