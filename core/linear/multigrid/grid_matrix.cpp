#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/multigrid/grid_matrix.hpp>

namespace perp::linear {
namespace {

/// The distances of columns from their rows, increasing.
std::vector<int> distances(const SparseMatrix& matrix) {
  std::vector<char> has(at(matrix.columns()), 0);
  for (int i = 0; i < matrix.rows(); ++i)
    for (const auto& [j, value] : matrix.row(i)) has[at(std::abs(i - j))] = 1;
  std::vector<int> list;
  for (int d = 1; d < matrix.columns(); ++d)
    if (has[at(d)] != 0) list.push_back(d);
  return list;
}

/// Is column j a neighbour of row i?
bool is_neighbour(const GridShape& shape, int i, int j) {
  for (int axis = 2; axis >= 0; --axis) {
    const auto of = [&](int node) { return static_cast<int>(node / shape.stride(axis) % shape.size[at(axis)]); };
    if (std::abs(of(i) - of(j)) > 1) return false;
  }
  return true;
}

bool are_neighbours(const SparseMatrix& matrix, const GridShape& shape) {
  for (int i = 0; i < matrix.rows(); ++i)
    for (const auto& [j, value] : matrix.row(i))
      if (!is_neighbour(shape, i, j)) return false;
  return true;
}

/// n nodes, from one of which to the next along the second and third axis these distances lead; n: there is none.
std::optional<GridShape> shape_with(int n, int second, int third) {
  const bool fits = second > 1 && third % second == 0 && n % third == 0 && (third > second || second == n);
  return fits ? std::optional(GridShape{{second, third / second, n / third}}) : std::nullopt;
}

/// The number of the step from node i to its neighbour j.
int code_of(const GridShape& shape, int i, int j) {
  int code = 0;
  for (int axis = 2; axis >= 0; --axis) {
    const auto of = [&](int node) { return static_cast<int>(node / shape.stride(axis) % shape.size[at(axis)]); };
    code = 3 * code + of(j) - of(i) + 1;
  }
  return code;
}

}  // namespace

std::optional<GridShape> grid_shape(const SparseMatrix& matrix) {
  const int n = matrix.rows();
  if (n < 2 || n != matrix.columns()) return std::nullopt;
  std::vector<int> list = distances(matrix);
  constexpr std::size_t most = (GridMatrix::neighbours - 1) / 2;
  if (list.empty() || list.front() != 1 || list.size() > most) return std::nullopt;
  list.push_back(n);  // an axis may be the last one
  for (const int second : list)
    for (const int third : list) {
      const std::optional<GridShape> shape = shape_with(n, second, third);
      if (shape && are_neighbours(matrix, *shape)) return shape;
    }
  return std::nullopt;
}

void GridField::fill(double value) {
  std::fill(values_.begin() + reach_, values_.end() - reach_, value);
}

std::optional<GridMatrix> GridMatrix::of(const SparseMatrix& matrix, const GridShape& shape) {
  if (shape.nodes() != matrix.rows() || !are_neighbours(matrix, shape)) return std::nullopt;
  GridMatrix result(shape);
  for (int i = 0; i < matrix.rows(); ++i)
    for (const auto& [j, value] : matrix.row(i)) {
      if (j < i) {
        if (value != matrix(j, i)) return std::nullopt;
      } else if (j == i) {
        result.diagonal_[i] = value;
      } else {
        if (value != matrix(j, i)) return std::nullopt;
        result.room_beside(code_of(shape, i, j))[i] = value;
      }
    }
  return result;
}

GridField& GridMatrix::room_beside(int code) {
  GridField& field = beside(code);
  if (field.empty()) field = GridField(shape_);
  return field;
}

std::ptrdiff_t GridMatrix::distance(int code) const {
  return step(code, 0) + step(code, 1) * shape_.stride(1) + step(code, 2) * shape_.stride(2);
}

GridMatrix::Entries GridMatrix::entries() const {
  Entries list;
  for (int code = centre + 1; code < neighbours; ++code) {
    if (beside(code).empty()) continue;
    list.value[at(list.count)] = beside(code).data();
    list.distance[at(list.count++)] = distance(code);
  }
  return list;
}

/// work(a constant of the number of neighbours), for those that stencils have.
template <class Work>
void GridMatrix::with_count(int count, const Work& work) {
  using std::integral_constant;
  switch (count) {
    case 1: return work(integral_constant<int, 1>());
    case 2: return work(integral_constant<int, 2>());
    case 3: return work(integral_constant<int, 3>());
    case 4: return work(integral_constant<int, 4>());
    default: return work(count);
  }
}

void GridMatrix::times(const GridField& x, GridField& y) const {
  const Entries list = entries();
  const double *from = x.data(), *diagonal = diagonal_.data();
  double* to = y.data();
  with_count(list.count, [&](auto count) {
    for (std::ptrdiff_t i = 0; i < shape_.nodes(); ++i) {
      double sum = diagonal[i] * from[i];
      for (std::size_t k = 0; k < at(count); ++k) {
        const std::ptrdiff_t d = list.distance[k];
        sum += list.value[k][i] * from[i + d] + list.value[k][i - d] * from[i - d];
      }
      to[i] = sum;
    }
  });
}

void GridMatrix::residual(const GridField& b, const GridField& x, GridField& r, GridField* sizes) const {
  const Entries list = entries();
  const double *from = x.data(), *diagonal = diagonal_.data(), *right = b.data();
  double *to = r.data(), *size = sizes == nullptr ? nullptr : sizes->data();
  with_count(list.count, [&](auto count) {
    for (std::ptrdiff_t i = 0; i < shape_.nodes(); ++i) {
      double sum = right[i] - diagonal[i] * from[i], terms = std::abs(right[i]) + std::abs(diagonal[i] * from[i]);
      for (std::size_t k = 0; k < at(count); ++k) {
        const std::ptrdiff_t d = list.distance[k];
        const double behind = list.value[k][i] * from[i + d], before = list.value[k][i - d] * from[i - d];
        sum -= behind + before;
        terms += std::abs(behind) + std::abs(before);
      }
      to[i] = sum;
      if (size != nullptr) size[i] = terms;
    }
  });
}

// What comes from the node before is the last term: a sweep waits for it alone.
void GridMatrix::sweep_from_zero(const GridField& b, const GridField& inverse, GridField& x) const {
  const Entries list = entries();
  const double *right = b.data(), *by = inverse.data();
  double* to = x.data();
  with_count(list.count, [&](auto count) {
    double last = 0;
    const std::ptrdiff_t step = list.count == 0 ? 0 : list.distance[0];
    for (std::ptrdiff_t i = 0; i < shape_.nodes(); ++i) {
      double sum = right[i];
      for (std::size_t k = 1; k < at(count); ++k) {
        const std::ptrdiff_t d = list.distance[k];
        sum -= list.value[k][i - d] * to[i - d];
      }
      if (step != 1) last = to[i - step];
      to[i] = last = list.count == 0 ? sum * by[i] : sum * by[i] - list.value[0][i - step] * by[i] * last;
    }
  });
}

/// The rows before the diagonal and on it hold.
void GridMatrix::residual_of_sweep(const GridField& x, const GridField& inverse, GridField& r) const {
  const Entries list = entries();
  const double *from = x.data(), *by = inverse.data();
  double* to = r.data();
  with_count(list.count, [&](auto count) {
    for (std::ptrdiff_t i = 0; i < shape_.nodes(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < at(count); ++k) sum -= list.value[k][i] * from[i + list.distance[k]];
      to[i] = by[i] != 0 ? sum : 0;
    }
  });
}

void GridMatrix::sweep_back(const GridField& b, const GridField& inverse, GridField& x) const {
  const Entries list = entries();
  const double *right = b.data(), *by = inverse.data();
  double* to = x.data();
  with_count(list.count, [&](auto count) {
    double last = 0;
    const std::ptrdiff_t step = list.count == 0 ? 0 : list.distance[0];
    for (std::ptrdiff_t i = shape_.nodes() - 1; i >= 0; --i) {
      double sum = right[i];
      if (list.count > 0) sum -= list.value[0][i - step] * to[i - step];
      for (std::size_t k = 1; k < at(count); ++k) {
        const std::ptrdiff_t d = list.distance[k];
        sum -= list.value[k][i] * to[i + d] + list.value[k][i - d] * to[i - d];
      }
      if (step != 1) last = to[i + step];
      to[i] = last = list.count == 0 ? sum * by[i] : sum * by[i] - list.value[0][i] * by[i] * last;
    }
  });
}

}  // namespace perp::linear
