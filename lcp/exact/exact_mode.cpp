#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/base/rational/integer_rows.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/exact/exact_mode.hpp>
#include <perp/lcp/structure/solving_order.hpp>

namespace perp {
namespace {

const Branch& branch_of(const ParametricMlcp& family, const Mode& mode, int law) {
  return family.base.laws[at(law)].branches[at(mode[at(law)])];
}

/// a (M21 u + M22 λ) + b λ = c - a (Q2 θ + q2), of few entries that are not 0.
ExactMode::Row law_row(const ParametricMlcp& family, const Branch& branch, int law) {
  const Mlcp& base = family.base;
  const int p = base.p(), m = base.m(), k = family.k(), n = p + m;
  ExactMode::Row row(at(n + k + 1));
  const auto put = [&](int column, double factor, double value) {
    if (factor != 0 && value != 0) row[at(column)] = Rational(factor) * Rational(value);
  };
  for (int j = 0; j < p; ++j) put(j, branch.a, base.M21(law, j));
  for (int j = 0; j < m; ++j) put(p + j, branch.a, base.M22(law, j));
  row[at(p + law)] += Rational(branch.b);
  for (int j = 0; j < k; ++j) put(n + j, -branch.a, family.Q2(law, j));
  put(n + k, -branch.a, base.q2[law]);
  row[at(n + k)] += Rational(branch.c);
  return row;
}

/// Rows [K | R] of a mode, K (u, λ) = R (θ, 1), see ModeSystem.
std::vector<ExactMode::Row> mode_rows(const ParametricMlcp& family, const Mode& mode) {
  const Mlcp& base = family.base;
  const int p = base.p(), k = family.k(), n = p + base.m();
  std::vector<ExactMode::Row> rows(at(p), ExactMode::Row(at(n + k + 1)));
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < n + k + 1; ++j) {
      Rational value = family.exact_entry(i, j);
      if (value != 0) rows[at(i)][at(j)] = j < n ? std::move(value) : -std::move(value);
    }
  for (int i = 0; i < base.m(); ++i) rows.push_back(law_row(family, branch_of(family, mode, i), i));
  return rows;
}

/// Of the rows from `first` to `end`, the sparsest one with an entry in the column; -1: none has.
int pivot_row(const std::vector<ExactMode::Row>& rows, int first, int end, int column) {
  int best = -1;
  std::ptrdiff_t fewest = 0;
  for (int i = first; i < end; ++i) {
    const ExactMode::Row& row = rows[at(i)];
    if (row[at(column)] == 0) continue;
    const std::ptrdiff_t zeros = std::count(row.begin(), row.end(), 0);
    if (best >= 0 && zeros <= fewest) continue;
    best = i;
    fewest = zeros;
  }
  return best;
}

void subtract(const ExactMode::Row& pivot, int column, ExactMode::Row& row) {
  const Rational factor = row[at(column)];
  if (factor == 0) return;
  for (std::size_t j = 0; j < row.size(); ++j)
    if (pivot[j] != 0) row[j] -= factor * pivot[j];
}

void divide(ExactMode::Row& row, int column) {
  const Rational pivot = row[at(column)];
  for (Rational& value : row)
    if (value != 0) value /= pivot;
}

/// Divides a row by its entry in the column and subtracts it from the others before `end`: their entries become 0.
void take_pivot(std::vector<ExactMode::Row>& rows, int rank, int end, int column) {
  divide(rows[at(rank)], column);
  for (int other = 0; other < end; ++other)
    if (other != rank) subtract(rows[at(rank)], column, rows[at(other)]);
}

/// sum + factor row
void add_product(ExactMode::Row& sum, const Rational& factor, const ExactMode::Row& row) {
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += factor * row[j];
}

bool is_zero_row(const ExactMode::Row& row) {
  return std::all_of(row.begin(), row.end(), [](const Rational& r) { return r == 0; });
}

/// Of a row of integers: is its first entry so long that a look for common divisors is worth it?
bool has_long_entry(const ExactMode::Row& row) {
  constexpr long many_bits = 512;
  const auto first = std::ranges::find_if(row, [](const Rational& entry) { return entry != 0; });
  return first != row.end() && binary_size(*first) > many_bits;
}

/// Solves the rows behind the core for their own unknowns, where those of the core are solved.
void solve_last(std::vector<ExactMode::Row>& rows, const SolvingOrder& order, std::vector<int>& pivot_of) {
  for (int l = order.in_core; l < static_cast<int>(order.columns.size()); ++l) {
    check_interruption();
    const int j = order.columns[at(l)];
    for (int before = 0; before < l; ++before)
      if (const int of = order.columns[at(before)]; pivot_of[at(of)] >= 0) subtract(rows[at(pivot_of[at(of)])], of, rows[at(l)]);
    divide(rows[at(l)], j);
    pivot_of[at(j)] = l;
  }
}

/// What follows the n unknowns in the rows from `first` to `end`, where it is not 0.
std::vector<ExactMode::Row> right_sides(const std::vector<ExactMode::Row>& rows, int first, int end, int n) {
  std::vector<ExactMode::Row> sides;
  for (int i = first; i < end; ++i) {
    ExactMode::Row side(rows[at(i)].begin() + n, rows[at(i)].end());
    if (!is_zero_row(side)) sides.push_back(std::move(side));
  }
  return sides;
}

}  // namespace

DoubleDouble to_double_double(const Rational& value) {
  const auto high = static_cast<double>(value);
  if (!std::isfinite(high)) return {high, 0};  // beyond the doubles: what is computed with it has no value
  return two_sum(high, static_cast<double>(Rational(value - Rational(high))));
}

ExactMode::ExactMode(const ParametricMlcp& family, const Mode& mode)
    : family_(family), mode_(mode), p_(family.base.p()), m_(family.base.m()), k_(family.k()) {
  if (!solve_in_integers(mode_rows(family, mode))) eliminate(mode_rows(family, mode));
}

const std::vector<ExactMode::Row>& ExactMode::value() const {
  if (!value_.empty()) return value_;
  for (const Row& multiple : multiples_) {
    Row& row = value_.emplace_back(at(k_ + 1));
    for (std::size_t l = 0; l < row.size(); ++l)
      if (multiple[l + 1] != 0) row[l] = multiple[l + 1] / multiple.front();
  }
  return value_;
}

Rational ExactMode::unknown(int i, const double* theta) const {
  if (multiples_.empty()) return value(value_[at(i)], theta);
  const Row& multiple = multiples_[at(i)];
  Rational sum = multiple.back();
  for (std::size_t l = 1; l + 1 < multiple.size(); ++l)
    if (multiple[l] != 0 && theta[l - 1] != 0) sum += multiple[l] * Rational(theta[l - 1]);
  return sum /= multiple.front();
}

const ExactMode::Outputs& ExactMode::outputs() const {
  if (!outputs_) {
    Outputs& outputs = outputs_.emplace();
    if (equalities_.empty() && determines_u_) {
      find_w(outputs);
      find_ends(outputs);
    }
  }
  return *outputs_;
}

// Rows in any units, without a division until the last one: a fraction of what `eliminate` costs. False: the matrix is singular.
bool ExactMode::solve_in_integers(std::vector<Row> rows) {
  const int n = p_ + m_;
  const SolvingOrder order(rows, n);
  for (Row& row : rows) make_integers(row);
  const auto subtract = [&](int pivot, int other) {
    const int column = order.columns[at(pivot)];
    if (rows[at(other)][at(column)] == 0) return;
    perp::eliminate(rows[at(other)], rows[at(pivot)], at(column));
    if (has_long_entry(rows[at(other)])) make_primitive(rows[at(other)]);
  };
  for (int l = 0; l < n; ++l) {
    check_interruption();
    if (l >= order.in_core) {
      for (int pivot = 0; pivot < l; ++pivot) subtract(pivot, l);
      continue;
    }
    const int i = pivot_row(rows, l, order.in_core, order.columns[at(l)]);
    if (i < 0) return false;
    std::swap(rows[at(i)], rows[at(l)]);
    for (int other = 0; other < order.in_core; ++other)
      if (other != l) subtract(l, other);
  }
  keep_multiples(std::move(rows), order.columns);
  return true;
}

void ExactMode::keep_multiples(std::vector<Row> rows, const std::vector<int>& columns) {
  direction_.assign(columns.size(), Row());
  multiples_.resize(columns.size());
  for (std::size_t l = 0; l < columns.size(); ++l) {
    Row& multiple = multiples_[at(columns[l])];
    multiple.push_back(std::move(rows[l][at(columns[l])]));
    std::move(rows[l].begin() + std::ssize(columns), rows[l].end(), std::back_inserter(multiple));
  }
}

Rational ExactMode::argument(int i, const double* theta) const {
  const Mlcp& base = family_.base;
  const Branch& branch = branch_of(family_, mode_, i);
  if (branch.b == 0) return Rational(branch.c) / Rational(branch.a);
  Rational sum(base.q2[i]);
  for (int j = 0; j < p_ + m_; ++j)
    if (const double entry = j < p_ ? base.M21(i, j) : base.M22(i, j - p_); entry != 0) sum += Rational(entry) * unknown(j, theta);
  for (int l = 0; l < k_; ++l)
    if (const double entry = family_.Q2(i, l); entry != 0) sum += Rational(entry) * Rational(theta[l]);
  return sum;
}

// Gauss and Jordan: unknowns without a pivot are free, rows without one say which θ are consistent.
void ExactMode::eliminate(std::vector<Row> rows) {
  const int n = p_ + m_;
  const SolvingOrder order(rows, n);
  std::vector<int> pivot_of(at(n), -1), free;
  int rank = 0;
  for (int l = 0; l < order.in_core; ++l) {
    check_interruption();
    const int j = order.columns[at(l)], i = pivot_row(rows, rank, order.in_core, j);
    if (i < 0) {
      free.push_back(j);
      continue;
    }
    std::swap(rows[at(i)], rows[at(rank)]);
    take_pivot(rows, rank, order.in_core, j);
    pivot_of[at(j)] = rank++;
  }
  free_ = static_cast<int>(free.size());
  equalities_ = right_sides(rows, rank, order.in_core, n);
  if (!equalities_.empty()) return;  // nothing else is asked for
  solve_last(rows, order, pivot_of);
  read_solution(rows, pivot_of, free);
}

void ExactMode::read_solution(const std::vector<Row>& rows, const std::vector<int>& pivot_of, const std::vector<int>& free) {
  const int n = p_ + m_;
  value_.assign(at(n), Row(at(k_ + 1)));
  direction_.assign(at(n), Row(at(free_)));
  for (int j = 0; j < n; ++j) {
    if (pivot_of[at(j)] < 0) continue;
    const Row& row = rows[at(pivot_of[at(j)])];
    std::copy(row.begin() + n, row.end(), value_[at(j)].begin());
    for (int f = 0; f < free_; ++f) direction_[at(j)][at(f)] = -row[at(free[at(f)])];
  }
  for (int f = 0; f < free_; ++f) direction_[at(free[at(f)])][at(f)] = 1;
  determines_u_ = std::all_of(direction_.begin(), direction_.begin() + p_, is_zero_row);
}

void ExactMode::find_w(Outputs& outputs) const {
  const Mlcp& base = family_.base;
  outputs.w_value.assign(at(m_), Row(at(k_ + 1)));
  outputs.w_direction.assign(at(m_), Row(at(free_)));
  for (int i = 0; i < m_; ++i) {
    const Branch& branch = branch_of(family_, mode_, i);
    if (branch.b == 0) {
      outputs.w_value[at(i)].back() = Rational(branch.c) / Rational(branch.a);
      continue;
    }
    for (int j = 0; j < p_ + m_; ++j) {
      const Rational entry(j < p_ ? base.M21(i, j) : base.M22(i, j - p_));
      if (entry == 0) continue;
      add_product(outputs.w_value[at(i)], entry, value()[at(j)]);
      add_product(outputs.w_direction[at(i)], entry, direction_[at(j)]);
    }
    for (int l = 0; l < k_; ++l) outputs.w_value[at(i)][at(l)] += Rational(family_.Q2(i, l));
    outputs.w_value[at(i)].back() += Rational(base.q2[i]);
  }
}

/// λ or w of a law beside the upper or the lower bound of it.
void ExactMode::add_end(int law, bool of_lambda, bool upper, const Rational& bound, Outputs& outputs) const {
  End end{{law, of_lambda, upper, false}, {}, {}};
  end.value = of_lambda ? value()[at(p_ + law)] : outputs.w_value[at(law)];
  end.free = of_lambda ? direction_[at(p_ + law)] : outputs.w_direction[at(law)];
  end.value.back() -= bound;
  if (upper) {
    for (Rational& entry : end.value) entry = -entry;
    for (Rational& entry : end.free) entry = -entry;
  }
  outputs.ends.push_back(std::move(end));
}

void ExactMode::find_ends(Outputs& outputs) const {
  for (int i = 0; i < m_; ++i) {
    const Branch& branch = branch_of(family_, mode_, i);
    const BranchEnd ends[2] = {branch_end(branch, false), branch_end(branch, true)};
    for (const bool upper : {false, true}) {
      const BranchEnd& end = ends[upper ? 1 : 0];
      if (!std::isfinite(end.bound)) continue;
      if (!end.from_lambda)
        add_end(i, branch.b == 0, upper, Rational(end.bound), outputs);
      else  // w = (c - b λ) / a at the end of λ
        add_end(i, false, upper,
                Rational((Rational(branch.c) - Rational(branch.b) * Rational(end.bound)) /
                         Rational(branch.a)),
                outputs);
    }
  }
}

Rational ExactMode::value(const Row& row, const double* theta) {
  Rational sum = row.back();
  for (std::size_t j = 0; j + 1 < row.size(); ++j)
    if (row[j] != 0 && theta[j] != 0) sum += row[j] * Rational(theta[j]);
  return sum;
}

}  // namespace perp
