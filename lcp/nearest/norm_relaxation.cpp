#include <algorithm>
#include <cmath>
#include <numeric>

#include <perp/core/linear/least_squares.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/mlcp.hpp>
#include <perp/lcp/nearest/norm_relaxation.hpp>

namespace perp {
namespace {

constexpr double no_norm_pivot = 1e-13;     // beside the largest entry of its row
// 1 in what follows is a natural size: rows are those of the equilibrated problem, with entries near it.
constexpr double norm_violation = 1e-12;    // below which a row is left as it is
constexpr double flat = 1e-11;         // slopes and steps below it end the descent
constexpr double norm_rounding = 0x1p-49;   // beside the terms of a sum
constexpr double norm_cancelled = 0x1p-42;  // a sum below it beside its terms is 0

/// By how much a value misses a range.
double missing(const Range& range, double value) {
  return std::max(range.lower - value, value - range.upper);
}

/// Is a value at the end of its range in this direction?
bool is_at_end(const Range& range, double value, double direction) {
  return direction > 0 ? value >= range.upper : value <= range.lower;
}

}  // namespace

NormRelaxation::NormRelaxation(const NormRows& rows)
    : rows_(&rows),
      R_(rows.rows()),
      C_(rows.parameters()),
      N_(static_cast<int>(rows.a.size())),
      T_(R_ + N_, C_ + 1),
      basic_(at(R_)),
      nonbasic_(at(C_)),
      value_(at(R_ + C_), 0) {
  T_ << rows.G, rows.g, rows.A, rows.a;
  std::iota(basic_.begin(), basic_.end(), 0);
  std::iota(nonbasic_.begin(), nonbasic_.end(), R_);
}

double NormRelaxation::bound(const std::vector<Range>& ranges) {
  double best = 0;
  for (const bool again : {false, true}) {
    if (again) refactor();
    place(ranges);
    const int conflict = make_feasible(ranges);
    if (conflict >= 0) {
      if (proves_empty(ranges, conflict)) return inf;
      continue;
    }
    minimise(ranges);
    best = std::max(best, optimum(ranges));
    const Vector rest =
        T_.bottomRows(N_).leftCols(C_) *
            Vector::NullaryExpr(C_, [&](Eigen::Index j) { return x(static_cast<int>(j)); }) +
        T_.bottomRows(N_).col(C_);
    if (best >= rest.norm() * (1 - 1e-7) - 1e-9) break;  // else rounding spoiled the tableau
  }
  return best;
}

void NormRelaxation::make_nonbasic(int first) {
  for (int r = first; r < R_; ++r) {
    int column = -1;
    double largest = 1e-6 * T_.row(r).head(C_).lpNorm<Eigen::Infinity>();
    for (int j = 0; j < C_; ++j)
      if (nonbasic_[at(j)] >= R_ && std::abs(T_(r, j)) > largest) {
        largest = std::abs(T_(r, j));
        column = j;
      }
    if (column >= 0) exchange(r, column);
  }
}

bool NormRelaxation::is_free(int column) const {
  return std::find(free_.begin(), free_.end(), column) != free_.end();
}

/// Puts every nonbasic quantity into its range; those inside of it are free to move.
void NormRelaxation::place(const Ranges& ranges) {
  free_.clear();
  for (int j = 0; j < C_; ++j) {
    const Range& range = ranges[at(nonbasic_[at(j)])];
    x(j) = std::clamp(x(j), range.lower, range.upper);
    if (x(j) > range.lower && x(j) < range.upper) free_.push_back(j);
  }
  evaluate();
}

/// The basic quantities from the nonbasic ones.
void NormRelaxation::evaluate() {
  Vector point(C_ + 1);
  for (int j = 0; j < C_; ++j) point[j] = x(j);
  point[C_] = 1;
  const Vector values = T_.topRows(R_) * point;
  for (int r = 0; r < R_; ++r) value_[at(basic_[at(r)])] = values[r];
}

/// Brings the basic quantities into their ranges, one pivot each; the row where that is impossible,
/// or -1 (also when it gives up: the rows then stay violated and the bound is what it is).
int NormRelaxation::make_feasible(const Ranges& ranges) {
  const int patience = R_ + C_;  // greedy pivots, then as many with the least index
  for (int count = 0; count < 2 * patience; ++count) {
    const int r = violated_row(ranges, count >= patience);
    if (r < 0) return -1;
    const int column = entering_column(ranges, r, count >= patience);
    if (column < 0) return r;
    const int leaving = basic_[at(r)];
    const Range& range = ranges[at(leaving)];
    const double target = value_[at(leaving)] < range.lower ? range.lower : range.upper;
    const double step = (target - value_[at(leaving)]) / T_(r, column);
    for (int i = 0; i < R_; ++i) value_[at(basic_[at(i)])] += T_(i, column) * step;
    x(column) += step;
    value_[at(leaving)] = target;
    std::erase(free_, column);
    exchange(r, column);
  }
  return -1;
}

/// 1: a quantity outside of its range has to rise, -1: to fall.
double NormRelaxation::direction_of(const Ranges& ranges, int quantity) const {
  return value(quantity) < ranges[at(quantity)].lower ? 1 : -1;
}

int NormRelaxation::violated_row(const Ranges& ranges, bool least_index) const {
  int found = -1;
  double largest = 0;
  for (int r = 0; r < R_; ++r) {
    const int quantity = basic_[at(r)];
    const double value = value_[at(quantity)], miss = missing(ranges[at(quantity)], value);
    if (miss <= largest || miss <= norm_violation * (1 + std::abs(value))) continue;
    if (least_index && found >= 0 && basic_[at(found)] < quantity) continue;
    found = r;
    if (!least_index) largest = miss;
  }
  return found;
}

int NormRelaxation::entering_column(const Ranges& ranges, int r, bool least_index) const {
  const double direction = direction_of(ranges, basic_[at(r)]);
  int found = -1;
  double best = no_norm_pivot * T_.row(r).head(C_).lpNorm<Eigen::Infinity>();
  for (int j = 0; j < C_; ++j) {
    const double entry = direction * T_(r, j);
    if (std::abs(entry) <= best) continue;
    const int quantity = nonbasic_[at(j)];
    if (is_at_end(ranges[at(quantity)], value(quantity), entry)) continue;
    if (least_index && found >= 0 && nonbasic_[at(found)] < quantity) continue;
    found = j;
    if (!least_index) best = std::abs(entry);
  }
  return found;
}

/// Alternates the least squares problem of the free columns with setting one more free.
void NormRelaxation::minimise(const Ranges& ranges) {
  const auto norm_rows = T_.bottomRows(N_);
  for (int count = 0; count < 100 + 10 * (R_ + C_); ++count) {
    Vector point(C_ + 1);
    for (int j = 0; j < C_; ++j) point[j] = x(j);
    point[C_] = 1;
    const Vector rest = norm_rows * point;
    const double size = rest.norm();
    if (size <= flat * (1 + norm_rows.col(C_).norm())) return;
    if (!free_.empty()) {
      const Matrix columns = norm_rows(Eigen::all, free_);
      const Vector step = linear::least_squares(columns, -rest, 1e-11);
      if ((columns * step).norm() > flat * size) {
        advance(ranges, step);
        continue;
      }
    }
    const Vector slope = norm_rows.leftCols(C_).transpose() * rest / size;
    const int column = improving_column(ranges, slope);
    if (column < 0) return;
    free_.push_back(column);
  }
}

/// The column at an end of its range along which the norm falls most; -1 if along none.
int NormRelaxation::improving_column(const Ranges& ranges, const Vector& slope) const {
  int found = -1;
  double best = flat;
  for (int j = 0; j < C_; ++j) {
    if (slope[j] == 0 || is_free(j)) continue;
    const int quantity = nonbasic_[at(j)];
    if (is_at_end(ranges[at(quantity)], value(quantity), -slope[j])) continue;
    const double size = T_.bottomRows(N_).col(j).norm();
    if (std::abs(slope[j]) <= best * size) continue;
    found = j;
    best = std::abs(slope[j]) / size;
  }
  return found;
}

/// Moves the free columns by a step, as far as the ranges allow; what meets the end of its range is
/// held there from now on.
void NormRelaxation::advance(const Ranges& ranges, const Vector& step) {
  const Vector change = T_.topRows(R_)(Eigen::all, free_) * step;
  Stop stop;
  stop_at_columns(ranges, step, stop);
  stop_at_rows(ranges, change, 1e-12 * (1 + step.lpNorm<Eigen::Infinity>()), stop);
  for (std::size_t k = 0; k < free_.size(); ++k)
    x(free_[k]) += stop.share * step[static_cast<Eigen::Index>(k)];
  for (int r = 0; r < R_; ++r) value_[at(basic_[at(r)])] += stop.share * change[r];
  const auto hold = [&](int quantity, double rate) {
    value_[at(quantity)] = rate > 0 ? ranges[at(quantity)].upper : ranges[at(quantity)].lower;
  };
  int column = stop.column;
  if (stop.row >= 0) {
    hold(basic_[at(stop.row)], change[stop.row]);
    column = *std::max_element(free_.begin(), free_.end(), [&](int j, int k) {
      return std::abs(T_(stop.row, j)) < std::abs(T_(stop.row, k));
    });
    exchange(stop.row, column);
  } else if (column >= 0) {
    const auto k = std::find(free_.begin(), free_.end(), column) - free_.begin();
    hold(nonbasic_[at(column)], step[k]);
  }
  if (column >= 0) std::erase(free_, column);
}

/// How many times the rate a quantity may change.
double NormRelaxation::room(const Ranges& ranges, int quantity, double rate) const {
  const Range& range = ranges[at(quantity)];
  const double end = rate > 0 ? range.upper : range.lower;
  return std::max(0.0, (end - value(quantity)) / rate);
}

void NormRelaxation::stop_at_columns(const Ranges& ranges, const Vector& step, Stop& stop) const {
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const double rate = step[static_cast<Eigen::Index>(k)];
    if (rate == 0) continue;
    if (const double far = room(ranges, nonbasic_[at(free_[k])], rate); far < stop.share)
      stop = {far, -1, free_[k]};
  }
}

/// Of rows that meet their ends together that of the largest change.
void NormRelaxation::stop_at_rows(const Ranges& ranges, const Vector& change, double negligible,
                                  Stop& stop) const {
  for (int r = 0; r < R_; ++r) {
    if (std::abs(change[r]) <= negligible) continue;
    const double far = room(ranges, basic_[at(r)], change[r]);
    if (far < stop.share ||
        (far == stop.share && stop.row >= 0 && std::abs(change[r]) > std::abs(change[stop.row])))
      stop = {far, r, -1};
  }
}

/// The basic quantity of a row and the nonbasic one of a column change places.
void NormRelaxation::exchange(int r, int column) {
  const double pivot = T_(r, column);
  T_.row(r) /= -pivot;
  T_(r, column) = 1 / pivot;
  const Eigen::RowVectorXd pivot_row = T_.row(r);
  for (int i = 0; i < R_ + N_; ++i) {
    const double factor = T_(i, column);
    if (i == r || factor == 0) continue;
    T_(i, column) = 0;
    const Eigen::Array<double, 1, Eigen::Dynamic> before = T_.row(i).array();
    T_.row(i) += factor * pivot_row;
    // what is left by cancellation couples nothing
    T_.row(i) = (T_.row(i).array().abs() <= norm_rounding * before.abs()).select(0.0, T_.row(i));
  }
  std::swap(basic_[at(r)], nonbasic_[at(column)]);
}

/// The tableau anew from the rows as given, for the present choice of nonbasic quantities.
void NormRelaxation::refactor() {
  const auto row_of = [&](int quantity) -> Eigen::RowVectorXd {
    Eigen::RowVectorXd row(C_ + 1);
    if (quantity < R_)
      row << rows_->G.row(quantity), rows_->g[quantity];
    else
      row = Eigen::RowVectorXd::Unit(C_ + 1, quantity - R_);
    return row;
  };
  Matrix S(C_, C_), all(R_ + N_, C_);
  Vector s(C_), constant(R_ + N_);
  for (int j = 0; j < C_; ++j) {
    const Eigen::RowVectorXd row = row_of(nonbasic_[at(j)]);
    S.row(j) = row.head(C_);
    s[j] = row[C_];
  }
  for (int r = 0; r < R_; ++r) {
    const Eigen::RowVectorXd row = row_of(basic_[at(r)]);
    all.row(r) = row.head(C_);
    constant[r] = row[C_];
  }
  all.bottomRows(N_) = rows_->A;
  constant.tail(N_) = rows_->a;
  T_.leftCols(C_) = linear::Lu(S.transpose()).solve(Matrix(all.transpose())).transpose();
  T_.col(C_) = constant - T_.leftCols(C_) * s;
}

/// The bound by the multipliers at the present point.
double NormRelaxation::optimum(const Ranges& ranges) {
  Vector point(C_ + 1);
  for (int j = 0; j < C_; ++j) point[j] = x(j);
  point[C_] = 1;
  Vector n = T_.bottomRows(N_) * point;
  const double size = n.norm();
  if (size == 0) return 0;
  n /= size;
  const Vector slope = T_.bottomRows(N_).leftCols(C_).transpose() * n;
  Vector y = Vector::Zero(R_);
  for (int j = 0; j < C_; ++j) {
    const int quantity = nonbasic_[at(j)];
    if (quantity >= R_ || is_free(j)) continue;
    const double end = slope[j] > 0 ? ranges[at(quantity)].lower : ranges[at(quantity)].upper;
    if (std::isfinite(end)) y[quantity] = slope[j];
  }
  return std::max(0.0, least_value(ranges, y, n));
}

/// Row r of T cannot come into its range: 0 - Σ y v then has a least value above 0.
bool NormRelaxation::proves_empty(const Ranges& ranges, int r) const {
  Vector y = Vector::Zero(R_);
  const int violated = basic_[at(r)];
  const double sign = direction_of(ranges, violated);
  if (violated < R_) y[violated] = sign;
  for (int j = 0; j < C_; ++j) {
    const int quantity = nonbasic_[at(j)];
    const double multiplier = -sign * T_(r, j);
    const double end = multiplier > 0 ? ranges[at(quantity)].lower : ranges[at(quantity)].upper;
    if (quantity < R_ && std::isfinite(end)) y[quantity] = multiplier;
  }
  return least_value(ranges, y, Vector::Zero(N_)) > 0;
}

/// Least value of  n·(A t + a) - Σ y v + Σ y (the end of v's range where y v is least)  over the
/// ranges of t: n·(A t + a) is not smaller anywhere in all ranges. -inf where a column's share has
/// no least value.
double NormRelaxation::least_value(const Ranges& ranges, Vector y, const Vector& n) const {
  const double dust = norm_cancelled * std::max(y.lpNorm<Eigen::Infinity>(), n.squaredNorm());
  y = (y.array().abs() <= dust).select(0.0, y);  // any multipliers will do
  Vector sum = rows_->A.transpose() * n, size = rows_->A.cwiseAbs().transpose() * n.cwiseAbs();
  double constant = n.dot(rows_->a), term = n.cwiseAbs().dot(rows_->a.cwiseAbs()), weight = 0;
  double error = 0;  // of a coefficient, by the rounding of the rows as given
  for (int r = 0; r < R_; ++r) {
    if (y[r] == 0) continue;
    const double end = y[r] > 0 ? ranges[at(r)].lower : ranges[at(r)].upper;
    sum -= y[r] * rows_->G.row(r).transpose();
    size += std::abs(y[r]) * rows_->G.row(r).cwiseAbs().transpose();
    constant += y[r] * (end - rows_->g[r]);
    term = std::max({term, std::abs(y[r] * end), std::abs(y[r] * rows_->g[r])});
    weight += std::abs(y[r]);
    error += norm_rounding * std::abs(y[r]) * rows_->size[r];
  }
  for (int j = 0; j < C_; ++j) {
    if (std::abs(sum[j]) <= std::max(norm_cancelled * size[j], 4 * error)) continue;
    const Range& range = ranges[at(R_ + j)];
    const double least = sum[j] * (sum[j] > 0 ? range.lower : range.upper);
    if (least == -inf) return -inf;
    constant += least;
    term = std::max(term, std::abs(least));
    weight += std::abs(sum[j]);
  }
  // each quantity may miss its range by the tolerance of a solution
  return constant - solution_tolerance * (weight + term);
}

}  // namespace perp
