#pragma once

#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>

namespace perp {

/// Quantities that are affine in parameters t, and a norm of others:
///     v = G t + g,   minimise ‖A t + a‖₂.
/// The quantities of a node of a search are v, then t; the node is the ranges it gives them.
struct NormRows {
  Matrix G;     ///< R×C
  Vector g;     ///< R
  Vector size;  ///< R: the largest entry of a row of G, beside which its entries carry rounding
  Matrix A;     ///< N×C
  Vector a;     ///< N

  [[nodiscard]] int rows() const { return static_cast<int>(g.size()); }
  [[nodiscard]] int parameters() const { return static_cast<int>(G.cols()); }
};

/// The convex quadratic programme of a node: the least norm over all t whose quantities are in
/// their ranges, by a reduced gradient on a tableau in which basic quantities are expressed in
/// nonbasic ones. It starts where it is: a copy of the parent's needs a few pivots only.
class NormRelaxation {
 public:
  /// `rows` must outlive this.
  explicit NormRelaxation(const NormRows& rows);

  /// Makes the rows from `first` on nonbasic where they are independent: what they couple is then
  /// seen through them, and not through chains of other quantities.
  void make_nonbasic(int first);

  /// Norm that all t in these ranges have at least, proved (0 where nothing was); inf if there are
  /// none. Multipliers y of the rows and a unit vector n count only as they stand: the linear
  /// function n·(A t + a) - Σ y v is formed anew of the rows as given, and its least value over the
  /// ranges of t with what the ranges of v add, less the tolerance of a solution and all rounding,
  /// is the bound.
  double bound(const std::vector<Range>& ranges);

  /// At the end of `bound`: value of a quantity.
  [[nodiscard]] double value(int quantity) const { return value_[at(quantity)]; }

 private:
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Ranges = std::vector<Range>;

  /// How much of a step is possible, and the row or column of the quantity that meets the end of its
  /// range there; -1: none.
  struct Stop {
    double share = 1;
    int row = -1, column = -1;
  };

  [[nodiscard]] double& x(int column) { return value_[at(nonbasic_[at(column)])]; }
  [[nodiscard]] bool is_free(int column) const;

  void place(const Ranges& ranges);
  void evaluate();
  int make_feasible(const Ranges& ranges);
  [[nodiscard]] double direction_of(const Ranges& ranges, int quantity) const;
  [[nodiscard]] int violated_row(const Ranges& ranges, bool least_index) const;
  [[nodiscard]] int entering_column(const Ranges& ranges, int r, bool least_index) const;
  void minimise(const Ranges& ranges);
  [[nodiscard]] int improving_column(const Ranges& ranges, const Vector& slope) const;
  void advance(const Ranges& ranges, const Vector& step);
  [[nodiscard]] double room(const Ranges& ranges, int quantity, double rate) const;
  void stop_at_columns(const Ranges& ranges, const Vector& step, Stop& stop) const;
  void stop_at_rows(const Ranges& ranges, const Vector& change, double negligible, Stop& stop) const;
  void exchange(int r, int column);
  void refactor();
  double optimum(const Ranges& ranges);
  [[nodiscard]] double least_value(const Ranges& ranges, Vector y, const Vector& n) const;
  [[nodiscard]] bool proves_empty(const Ranges& ranges, int r) const;

  const NormRows* rows_;
  int R_, C_, N_;
  RowMatrix T_;                ///< (R+N)×(C+1): basic quantities, then A t + a, in (nonbasic, 1)
  std::vector<int> basic_;     ///< R: quantity of a row of T
  std::vector<int> nonbasic_;  ///< C: quantity of a column of T
  std::vector<double> value_;  ///< R+C: of every quantity
  std::vector<int> free_;      ///< columns that are not held at an end of their range
};

}  // namespace perp
