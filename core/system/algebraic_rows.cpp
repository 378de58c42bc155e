// The equations that a singular E hides: asked for by the equations of a step, once for each system.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <perp/core/base/index.hpp>
#include <perp/core/base/rational.hpp>
#include <perp/core/linear/banded/banded_lu.hpp>
#include <perp/core/linear/disjoint_sets.hpp>
#include <perp/core/system/algebraic_rows.hpp>

namespace perp {
namespace {

using linear::SparseMatrix;
using ExactRow = std::map<int, Rational>;

constexpr int most_eliminated = 32;  ///< rows; of more it is asked first whether bounds show them to be independent

/// A row of E less a combination of others, with the terms that each entry is the sum of.
struct ReducedRow {
  ExactRow value, share;  // share: of each row of E
  std::map<int, double> terms;
  int pivot = -1;

  ReducedRow(const SparseMatrix& E, int row) {
    share[row] = 1;
    for (const auto& [column, entry] : E.row(row)) {
      value[column] = Rational(entry);
      terms[column] = std::abs(entry);
    }
    choose_pivot();
  }

  /// False: there is nothing of it.
  bool subtract(const ReducedRow& other) {
    const auto own = value.find(other.pivot);
    if (own == value.end() || own->second == 0) return false;
    const Rational factor = own->second / other.value.at(other.pivot);
    for (const auto& [row, part] : other.share) share[row] -= factor * part;
    const double size = std::abs(static_cast<double>(factor));
    for (const auto& [column, entry] : other.value) value[column] -= factor * entry;
    for (const auto& [column, size_of_terms] : other.terms) terms[column] += size * size_of_terms;
    return true;
  }

  [[nodiscard]] bool vanishes() const {
    return std::all_of(value.begin(), value.end(), [](const auto& entry) { return entry.second == 0; });
  }

  /// The entry that stands out most of the rounding of its terms. False: none does: entries are
  /// decimals as a rule, and good to half an ulp.
  bool choose_pivot() {
    double most = 2 * std::numeric_limits<double>::epsilon();
    pivot = -1;
    for (const auto& [column, entry] : value) {
      const double of_terms = terms.at(column);
      const double ratio = of_terms > 0 ? std::abs(static_cast<double>(entry)) / of_terms : 0;
      if (ratio <= most) continue;
      most = ratio;
      pivot = column;
    }
    return pivot >= 0;
  }

  [[nodiscard]] double largest_entry() const {
    double most = 0;
    for (const auto& [column, entry] : value) most = std::max(most, std::abs(static_cast<double>(entry)));
    return most;
  }
};

/// Rows of E that share columns, directly or by others, and all their columns.
struct Component {
  std::vector<int> rows, columns;
};

std::vector<Component> components(const SparseMatrix& E) {
  const int n = E.rows();
  linear::DisjointSets sets(2 * n);
  for (int i = 0; i < n; ++i)
    for (const auto& [column, entry] : E.row(i)) sets.join(i, n + column);
  std::vector<Component> list(at(n));
  for (int i = 0; i < n; ++i)
    if (!E.row(i).empty()) list[at(sets.root(i))].rows.push_back(i);
  for (int j = 0; j < n; ++j)
    if (const int root = sets.root(n + j); root < n) list[at(root)].columns.push_back(j);
  std::erase_if(list, [](const Component& component) { return component.rows.empty(); });
  return list;
}

/// How far entries are below and above the diagonal.
struct Band {
  int below = 0, above = 0;
};

/// Of a pattern whose rows and columns move to new places.
Band band_of(const linear::Pattern& pattern, const std::vector<int>& place) {
  Band band;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    for (const int j : pattern[i]) {
      band.below = std::max(band.below, place[i] - place[at(j)]);
      band.above = std::max(band.above, place[at(j)] - place[i]);
    }
  return band;
}

/// Do bounds of an elimination show that the component is regular, its rows scaled by their largest entries?
bool is_regular(const SparseMatrix& E, const Component& component) {
  const auto size = static_cast<int>(component.rows.size());
  if (component.columns.size() != component.rows.size()) return false;
  const SparseMatrix part = E.part(component.rows, component.columns);
  linear::Pattern pattern(at(size));
  for (int i = 0; i < size; ++i)
    for (const auto& [column, entry] : part.row(i)) pattern[at(i)].push_back(column);
  const std::vector<int> place = linear::banded_order(pattern);
  const Band band = band_of(pattern, place);
  linear::BandedLu lu(size, band.below, band.above);
  for (int i = 0; i < size; ++i) {
    int largest = std::numeric_limits<int>::min();
    for (const auto& [column, entry] : part.row(i)) largest = std::max(largest, std::ilogb(entry));
    for (const auto& [column, entry] : part.row(i))
      lu.entry(place[at(i)], place[at(column)]) = std::ldexp(entry, -largest);
  }
  std::vector<double> ones(at(size), 1.0), work(at(size));
  return lu.factorise() && lu.bound(ones.data(), work.data());
}

/// The largest coefficient of the right side of row i.
double largest_term(const SparseLcs& lcs, int i) {
  const auto largest = [i](const SparseMatrix& M) {
    double most = 0;
    for (const auto& [column, entry] : M.row(i)) most = std::max(most, std::abs(entry));
    return most;
  };
  const double b = std::abs(lcs.b.constant()[i]);
  return std::max({largest(lcs.A), largest(lcs.B), std::isfinite(b) ? b : 0});
}

/// A row that is not chosen yet, less its parts in those that are.
struct OpenRow {
  int row;
  double term;  // see `largest_term`
  ReducedRow rest;
  double rate = 0;  // how fast what is left of its derivatives moves

  OpenRow(const SparseLcs& lcs, int i) : row(i), term(largest_term(lcs, i)), rest(lcs.E, i) { find_rate(); }
  void find_rate() { rate = term / rest.largest_entry(); }
  /// Subtracts what there is of it in this row. Is an entry left?
  bool goes_on_without(const ReducedRow& chosen) {
    if (!rest.subtract(chosen)) return true;
    if (!rest.choose_pivot()) return false;
    find_rate();
    return true;
  }
};

/// The rows of a component that depend on others, with their shares. Those stay that hold the smaller rates beside what
/// the ones before them have left of their derivatives: so the shares of a row that goes, times the right sides of those
/// that stay, are no larger than its own, which rounding would hide else.
std::vector<ReducedRow> dependent_rows(const SparseLcs& lcs, const Component& component, std::vector<int>& rows) {
  std::vector<ReducedRow> dependent;
  const bool is_large = component.rows.size() > at(most_eliminated);
  if (component.rows.size() == 1 || (is_large && is_regular(lcs.E, component))) return dependent;
  std::vector<OpenRow> open;
  for (const int i : component.rows) open.emplace_back(lcs, i);
  while (!open.empty()) {
    const auto next = std::ranges::min_element(open, {}, &OpenRow::rate);
    const OpenRow chosen = std::move(*next);
    open.erase(next);
    const auto gone = std::stable_partition(open.begin(), open.end(),
                                            [&](OpenRow& row) { return row.goes_on_without(chosen.rest); });
    for (auto row = gone; row != open.end(); ++row) {
      rows.push_back(row->row);
      dependent.push_back(std::move(row->rest));
    }
    open.erase(gone, open.end());
  }
  return dependent;
}

/// A sum that is rounded once; says whether that changed it.
double rounded_once(const Rational& sum, bool& is_rounded) {
  const auto value = static_cast<double>(sum);
  is_rounded = is_rounded || !std::isfinite(value) || Rational(value) != sum;
  return value;
}

/// Σ_k share_k M_kj in place of each of these rows.
SparseMatrix with_combined(const SparseMatrix& M, const std::vector<int>& rows, const std::vector<ReducedRow>& dependent,
                           bool& is_rounded) {
  std::vector<SparseMatrix::Placed> entries;
  std::vector<char> is_replaced(at(M.rows()), 0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    is_replaced[at(rows[k])] = 1;
    ExactRow sums;
    for (const auto& [row, share] : dependent[k].share)
      for (const auto& [column, entry] : M.row(row)) sums[column] += share * Rational(entry);
    for (const auto& [column, sum] : sums) entries.push_back({rows[k], column, rounded_once(sum, is_rounded)});
  }
  for (int i = 0; i < M.rows(); ++i)
    if (is_replaced[at(i)] == 0)
      for (const auto& [column, entry] : M.row(i)) entries.push_back({i, column, entry});
  return {M.rows(), M.columns(), entries};
}

/// The same of b; functions of t are combined when they are evaluated.
Signal with_combined(const Signal& b, const std::vector<int>& rows, const std::vector<ReducedRow>& dependent,
                     bool& is_rounded) {
  Vector constant = b.constant();
  std::vector<SparseMatrix::Placed> entries;
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(b.size()); ++i) {
    all.push_back(i);
    if (!std::binary_search(rows.begin(), rows.end(), i)) entries.push_back({i, i, 1});
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Rational sum = 0;
    for (const auto& [row, share] : dependent[k].share) {
      if (std::isfinite(b.constant()[row])) sum += share * Rational(b.constant()[row]);  // else it varies
      entries.push_back({rows[k], row, rounded_once(share, is_rounded)});
    }
    constant[rows[k]] = rounded_once(sum, is_rounded);
  }
  if (b.is_constant()) return {std::move(constant)};
  const auto size = static_cast<int>(b.size());
  return {std::move(constant), std::move(all),
          [transform = SparseMatrix(size, size, entries), b](double t, Vector& value) { value = transform.times(b(t)); }};
}

/// The dependent rows of all components, in their order.
std::vector<std::pair<int, ReducedRow>> all_dependent_rows(const SparseLcs& lcs) {
  std::vector<std::pair<int, ReducedRow>> found;
  for (const Component& component : components(lcs.E)) {
    std::vector<int> rows;
    std::vector<ReducedRow> dependent = dependent_rows(lcs, component, rows);
    for (std::size_t k = 0; k < rows.size(); ++k) found.emplace_back(rows[k], std::move(dependent[k]));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

/// The matrix with zeros in these rows, increasing.
SparseMatrix without_rows(const SparseMatrix& M, const std::vector<int>& rows) {
  std::vector<SparseMatrix::Placed> kept;
  for (int i = 0; i < M.rows(); ++i)
    if (!std::binary_search(rows.begin(), rows.end(), i))
      for (const auto& [column, entry] : M.row(i)) kept.push_back({i, column, entry});
  return {M.rows(), M.columns(), kept};
}

}  // namespace

bool separate_algebraic_rows(SparseLcs& lcs) {
  std::vector<std::pair<int, ReducedRow>> found = all_dependent_rows(lcs);
  bool is_rounded = false;
  if (found.empty()) return is_rounded;
  std::vector<int> rows;
  std::vector<ReducedRow> dependent;
  for (auto& [row, reduced] : found) {
    rows.push_back(row);
    is_rounded = is_rounded || !reduced.vanishes();
    dependent.push_back(std::move(reduced));
  }
  lcs.E = without_rows(lcs.E, rows);
  lcs.A = with_combined(lcs.A, rows, dependent, is_rounded);
  lcs.B = with_combined(lcs.B, rows, dependent, is_rounded);
  lcs.b = with_combined(lcs.b, rows, dependent, is_rounded);
  return is_rounded;
}

}  // namespace perp
