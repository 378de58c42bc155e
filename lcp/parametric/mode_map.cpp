#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/exact_mode.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>
#include <perp/lcp/parametric/mode_map.hpp>

namespace perp {
namespace {

/// Σ_l M_il rows_l + constant_i over the first rows, as many as M has columns, in doubled precision with its error.
BoundedMatrix combined(const Matrix& M, const BoundedMatrix& rows, const Matrix& constant) {
  BoundedMatrix sum(M.rows(), rows.high.cols());
  const double each = static_cast<double>(M.cols() + 4) * compensated_rounding(static_cast<int>(M.cols()) + 4);
  const double grown = 1 + 4 * static_cast<double>(M.cols() + 2) * unit_roundoff;
  std::vector<std::pair<Eigen::Index, double>> entries;  // of a row of M, most of which are 0
  for (Eigen::Index i = 0; i < M.rows(); ++i) {
    entries.clear();
    for (Eigen::Index l = 0; l < M.cols(); ++l)
      if (M(i, l) != 0) entries.emplace_back(l, M(i, l));
    for (Eigen::Index j = 0; j < rows.high.cols(); ++j) {
      CompensatedSum value{constant(i, j)};
      double terms = std::abs(constant(i, j)), error = 0;
      for (const auto& [l, entry] : entries) {
        value.add_product(rows(l, j), {entry, 0});
        terms += std::abs(entry * rows.high(l, j));
        error += std::abs(entry) * rows.error(l, j);
      }
      sum.set(i, j, value.value());
      sum.error(i, j) = (error + each * terms) * grown;
    }
  }
  sum.snap();
  return sum;
}

/// Row i becomes the constant a / b.
void set_constant(BoundedMatrix& rows, int i, double a, double b) {
  const Eigen::Index last = rows.high.cols() - 1;
  for (Eigen::Index j = 0; j <= last; ++j) rows.set(i, j, {});
  rows.error.row(i).setZero();
  rows.set(i, last, quotient(a, b));
  rows.error(i, last) = double_double_rounding * std::abs(rows.high(i, last));
}

BoundedMatrix rounded(const std::vector<ExactMode::Row>& rows, std::size_t first, std::size_t count,
                      std::size_t columns) {
  BoundedMatrix result(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(columns));
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const auto row = static_cast<Eigen::Index>(i), column = static_cast<Eigen::Index>(j);
      result.set(row, column, to_double_double(rows[first + i][j]));
      result.error(row, column) = double_double_rounding * std::abs(result.high(row, column));
    }
  return result;
}

BoundedMatrix rounded(const std::vector<ExactMode::End>& ends, std::size_t end, int k) {
  return rounded(std::vector<ExactMode::Row>{ends[end].value}, 0, 1, at(k + 1));
}

/// Of a margin: does it depend on θ, or if not, which sign has it? Coefficients that are 0 but for an error may be none.
bool is_told(const BoundedMatrix& row, int k) {
  if (!row.high.leftCols(k).isZero(0)) return true;
  const double constant = std::abs(row.high(0, k)), error = row.error(0, k);
  return row.error.leftCols(k).isZero(0) && (error == 0 || constant > error);
}

/// Row i alone.
BoundedMatrix row_of(const BoundedMatrix& rows, Eigen::Index i) {
  const Eigen::Index columns = rows.high.cols();
  BoundedMatrix row;
  for (Matrix* part : {&row.high, &row.low, &row.error}) part->resize(1, columns);
  for (Eigen::Index j = 0; j < columns; ++j) {
    row.set(0, j, rows(i, j));
    row.error(0, j) = rows.error(i, j);
  }
  return row;
}

/// Does this law hold M21 u + M22 λ at 0 for every θ?
bool holds_at_0(const ParametricMlcp& family, const Branch& branch, int law) {
  return branch.b == 0 && branch.c == 0 && family.base.q2[law] == 0 && family.Q2.row(law).isZero(0);
}

/// The unknown that is 0 for every θ since this law holds its argument at 0, which is made of that unknown alone, and of
/// multipliers that their branches hold at 0; -1: there is none.
int unknown_at_0(const ParametricMlcp& family, const std::vector<Branch>& branches, int law) {
  if (!holds_at_0(family, branches[at(law)], law)) return -1;
  const Mlcp& base = family.base;
  int unknown = -1, count = 0;
  const auto read = [&](int k, double entry) {
    if (entry != 0) unknown = k, ++count;
  };
  for (int j = 0; j < base.p(); ++j) read(j, base.M21(law, j));
  for (int j = 0; j < base.m(); ++j)
    if (branches[at(j)].a != 0 || branches[at(j)].c != 0) read(base.p() + j, base.M22(law, j));
  return count == 1 ? unknown : -1;
}

}  // namespace

double ParametricMlcp::entry(int row, int column) const {
  const int p = base.p(), m = base.m();
  if (column < p) return base.M11(row, column);
  if (column < p + m) return base.M12(row, column - p);
  return column < p + m + k() ? Q1(row, column - p - m) : base.q1[row];
}

DoubleDouble ParametricMlcp::bounded_entry(int row, int column) const {
  if (rest[0].size() == 0) return {entry(row, column), 0};
  return two_sum(entry(row, column), rest[0](row, column) + rest[1](row, column));
}

Rational ParametricMlcp::exact_entry(int row, int column) const {
  Rational value(entry(row, column));
  if (rest[0].size() == 0) return value;
  for (const Matrix& lost : rest)
    if (lost(row, column) != 0) value += Rational(lost(row, column));
  return value;
}

void instantiate(const ParametricMlcp& family, const double* theta, Mlcp& problem) {
  const Eigen::Map<const Vector> parameter(theta, family.k());
  problem.q1 = family.base.q1;
  problem.q1.noalias() += family.Q1 * parameter;
  problem.q2 = family.base.q2;
  problem.q2.noalias() += family.Q2 * parameter;
}

namespace {

double end_of(const Range& range, bool upper) { return upper ? range.upper : range.lower; }

/// The end of a sloped branch: that of w or of λ, which comes first.
BranchEnd end_of_slope(const Branch& branch, bool upper) {
  // w falls with λ where a and b have one sign
  const bool falls = (branch.a > 0) == (branch.b > 0);
  const double lambda = upper != falls ? branch.lambda.upper : branch.lambda.lower;
  const double w = end_of(branch.w, upper);
  if (!std::isfinite(lambda)) return {w, false};
  if (!std::isfinite(w)) return {lambda, true};
  const Rational of_lambda =
      (Rational(branch.c) - Rational(branch.b) * Rational(lambda)) / Rational(branch.a);
  const bool lambda_first = upper ? of_lambda < Rational(w) : of_lambda > Rational(w);
  return lambda_first ? BranchEnd{lambda, true} : BranchEnd{w, false};
}

}  // namespace

BranchEnd branch_end(const Branch& branch, bool upper) {
  if (branch.b == 0) return {end_of(branch.lambda, upper), false};
  if (branch.a == 0) return {end_of(branch.w, upper), false};
  return end_of_slope(branch, upper);
}

BoundedEnd bounded_end(const Branch& branch, bool upper) {
  const BranchEnd end = branch_end(branch, upper);
  if (!end.from_lambda || !std::isfinite(end.bound)) return {{end.bound, 0}, 2 * std::abs(end.bound)};
  // (c - b λ) / a = q with a correction for what is left
  const DoubleDouble top = DoubleDouble{branch.c, 0} - two_product(branch.b, end.bound);
  const double q = top.high / branch.a;
  const DoubleDouble left = top - two_product(q, branch.a);
  const DoubleDouble bound = two_sum(q, left.high / branch.a);
  return {bound, 2 * std::abs(bound.high) + std::abs(branch.c / branch.a)};
}

ModeMap::ModeMap(const ParametricMlcp& family, Mode mode, Form form)
    : family_(&family),
      modes_{std::move(mode)},
      k_(family.k()),
      p_(family.base.p()),
      m_(family.base.m()),
      r_(static_cast<int>(family.W.rows())),
      stride_(k_ + 1) {
  branches_.reserve(at(m_));
  for (int i = 0; i < m_; ++i)
    branches_.push_back(family.base.laws[at(i)].branches[at(modes_.front()[at(i)])]);
  lambda_free_ = w_free_ = Matrix(m_, 0);
  for (int i = 0; i < m_; ++i)
    if (contradicts(family, i)) {
      kind_ = Kind::never;
      return;
    }
  BoundedMatrix K, R;
  mode_system(family, modes_.front(), K, R);
  if (p_ + m_ == 0)
    solve_exactly(family);
  else if (form == Form::rows || !know_by_points(K, R))
    solve_for_rows(family, K, R);
}

/// Is the argument of this law held at a value, which is made of multipliers alone that their branches hold?
bool ModeMap::has_held_argument(const ParametricMlcp& family, int law) const {
  const Mlcp& base = family.base;
  if (branches_[at(law)].b != 0 || !base.M21.row(law).isZero(0) || !family.Q2.row(law).isZero(0)) return false;
  for (int j = 0; j < m_; ++j)
    if (base.M22(law, j) != 0 && branches_[at(j)].a != 0) return false;
  return true;
}

/// Does this law hold its argument at a value that it never has, where that is made of multipliers alone which their branches
/// hold? Exactly.
bool ModeMap::contradicts(const ParametricMlcp& family, int law) const {
  const Mlcp& base = family.base;
  const Branch& own = branches_[at(law)];
  if (!has_held_argument(family, law)) return false;
  Rational argument(base.q2[law]);
  for (int j = 0; j < m_; ++j)
    if (base.M22(law, j) != 0)
      argument += Rational(base.M22(law, j)) * Rational(branches_[at(j)].c) / Rational(branches_[at(j)].b);
  return argument * Rational(own.a) != Rational(own.c);
}

void ModeMap::solve_for_rows(const ParametricMlcp& family, const BoundedMatrix& K, const BoundedMatrix& R) {
  BoundedMatrix y;
  if (!solve_bounded(K, R, y)) {
    solve_exactly(family);
    return;
  }
  y.snap();
  Matrix q2(m_, k_ + 1);
  q2 << family.Q2, family.base.q2;
  for (int i = 0; i < m_; ++i)
    if (branches_[at(i)].a == 0)
      set_constant(y, p_ + i, branches_[at(i)].c, branches_[at(i)].b);
  for (int i = 0; i < m_; ++i)
    if (const int unknown = unknown_at_0(family, branches_, i); unknown >= 0) set_constant(y, unknown, 0, 1);
  Matrix from(m_, p_ + m_);
  from << family.base.M21, family.base.M22;
  BoundedMatrix w = combined(from, y, q2);
  for (int i = 0; i < m_; ++i)
    if (branches_[at(i)].b == 0) set_constant(w, i, branches_[at(i)].c, branches_[at(i)].a);
  add_margins(family, y, w);
  set_rows(family, y, w);
}

void ModeMap::solve_exactly(const ParametricMlcp& family) {
  const ExactMode& exact = this->exact();
  const auto columns = static_cast<std::size_t>(k_ + 1);
  if (!exact.equalities().empty() || !exact.determines_u()) {
    kind_ = Kind::singular;
    for (const ExactMode::Row& row : exact.equalities()) {
      const bool constant =
          std::all_of(row.begin(), row.end() - 1, [](const Rational& c) { return c == 0; });
      if (constant) kind_ = Kind::never;
      for (const Rational& value : row) equalities_.push_back(static_cast<double>(value));
    }
    return;
  }
  const BoundedMatrix y = rounded(exact.value(), 0, at(p_ + m_), columns);
  const BoundedMatrix w = rounded(exact.w_value(), 0, at(m_), columns);
  free_ = exact.free();
  lambda_free_ = rounded(exact.direction(), at(p_), at(m_), at(free_)).high;
  w_free_ = rounded(exact.w_direction(), 0, at(m_), at(free_)).high;
  if (free_ == 0)
    add_margins(family, y, w);
  else if (!add_free_margins(exact))
    kind_ = Kind::singular;
  set_rows(family, y, w);
}

void ModeMap::set_rows(const ParametricMlcp& family, const BoundedMatrix& y,
                       const BoundedMatrix& w) {
  if (kind_ != Kind::regular) return;
  margin_count_ = static_cast<int>(margins_.size());
  u_row_ = margin_count_;
  lambda_row_ = u_row_ + p_;
  w_row_ = lambda_row_ + m_;
  norm_row_ = w_row_ + m_;
  append(y);
  append(w);
  Matrix center = Matrix::Zero(r_, k_ + 1);
  center.leftCols(k_) = -family.Z;
  append(combined(family.W, y, center));
  find_precision();
  find_finite();
}

// |Σ c_j θ_j + d| ≤ max |θ_j| Σ |c_j| + |d|, and twice the precision splits numbers below 2^990.
void ModeMap::find_finite() {
  constexpr double largest = 0x1p990;
  finite_up_to_ = largest;
  for (std::size_t first = 0; first < rows_.size(); first += at(stride_)) {
    double sum = 0;
    for (std::size_t j = first; j < first + at(k_); ++j) sum += std::abs(rows_[j]);
    const double constant = std::abs(rows_[first + at(k_)]);
    if (!(constant + sum < largest))
      finite_up_to_ = -1;
    else if (sum > 1) finite_up_to_ = std::min(finite_up_to_, (largest - constant) / sum);
  }
}

// With e_j ≤ s |c_j| the error of a row in twice the precision is a share of its terms.
void ModeMap::find_precision() {
  const double each = static_cast<double>((k_ + 4) * (k_ + 4)) * double_double_rounding;
  precise_from_.reserve(rows_.size() / at(stride_));
  most_cancelled_.reserve(rows_.size() / at(stride_));
  for (std::size_t first = 0; first < rows_.size(); first += at(stride_)) {
    double share = 0;
    for (std::size_t j = first; j < first + at(stride_); ++j)
      if (error_[j] != 0) share = std::max(share, error_[j] / std::abs(rows_[j]));
    precise_from_.push_back((each + 2 * share) * (1 + 16 * unit_roundoff) / unit_roundoff);
    most_cancelled_.push_back(precise_from_.back() * most_cancelled <= 1 ? most_cancelled : nan);
  }
}

/// Of y = (u, λ) and w.
void ModeMap::add_margins(const ParametricMlcp& family, const BoundedMatrix& y, const BoundedMatrix& w) {
  const std::size_t numbers = at((p_ + 4 * m_ + r_) * stride_);
  for (std::vector<double>* list : {&rows_, &low_, &error_}) list->reserve(numbers);
  int origin = 0;
  for (int i = 0; i < static_cast<int>(family.base.m()); ++i) {
    const Branch& branch = branches_[at(i)];
    const bool vertical = branch.b == 0;
    for (const bool upper : {false, true}) {
      const BoundedEnd end = bounded_end(branch, upper);
      if (!std::isfinite(end.bound.high)) continue;
      BoundedMatrix row = row_of(vertical ? y : w, vertical ? p_ + i : i);
      const double terms = std::abs(row.high(0, k_)) + end.terms;
      row.set(0, k_, row(0, k_) - end.bound);
      row.error(0, k_) += 8 * double_double_rounding * terms;
      if (upper) {
        row.high = -row.high;
        row.low = -row.low;
      }
      row.snap();
      if (!is_told(row, k_)) row = rounded(exact().ends(), at(origin), k_);
      add_margin({i, vertical, upper, false}, origin++, row);
    }
  }
}

bool ModeMap::add_free_margins(const ExactMode& exact) {
  std::vector<Elimination::Row> rows;
  for (const ExactMode::End& end : exact.ends()) {
    rows.push_back(end.free);
    rows.back().insert(rows.back().end(), end.value.begin(), end.value.end());
  }
  if (!elimination_.run(std::move(rows), free_)) return false;
  const std::vector<Elimination::Row>& projected = elimination_.exactly_projected();
  for (int i = 0; i < static_cast<int>(projected.size()); ++i) {
    const int from = elimination_.origin()[at(i)];
    Margin margin = exact.ends()[at(from)].margin;
    margin.combined = !elimination_.is_given(i);
    add_margin(margin, margin.combined ? -1 : from, rounded(projected, at(i), 1, at(k_ + 1)));
  }
  return true;
}

/// A margin that is the same for every θ says that the mode is always or never admissible.
void ModeMap::add_margin(const Margin& margin, int origin, const BoundedMatrix& row) {
  if (k_ == 0 || row.high.leftCols(k_).isZero(0)) {
    if (row.high(0, k_) < -row.error(0, k_)) kind_ = Kind::never;
    return;
  }
  margins_.push_back(margin);
  origin_.push_back(origin);
  append(row);
}

void ModeMap::append(const BoundedMatrix& block) {
  const auto put = [](const Matrix& numbers, std::vector<double>& list) {
    const std::size_t first = list.size();
    list.resize(first + at(numbers.size()));
    double* next = list.data() + first;
    for (Eigen::Index i = 0; i < numbers.rows(); ++i)
      for (Eigen::Index j = 0; j < numbers.cols(); ++j) *next++ = numbers(i, j);
  };
  put(block.high, rows_);
  put(block.low, low_);
  put(block.error, error_);
}

}  // namespace perp
