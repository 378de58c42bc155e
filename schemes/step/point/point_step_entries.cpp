// The entries of steps at one point, scaled, and the bands that they stand in: once for each system.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/binary_scaling.hpp>
#include <perp/schemes/step/point/point_step.hpp>

namespace perp {
namespace {

/// Up to here solutions are refined to twice the precision of doubles, so that each x is the exact
/// one but for its last digit; beyond, to the rounding of their rows where that decides.
constexpr int most_precise = 32;
constexpr double few_numbers = 65536;  ///< of factors in bands, which are left as they are;
constexpr int narrow = 64;             ///< as are bands of so many entries in a row
constexpr double cost_of_sparse = 8;   ///< of an operation of a sparse factorization, in those of a banded one

double power_of_two(int exponent) { return std::ldexp(1.0, exponent); }

bool is_kept(double given, double scaled) { return given == 0 || std::isnormal(scaled); }

}  // namespace

void PointStep::Rows::add(int column, double given, double by_length, Length length) {
  if (given != 0 || by_length != 0) entries.push_back({column, length, given, by_length});
}

PointStep::PointStep(const StepEquations& equations, double h)
    : equations_(equations),
      n_(equations.n()),
      m_(equations.m()),
      size_(n_ + m_),
      parameters_(equations.parameters()),
      is_precise_(size_ <= most_precise) {
  scale(h);
  std::vector<int> place(at(n_), -1);
  for (std::size_t k = 0; k < equations.state().size(); ++k) place[at(equations.state()[k])] = static_cast<int>(k);
  for (int i = 0; i < n_; ++i) {
    list_equation(i);
    list_right_side(i, place);
  }
  for (int i = 0; i < m_; ++i) list_output(i);
  rows_.settle();
  right_.settle();
  for (int i = 0; i < size_; ++i)
    if (std::ranges::any_of(right_.of_row(i), [this](const Entry& entry) { return entry.column < parameters_; })) varying_.push_back(i);
  list_branches();
  find_order(h);
  for (std::vector<double>* list : {&r_, &r_low_, &r_terms_, &r_error_, &y_, &y_low_, &residual_,
                                    &bound_, &error_, &spread_, &work_})
    list->assign(at(size_), 0.0);
  x_ = rounding_ = Vector::Zero(n_);
  lambda_ = w_ = Vector::Zero(m_);
  w_error_.assign(at(m_), 0.0);
  w_spread_.assign(at(m_), 0.0);
  w_low_.assign(at(m_), 0.0);
  present_.assign(at(m_), nullptr);
  is_exact_.assign(at(size_), 0);
}

/// The matrix of a step of length h in which no law holds yet.
linear::SparseMatrix PointStep::entries_without_laws(double h) const {
  const SparseLcs& lcs = equations_.system();
  std::vector<linear::SparseMatrix::Placed> entries;
  for (int i = 0; i < n_; ++i) {
    const bool is_algebraic = equations_.is_algebraic_row(i);
    const double of_A = is_algebraic ? 1 : -h * equations_.theta(), of_B = is_algebraic ? 1 : -h;
    linear::for_each_of(lcs.E.row(i), lcs.A.row(i),
                [&](int j, double E, double A) { entries.push_back({i, j, E + of_A * A}); });
    for (const auto& [j, B] : lcs.B.row(i)) entries.push_back({i, n_ + j, of_B * B});
  }
  for (int i = 0; i < m_; ++i) {
    for (const auto& [j, C] : lcs.C.row(i)) entries.push_back({n_ + i, j, C});
    for (const auto& [j, D] : lcs.D.row(i)) entries.push_back({n_ + i, n_ + j, D});
  }
  return {size_, size_, entries};
}

/// By these entries.
void PointStep::scale(double h) {
  const BinaryScaling scaling(entries_without_laws(h));
  for (int i = 0; i < size_; ++i) {
    row_scale_.push_back(power_of_two(scaling.row[at(i)]));
    column_scale_.push_back(power_of_two(scaling.column[at(i)]));
  }
}

/// A given entry in scaled units.
double PointStep::scaled(double given, double by) {
  const double value = given * by;
  is_usable_ = is_usable_ && is_kept(given, value);
  return value;
}

// The left of E x⁺ - h θ A x⁺ - h B λ⁺ = E x + h (1 - θ) A x + h b, and of A x⁺ + B λ⁺ = -b, see
// `StepEquations`.
void PointStep::list_equation(int row) {
  const SparseLcs& lcs = equations_.system();
  const bool is_algebraic = equations_.is_algebraic_row(row);
  const double by = row_scale_[at(row)];
  linear::for_each_of(lcs.E.row(row), lcs.A.row(row), [&](int j, double given_E, double given_A) {
    const double A = scaled(given_A, by * column_scale_[at(j)]);
    rows_.add(j, is_algebraic ? A : scaled(given_E, by * column_scale_[at(j)]), is_algebraic ? 0 : -A,
              is_algebraic ? none : implicit_share);
  });
  for (const auto& [j, given_B] : lcs.B.row(row)) {
    const double B = scaled(given_B, by * column_scale_[at(n_ + j)]);
    rows_.add(n_ + j, is_algebraic ? B : 0, is_algebraic ? 0 : -B, is_algebraic ? none : whole);
  }
  rows_.close_row();
}

/// Where b of the row stands in the parameter; behind it, where it is constant.
int PointStep::column_of_b(int row) const {
  const auto& varying = equations_.system().b.varying();
  const auto found = std::lower_bound(varying.begin(), varying.end(), row);
  if (found == varying.end() || *found != row) return parameters_;
  return static_cast<int>(equations_.state().size()) + static_cast<int>(found - varying.begin());
}

/// Its right side, in the parameter of a step. `place`: of each variable in the state, -1: none.
void PointStep::list_right_side(int row, const std::vector<int>& place) {
  const SparseLcs& lcs = equations_.system();
  const bool is_algebraic = equations_.is_algebraic_row(row), has_explicit = equations_.theta() < 1;
  const double by = row_scale_[at(row)];
  if (!is_algebraic)
    linear::for_each_of(lcs.E.row(row), lcs.A.row(row), [&](int j, double E, double A) {
      if (place[at(j)] >= 0) right_.add(place[at(j)], scaled(E, by), has_explicit ? scaled(A, by) : 0, explicit_share);
    });
  const int column = column_of_b(row);
  const double b = column < parameters_ ? by : scaled(lcs.b.constant()[row], by);
  right_.add(column, is_algebraic ? -b : 0, is_algebraic ? 0 : b, is_algebraic ? none : whole);
  right_.close_row();
}

/// C x⁺ + D λ⁺, and q on the other side.
void PointStep::list_output(int law) {
  const SparseLcs& lcs = equations_.system();
  const int row = n_ + law;
  const double by = row_scale_[at(row)];
  for (const auto& [j, C] : lcs.C.row(law)) rows_.add(j, scaled(C, by * column_scale_[at(j)]), 0, none);
  for (const auto& [j, D] : lcs.D.row(law))
    rows_.add(n_ + j, scaled(D, by * column_scale_[at(n_ + j)]), 0, none);
  rows_.close_row();
  const auto& varying = lcs.q.varying();
  const auto found = std::lower_bound(varying.begin(), varying.end(), law);
  const bool varies = found != varying.end() && *found == law;
  const int first = static_cast<int>(equations_.state().size() + lcs.b.varying().size());
  const double q = varies ? by : scaled(lcs.q.constant()[law], by);
  right_.add(varies ? first + static_cast<int>(found - varying.begin()) : parameters_, q, 0, none);
  right_.close_row();
}

// With ŵ = ρ w and λ = κ λ̂ the branch a w + b λ = c is a ŵ + b κ ρ λ̂ = c ρ, over a power of two
// near a.
std::vector<PointStep::ScaledBranch> PointStep::scaled_branches(int law) {
  const double rho = row_scale_[at(n_ + law)], kappa = column_scale_[at(n_ + law)];
  std::vector<ScaledBranch> list;
  for (const Branch& branch : equations_.laws()[at(law)].branches) {
    ScaledBranch scaled{0, 1, branch.c / branch.b / kappa, {}};
    if (branch.a != 0) {
      const double by = power_of_two(-std::ilogb(branch.a));
      scaled = {by * branch.a, by * branch.b * kappa * rho, by * branch.c * rho, {}};
    }
    is_usable_ = is_usable_ && is_kept(branch.b, scaled.b) && std::isfinite(scaled.c);
    for (const bool upper : {false, true})
      if (const BoundedEnd end = bounded_end(branch, upper); std::isfinite(end.bound.high))
        scaled.ends.push_back({{-1, branch.b == 0, upper, false}, end});
    list.push_back(std::move(scaled));
  }
  return list;
}

/// Those of a law are those of the last one in the same units, where it has the same branches: families have few kinds.
void PointStep::list_branches() {
  const Laws& laws = equations_.laws();
  std::map<std::pair<double, double>, int> last;  // law in these units
  for (int i = 0; i < m_; ++i) {
    const auto [found, is_new] = last.try_emplace({row_scale_[at(n_ + i)], column_scale_[at(n_ + i)]}, i);
    const int before = std::exchange(found->second, i);
    if (!is_new && laws[at(i)].branches == laws[at(before)].branches) {
      kind_.push_back(kind_[at(before)]);
      continue;
    }
    kind_.push_back(static_cast<int>(branches_.size()));
    branches_.push_back(scaled_branches(i));
  }
}

/// Of variables by the size of their entries in a step of length h, multipliers behind them; the branch of a law may hold its own.
linear::BandedOrder PointStep::order_of_rows(double h) const {
  const linear::SparseMatrix entries = entries_without_laws(h);
  linear::Pattern pattern(at(size_));
  for (int i = 0; i < size_; ++i) {
    std::vector<std::pair<double, int>> list;
    for (const auto& [j, value] : entries.row(i)) list.push_back({j < n_ ? -std::abs(value * column_scale_[at(j)]) : 1, j});
    std::sort(list.begin(), list.end());
    if (i >= n_) pattern[at(i)].push_back(i);
    for (const auto& [size, j] : list) pattern[at(i)].push_back(j);
  }
  return linear::banded_order_of(pattern);
}

/// Of the equations of all modes, row by row: the branch of a law may hold its own multiplier.
linear::RowPattern PointStep::places_of_entries() const {
  linear::RowPattern pattern;
  for (int i = 0; i < size_; ++i) {
    const auto first = std::ssize(pattern.column);
    rows_.for_each(i, [&](const Entry& entry) { pattern.column.push_back(entry.column); });
    if (i >= n_) pattern.column.push_back(i);
    std::sort(pattern.column.begin() + first, pattern.column.end());
    pattern.column.erase(std::unique(pattern.column.begin() + first, pattern.column.end()), pattern.column.end());
    pattern.start.push_back(static_cast<int>(pattern.column.size()));
  }
  return pattern;
}

/// Where the bands of this order are wide and a factorization in them costs more; else nothing.
std::optional<linear::BoundedLu> PointStep::sparse_factors(const linear::BandedOrder& order) const {
  if (!(order.numbers() > few_numbers && order.below + order.above > narrow)) return std::nullopt;
  std::optional<linear::BoundedLu> sparse(std::in_place, places_of_entries());
  const double by_bands = 2.0 * order.below * (order.below + order.above) * size_;
  return cost_of_sparse * sparse->operations() < by_bands ? std::move(sparse) : std::nullopt;
}

void PointStep::find_order(double h) {
  linear::BandedOrder order = order_of_rows(h);
  std::optional<linear::BoundedLu> sparse = sparse_factors(order);
  if (sparse) {  // which orders the entries itself
    order.columns.resize(at(size_));
    std::iota(order.columns.begin(), order.columns.end(), 0);
    order.rows = order.columns;
  }
  numbers_ = sparse ? sparse->numbers() : order.numbers();
  place_ = std::move(order.columns);
  row_place_ = std::move(order.rows);
  is_usable_ = is_usable_ && numbers_ <= most_numbers;
  if (!is_usable_) return;
  lu_ = sparse ? PointFactors(*std::move(sparse)) : PointFactors(linear::BandedLu(size_, order.below, order.above));
}

}  // namespace perp
