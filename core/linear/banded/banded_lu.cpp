#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/banded/banded_lu.hpp>
#include <perp/core/linear/disjoint_sets.hpp>

namespace perp::linear {
namespace {

/// The graph of a pattern without its diagonal: neighbours of each node, increasing.
Pattern symmetric_graph(const Pattern& rows) {
  Pattern graph(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const int j : rows[i]) {
      if (at(j) == i) continue;
      graph[i].push_back(j);
      graph[at(j)].push_back(static_cast<int>(i));
    }
  for (std::vector<int>& list : graph) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return graph;
}

/// Nodes of one component from `first` on, level by level, those with few neighbours first in each.
std::vector<int> levels(const Pattern& graph, int first, std::vector<char>& is_met) {
  std::vector<int> order{first};
  is_met[at(first)] = 1;
  for (std::size_t next = 0; next < order.size(); ++next) {
    const std::size_t begin = order.size();
    for (const int j : graph[at(order[next])]) {
      if (is_met[at(j)] != 0) continue;
      is_met[at(j)] = 1;
      order.push_back(j);
    }
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin), order.end(),
                     [&](int a, int b) { return graph[at(a)].size() < graph[at(b)].size(); });
  }
  return order;
}

}  // namespace

std::vector<int> banded_order(const Pattern& rows) {
  const Pattern graph = symmetric_graph(rows);
  std::vector<int> order;
  std::vector<char> is_met(graph.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (is_met[i] != 0) continue;
    // The last node of the levels from any one is at an end of the component.
    const std::vector<int> once = levels(graph, static_cast<int>(i), is_met);
    for (const int node : once) is_met[at(node)] = 0;
    const std::vector<int> component = levels(graph, once.back(), is_met);
    order.insert(order.end(), component.begin(), component.end());
  }
  std::vector<int> place(graph.size());
  const int n = static_cast<int>(graph.size());
  for (int k = 0; k < n; ++k) place[at(order[at(k)])] = n - 1 - k;
  return place;
}

namespace {

constexpr double few_numbers = 65536;  ///< of factors that are left as they are

/// The bands of entries at these places.
void find_bands(const Pattern& rows, BandedOrder& order) {
  order.below = order.above = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const int j : rows[i]) {
      order.below = std::max(order.below, order.rows[i] - order.columns[at(j)]);
      order.above = std::max(order.above, order.columns[at(j)] - order.rows[i]);
    }
}

/// Rows beside columns that they hold; nothing: there is no such order, or each holds its own.
std::optional<std::vector<int>> columns_of_rows(const Pattern& rows) {
  bool is_own = true;
  for (std::size_t i = 0; i < rows.size() && is_own; ++i) is_own = std::ranges::find(rows[i], static_cast<int>(i)) != rows[i].end();
  if (is_own) return std::nullopt;
  Matching matching = maximum_matching(rows, static_cast<int>(rows.size()));
  return matching.is_perfect() ? std::optional(std::move(matching.column_of_row)) : std::nullopt;
}

}  // namespace

BandedOrder banded_order_of(const Pattern& rows) {
  BandedOrder alike{.rows = banded_order(rows), .columns = {}};
  alike.columns = alike.rows;
  find_bands(rows, alike);
  const std::optional<std::vector<int>> columns = alike.numbers() > few_numbers ? columns_of_rows(rows) : std::nullopt;
  if (!columns) return alike;
  // Row i as that of its column.
  Pattern placed(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) placed[at((*columns)[i])] = rows[i];
  BandedOrder beside{.rows = {}, .columns = banded_order(placed)};
  for (const int column : *columns) beside.rows.push_back(beside.columns[at(column)]);
  find_bands(rows, beside);
  return 2 * beside.numbers() < alike.numbers() ? beside : alike;
}

BandedLu::BandedLu(int n, int below, int above)
    : n_(n),
      below_(std::min(below, std::max(n - 1, 0))),
      reach_(std::min(above + below_, std::max(n - 1, 0))),
      width_(below_ + reach_ + 1),
      entries_(at(n) * at(width_)),
      pivot_(at(n)),
      end_of_l_(at(n)),
      end_of_u_(at(n)) {
  part_.resize(at(n));
}

void BandedLu::clear() { std::fill(entries_.begin(), entries_.end(), 0.0); }

/// At or below the diagonal: the row with the largest entry of this column, the first of equal
/// ones.
int BandedLu::pivot_row(int k, double least) const {
  int best = k;
  const double own = std::abs(row(k)[k]);
  double largest = own;
  for (int i = k + 1; i <= last_row(k); ++i)
    if (const double size = std::abs(row(i)[k]); size > largest) {
      largest = size;
      best = i;
    }
  return own >= least * largest ? k : best;
}

/// Row k times the factors of L leaves the rows below it. Behind the last entry of a row of U or a column of L the bands hold
/// zeros: room that pivots may ask for, most of which do not.
void BandedLu::eliminate(int k) {
  const int last_i = last_row(k);
  const double* const top = row(k);
  int last_j = last_column(k);
  while (last_j > k && top[last_j] == 0) --last_j;
  int last_l = k;
  for (int i = k + 1; i <= last_i; ++i) {
    double* const lower = row(i);
    if (lower[k] == 0) continue;
    const double factor = lower[k] / top[k];
    lower[k] = factor;
    ++in_row_[at(i)];
    last_l = i;
    for (int j = k + 1; j <= last_j; ++j) lower[j] -= factor * top[j];
  }
  end_of_l_[at(k)] = last_l + 1;
  end_of_u_[at(k)] = last_j + 1;
}

/// Columns that one row holds are of one part, found in the room of the parts.
void BandedLu::find_parts() {
  std::iota(part_.begin(), part_.end(), 0);
  for (int i = 0; i < n_; ++i) {
    const double* const entries = row(i);
    const int last = last_column(i);
    int first = -1;
    for (int j = std::max(i - below_, 0); j <= last; ++j) {
      if (entries[j] == 0) continue;
      const int other = root_of(part_, j);
      const int both = first < 0 ? other : std::min(first, other);
      if (first >= 0) part_[at(std::max(first, other))] = both;
      first = both;
    }
  }
  parts_ = 0;
  for (int j = 0; j < n_; ++j) part_[at(j)] = part_[at(j)] == j ? parts_++ : part_[at(part_[at(j)])];
}

bool BandedLu::factorise(double least) {
  find_parts();
  in_row_.assign(at(n_), 0);
  for (int k = 0; k < n_; ++k) {
    const int best = pivot_row(k, least);
    const double largest = std::abs(row(best)[k]);
    pivot_[at(k)] = best;
    if (!(largest > 0 && largest < inf)) return false;
    if (best != k) {
      std::swap_ranges(row(k) + k, row(k) + last_column(k) + 1, row(best) + k);
      std::swap(in_row_[at(k)], in_row_[at(best)]);
    }
    eliminate(k);
  }
  longest_ = n_ == 0 ? 0 : *std::ranges::max_element(in_row_);
  span_ = 0;
  for (int k = 0; k < n_; ++k) span_ = std::max(span_, end_of_u_[at(k)] - k);
  return true;
}

void BandedLu::solve(double* x) const {
  for (int k = 0; k < n_; ++k) {
    exchange(x, k);
    const double here = x[k];
    if (here == 0) continue;
    for (int i = k + 1; i < end_of_l_[at(k)]; ++i) x[i] -= row(i)[k] * here;
  }
  for (int k = n_ - 1; k >= 0; --k) {
    const double* const top = row(k);
    double sum = x[k];
    for (int j = k + 1; j < end_of_u_[at(k)]; ++j) sum -= top[j] * x[j];
    x[k] = sum / top[k];
  }
}

void BandedLu::solve_transposed(double* x) const {
  for (int k = 0; k < n_; ++k) {
    const double* const top = row(k);
    x[k] /= top[k];
    if (x[k] == 0) continue;
    for (int j = k + 1; j < end_of_u_[at(k)]; ++j) x[j] -= top[j] * x[k];
  }
  for (int k = n_ - 1; k >= 0; --k) {
    double sum = x[k];
    for (int i = k + 1; i < end_of_l_[at(k)]; ++i) sum -= row(i)[k] * x[i];
    x[k] = sum;
    exchange(x, k);
  }
}

/// |L|⁻¹ P x in comparison form: all terms are added.
template <class Number>
void BandedLu::forward_bound(Number* x) const {
  for (int k = 0; k < n_; ++k) {
    exchange(x, k);
    const Number here = x[k];
    for (int i = k + 1; i < end_of_l_[at(k)]; ++i) x[i] += std::abs(row(i)[k]) * here;
  }
}

template <class Number>
void BandedLu::backward_bound(Number* x) const {
  for (int k = n_ - 1; k >= 0; --k) {
    const double* const top = row(k);
    Number sum = x[k];
    for (int j = k + 1; j < end_of_u_[at(k)]; ++j) sum += std::abs(top[j]) * x[j];
    x[k] = sum / std::abs(top[k]);
  }
}

/// x >= 0 becomes Pᵀ |L| |U| x.
template <class Number>
void BandedLu::multiply_sizes(Number* x) const {
  for (int k = 0; k < n_; ++k) {
    const double* const top = row(k);
    Number sum{};
    for (int j = k; j < end_of_u_[at(k)]; ++j) sum += std::abs(top[j]) * x[j];
    x[k] = sum;
  }
  for (int k = n_ - 1; k >= 0; --k) {
    for (int i = k + 1; i < end_of_l_[at(k)]; ++i) x[i] += std::abs(row(i)[k]) * x[k];
    exchange(x, k);
  }
}

// P A = L U - F with |F| <= k u / (1 - k u) |L| |U| (Higham, Accuracy and Stability, 9.3), k the terms of an entry of L U,
// which a column of U bounds. With z =
// |U|⁻¹ |L|⁻¹ P x in comparison form and T = |U|⁻¹ |L|⁻¹ |F| likewise, |A⁻¹| x <= z + T z + T² z +
// ..., at most 2 z where T z <= z/2.
bool BandedLu::bound(double* x, double* work) const {
  const double grown = grown_by_sums();
  forward_bound(x);
  backward_bound(x);
  std::copy(x, x + n_, work);
  bound_added(work);
  for (int i = 0; i < n_; ++i) {
    if (!(grown * work[i] <= 0.5 * x[i] && x[i] < inf)) return false;
    x[i] *= 2 * grown;
  }
  return true;
}

template class WeightedBounds<BandedLu>;

}  // namespace perp::linear
