#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/binary_scaling.hpp>

namespace perp {
namespace {

constexpr int most_sweeps = 12;  ///< of the least squares; a scaling needs no more than a digit

/// 2^k a, rounded once.
double scaled(double a, int k) {
  if (k < -1022 || k > 1023) return std::ldexp(a, k);
  return a * std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52U);
}

/// `exponents` become those that remove the means of `sums`, so that sums of squares over rows (or columns) are least. Did
/// one of them change?
bool remove_means(const std::vector<double>& sums, const std::vector<int>& counts,
                  std::vector<double>& exponents) {
  bool has_changed = false;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (counts[i] == 0) continue;
    const double exponent = -sums[i] / counts[i];
    has_changed = has_changed || exponent != exponents[i];
    exponents[i] = exponent;
  }
  return has_changed;
}

}  // namespace

struct BinaryScaling::Room {
  struct Entry {
    Eigen::Index row, column;
    double exponent;
  };
  std::vector<char> row_known, column_known;
  std::vector<Eigen::Index> waiting;  // rows, then columns as n + j
  std::vector<Entry> entries;
  std::vector<int> in_row, in_column;
  std::vector<double> rho, kappa, sums;
};

BinaryScaling::Room& BinaryScaling::room() {
  thread_local Room of_thread;
  return of_thread;
}

/// Exponents that make the entries of a spanning tree of each connected part 0. The tree depends on
/// which entries are zero alone, so that what is left does not depend on units. `each_of_row(i, work)`: work(j, entry)
/// for each entry that is not 0, `each_of_column` alike.
template <class EachOfRow, class EachOfColumn>
void BinaryScaling::scale_along_trees(const EachOfRow& each_of_row, const EachOfColumn& each_of_column) {
  Room& own = room();
  own.row_known.assign(row.size(), 0);
  own.column_known.assign(column.size(), 0);
  const auto n = static_cast<Eigen::Index>(row.size());
  for (Eigen::Index first = 0; first < n; ++first) {
    if (own.row_known[at(first)] != 0) continue;
    own.row_known[at(first)] = 1;
    own.waiting.assign(1, first);
    for (std::size_t next = 0; next < own.waiting.size(); ++next) {
      const Eigen::Index now = own.waiting[next];
      if (now < n) {
        each_of_row(now, [&](Eigen::Index j, double entry) {
          if (own.column_known[at(j)] != 0) return;
          own.column_known[at(j)] = 1;
          column[at(j)] = -std::ilogb(entry) - row[at(now)];
          own.waiting.push_back(n + j);
        });
      } else {
        const Eigen::Index j = now - n;
        each_of_column(j, [&](Eigen::Index i, double entry) {
          if (own.row_known[at(i)] != 0) return;
          own.row_known[at(i)] = 1;
          row[at(i)] = -std::ilogb(entry) - column[at(j)];
          own.waiting.push_back(i);
        });
      }
    }
  }
}

void BinaryScaling::begin(Eigen::Index rows, Eigen::Index columns) {
  Room& own = room();
  row.assign(at(rows), 0);
  column.assign(at(columns), 0);
  own.entries.clear();
  own.waiting.reserve(row.size() + column.size());
  own.in_row.assign(row.size(), 0);
  own.in_column.assign(column.size(), 0);
}

void BinaryScaling::add_entry(Room& own, Eigen::Index i, Eigen::Index j, double entry) const {
  own.entries.push_back({i, j, static_cast<double>(std::ilogb(entry) + row[at(i)] + column[at(j)])});
  ++own.in_row[at(i)];
  ++own.in_column[at(j)];
}

void BinaryScaling::compute(const Matrix& entries) {
  begin(entries.rows(), entries.cols());
  Room& own = room();
  own.entries.reserve(at((entries.array() != 0).count()));
  scale_along_trees(
      [&](Eigen::Index i, const auto& work) {
        for (Eigen::Index j = 0; j < entries.cols(); ++j)
          if (entries(i, j) != 0) work(j, entries(i, j));
      },
      [&](Eigen::Index j, const auto& work) {
        for (Eigen::Index i = 0; i < entries.rows(); ++i)
          if (entries(i, j) != 0) work(i, entries(i, j));
      });
  for (Eigen::Index j = 0; j < entries.cols(); ++j)
    for (Eigen::Index i = 0; i < entries.rows(); ++i)
      if (entries(i, j) != 0) add_entry(own, i, j, entries(i, j));
  balance();
}

BinaryScaling::BinaryScaling(const linear::SparseMatrix& entries) {
  begin(entries.rows(), entries.columns());
  const linear::SparseMatrix columns = entries.transposed();
  const auto each_of = [](const linear::SparseMatrix& matrix) {
    return [&matrix](Eigen::Index i, const auto& work) {
      for (const auto& [j, entry] : matrix.row(static_cast<int>(i))) work(j, entry);
    };
  };
  scale_along_trees(each_of(entries), each_of(columns));
  Room& own = room();
  for (int j = 0; j < columns.rows(); ++j)
    for (const auto& [i, entry] : columns.row(j)) add_entry(own, i, j, entry);
  balance();
}

/// min Σ (e_ij + ρ_i + κ_j)² by turns over ρ and κ (Curtis and Reid)
void BinaryScaling::balance() {
  constexpr std::size_t most_kept = 4096;  // entries whose room waits for the next matrix
  Room& own = room();
  own.rho.assign(row.size(), 0);
  own.kappa.assign(column.size(), 0);
  bool has_changed = true;
  for (int sweep = 0; has_changed && sweep < most_sweeps; ++sweep) {
    own.sums.assign(row.size(), 0);
    for (const Room::Entry& e : own.entries) own.sums[at(e.row)] += e.exponent + own.kappa[at(e.column)];
    has_changed = remove_means(own.sums, own.in_row, own.rho);
    own.sums.assign(column.size(), 0);
    for (const Room::Entry& e : own.entries) own.sums[at(e.column)] += e.exponent + own.rho[at(e.row)];
    has_changed = remove_means(own.sums, own.in_column, own.kappa) || has_changed;
  }
  for (std::size_t i = 0; i < row.size(); ++i) row[i] += static_cast<int>(std::lround(own.rho[i]));
  for (std::size_t j = 0; j < column.size(); ++j)
    column[j] += static_cast<int>(std::lround(own.kappa[j]));
  if (own.entries.size() > most_kept) own = {};
}

int BinaryScaling::range() const {
  int most = 0;
  for (const std::vector<int>* exponents : {&row, &column})
    for (const int exponent : *exponents) most = std::max(most, std::abs(exponent));
  return most;
}

void BinaryScaling::limit(int most) {
  const int range = this->range();
  if (range <= most) return;
  for (std::vector<int>* exponents : {&row, &column})
    for (int& exponent : *exponents)
      exponent = static_cast<int>(static_cast<std::int64_t>(exponent) * most / range);
}

Matrix BinaryScaling::apply(const Matrix& entries) const {
  Matrix result = entries;
  apply_to(result);
  return result;
}

void BinaryScaling::apply_to(Matrix& entries) const {
  for (Eigen::Index j = 0; j < entries.cols(); ++j)
    for (Eigen::Index i = 0; i < entries.rows(); ++i)
      if (entries(i, j) != 0) entries(i, j) = scaled(entries(i, j), row[at(i)] + column[at(j)]);
}

void BinaryScaling::apply_rows_to(Vector& entries) const {
  for (Eigen::Index i = 0; i < entries.size(); ++i)
    entries[i] = scaled(entries[i], row[at(i)]);
}

void BinaryScaling::unscale_in_place(Vector& unknowns) const {
  for (Eigen::Index i = 0; i < unknowns.size(); ++i)
    unknowns[i] = scaled(unknowns[i], column[at(i)]);
}

Matrix BinaryScaling::apply_rows(const Matrix& entries) const {
  Matrix result = entries;
  for (Eigen::Index j = 0; j < result.cols(); ++j)
    for (Eigen::Index i = 0; i < result.rows(); ++i)
      if (result(i, j) != 0) result(i, j) = scaled(result(i, j), row[at(i)]);
  return result;
}

Matrix BinaryScaling::unscale(const Matrix& unknowns) const {
  Matrix result = unknowns;
  for (Eigen::Index j = 0; j < result.cols(); ++j)
    for (Eigen::Index i = 0; i < result.rows(); ++i) result(i, j) = scaled(result(i, j), column[at(i)]);
  return result;
}

}  // namespace perp
