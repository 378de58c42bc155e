// Galerkin's matrix of every second node, one axis after the other.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/multigrid/grid_matrix.hpp>

namespace perp::linear {
namespace {

/// Of a step along an axis among the numbers of neighbours.
int unit_of(int axis) { return axis == 0 ? 1 : axis == 1 ? 3 : 9; }

/// P' A P along one axis, neighbour by neighbour.
class AxisCoarsening {
 public:
  AxisCoarsening(const GridMatrix& from, int axis, const std::vector<GridParents>& parents, const GridField* inverse, GridMatrix& to)
      : from_(from),
        axis_(axis),
        parents_(parents),
        inverse_(inverse == nullptr ? nullptr : inverse->data()),
        to_(to),
        stride_(from.shape().stride(axis)),
        size_(from.shape().size[at(axis)]),
        coarse_size_(to.shape().size[at(axis)]),
        shares_(parents.size()) {}

  /// What all nodes have of the neighbour with this number, or of themselves.
  void add(int code) {
    for (int i = 0; i < size_; ++i) list_shares(code, i);
    const double* const entries = code == centre ? from_.diagonal().data() : from_.beside(code).data();
    const std::ptrdiff_t there = code == centre ? 0 : from_.distance(code), lines = from_.shape().nodes() / stride_ / size_;
    for (std::ptrdiff_t outer = 0; outer < lines; ++outer)
      for (int i = 0; i < size_; ++i) add_line(entries, stride_ * (i + size_ * outer), there, stride_ * coarse_size_ * outer, shares_[at(i)]);
  }

 private:
  static constexpr int centre = GridMatrix::centre;
  /// What an entry of a node at one place of the axis adds to an entry of a coarse node.
  struct Share {
    double* to = nullptr;     ///< of the first coarse node
    std::ptrdiff_t node = 0;  ///< from the first one of a line
    double weight = 0;
  };
  struct Shares {
    std::array<Share, 4> list{};
    int count = 0;
  };

  /// Where the entry of parents I of a node and J of its neighbour is kept; null: it is that of the pair the other way round.
  Share share(int code, int I, int J, double weight) const {
    const int along = GridMatrix::step(code, axis_), target = code + (J - I - along) * unit_of(axis_);
    if (target == centre) return {to_.diagonal().data(), I * stride_, code == centre ? weight : 2 * weight};
    if (target > centre) return {to_.room_beside(target).data(), I * stride_, weight};
    if (code == centre) return {};
    const std::ptrdiff_t across = to_.distance(code) - along * to_.shape().stride(axis_);
    return {to_.room_beside(2 * centre - target).data(), J * stride_ + across, weight};
  }

  void list_shares(int code, int i) {
    Shares& own = shares_[at(i)];
    own.count = 0;
    const int j = i + GridMatrix::step(code, axis_);
    if (j < 0 || j >= size_) return;
    const GridParents &of_i = parents_[at(i)], &of_j = parents_[at(j)];
    for (int k = 0; k < 4; ++k) {
      const int a = k / 2, b = k % 2;
      const double weight = (a == 0 ? of_i.weight : of_i.weight_of_next) * (b == 0 ? of_j.weight : of_j.weight_of_next);
      if (weight == 0) continue;
      if (const Share found = share(code, of_i.first + a, of_j.first + b, weight); found.to != nullptr)
        own.list[at(own.count++)] = found;
    }
  }

  /// The nodes of a line across the axis. `there`: to their neighbours.
  void add_line(const double* entries, std::ptrdiff_t line, std::ptrdiff_t there, std::ptrdiff_t coarse_line, const Shares& shares) const {
    for (int k = 0; k < shares.count; ++k) {
      const Share& one = shares.list[at(k)];
      double* const to = one.to + coarse_line + one.node;
      const double* const entry = entries + line;
      const double* const by = inverse_ == nullptr ? nullptr : inverse_ + line;
      if (by == nullptr)
        for (std::ptrdiff_t r = 0; r < stride_; ++r) to[r] += one.weight * entry[r];
      else
        for (std::ptrdiff_t r = 0; r < stride_; ++r) to[r] += by[r] != 0 && by[r + there] != 0 ? one.weight * entry[r] : 0;
    }
  }

  const GridMatrix& from_;
  int axis_;
  const std::vector<GridParents>& parents_;
  const double* inverse_;
  GridMatrix& to_;
  std::ptrdiff_t stride_;
  int size_, coarse_size_;
  std::vector<Shares> shares_;  // of each place of the axis
};

}  // namespace

void GridMatrix::begin(const GridShape& shape) {
  if (shape_ != shape || diagonal_.empty()) {
    *this = GridMatrix(shape);
    return;
  }
  diagonal_.fill(0);
  for (GridField& field : beside_)
    if (!field.empty()) field.fill(0);
}

/// What the collapsed rows at an end of an axis leave of the neighbour inside: 1/2 where the value beyond is 0, 1 where nothing is.
double GridMatrix::weight_at_end(int axis, bool at_last) const {
  const std::ptrdiff_t stride = shape_.stride(axis), size = shape_.size[at(axis)];
  const std::ptrdiff_t place = at_last ? size - 1 : 0;
  double own = 0, inside = 0;
  const auto add = [&](int code, double value) { (step(code, axis) == 0 ? own : inside) += value; };
  for (std::ptrdiff_t outer = 0; outer < shape_.nodes() / stride / size; ++outer)
    for (std::ptrdiff_t inner = 0; inner < stride; ++inner) {
      const std::ptrdiff_t node = inner + stride * (place + size * outer);
      add(centre, diagonal_[node]);
      for (int code = centre + 1; code < neighbours; ++code) {
        if (beside(code).empty()) continue;
        add(code, beside(code)[node]);
        add(code, beside(code)[node - distance(code)]);
      }
    }
  const double weight = own > 0 ? -inside / own : 0.5;
  return std::clamp(std::isfinite(weight) ? weight : 0.5, 0.5, 1.0);
}

std::vector<GridParents> GridMatrix::parents(int axis) const {
  const int size = shape_.size[at(axis)], coarse = size / 2;
  std::vector<GridParents> list(at(size));
  for (int i = 0; i < size; ++i) {
    if (i % 2 == 1)
      list[at(i)] = {i / 2, 1, 0};
    else if (i == 0)
      list[at(i)] = {0, weight_at_end(axis, false), 0};
    else if (i / 2 == coarse)
      list[at(i)] = {coarse - 1, weight_at_end(axis, true), 0};
    else
      list[at(i)] = {i / 2 - 1, 0.5, 0.5};
  }
  return list;
}

void GridMatrix::coarsen(int axis, const std::vector<GridParents>& parents, const GridField* inverse, GridMatrix& coarse) const {
  GridShape shape = shape_;
  shape.size[at(axis)] /= 2;
  coarse.begin(shape);
  AxisCoarsening coarsening(*this, axis, parents, inverse, coarse);
  for (int code = centre; code < neighbours; ++code)
    if (code == centre || !beside(code).empty()) coarsening.add(code);
}

}  // namespace perp::linear
