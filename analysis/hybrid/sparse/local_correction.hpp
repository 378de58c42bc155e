#pragma once

#include <span>
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
  /// The entries of J, in the order of their places.
  void set_matrix(const std::vector<double>& values);
  /// δ of the rows that were set; what is smaller than the rounding of x counts as 0. False: not found
  /// within as many rows as J has. r is 0 then.
  bool solve(const Vector& x);
  /// Of the last solution: the unknowns that it corrects, with δ of each.
  ///@{
  [[nodiscard]] std::span<const int> unknowns() const { return {met_.data(), met_count_}; }
  [[nodiscard]] double correction(int unknown) const { return unknowns_[static_cast<std::size_t>(unknown)].delta; }
  ///@}

 private:
  /// In the column of an unknown, in the row of another one.
  struct Entry {
    double value = 0;
    int unknown = 0;  ///< that this row determines
  };
  /// With the row that determines it: what one correction needs lies together.
  struct Unknown {
    double r = 0, delta = 0, pivot = 0;
    int first = 0, behind = 0;  ///< of the entries of its column
    bool is_open = false, is_met = false;
  };
  struct Pass;
  void begin();

  int n_;
  bool serves_ = true;
  std::vector<Entry> entries_;
  std::vector<int> place_of_entry_, place_of_pivot_;  // among the places
  std::vector<int> unknown_of_row_;
  std::vector<Unknown> unknowns_;
  std::vector<int> queue_;  // rows, by their unknowns, in the order in which they are opened: room for all
  std::size_t opened_ = 0;
  std::vector<int> met_;  // room for all
  std::size_t met_count_ = 0;
};

}  // namespace perp
