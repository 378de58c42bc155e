#include <fmt/format.h>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/lcs.hpp>

namespace perp {
namespace {

void check_shape(const char* name, const Matrix& matrix, int rows, int columns) {
  if (matrix.rows() != rows || matrix.cols() != columns)
    throw InvalidInput(fmt::format("{} must be {}x{} but is {}x{}", name, rows, columns,
                                   matrix.rows(), matrix.cols()));
  if (matrix.allFinite()) return;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (!std::isfinite(matrix(i, j)))
        throw InvalidInput(
            fmt::format("{}({},{}) must be finite but is {}", name, i + 1, j + 1, matrix(i, j)));
}

void check_signal(const char* name, const Signal& signal, int size) {
  if (signal.size() != size)
    throw InvalidInput(
        fmt::format("{} must have {} entries but has {}", name, size, signal.size()));
  int previous = -1;
  for (const int i : signal.varying()) {
    if (i <= previous || i >= size)
      throw InvalidInput(
          fmt::format("{}: varying entries must be increasing and below {}", name, size));
    previous = i;
  }
  for (int i = 0; i < size; ++i)
    if (!std::isfinite(signal.constant()[i]))
      throw InvalidInput(
          fmt::format("{}({}) must be finite but is {}", name, i + 1, signal.constant()[i]));
}

}  // namespace

Lcs validated(Lcs lcs) {
  const int n = lcs.n();
  const int m = lcs.m();
  if (n == 0) throw InvalidInput("A must have at least one row but is empty");
  if (lcs.E.size() == 0) lcs.E = Matrix::Identity(n, n);
  if (lcs.B.size() == 0 && m == 0) lcs.B = Matrix::Zero(n, m);
  if (lcs.C.size() == 0 && m == 0) lcs.C = Matrix::Zero(m, n);
  if (lcs.D.size() == 0) lcs.D = Matrix::Zero(m, m);
  if (lcs.b.size() == 0) lcs.b = Vector(Vector::Zero(n));
  if (lcs.q.size() == 0) lcs.q = Vector(Vector::Zero(m));
  check_shape("A", lcs.A, n, n);
  check_shape("E", lcs.E, n, n);
  check_shape("B", lcs.B, n, m);
  check_shape("C", lcs.C, m, n);
  check_shape("D", lcs.D, m, m);
  check_signal("b", lcs.b, n);
  check_signal("q", lcs.q, m);
  for (const Law& law : lcs.laws) validate(law);
  return lcs;
}

}  // namespace perp
