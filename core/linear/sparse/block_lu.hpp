#pragma once

#include <vector>

#include <perp/core/linear/dense_lu.hpp>

namespace perp {

/// LU factorisation of a dense matrix by the diagonal blocks of its block triangular form, for what `DenseLu` loses: a
/// pivot outside of its block mixes an unknown with others that do not influence it and may be larger by any factor.
/// Here every unknown is computed from those of its own block and of the blocks before.
class BlockLu {
 public:
  /// Factorises the n×n matrix A (row after row) as `DenseLu::factorise` does. False if a block is singular to
  /// rounding, or the matrix by its zeros.
  bool factorise(const double* A, int n, const int* units = nullptr);

  /// x becomes A⁻¹ x. The matrix must be regular.
  void solve(double* x) const;

  /// Diagonal blocks of the last matrix.
  [[nodiscard]] int blocks() const { return static_cast<int>(blocks_.size()); }

 private:
  struct Block {
    std::vector<int> rows, columns;  ///< of one length
    DenseLu factors{0};
  };
  [[nodiscard]] double entry(int i, int j) const { return A_[static_cast<std::size_t>(i * n_ + j)]; }
  bool order();

  int n_ = 0;
  std::vector<double> A_;
  std::vector<Block> blocks_;  // a row has entries in the columns of its own block and of those before alone
};

}  // namespace perp
