#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/lcs.hpp>

namespace perp {
namespace {

/// Are all entries? The difference of a finite one from itself is 0, that of others no number.
bool are_finite(const Matrix& matrix) { return (matrix - matrix).sum() == 0; }

void check_shape(const char* name, const Matrix& matrix, int rows, int columns) {
  if (matrix.rows() != rows || matrix.cols() != columns)
    throw InvalidInput(fmt::format("{} must be {}x{} but is {}x{}", name, rows, columns,
                                   matrix.rows(), matrix.cols()));
  if (are_finite(matrix)) return;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (!std::isfinite(matrix(i, j)))
        throw InvalidInput(
            fmt::format("{}({},{}) must be finite but is {}", name, i + 1, j + 1, matrix(i, j)));
}

/// May be left out where there are no laws.
void check_with_laws(const char* name, const Matrix& matrix, int rows, int columns, int laws) {
  if (matrix.size() > 0 || laws > 0) check_shape(name, matrix, rows, columns);
}

void check_if_given(const char* name, const Matrix& matrix, int rows, int columns) {
  if (matrix.size() > 0) check_shape(name, matrix, rows, columns);
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
  // What varies is asked for within a span alone, where it may be finite.
  const std::vector<int>& varying = signal.varying();
  for (int i = 0; i < size; ++i)
    if (!std::isfinite(signal.constant()[i]) && !std::ranges::binary_search(varying, i))
      throw InvalidInput(
          fmt::format("{}({}) must be finite but is {}", name, i + 1, signal.constant()[i]));
}

}  // namespace

void validate(const Lcs& lcs) {
  const int n = lcs.n(), m = lcs.m();
  if (n == 0) throw InvalidInput("A must have at least one row but is empty");
  check_shape("A", lcs.A, n, n);
  check_if_given("E", lcs.E, n, n);
  check_with_laws("B", lcs.B, n, m, m);
  check_with_laws("C", lcs.C, m, n, m);
  check_if_given("D", lcs.D, m, m);
  if (lcs.b.size() > 0) check_signal("b", lcs.b, n);
  if (lcs.q.size() > 0) check_signal("q", lcs.q, m);
  for (const Law& law : lcs.laws) validate(law);
}

Lcs validated(Lcs lcs) {
  validate(lcs);
  const int n = lcs.n(), m = lcs.m();
  if (lcs.E.size() == 0) lcs.E = Matrix::Identity(n, n);
  if (m == 0) lcs.B = Matrix::Zero(n, m);
  if (m == 0) lcs.C = Matrix::Zero(m, n);
  if (lcs.D.size() == 0) lcs.D = Matrix::Zero(m, m);
  if (lcs.b.size() == 0) lcs.b = Vector(Vector::Zero(n));
  if (lcs.q.size() == 0) lcs.q = Vector(Vector::Zero(m));
  return lcs;
}

}  // namespace perp
