#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/multigrid/grid_hierarchy.hpp>

namespace perp::linear {
namespace {

constexpr int fewest = 2;  ///< nodes of an axis that is coarsened

bool is_coarsened(const GridShape& shape, int axis) { return shape.size[at(axis)] >= fewest; }

double dot(const GridField& a, const GridField& b, std::ptrdiff_t nodes) {
  const double *x = a.data(), *y = b.data();
  double sums[4] = {0, 0, 0, 0};
  std::ptrdiff_t i = 0;
  for (; i + 4 <= nodes; i += 4)
    for (std::ptrdiff_t k = 0; k < 4; ++k) sums[k] += x[i + k] * y[i + k];
  for (; i < nodes; ++i) sums[0] += x[i] * y[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

GridHierarchy::GridHierarchy(GridMatrix fine) {
  levels_.emplace_back().whole = std::move(fine);
  while (shape(levels() - 1).nodes() > 1) {
    const int level = levels() - 1;
    levels_.emplace_back();
    Level& own = at_level(level);
    own.parents.resize(3);
    for (int axis = 0; axis < 3; ++axis)
      if (is_coarsened(own.whole.shape(), axis)) own.parents[at(axis)] = own.whole.parents(axis);
    coarsen(level, own.whole, nullptr, at_level(level + 1).whole);
  }
  for (Level& level : levels_)
    for (GridField* field : {&level.inverse, &level.b, &level.x, &level.r}) *field = GridField(level.whole.shape());
  direction_ = GridField(shape(0));
  iterations_.assign(levels_.size(), 0);
}

/// The last axis first: lines along the first ones are the longest then.
void GridHierarchy::coarsen(int level, const GridMatrix& matrix, const GridField* inverse, GridMatrix& coarse) {
  const std::vector<std::vector<GridParents>>& parents = at_level(level).parents;
  std::vector<int> axes;
  for (int axis = 2; axis >= 0; --axis)
    if (!parents[at(axis)].empty()) axes.push_back(axis);
  const GridMatrix* from = &matrix;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    GridMatrix& to = k + 1 == axes.size() ? coarse : at_level(level).between[k];
    from->coarsen(axes[k], parents[at(axes[k])], k == 0 ? inverse : nullptr, to);
    from = &to;
  }
}

void GridHierarchy::invert_diagonal(int level) {
  const GridField& diagonal = present(level).diagonal();
  GridField& inverse = at_level(level).inverse;
  for (std::ptrdiff_t i = 0; i < shape(level).nodes(); ++i) inverse[i] = diagonal[i] > 0 ? 1 / diagonal[i] : 0;
}

void GridHierarchy::hold(int level, const std::vector<signed char>& held) {
  if (level == base_ && held == held_) return;
  base_ = level;
  held_ = held;
  invert_diagonal(level);
  GridField& inverse = at_level(level).inverse;
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i] != 0) inverse[static_cast<std::ptrdiff_t>(i)] = 0;
  for (int k = level; k + 1 < levels(); ++k) {
    coarsen(k, present(k), &at_level(k).inverse, at_level(k + 1).truncated);
    invert_diagonal(k + 1);
  }
}

/// work(line, coarse line, weight): numbers of the first nodes of lines along the first axis and of those that they are
/// interpolated from.
template <class Work>
void GridHierarchy::for_each_line(int level, const Work& work) const {
  const GridShape &fine = shape(level), &coarse = shape(level + 1);
  const std::vector<std::vector<GridParents>>& parents = at_level(level).parents;
  const auto of = [&](int axis, int place) {
    return parents[at(axis)].empty() ? GridParents{place, 1, 0} : parents[at(axis)][at(place)];
  };
  for (int z = 0; z < fine.size[2]; ++z)
    for (int y = 0; y < fine.size[1]; ++y) {
      const GridParents of_y = of(1, y), of_z = of(2, z);
      for (int k = 0; k < 4; ++k) {
        const double weight = (k % 2 == 0 ? of_y.weight : of_y.weight_of_next) * (k / 2 == 0 ? of_z.weight : of_z.weight_of_next);
        if (weight == 0) continue;
        work(y * fine.stride(1) + z * fine.stride(2), (of_y.first + k % 2) * coarse.stride(1) + (of_z.first + k / 2) * coarse.stride(2),
             weight);
      }
    }
}

void GridHierarchy::interpolate(int level, const GridField& coarse, GridField& fine) const {
  fine.fill(0);
  add_interpolated(level, coarse, nullptr, fine);
}

/// `inverse`: nodes where it is 0 get nothing.
void GridHierarchy::add_interpolated(int level, const GridField& coarse, const GridField* inverse, GridField& fine) const {
  const std::vector<GridParents>& parents = at_level(level).parents[0];
  const int size = shape(level).size[0], half = size / 2;
  for_each_line(level, [&](std::ptrdiff_t line, std::ptrdiff_t coarse_line, double weight) {
    double* const to = fine.data() + line;
    const double* const from = coarse.data() + coarse_line;
    const double* const by = inverse == nullptr ? nullptr : inverse->data() + line;
    const auto add = [&](int i, double value) { to[i] += by == nullptr || by[i] != 0 ? weight * value : 0; };
    if (parents.empty()) return add(0, from[0]);
    add(0, parents[0].weight * from[0]);
    for (int k = 0; k + 1 < half; ++k) {
      add(2 * k + 1, from[k]);
      add(2 * k + 2, 0.5 * (from[k] + from[k + 1]));
    }
    add(2 * half - 1, from[half - 1]);
    if (size % 2 == 1) add(size - 1, parents.back().weight * from[half - 1]);
  });
}

void GridHierarchy::restrict_to(int level, const GridField& fine, GridField& coarse) const {
  coarse.fill(0);
  const std::vector<GridParents>& parents = at_level(level).parents[0];
  const int size = shape(level).size[0], half = size / 2;
  for_each_line(level, [&](std::ptrdiff_t line, std::ptrdiff_t coarse_line, double weight) {
    const double* const from = fine.data() + line;
    double* const to = coarse.data() + coarse_line;
    if (parents.empty()) {
      to[0] += weight * from[0];
      return;
    }
    to[0] += weight * (parents[0].weight - 0.5) * from[0];
    for (int k = 0; k < half; ++k) {
      const double after = 2 * k + 2 < size ? from[2 * k + 2] : 0;
      to[k] += weight * (from[2 * k + 1] + 0.5 * (from[2 * k] + after));
    }
    if (size % 2 == 1) to[half - 1] += weight * (parents.back().weight - 0.5) * from[size - 1];
  });
}

std::ptrdiff_t GridHierarchy::finer_node(int level, std::ptrdiff_t node) const {
  const GridShape &own = shape(level), &finer = shape(level - 1);
  std::ptrdiff_t result = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const std::ptrdiff_t size = own.size[at(axis)], place = node % size;
    node /= size;
    result += finer.stride(axis) * (at_level(level - 1).parents[at(axis)].empty() ? place : 2 * place + 1);
  }
  return result;
}

/// One V-cycle for the right side b of this level, into its x: symmetric, as it sweeps back the way it came.
void GridHierarchy::cycle(int level) {
  Level& own = at_level(level);
  const GridMatrix& matrix = present(level);
  matrix.sweep_from_zero(own.b, own.inverse, own.x);
  if (level + 1 < levels()) {
    matrix.residual_of_sweep(own.x, own.inverse, own.r);
    restrict_to(level, own.r, at_level(level + 1).b);
    cycle(level + 1);
    add_interpolated(level, at_level(level + 1).x, &own.inverse, own.x);
  }
  matrix.sweep_back(own.b, own.inverse, own.x);
}

GridHierarchy::End GridHierarchy::solve(const GridField& b, GridField& x, double tolerance, double enough, int most) {
  Level& own = at_level(base_);
  const GridMatrix& matrix = own.whole;
  const std::ptrdiff_t nodes = shape(base_).nodes();
  GridField &r = own.b, &z = own.x, &q = own.r, &p = direction_;
  const double* const inverse = own.inverse.data();
  const auto clear_held = [&](GridField& field) {
    for (std::ptrdiff_t i = 0; i < nodes; ++i)
      if (inverse[i] == 0) field[i] = 0;
  };
  matrix.residual(b, x, r);
  clear_held(r);
  End end;
  double before = 0;
  for (int count = 0; count <= most; ++count) {
    cycle(base_);
    const double size = dot(r, z, nodes);
    if (count == 0) end.first = size;
    end.is_solved = size <= std::max(tolerance * tolerance * end.first, enough);
    if (end.is_solved || !std::isfinite(size)) break;
    ++end.iterations;
    ++iterations_[at(base_)];
    const double by = count == 0 ? 0 : size / before;
    for (std::ptrdiff_t i = 0; i < nodes; ++i) p[i] = z[i] + by * p[i];
    before = size;
    matrix.times(p, q);
    clear_held(q);
    const double step = size / dot(p, q, nodes);
    for (std::ptrdiff_t i = 0; i < nodes; ++i) {
      x[i] += step * p[i];
      r[i] -= step * q[i];
    }
  }
  return end;
}

}  // namespace perp::linear
