#pragma once

#include <array>
#include <vector>

#include <perp/core/linear/multigrid/grid_matrix.hpp>

namespace perp::linear {

/// A symmetric positive definite matrix on a grid and Galerkin's matrices P' A P on grids of half as many nodes along each
/// axis. Systems in which some nodes of a level are held are solved by conjugate gradients with one V-cycle as
/// preconditioner, whose interpolations leave out what they have on held nodes: a cycle of such truncated functions
/// serves next to any set of these (Kornhuber 1994).
class GridHierarchy {
 public:
  explicit GridHierarchy(GridMatrix fine);

  [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()); }
  [[nodiscard]] const GridMatrix& matrix(int level) const { return levels_[static_cast<std::size_t>(level)].whole; }
  [[nodiscard]] const GridShape& shape(int level) const { return matrix(level).shape(); }

  /// The nodes of a level that are held from here on: those that are not 0.
  void hold(int level, const std::vector<signed char>& held);
  /// How conjugate gradients ended: r' B r, B the preconditioner, was `first` before them.
  struct End {
    int iterations = 0;
    double first = 0;
    bool is_solved = false;
  };
  /// Of the last `hold`: the nodes that are not held get A x = b, until r' B r is no more than `tolerance`² of the first one, or
  /// than `enough`. x of the others is given.
  End solve(const GridField& b, GridField& x, double tolerance, double enough = 0, int most = 60);

  /// Values of a level from those of the next coarser one, by interpolation, and P' of values of this one.
  ///@{
  void interpolate(int level, const GridField& coarse, GridField& fine) const;
  void restrict_to(int level, const GridField& fine, GridField& coarse) const;
  ///@}
  /// The node of the next finer grid where a node of this one is.
  [[nodiscard]] std::ptrdiff_t finer_node(int level, std::ptrdiff_t node) const;
  /// Room for numbers of a level between solutions.
  [[nodiscard]] GridField& rest(int level) { return at_level(level).r; }
  /// Iterations of conjugate gradients so far, of each level.
  [[nodiscard]] const std::vector<long>& iterations() const { return iterations_; }

 private:
  struct Level {
    GridMatrix whole;  ///< without held nodes
    GridMatrix truncated;  ///< below the level that is solved, with those it holds
    std::vector<std::vector<GridParents>> parents;  ///< along each axis to the next level; empty: it has as many nodes
    std::array<GridMatrix, 2> between;  ///< with some axes coarsened
    GridField inverse;  ///< of the diagonal, 0 at held nodes
    GridField b, x, r;
  };
  [[nodiscard]] Level& at_level(int level) { return levels_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] const Level& at_level(int level) const { return levels_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] const GridMatrix& present(int level) const { return level == base_ ? at_level(level).whole : at_level(level).truncated; }
  void coarsen(int level, const GridMatrix& matrix, const GridField* inverse, GridMatrix& coarse);
  void add_interpolated(int level, const GridField& coarse, const GridField* inverse, GridField& fine) const;
  void invert_diagonal(int level);
  void cycle(int level);
  template <class Work>
  void for_each_line(int level, const Work& work) const;

  std::vector<Level> levels_;
  std::vector<long> iterations_;
  GridField direction_;
  int base_ = -1;
  std::vector<signed char> held_;
};

}  // namespace perp::linear
