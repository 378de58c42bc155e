#pragma once

#include <memory>
#include <span>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/machine_memory.hpp>
#include <perp/core/base/types.hpp>

namespace perp::linear {

/// Where an entry of a sparse matrix stands.
struct Place {
  int row = 0, column = 0;
};

/// P A Q = L U of a square sparse matrix (KLU of SuiteSparse). The order is found once from the places of
/// the entries; a later factorization with other values keeps it, and the pivots as long as they serve.
class SparseLu {
 public:
  /// `places`: each at most once. Throws std::out_of_range for a place that is none of n x n, InvalidInput where the
  /// factors would take more bytes than `most`, by their places in the order found and before one is computed.
  SparseLu(int n, const std::vector<Place>& places, double most = machine_memory());
  SparseLu(SparseLu&&) noexcept;
  SparseLu& operator=(SparseLu&&) noexcept;
  ~SparseLu();

  /// `values` in the order of the places. False: singular. Throws InvalidInput where the factors do not fit into memory.
  bool factorise(std::span<const double> values);
  /// The same with pivots that are searched for these values, whatever was factorised before.
  bool factorise_anew(std::span<const double> values);
  /// A^-1 b in place of b, with the last matrix that was factorised.
  void solve(Vector& right) const;
  /// A^-T b in place of b.
  void solve_transposed(Vector& right) const;
  /// Of the last matrix that was factorised.
  [[nodiscard]] int determinant_sign() const;
  /// The smallest size on the diagonal of U.
  [[nodiscard]] double least_pivot() const;
  /// Of all so far.
  [[nodiscard]] long factorisations() const;
  /// Numbers of L and U, and operations of a factorization, by the places of the entries with pivots on the diagonal; infinite
  /// where they are not known.
  ///@{
  [[nodiscard]] double numbers() const;
  [[nodiscard]] double operations() const;
  ///@}

  /// Entries by columns.
  struct Columns {
    std::vector<int> start{}, row{};
    std::vector<double> value{};
  };
  /// L U of the diagonal blocks of P A Q, block triangular, and what is outside of them: row i of P A Q is row row[i] of A,
  /// column j is column[j]; block k begins at block[k].
  struct Parts {
    Columns lower{}, upper{}, outside{};
    std::vector<int> row{}, column{}, block{};
  };
  /// Of the last factorization.
  void write_parts(Parts& parts) const;

  /// What later factorizations and solutions depend on; into one of the same places.
  void transfer(Archive& archive);

 private:
  bool put(std::span<const double> values);
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace perp::linear
