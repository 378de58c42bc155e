#pragma once

#include <vector>

#include <perp/core/law.hpp>

namespace perp {

/// What a node of the tree of modes leaves: rows  v_r = Σ_j a_rj t_j + c_r  that have ranges, of
/// parameters t that have ranges. A view; row r holds a_r1.., c_r, and the size of what was added
/// up in it, beside which its entries carry rounding.
struct RowSystem {
  int rows = 0;
  int columns = 0;
  int stride = 0;
  const double* data = nullptr;         ///< rows × stride
  const Range* range = nullptr;         ///< rows
  const Range* column_range = nullptr;  ///< columns

  [[nodiscard]] const double* row(int r) const {
    return data + static_cast<std::ptrdiff_t>(r) * stride;
  }
};

/// The linear programme "is there a t with all rows in their ranges?", by pivots that bring one
/// violated row to its end at a time (no ratio test, the least index after a while: it ends). The
/// storage is kept from call to call.
class Relaxation {
 public:
  /// True: proved that no t exists. A row that nothing can bring into its range gives multipliers y
  /// of the rows (Farkas); they count only if Σ y_r v_r, formed anew of the rows as given, misses
  /// what their ranges ask for by more than the tolerance of a solution and all rounding.
  bool is_empty(const RowSystem& system);

  /// The point where `is_empty` ended without a proof: values of the rows and of the parameters.
  [[nodiscard]] double row_value(int r) const { return value_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] double parameter(int j) const {
    return value_[static_cast<std::size_t>(rows_ + j)];
  }

  /// After `is_empty` was true: the quantity (r for v_r, rows + j for t_j) that nothing can bring
  /// into its range, and the basis that shows it.
  [[nodiscard]] int conflict() const { return conflict_; }
  [[nodiscard]] const std::vector<int>& basic() const { return basic_; }
  [[nodiscard]] const std::vector<int>& nonbasic() const { return nonbasic_; }

 private:
  /// Σ y_r v_r, which the ranges of the rows want to be at least `wanted`.
  struct Combination {
    double wanted = 0;
    double term = 0;    ///< the largest one
    double weight = 0;  ///< Σ |y_r|
    double error = 0;   ///< Σ |y_r| (size of row r)
  };

  void start(const RowSystem& system);
  [[nodiscard]] int violated_row(bool least_index) const;
  [[nodiscard]] int entering_column(int r, bool least_index) const;
  void exchange(int r, int column);
  bool proves(const RowSystem& system, int r);
  [[nodiscard]] double direction_of(int quantity) const;
  void write_multipliers(int r);
  bool sum_rows(const RowSystem& system, Combination& of_rows);
  [[nodiscard]] double reach(const RowSystem& system, double& largest_term) const;

  int rows_ = 0;
  int columns_ = 0;
  int conflict_ = -1;
  std::vector<double> T_;      ///< rows × columns: the basic quantities in the nonbasic ones
  std::vector<int> basic_;     ///< quantity of a row of T: r for v_r, rows + j for t_j
  std::vector<int> nonbasic_;  ///< quantity of a column of T
  std::vector<double> value_;  ///< of every quantity
  std::vector<Range> range_;   ///< of every quantity
  std::vector<double> y_;      ///< multipliers of the quantities in a proof
  std::vector<double> sum_;    ///< Σ y_r (a_r, c_r)
  std::vector<double> size_;   ///< Σ |y_r| |(a_r, c_r)|
};

}  // namespace perp
