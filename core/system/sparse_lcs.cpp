// Affine systems by their entries, and with full matrices: who lists solutions or proves things asks for the latter.
#include <perp/core/system/sparse_lcs.hpp>

namespace perp {

namespace {

/// Zeros where nothing is given.
linear::SparseMatrix entries_of(const Matrix& given, int rows, int columns) {
  return given.size() == 0 ? linear::SparseMatrix(rows, columns) : linear::SparseMatrix(given);
}

linear::SparseMatrix identity(int n) {
  std::vector<linear::SparseMatrix::Placed> entries;
  for (int i = 0; i < n; ++i) entries.push_back({i, i, 1});
  return {n, n, entries};
}

Signal or_zeros(const Signal& given, int size) {
  return given.size() == 0 ? Signal(Vector(Vector::Zero(size))) : given;
}

}  // namespace

SparseLcs sparse(const Lcs& lcs) {
  validate(lcs);
  const int n = lcs.n(), m = lcs.m();
  return {.E = lcs.E.size() == 0 ? identity(n) : linear::SparseMatrix(lcs.E),
          .A = linear::SparseMatrix(lcs.A),
          .B = entries_of(lcs.B, n, m),
          .b = or_zeros(lcs.b, n),
          .C = entries_of(lcs.C, m, n),
          .D = entries_of(lcs.D, m, m),
          .q = or_zeros(lcs.q, m),
          .laws = lcs.laws};
}

Lcs dense(const SparseLcs& lcs) {
  return {.E = lcs.E.dense(),
          .A = lcs.A.dense(),
          .B = lcs.B.dense(),
          .b = lcs.b,
          .C = lcs.C.dense(),
          .D = lcs.D.dense(),
          .q = lcs.q,
          .laws = lcs.laws};
}

}  // namespace perp
