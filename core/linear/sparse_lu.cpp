// The door to KLU.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <klu.h>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/linear/sparse_lu.hpp>

namespace perp::linear {
namespace {

/// Is a permutation an odd number of exchanges?
bool is_odd(const int* order, int n) {
  std::vector<char> seen(at(n), 0);
  bool odd = false;
  for (int first = 0; first < n; ++first) {
    if (seen[at(first)] != 0) continue;
    for (int k = order[first]; k != first; k = order[k]) {
      seen[at(k)] = 1;
      odd = !odd;
    }
  }
  return odd;
}

/// Of the reciprocal condition with pivots that were searched: below it the kept ones serve no more.
constexpr double least_share = 1e-4;
/// The largest entry of a column over that of U: below it they have let entries grow.
constexpr double least_growth = 1e-3;
constexpr double pivot_tolerance = 0.1;  ///< of the largest entry of its column

constexpr double entry_bytes = sizeof(double) + sizeof(int);  ///< of L and U
constexpr double gibibyte = 1 << 30;
constexpr double most_entries = 0x1p31;  ///< of L and of U, which are counted by an int

[[noreturn]] void refuse_size(int n, const std::string& size) {
  throw InvalidInput(
      fmt::format("a step of {} unknowns fills: its factors take {}; expected fewer unknowns or fewer couplings between distant ones, "
                  "as a chain, a tree or a plane grid has",
                  n, size));
}

}  // namespace

struct SparseLu::Factors {
  int n = 0;
  std::vector<int> start, row;   // compressed columns
  std::vector<int> position;     // of each place among them
  std::vector<double> values;
  std::vector<double> searched;  // with which the pivots were searched
  bool keeps_pivots = false;     // the last factorization, of those before
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;
  double condition = 0;  // with pivots that were searched
  long count = 0;

  Factors() { klu_defaults(&common); }
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;
  ~Factors() {
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
  }

  bool refactor() {
    if (numeric == nullptr) return false;
    keeps_pivots = true;
    if (klu_refactor(start.data(), row.data(), values.data(), symbolic, numeric, &common) == 0 ||
        common.status != KLU_OK)
      return false;
    return klu_rcond(symbolic, numeric, &common) != 0 && common.rcond >= least_share * condition &&
           klu_rgrowth(start.data(), row.data(), values.data(), symbolic, numeric, &common) != 0 &&
           common.rgrowth >= least_growth;
  }

  /// Entries of L and U with pivots on the diagonal, by the places alone; infinite where an int does not count them.
  [[nodiscard]] double counted_entries() const {
    const bool are_counted = symbolic->lnz >= 0 && symbolic->unz >= 0;
    return are_counted ? symbolic->lnz + symbolic->unz : inf;
  }

  /// Throws where they take more bytes.
  void check_size(double most) const {
    if (symbolic == nullptr) return;
    const double entries = counted_entries();
    if (entries * entry_bytes <= most) return;
    const double at_least = std::min(entries, 2 * most_entries);
    refuse_size(n, fmt::format("{:.3g} GiB or more where this machine has {:.3g}", at_least * entry_bytes / gibibyte, most / gibibyte));
  }

  /// Throws where there was no room: that is no singular matrix.
  void check_room() const {
    if (common.status == KLU_OUT_OF_MEMORY || common.status == KLU_TOO_LARGE) refuse_size(n, "more memory than there is");
  }

  bool factor() {
    keeps_pivots = false;
    searched = values;
    klu_free_numeric(&numeric, &common);
    numeric = klu_factor(start.data(), row.data(), values.data(), symbolic, &common);
    check_room();
    if (numeric == nullptr || common.status != KLU_OK) return false;
    klu_rcond(symbolic, numeric, &common);
    condition = common.rcond;
    return condition > 0;
  }
};

SparseLu::SparseLu(int n, const std::vector<Place>& places, double most) : factors_(std::make_unique<Factors>()) {
  Factors& f = *factors_;
  f.n = n;
  std::vector<int> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  for (const Place& place : places)
    if (place.row < 0 || place.row >= n || place.column < 0 || place.column >= n)
      throw std::out_of_range("linear::SparseLu: place");
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const Place &x = places[at(a)], &y = places[at(b)];
    return x.column != y.column ? x.column < y.column : x.row < y.row;
  });
  f.start.assign(at(n) + 1, 0);
  f.position.resize(places.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Place& place = places[at(order[k])];
    f.position[at(order[k])] = static_cast<int>(k);
    f.row.push_back(place.row);
    ++f.start[at(place.column) + 1];
  }
  std::partial_sum(f.start.begin(), f.start.end(), f.start.begin());
  f.values.assign(places.size(), 0);
  // Rows are scaled by whoever knows their units: powers of two as units then change no bit.
  f.common.scale = 0;
  f.common.tol = pivot_tolerance;
  f.common.halt_if_singular = 1;
  f.symbolic = klu_analyze(n, f.start.data(), f.row.data(), &f.common);
  f.check_size(most);
}

SparseLu::SparseLu(SparseLu&&) noexcept = default;
SparseLu& SparseLu::operator=(SparseLu&&) noexcept = default;
SparseLu::~SparseLu() = default;

/// The values of the next factorization. False: none has an order.
bool SparseLu::put(std::span<const double> values) {
  Factors& f = *factors_;
  if (f.symbolic == nullptr) return false;
  for (std::size_t k = 0; k < values.size(); ++k) f.values[at(f.position[k])] = values[k];
  ++f.count;
  return true;
}

bool SparseLu::factorise(std::span<const double> values) { return put(values) && (factors_->refactor() || factors_->factor()); }

bool SparseLu::factorise_anew(std::span<const double> values) { return put(values) && factors_->factor(); }

void SparseLu::solve(Vector& right) const {
  Factors& f = *factors_;
  klu_solve(f.symbolic, f.numeric, f.n, 1, right.data(), &f.common);
}

void SparseLu::solve_transposed(Vector& right) const {
  Factors& f = *factors_;
  klu_tsolve(f.symbolic, f.numeric, f.n, 1, right.data(), &f.common);
}

/// det P det A det Q is the product of the diagonal of U, blocks aside.
int SparseLu::determinant_sign() const {
  const Factors& f = *factors_;
  const auto* diagonal = static_cast<const double*>(f.numeric->Udiag);
  bool negative = is_odd(f.numeric->Pnum, f.n) != is_odd(f.symbolic->Q, f.n);
  for (int k = 0; k < f.n; ++k) negative = negative != (diagonal[k] < 0);
  return negative ? -1 : 1;
}

double SparseLu::least_pivot() const {
  const Factors& f = *factors_;
  const auto* diagonal = static_cast<const double*>(f.numeric->Udiag);
  double least = inf;
  for (int k = 0; k < f.n; ++k) least = std::min(least, std::abs(diagonal[k]));
  return least;
}

void SparseLu::write_parts(Parts& parts) const {
  Factors& f = *factors_;
  const auto make_room = [&](Columns& columns, int entries) {
    columns.start.resize(at(f.n) + 1);
    columns.row.resize(at(entries));
    columns.value.resize(at(entries));
  };
  make_room(parts.lower, f.numeric->lnz);
  make_room(parts.upper, f.numeric->unz);
  make_room(parts.outside, f.numeric->nzoff);
  parts.row.resize(at(f.n));
  parts.column.resize(at(f.n));
  parts.block.resize(at(f.symbolic->nblocks) + 1);
  klu_extract(f.numeric, f.symbolic, parts.lower.start.data(), parts.lower.row.data(), parts.lower.value.data(),
              parts.upper.start.data(), parts.upper.row.data(), parts.upper.value.data(), parts.outside.start.data(),
              parts.outside.row.data(), parts.outside.value.data(), parts.row.data(), parts.column.data(), nullptr,
              parts.block.data(), &f.common);
}

long SparseLu::factorisations() const { return factors_->count; }

double SparseLu::numbers() const { return factors_->symbolic == nullptr ? inf : factors_->counted_entries(); }

double SparseLu::operations() const {
  const klu_symbolic* symbolic = factors_->symbolic;
  return symbolic == nullptr || symbolic->est_flops < 0 ? inf : symbolic->est_flops;
}

/// The same two factorizations give the same numbers.
void SparseLu::transfer(Archive& archive) {
  Factors& f = *factors_;
  bool is_made = f.numeric != nullptr, keeps_pivots = f.keeps_pivots;
  std::vector<double> values = f.values;
  archive(is_made, keeps_pivots, values, f.searched, f.count);
  if (!archive.is_reading()) return;
  if (values.size() != f.values.size() || (is_made && f.searched.size() != values.size()))
    throw ArchiveError("the state is of another matrix");
  if (is_made) {
    f.values = f.searched;
    f.factor();
  }
  f.values = std::move(values);
  if (is_made && keeps_pivots) f.refactor();
}

}  // namespace perp::linear
