#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <perp/core/linear/sparse/sparse_matrix.hpp>

namespace perp::linear {

/// Nodes of a regular grid of one to three dimensions, numbered along the first axis first.
struct GridShape {
  std::array<int, 3> size{1, 1, 1};

  [[nodiscard]] std::ptrdiff_t nodes() const { return stride(2) * size[2]; }
  /// From a node to the next one along an axis.
  [[nodiscard]] std::ptrdiff_t stride(int axis) const {
    return axis == 0 ? 1 : axis == 1 ? size[0] : static_cast<std::ptrdiff_t>(size[0]) * size[1];
  }
  /// From a node to the farthest of its neighbours.
  [[nodiscard]] std::ptrdiff_t reach() const { return reach_along(0) + reach_along(1) + reach_along(2); }
  /// Axes with more than one node.
  [[nodiscard]] int dimensions() const { return (size[0] > 1) + (size[1] > 1) + (size[2] > 1); }
  friend bool operator==(const GridShape&, const GridShape&) = default;

 private:
  [[nodiscard]] std::ptrdiff_t reach_along(int axis) const { return size[static_cast<std::size_t>(axis)] > 1 ? stride(axis) : 0; }
};

/// The grid whose nodes a square matrix couples with their neighbours alone, by the places of its entries: the
/// one that is smallest along the first axes. Nothing: there is none but a full one.
std::optional<GridShape> grid_shape(const SparseMatrix& matrix);

/// Numbers of the nodes, with as many zeros around them as neighbours reach.
class GridField {
 public:
  GridField() = default;
  explicit GridField(const GridShape& shape)
      : reach_(shape.reach()), values_(static_cast<std::size_t>(shape.nodes() + 2 * shape.reach()), 0.0) {}
  [[nodiscard]] double* data() { return values_.data() + reach_; }
  [[nodiscard]] const double* data() const { return values_.data() + reach_; }
  [[nodiscard]] double& operator[](std::ptrdiff_t i) { return data()[i]; }
  [[nodiscard]] double operator[](std::ptrdiff_t i) const { return data()[i]; }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  void fill(double value);

 private:
  std::ptrdiff_t reach_ = 0;
  std::vector<double> values_;
};

/// Where a node of an axis stands among every second one of them, the first of which is number 1: between two, or on one.
struct GridParents {
  int first = 0;
  double weight = 1, weight_of_next = 0;
};

/// A symmetric matrix that couples each node of a grid with its neighbours, those across corners among them: of each pair the
/// entry is kept once.
class GridMatrix {
 public:
  static constexpr int centre = 13, neighbours = 27;  ///< numbers of the steps to a neighbour, see `step`
  /// (-1, 0 or 1) along an axis, of the neighbour with this number.
  static int step(int code, int axis) { return (axis == 0 ? code : axis == 1 ? code / 3 : code / 9) % 3 - 1; }

  GridMatrix() = default;
  explicit GridMatrix(const GridShape& shape) : shape_(shape), diagonal_(shape) {}
  /// Entries at no neighbours, or that are not those of a symmetric matrix: nothing.
  static std::optional<GridMatrix> of(const SparseMatrix& matrix, const GridShape& shape);

  [[nodiscard]] const GridShape& shape() const { return shape_; }
  [[nodiscard]] GridField& diagonal() { return diagonal_; }
  [[nodiscard]] const GridField& diagonal() const { return diagonal_; }
  /// Of a neighbour behind the node; empty: 0 everywhere.
  [[nodiscard]] GridField& beside(int code) { return beside_[static_cast<std::size_t>(code - centre - 1)]; }
  [[nodiscard]] const GridField& beside(int code) const { return beside_[static_cast<std::size_t>(code - centre - 1)]; }
  /// Is kept from here on.
  GridField& room_beside(int code);
  [[nodiscard]] std::ptrdiff_t distance(int code) const;

  /// r = b - A x; `sizes`, where it is no null pointer, becomes |b| + |A| |x|.
  void residual(const GridField& b, const GridField& x, GridField& r, GridField* sizes = nullptr) const;
  /// y = A x
  void times(const GridField& x, GridField& y) const;
  /// One sweep of Gauss and Seidel over A x = b from x = 0, and what it leaves of b; one in the other direction from any x.
  /// `inverse`: that of the diagonal; where it is 0, x and the residual become 0.
  ///@{
  void sweep_from_zero(const GridField& b, const GridField& inverse, GridField& x) const;
  void residual_of_sweep(const GridField& x, const GridField& inverse, GridField& r) const;
  void sweep_back(const GridField& b, const GridField& inverse, GridField& x) const;
  ///@}

  /// P' A P for the interpolation along one axis from every second node. `inverse`: rows and columns of nodes where it is 0
  /// are left out. `coarse` has the right shape or none.
  void coarsen(int axis, const std::vector<GridParents>& parents, const GridField* inverse, GridMatrix& coarse) const;
  /// The weights along an axis: half of both, at an end what the rows there leave of the one.
  [[nodiscard]] std::vector<GridParents> parents(int axis) const;

 private:
  struct Entries {  // of neighbours behind the nodes
    std::array<const double*, 13> value{};
    std::array<std::ptrdiff_t, 13> distance{};
    int count = 0;
  };
  [[nodiscard]] Entries entries() const;
  [[nodiscard]] double weight_at_end(int axis, bool at_last) const;
  template <class Work>
  static void with_count(int count, const Work& work);
  void begin(const GridShape& shape);

  GridShape shape_;
  GridField diagonal_;
  std::array<GridField, 13> beside_;
};

}  // namespace perp::linear
