#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/linear/sparse_lu.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// J δ = r with few rows r that are not 0, by relaxation: a row gives its correction to the unknown that
/// it determines, which changes the rows that hold this one, and so on as far as corrections are larger
/// than rounding. The cost is that of the rows met, not that of all. Where unknowns of far rows depend on
/// each other strongly it ends without a solution.
class LocalCorrection {
 public:
  /// `places`: of the entries of J; its first rows are those of the structure.
  LocalCorrection(int n, const HybridStructure& structure, const std::vector<linear::Place>& places);

  /// Does each row determine an unknown of its own, by the structure?
  [[nodiscard]] bool serves() const { return serves_; }
  /// Sets a row of r.
  void replace(int row, double r);
  /// δ of the rows that were set, by the entries of J in the order of their places; what is smaller
  /// than the rounding of x counts as 0. False: not found within as many rows as J has. r is 0 then.
  bool solve(const std::vector<double>& values, const Vector& x);
  /// Of the last solution: the unknowns that it corrects, with δ of each.
  ///@{
  [[nodiscard]] const std::vector<int>& unknowns() const { return met_; }
  [[nodiscard]] double correction(int unknown) const { return delta_[static_cast<std::size_t>(unknown)]; }
  ///@}
  /// Rows that hold an unknown.
  template <class Visit>
  void for_rows(int unknown, const Visit& visit) const {
    for (int k = start_[static_cast<std::size_t>(unknown)]; k < start_[static_cast<std::size_t>(unknown) + 1]; ++k)
      visit(entries_[static_cast<std::size_t>(k)].row);
  }

 private:
  struct Entry {
    int row = 0;
    std::size_t place = 0;  ///< among the places
  };
  void open(int row);
  bool step(int row, const std::vector<double>& values, const Vector& x);

  int n_;
  bool serves_ = true;
  std::vector<int> start_;               // of each column among the entries
  std::vector<Entry> entries_;
  std::vector<int> unknown_;             // that each row determines
  std::vector<std::size_t> pivot_;       // place of its entry
  std::vector<double> rows_, delta_;
  std::vector<char> is_open_, is_met_;   // of rows, of unknowns
  std::vector<int> queue_, met_;
};

}  // namespace perp
