#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/linear/spectra.hpp>
#include <perp/schemes/located/jets/array/mode_array.hpp>
#include <perp/schemes/newton/rank_newton.hpp>

namespace perp {
namespace {

constexpr double rounding = 1e-11;  ///< pivots of a scaled matrix below this are zero
/// Of the unit of a variable, per power of the shortest time: a higher coefficient below that is
/// rounding. In that time slow variables change by little, and yet by more than this.
constexpr double small_coefficient = 1e-4;

}  // namespace

ModeArray::ModeArray(const Dcs& system, int levels) : laws_(system.laws), array_(system, levels) {
  x_ = Matrix::Zero(system.n(), levels + 2);
  lambda_ = Matrix::Zero(system.m(), levels + 1);
  set_scales({});
}

void ModeArray::set_scales(const JetScales& scales) {
  scales_ = scales;
  if (!(scales.fastest > 0)) scales_.fastest = scales.time;
  if (scales.x.size() == 0) scales_.x = Vector::Ones(array_.n());
  if (scales.lambda.size() == 0) scales_.lambda = Vector::Ones(array_.m());
  split_known_ = false;
}

/// The rows and unknowns that follow from the lines of the laws, up to a level, and the multipliers
/// that are fixed by them.
void ModeArray::set_equations(int levels) {
  const int n = array_.n(), m = array_.m();
  columns_.clear();
  rows_.clear();
  for (int k = 1; k <= levels + 1; ++k)
    for (int j = 0; j < n; ++j) columns_.push_back(array_.x_column(k, j));
  for (int k = 0; k <= levels; ++k) {
    for (int j = 0; j < n; ++j) rows_.push_back(k * (n + m) + j);
    for (int i = 0; i < m; ++i) {
      if (line(i).a != 0) {
        rows_.push_back(k * (n + m) + n + i);
        columns_.push_back(array_.lambda_column(k, i));
      } else {
        lambda_(i, k) = k == 0 ? line(i).c / line(i).b : 0;
      }
    }
  }
}

void ModeArray::set_mode(const Mode& mode) {
  mode_ = mode;
  lines_.clear();
  for (std::size_t i = 0; i < mode.size(); ++i) {
    const Branch& branch = laws_[i].branches[static_cast<std::size_t>(mode[i])];
    lines_.push_back({branch.a, branch.b, branch.c});
  }
  set_equations(array_.levels());
}

bool ModeArray::free_variables() {
  linear::SparseMatrix identity;
  identity.begin_rows(array_.n());
  for (int j = 0; j < array_.n(); ++j) {
    identity.add(j, 1);
    identity.end_row();
  }
  set_directions(std::move(identity));
  split_known_ = false;
  return evaluate();
}

bool ModeArray::hold_multipliers() {
  for (int i = 0; i < array_.m(); ++i) lines_[static_cast<std::size_t>(i)] = {0, 1, lambda_(i, 0)};
  set_equations(0);
  return evaluate();
}

bool ModeArray::release_multipliers() {
  set_mode(mode_);
  return evaluate();
}

bool ModeArray::begin(const Mode& mode, double t, const Vector& x, const Vector& lambda,
                      const Vector& rates) {
  t_ = t;
  x_.setZero();
  x_.col(0) = x;
  if (rates.size() > 0) x_.col(1) = rates * scales_.fastest;
  lambda_.setZero();
  lambda_.col(0) = lambda;
  set_mode(mode);
  grown_units_.resize(0);
  array_.evaluate(t_, scales_.fastest, x_, lambda_);
  split_variables();
  assemble();
  return is_finite();
}

bool ModeArray::begin(const Jet& jet) {
  t_ = jet.t;
  double power = 1;
  for (Eigen::Index k = 0; k < x_.cols(); ++k, power *= scales_.fastest) {
    x_.col(k) = power * jet.x.col(k);
    if (k < lambda_.cols()) lambda_.col(k) = power * jet.lambda.col(k);
  }
  set_mode(jet.mode);
  grown_units_.resize(0);
  array_.evaluate(t_, scales_.fastest, x_, lambda_);
  split_variables();
  assemble();
  return is_finite();
}

/// Z: x_[0] may change by what ∂(F, G)/∂ẋ does not see. Where its columns that are not zero are
/// independent, those are the unit vectors of the others, and differential variables stay as they
/// are bit by bit.
void ModeArray::split_variables() {
  if (split_known_) return;
  const linear::SparseMatrix rates = array_.rate_derivatives();
  if (!rates.all_finite()) return set_directions({array_.n(), 0});
  split_.factorise(rates, scales_.x, rates.sizes_times(scales_.x), rounding);
  set_directions(split_.null_space());
  split_known_ = array_.is_linear();
}

void ModeArray::set_directions(linear::SparseMatrix Z) {
  Z_ = std::move(Z);
  directions_ = Z_.transposed();
  free_ = Z_.columns();
  along_.assign(static_cast<std::size_t>(free_), 0);
}

Matrix ModeArray::differential_projection() const {
  const Matrix one = Matrix::Identity(array_.n(), array_.n());
  if (free_ == 0) return one;
  const Matrix Z = Z_.dense();
  return one - Z * linear::solve_definite(Z.transpose() * Z, Z.transpose());
}

bool ModeArray::evaluate() {
  array_.evaluate(t_, scales_.fastest, x_, lambda_);
  assemble();
  return is_finite();
}

void ModeArray::combine(const Matrix& rows, const Matrix& lambda_columns, Matrix& result) const {
  const int n = array_.n(), all = n + array_.m();
  result.resize(static_cast<Eigen::Index>(rows_.size()), rows.cols());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const int level = rows_[r] / all, i = rows_[r] % all - n;
    const auto row = static_cast<Eigen::Index>(r);
    result.row(row) = rows.row(rows_[r]);
    if (i < 0) continue;
    const Line& b = line(i);
    result.row(row) *= b.a;
    if (b.b != 0) result.row(row) += b.b * lambda_columns.row(level * array_.m() + i);
  }
}

/// Of all columns of the array: |value|, at least its unit.
void ModeArray::set_sizes() {
  const int n = array_.n(), m = array_.m();
  column_sizes_.resize(array_.columns());
  term_sizes_.resize(array_.columns());
  const auto put = [&](int column, int k, double value, double unit) {
    column_sizes_[column] = std::max(std::abs(value), unit);
    term_sizes_[column] = std::max(std::abs(value), k == 0 ? unit : small_coefficient * unit);
  };
  for (int k = 0; k <= array_.levels() + 1; ++k)
    for (int j = 0; j < n; ++j) put(array_.x_column(k, j), k, x_(j, k), scales_.x[j]);
  for (int k = 0; k <= array_.levels(); ++k)
    for (int i = 0; i < m; ++i)
      put(array_.lambda_column(k, i), k, lambda_(i, k), scales_.lambda[i]);
}

void ModeArray::assemble() {
  const int n = array_.n(), m = array_.m(), all = n + m;
  set_sizes();
  unknown_of_.assign(static_cast<std::size_t>(array_.columns()), -1);
  for (std::size_t c = 0; c < columns_.size(); ++c)
    unknown_of_[static_cast<std::size_t>(columns_[c])] = free_ + static_cast<int>(c);
  const auto rows = static_cast<Eigen::Index>(rows_.size());
  residual_.resize(rows);
  row_sizes_.resize(rows);
  matrix_.begin_rows(unknowns());
  finite_ = true;
  for (Eigen::Index r = 0; r < rows; ++r) {
    const int from = rows_[static_cast<std::size_t>(r)];
    const int level = from / all, i = from % all - n;
    const Line* b = i < 0 ? nullptr : &line(i);
    residual_[r] = (b ? b->a : 1) * array_.values()[from];
    double terms = assemble_row(from);
    if (b) {
      residual_[r] += b->b * lambda_(i, level) - (level == 0 ? b->c : 0);
      terms += std::abs(b->b) * term_sizes_[array_.lambda_column(level, i)];
      if (level == 0) terms += std::abs(b->c);
    }
    row_sizes_[r] = terms;
  }
  set_unknown_sizes();
}

/// From those of the columns.
void ModeArray::set_unknown_sizes() {
  sizes_.resize(unknowns());
  for (int c = 0; c < free_; ++c) {  // y moves the variable that stands out in its direction
    double most = -1;
    for (const auto& [j, z] : directions_.row(c)) {
      const double share = std::abs(z) / scales_.x[j];
      if (!(share > most)) continue;
      most = share;
      sizes_[c] = size_of(j) / std::abs(z);
    }
  }
  for (std::size_t c = 0; c < columns_.size(); ++c)
    sizes_[free_ + static_cast<Eigen::Index>(c)] = size_of(columns_[c]);
}

/// The row of the matrix from one of the array, times a of its law, and b for its multiplier; the sizes of its terms.
double ModeArray::assemble_row(int from) {
  const int n = array_.n(), all = n + array_.m(), i = from % all - n;
  const Line law = line_of_row(i);
  const double a = law.a, b = law.b;
  const int multiplier = i < 0 ? -1 : array_.lambda_column(from / all, i);
  auto row = array_.derivatives().row(from);
  double terms = 0;
  for (const auto& [column, value] : row) terms += std::abs(a * value) * term_sizes_[column];
  add_directions(row, a);
  for (const auto& [column, value] : row) {
    const int unknown = unknown_of_[static_cast<std::size_t>(column)];
    const double entry = b != 0 && column == multiplier ? a * value + b : a * value;
    if (unknown >= 0 && entry != 0) matrix_.add(unknown, entry);
  }
  matrix_.end_row();
  return terms;
}

/// By y, from the leading entries of a row of the array, those of x_[0], which are taken from it.
void ModeArray::add_directions(std::span<const linear::SparseMatrix::Entry>& row, double a) {
  touched_.clear();
  while (!row.empty() && row.front().column < array_.n()) {
    const auto [j, value] = row.front();
    row = row.subspan(1);
    finite_ = finite_ && (free_ == 0 || std::isfinite(value));
    for (const auto& [c, z] : Z_.row(j)) {
      along_[static_cast<std::size_t>(c)] += value * z;
      touched_.push_back(c);
    }
  }
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const int c : touched_) {
    double& sum = along_[static_cast<std::size_t>(c)];
    if (sum != 0) matrix_.add(c, a * sum);
    sum = 0;
  }
}

void ModeArray::move(double share, const Vector& step) {
  const int n = array_.n(), m = array_.m();
  for (int c = 0; c < free_; ++c)
    for (const auto& [j, z] : directions_.row(c)) x_(j, 0) += share * step[c] * z;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const double change = share * step[free_ + static_cast<Eigen::Index>(c)];
    const int column = columns_[c], first = array_.lambda_column(0, 0);
    if (column < first)
      x_(column % n, column / n) += change;
    else
      lambda_((column - first) % m, (column - first) / m) += change;
  }
}

double ModeArray::relative_residual() const {
  return perp::relative_residual(residual_, row_sizes_);
}

namespace {

/// Of the terms of all columns, in units of scales.time.
Vector slow_sizes(const DerivativeArray& array, const JetScales& scales, const Matrix& x,
                  const Matrix& lambda) {
  Vector sizes(array.columns()), share(x.cols());
  for (Eigen::Index k = 0; k < share.size(); ++k) share[k] = std::pow(scales.fastest / scales.time, static_cast<int>(k));
  const auto put = [&](int column, int k, double value, double unit) {
    sizes[column] = std::max(std::abs(value), k == 0 ? unit : small_coefficient * unit * share[k]);
  };
  for (int k = 0; k < x.cols(); ++k)
    for (int j = 0; j < array.n(); ++j) put(array.x_column(k, j), k, x(j, k), scales.x[j]);
  for (int k = 0; k < lambda.cols(); ++k)
    for (int i = 0; i < array.m(); ++i)
      put(array.lambda_column(k, i), k, lambda(i, k), scales.lambda[i]);
  return sizes;
}

}  // namespace

double ModeArray::slow_residual() const {
  const int n = array_.n(), m = array_.m(), all = n + m;
  const Vector sizes = slow_sizes(array_, scales_, x_, lambda_);
  double largest = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const int from = rows_[r];
    if (from / all != 1) continue;
    const int i = from % all - n;
    const double a = line_of_row(i).a, b = line_of_row(i).b;
    double terms = 0;
    for (const auto& [column, value] : array_.derivatives().row(from)) terms += std::abs(a * value) * sizes[column];
    if (b != 0) terms += std::abs(b) * sizes[array_.lambda_column(1, i)];
    const double size = std::abs(residual_[static_cast<Eigen::Index>(r)]);
    if (size > 0) largest = std::max(largest, size / std::max(terms, size));
  }
  return largest;
}

ModeArray::Argument ModeArray::argument(int law) const {
  const int n = array_.n(), row = n + law;
  const double rate = std::abs(array_.values()[n + array_.m() + row]) / scales_.fastest;
  return {array_.values()[row], terms_of(row) + rate * std::max(std::abs(t_), scales_.time)};
}

/// Σ |∂| times the sizes of what moves it, of a row of the array.
double ModeArray::terms_of(int row) const {
  double terms = 0;
  for (const auto& [column, value] : array_.derivatives().row(row)) terms += std::abs(value) * term_sizes_[column];
  return terms;
}

Matrix ModeArray::expand(const Matrix& unknowns) const {
  Matrix all = Matrix::Zero(array_.columns(), unknowns.cols());
  all.topRows(array_.n()) = Z_.dense() * unknowns.topRows(free_);
  for (std::size_t c = 0; c < columns_.size(); ++c)
    all.row(columns_[c]) = unknowns.row(free_ + static_cast<Eigen::Index>(c));
  return all;
}

linear::SparseMatrix ModeArray::expand(const linear::SparseMatrix& unknowns) const {
  linear::SparseMatrix all;
  all.begin_rows(unknowns.columns());
  std::vector<double> sums(static_cast<std::size_t>(unknowns.columns()), 0);
  std::vector<int> moved;
  for (int column = 0; column < array_.columns(); ++column) {
    const int unknown = unknown_of_[static_cast<std::size_t>(column)];
    if (column < array_.n()) {
      moved.clear();
      for (const auto& [c, z] : Z_.row(column))
        for (const auto& [q, y] : unknowns.row(c)) {
          sums[static_cast<std::size_t>(q)] += z * y;
          moved.push_back(q);
        }
      std::sort(moved.begin(), moved.end());
      moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
      for (const int q : moved) all.add(q, std::exchange(sums[static_cast<std::size_t>(q)], 0));
    } else if (unknown >= 0) {
      for (const auto& [q, value] : unknowns.row(unknown)) all.add(q, value);
    }
    all.end_row();
  }
  return all;
}

void ModeArray::write(Jet& jet) const {
  jet.t = t_;
  jet.mode = mode_;
  jet.unit = scales_.fastest;
  jet.x = x_;
  jet.lambda = lambda_;
  const int n = array_.n(), m = array_.m();
  jet.w.resize(m, lambda_.cols());
  jet.w_size.resize(m, lambda_.cols());
  double power = 1;
  for (Eigen::Index k = 0; k < x_.cols(); ++k, power /= scales_.fastest) {
    jet.x.col(k) *= power;
    if (k >= lambda_.cols()) break;
    jet.lambda.col(k) *= power;
    const int first = static_cast<int>(k) * (n + m) + n;
    jet.w.col(k) = power * array_.values().segment(first, m);
    for (int i = 0; i < m; ++i) jet.w_size(i, k) = power * terms_of(first + i);
  }
}

}  // namespace perp
