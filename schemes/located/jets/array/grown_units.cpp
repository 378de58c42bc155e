// Sizes of unknown coefficients where the state has outgrown the units of the model: called at the start of a jet.
#include <algorithm>
#include <cmath>

#include <perp/schemes/located/jets/array/mode_array.hpp>

namespace perp {
namespace {

constexpr double hidden = 1e-11;  ///< of the terms of a row: an entry below that tells nothing of its unknown
constexpr double outgrown = 0x1p10;  ///< of a unit: what is below does not hide an unknown beside it

/// The largest term of a row of the array, in units of its columns.
double largest_term(std::span<const linear::SparseMatrix::Entry> row, const Vector& units) {
  double largest = 0;
  for (const auto& [column, value] : row) largest = std::max(largest, std::abs(value) * units[column]);
  return largest;
}

}  // namespace

/// An unknown balances the other terms of its rows: its unit is at least what the least of these rows makes of it. A variable is
/// told by its rate where there is one; its higher coefficients have the same unit.
bool ModeArray::raise_units(const Vector& plain, Vector& units) const {
  const int n = array_.n(), m = array_.m(), first = array_.lambda_column(0, 0);
  Vector least = Vector::Constant(units.size(), inf);
  for (int r = 0; r < n + m; ++r) {
    const auto row = array_.derivatives().row(r);
    const double terms = std::max(largest_term(row, units), std::abs(array_.values()[r]));
    const double in_plain_units = largest_term(row, plain);
    for (const auto& [column, value] : row)
      if (std::abs(value) * plain[column] > hidden * in_plain_units) least[column] = std::min(least[column], terms / std::abs(value));
  }
  const Vector before = units;
  const auto raise = [&](double to, int column) {
    if (to < inf && to > outgrown * units[column]) units[column] = to;
  };
  for (int j = 0; j < n; ++j) {
    const int rate = array_.x_column(1, j);
    raise(least[rate] < inf ? least[rate] : least[j], j);
    units[rate] = units[j];
  }
  for (int i = 0; i < m; ++i) raise(least[first + i], first + i);
  return units != before;
}

bool ModeArray::has_grown() const {
  return (x_.col(0).cwiseAbs().array() > outgrown * scales_.x.array()).any();
}

void ModeArray::set_grown_units() {
  const int n = array_.n(), m = array_.m(), first = array_.lambda_column(0, 0);
  Vector plain = Vector::Zero(array_.columns());
  for (const int k : {0, 1}) plain.segment(array_.x_column(k, 0), n) = scales_.x;
  plain.segment(first, m) = scales_.lambda;
  Vector units = plain;
  for (int j = 0; j < n; ++j)
    if (std::abs(x_(j, 0)) > outgrown * scales_.x[j]) units[j] = units[array_.x_column(1, j)] = std::abs(x_(j, 0));
  for (int pass = 0; pass < n + m && raise_units(plain, units); ++pass) {
  }
  for (int k = 2; k <= array_.levels() + 1; ++k) units.segment(array_.x_column(k, 0), n) = units.segment(array_.x_column(1, 0), n);
  for (int k = 1; k <= array_.levels(); ++k) units.segment(array_.lambda_column(k, 0), m) = units.segment(first, m);
  grown_units_ = units;
  set_unknown_sizes();
}

}  // namespace perp
