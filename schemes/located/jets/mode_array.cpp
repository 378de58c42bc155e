#include <algorithm>
#include <cmath>

#include <perp/core/linear/spectra.hpp>
#include <perp/schemes/located/jets/mode_array.hpp>
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
  Z_ = Matrix::Identity(array_.n(), array_.n());
  free_ = array_.n();
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
  array_.evaluate(t_, scales_.fastest, x_, lambda_);
  split_variables();
  assemble();
  return residual_.allFinite() && matrix_.allFinite();
}

bool ModeArray::begin(const Jet& jet) {
  t_ = jet.t;
  double power = 1;
  for (Eigen::Index k = 0; k < x_.cols(); ++k, power *= scales_.fastest) {
    x_.col(k) = power * jet.x.col(k);
    if (k < lambda_.cols()) lambda_.col(k) = power * jet.lambda.col(k);
  }
  set_mode(jet.mode);
  array_.evaluate(t_, scales_.fastest, x_, lambda_);
  split_variables();
  assemble();
  return residual_.allFinite() && matrix_.allFinite();
}

/// Z: x_[0] may change by what ∂(F, G)/∂ẋ does not see. Where its columns that are not zero are
/// independent, those are the unit vectors of the others, and differential variables stay as they
/// are bit by bit.
void ModeArray::split_variables() {
  if (split_known_) return;
  const Matrix rates = array_.rate_derivatives();
  if (!rates.allFinite()) {
    Z_.resize(array_.n(), 0);
  } else {
    const Vector row_sizes = rates.cwiseAbs() * scales_.x;
    split_.factorise(rates, scales_.x, row_sizes, rounding);
    split_.null_space(Z_);
    split_known_ = array_.is_linear();
  }
  free_ = static_cast<int>(Z_.cols());
}

Matrix ModeArray::differential_projection() const {
  const Matrix one = Matrix::Identity(array_.n(), array_.n());
  if (free_ == 0) return one;
  return one - Z_ * linear::solve_definite(Z_.transpose() * Z_, Z_.transpose());
}

bool ModeArray::evaluate() {
  array_.evaluate(t_, scales_.fastest, x_, lambda_);
  assemble();
  return residual_.allFinite() && matrix_.allFinite();
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

void ModeArray::assemble() {
  const int n = array_.n(), m = array_.m(), all = n + m;
  const Matrix& full = array_.derivatives();
  const auto rows = static_cast<Eigen::Index>(rows_.size());
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
  residual_.resize(rows);
  row_sizes_.resize(rows);
  matrix_.resize(rows, unknowns());
  for (Eigen::Index r = 0; r < rows; ++r) {
    const int from = rows_[static_cast<std::size_t>(r)];
    const int level = from / all, i = from % all - n;
    const Line* b = i < 0 ? nullptr : &line(i);
    const double a = b ? b->a : 1;
    residual_[r] = a * array_.values()[from];
    double terms = 0;
    for (int c = 0; c < array_.columns(); ++c)
      terms += std::abs(a * full(from, c)) * term_sizes_[c];
    for (int c = 0; c < free_; ++c) {
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += full(from, j) * Z_(j, c);
      matrix_(r, c) = a * sum;
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      double value = a * full(from, columns_[c]);
      if (b && b->b != 0 && columns_[c] == array_.lambda_column(level, i)) value += b->b;
      matrix_(r, free_ + static_cast<Eigen::Index>(c)) = value;
    }
    if (b) {
      residual_[r] += b->b * lambda_(i, level) - (level == 0 ? b->c : 0);
      terms += std::abs(b->b) * term_sizes_[array_.lambda_column(level, i)];
      if (level == 0) terms += std::abs(b->c);
    }
    row_sizes_[r] = terms;
  }
  sizes_.resize(unknowns());
  for (int c = 0; c < free_; ++c) {  // y moves the variable that stands out in its direction
    Eigen::Index j = 0;
    Z_.col(c).cwiseAbs().cwiseQuotient(scales_.x).maxCoeff(&j);
    sizes_[c] = column_sizes_[j] / std::abs(Z_(j, c));
  }
  for (std::size_t c = 0; c < columns_.size(); ++c)
    sizes_[free_ + static_cast<Eigen::Index>(c)] = column_sizes_[columns_[c]];
}

void ModeArray::move(double share, const Vector& step) {
  const int n = array_.n(), m = array_.m();
  for (int c = 0; c < free_; ++c) x_.col(0) += share * step[c] * Z_.col(c);
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
  Vector sizes(array.columns());
  const auto put = [&](int column, int k, double value, double unit) {
    const double share = std::pow(scales.fastest / scales.time, k);
    sizes[column] = std::max(std::abs(value), k == 0 ? unit : small_coefficient * unit * share);
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
    const double a = i < 0 ? 1 : line(i).a, b = i < 0 ? 0 : line(i).b;
    double terms = 0;
    for (Eigen::Index c = 0; c < sizes.size(); ++c)
      terms += std::abs(a * array_.derivatives()(from, c)) * sizes[c];
    if (b != 0) terms += std::abs(b) * sizes[array_.lambda_column(1, i)];
    const double size = std::abs(residual_[static_cast<Eigen::Index>(r)]);
    if (size > 0) largest = std::max(largest, size / std::max(terms, size));
  }
  return largest;
}

ModeArray::Argument ModeArray::argument(int law) const {
  const int n = array_.n(), row = n + law;
  const double rate = std::abs(array_.values()[n + array_.m() + row]) / scales_.fastest;
  return {array_.values()[row], array_.derivatives().row(row).cwiseAbs().dot(term_sizes_) +
                                    rate * std::max(std::abs(t_), scales_.time)};
}

Matrix ModeArray::expand(const Matrix& unknowns) const {
  Matrix all = Matrix::Zero(array_.columns(), unknowns.cols());
  all.topRows(array_.n()) = Z_ * unknowns.topRows(free_);
  for (std::size_t c = 0; c < columns_.size(); ++c)
    all.row(columns_[c]) = unknowns.row(free_ + static_cast<Eigen::Index>(c));
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
    const Eigen::Index first = k * (n + m) + n;
    jet.w.col(k) = power * array_.values().segment(first, m);
    for (int i = 0; i < m; ++i)
      jet.w_size(i, k) =
          power * (array_.derivatives().row(first + i).cwiseAbs().dot(term_sizes_));
  }
}

}  // namespace perp
