#pragma once

#include <vector>

#include <perp/core/linear/multigrid/grid_hierarchy.hpp>

namespace perp {

/// Numbers x on a grid with lower <= x <= upper and, with y = A x - b,
///     y >= 0 where x = lower,  y <= 0 where x = upper,  y = 0 elsewhere,
/// for a symmetric M-matrix A, whose solution is the only one: an obstacle below, above or both. Found by primal-dual
/// active sets: nodes beyond a bound are held at it, nodes whose y pulls them off are free again, all at once; for
/// such A they end after finitely many sets (Hintermüller, Ito and Kunisch 2003). As the edge of a set moves by one node
/// from one to the next, the first one comes from coarser grids.
class GridBox {
 public:
  static constexpr signed char at_lower = -1, free = 0, at_upper = 1;  ///< where a node is held

  /// `has_upper`: otherwise there are lower bounds alone.
  GridBox(linear::GridMatrix A, bool has_upper);

  [[nodiscard]] std::ptrdiff_t nodes() const { return hierarchy_.shape(0).nodes(); }
  /// Is A an M-matrix, beyond the rounding of its entries: is none beside the diagonal positive, and is there a v > 0 with
  /// A v > 0? Then it is one with any nodes held, and the problem has exactly one solution.
  [[nodiscard]] bool is_certified() const { return is_certified_; }

  [[nodiscard]] linear::GridField& right() { return levels_[0].right; }  ///< b
  [[nodiscard]] linear::GridField& lower() { return levels_[0].lower; }  ///< -inf: none
  [[nodiscard]] linear::GridField& upper() { return levels_[0].upper; }  ///< inf: none
  [[nodiscard]] linear::GridField& x() { return levels_[0].x; }          ///< the best that is known before a solution
  [[nodiscard]] std::vector<signed char>& held() { return levels_[0].held; }

  /// How far the equations of the present set are solved.
  enum class Outcome {
    rests,   ///< to the rounding of their rows, and no node is beyond a bound or pulled off it by more than its error
    moves,   ///< as far as it is certain that some are
    unknown  ///< they are not
  };
  Outcome solve_held();
  /// Of that solution, y with the sizes of its terms, and its distance from the exact one by nodes.
  ///@{
  [[nodiscard]] double y(std::ptrdiff_t node) const { return -rest_[node]; }
  [[nodiscard]] double y_error(std::ptrdiff_t node) const;
  [[nodiscard]] double x_error(std::ptrdiff_t node) const { return error_ * weight(node); }
  ///@}
  /// The solution; behind `solve_held`, for the numbers that this had. False: after more sets than serve there is none.
  bool find();
  /// The set becomes one near that of the solution, by numbers as they are: from coarser grids, and on this one solved roughly.
  void find_near_set();
  /// How many nodes of the present solution are beyond a bound, or pulled off it, by more than its error.
  [[nodiscard]] long violated() const;

  /// Sets that were solved, those of this grid and those of coarser ones, and iterations within them on this grid.
  struct Counts {
    long sets = 0, coarse_sets = 0, iterations = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Level {
    linear::GridField right, lower, upper, x;
    std::vector<signed char> held;
  };
  [[nodiscard]] double weight(std::ptrdiff_t node) const { return weight_.empty() ? 1 : weight_[node]; }
  [[nodiscard]] const linear::GridMatrix& matrix() const { return hierarchy_.matrix(0); }
  [[nodiscard]] bool has_signs() const;
  bool certify();
  double least_product(const linear::GridField& v);
  void find_rest();
  [[nodiscard]] bool keeps_rows() const;
  void put_on_bounds(int level);
  long change(int level);
  void change_certainly(bool takes_all);
  [[nodiscard]] signed char side_beyond(std::ptrdiff_t node) const;
  void restrict_problem();
  bool solve_to_rounding();
  [[nodiscard]] double rounding_energy() const;
  [[nodiscard]] bool is_decided() const;
  void find_coarse_sets();
  void pass_on_set(int level);
  bool improve(int level);

  linear::GridHierarchy hierarchy_;
  bool has_upper_, is_certified_ = false;
  std::vector<Level> levels_;
  linear::GridField rest_, sizes_;  // b - A x, and of its terms
  linear::GridField weight_;        // v, empty: 1
  double least_gain_ = 0;           // A v is at least that
  double error_ = 0;                // of x, in v
  long sets_ = 0, coarse_sets_ = 0;
};

}  // namespace perp
