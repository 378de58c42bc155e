#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// A constraint that is written as a product, h(z) s(t, ẋ, x, y), of binaries and of other signals: whatever the values of
/// its binaries, its faces are multiples of one polynomial. Nothing is multiplied out over the binaries.
class ProductFace {
 public:
  /// Empty: this line is no such product.
  static std::optional<ProductFace> read(const Tape& tape, int line, int first_binary);

  /// May a face of `low` with the binary at 0 and one of `high` with the binary at 1 be multiples of opposite sign,
  /// for some values of the other binaries? Said too often rather than too rarely.
  static bool may_be_opposite(const ProductFace& low, const ProductFace& high, int binary);

 private:
  struct Range {
    double lower, upper;
  };
  static constexpr Range anything{-inf, inf};
  struct Signs {
    bool negative, positive;
    /// Has the other one of the same sign?
    [[nodiscard]] bool meet(const Signs& other) const {
      return (negative && other.negative) || (positive && other.positive);
    }
  };
  ProductFace(const Tape& tape, int first_binary) : tape_(&tape), first_binary_(first_binary) {}
  bool add(int line);
  static Range of_operation(Operation operation, const Range& a, const Range& b);
  [[nodiscard]] Range range(int line, int binary, double value) const;
  [[nodiscard]] Signs signs(int binary, double value) const;

  const Tape* tape_;
  int first_binary_;
  double sign_ = 1;
  std::vector<int> of_binaries_;  // lines whose product is |h|
  SparsePolynomial surface_{};    // s
};

}  // namespace perp
