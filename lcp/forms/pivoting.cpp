#include <algorithm>
#include <cmath>
#include <cstddef>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/forms/pivoting.hpp>

namespace perp {
namespace {

// Difference of steps that count as equal, of the larger of them and of 1: the problem is equilibrated and
// t a number without unit. Ties choose pivots, no results.
constexpr double tie = 1e-13;
constexpr long rebuild_after = 60;    // pivots after which rounding is swept out

bool is_whole_line(const Range& range) { return range.lower == -inf && range.upper == inf; }

bool is_two_sided(const Range& range) { return range.lower > -inf && range.upper < inf; }

/// The rate that leads into a range with one end; 0 where it has two.
double rate_into(const Range& limits, double weight) {
  if (is_two_sided(limits)) return 0;
  return limits.lower > -inf ? weight : -weight;
}

/// A point inside a range: between two ends, or past the only end and the value.
double point_inside(const Range& limits, double value, double weight) {
  if (is_two_sided(limits)) {
    const double part = weight / (1 + weight);
    return limits.lower + part * (limits.upper - limits.lower);
  }
  if (limits.lower > -inf) return std::max(value, limits.lower) + weight;
  return std::min(value, limits.upper) - weight;
}

}  // namespace

Pivoting::Pivoting(const BoxForm& form) : form_(form), n_(form.n()), t_(2 * form.n()) {}

Range Pivoting::range(int id) const {
  if (id == t_) return {0, t_upper_};
  if (id < n_) return {form_.lower[id], form_.upper[id]};
  switch (places_[at(id - n_)]) {
    case Place::at_lower: return {0, inf};
    case Place::at_upper: return {-inf, 0};
    case Place::inside: break;
  }
  return {0, 0};
}

double Pivoting::value_of_nonbasic(int id) const {
  if (id >= n_ || id < form_.free) return 0;
  return places_[at(id)] == Place::at_upper ? form_.upper[id] : form_.lower[id];
}

/// Column of a variable in F − N y + (column of t) t = r.
Vector Pivoting::column(int id) const {
  if (id == t_) return t_column_;
  if (id >= n_) return Vector::Unit(n_, id - n_);
  return -form_.N.col(id);
}

/// Recomputes tableau and values from the basis. False if the basis is singular.
bool Pivoting::rebuild() {
  if (n_ == 0) return true;
  Matrix B(n_, n_), right(n_, n_ + 2);
  right.col(n_ + 1) = form_.r;
  for (int i = 0; i < n_; ++i) B.col(i) = column(basic_[at(i)]);
  for (int j = 0; j <= n_; ++j) {
    const int id = nonbasic_[at(j)];
    right.col(j) = -column(id);
    const double value = id == t_ ? 0 : value_of_nonbasic(id);
    if (value != 0) right.col(n_ + 1) += value * right.col(j);
  }
  const linear::Lu lu(B);
  const Vector pivots = lu.factors().diagonal().cwiseAbs();
  const Vector columns = B.cwiseAbs().colwise().maxCoeff();
  if (!(pivots.array() > tiny_pivot * columns.array()).all()) return false;
  const Matrix solved = lu.solve(right);
  if (!solved.allFinite()) return false;
  tableau_ = solved.leftCols(n_ + 1);
  beta_ = solved.col(n_ + 1);
  return true;
}

bool Pivoting::refresh(bool& fresh) {
  if (fresh || !rebuild()) return false;
  fresh = true;
  return true;
}

void Pivoting::exchange(int row, int c) {
  const double pivot = tableau_(row, c);
  const Eigen::RowVectorXd pivot_row = tableau_.row(row);
  Vector factor = tableau_.col(c) / pivot;
  factor[row] = 0;
  tableau_.noalias() -= factor * pivot_row;
  tableau_.row(row) = -pivot_row / pivot;
  tableau_.col(c) = factor;
  tableau_(row, c) = 1 / pivot;
  std::swap(basic_[at(row)], nonbasic_[at(c)]);
  where_[at(basic_[at(row)])] = row;
  where_[at(nonbasic_[at(c)])] = -1 - c;
}

double Pivoting::size_of_row(int row) const { return tableau_.row(row).cwiseAbs().maxCoeff(); }

bool Pivoting::can_block(int row) const {
  return idle_[at(row)] == 0 && !is_whole_line(range(basic_[at(row)]));
}

/// Is the value of a basic variable outside of a range with two ends?
bool Pivoting::leaves_two_sided_range(int row) const {
  const Range limits = range(basic_[at(row)]);
  return can_block(row) && is_two_sided(limits) &&
         (beta_[row] < limits.lower || beta_[row] > limits.upper);
}

/// g: into the ranges of the basic variables, which all hold for t large; where a two-sided range
/// is violated, to a point inside every range at t = 1.
Vector Pivoting::direction(const Vector& weights) {
  bool bounded = false;
  for (int row = 0; row < n_; ++row) bounded = bounded || leaves_two_sided_range(row);
  if (bounded) t_upper_ = 1;
  Vector g = Vector::Zero(n_);
  for (int row = 0; row < n_; ++row) {
    if (!can_block(row)) continue;
    const Range limits = range(basic_[at(row)]);
    g[row] = bounded ? point_inside(limits, beta_[row], weights[row]) - beta_[row]
                     : rate_into(limits, weights[row]);
  }
  return g;
}

/// Does `row` block before `other` in the perturbed problem, the steps being equal without it?
/// Row i carries the perturbation ε_k of the k-th start variable with factor 1 if it is that basic
/// variable and −tableau(i, column) where that variable is nonbasic. other = -2: a fixed bound.
bool Pivoting::smaller(int row, double rate, int other, double other_rate) const {
  for (int k = 0; k < n_; ++k) {
    const int place = where_[at(slack_[at(k)])];
    const auto perturbation = [&](int i, double of_rate) {
      if (i < 0) return 0.0;
      const double factor = place >= 0 ? (place == i ? 1.0 : 0.0) : -tableau_(i, -1 - place);
      return -factor / of_rate;
    };
    const double a = perturbation(row, rate);
    const double b = perturbation(other, other_rate);
    if (std::abs(a - b) > tie * std::max({1.0, std::abs(a), std::abs(b)})) return a < b;
  }
  return false;
}

/// t leaves whenever it can: then the problem is solved.
bool Pivoting::is_t_at_zero(const Blocking& block) const {
  return block.row >= 0 && basic_[at(block.row)] == t_ && !block.at_upper;
}

/// Does a row block before the one that is best so far?
bool Pivoting::is_sooner(const Blocking& candidate, const Blocking& best,
                         const Vector& rate) const {
  const double margin = tie * std::max(1.0, std::abs(candidate.step));
  const bool equal = best.row != -1 && std::abs(candidate.step - best.step) <= margin;
  if (!equal) return candidate.step < best.step;
  if (is_t_at_zero(best) && best.step >= 0) return false;
  return is_t_at_zero(candidate) || smaller(candidate.row, rate[candidate.row], best.row,
                                            best.row >= 0 ? rate[best.row] : 1.0);
}

Pivoting::Blocking Pivoting::blocking(const Vector& rate, double own_step) const {
  Blocking best;
  if (own_step < inf) best = {-2, own_step, false};
  for (int row = 0; row < n_; ++row) {
    if (std::abs(rate[row]) <= tiny_pivot * size_of_row(row) || idle_[at(row)] != 0) continue;
    const Range limits = range(basic_[at(row)]);
    const bool up = rate[row] > 0;
    const double bound = up ? limits.upper : limits.lower;
    if (!std::isfinite(bound)) continue;
    const Blocking candidate{row, (bound - beta_[row]) / rate[row], up};
    if (is_sooner(candidate, best, rate)) best = candidate;
  }
  return best;
}

/// Lowers t from above until the first row blocks. False if none does before t = 0: solved.
bool Pivoting::first_pivot(const Vector& g, Motion& motion) {
  if (n_ == 0) return false;
  const int c = -1 - where_[at(t_)];
  tableau_.col(c) = g;
  Matrix B(n_, n_);
  for (int i = 0; i < n_; ++i) B.col(i) = column(basic_[at(i)]);
  t_column_ = -(B * g);
  slack_ = basic_;
  const Blocking block = blocking(-g, inf);
  if (block.row == -1 || -block.step <= 0) return false;
  const double t = -block.step;
  leave(basic_[at(block.row)], block.at_upper, motion);
  beta_ += t * g;
  exchange(block.row, c);
  beta_[block.row] = t;
  return true;
}

/// A variable has left at a bound: the complement that enters and the sign of its motion.
void Pivoting::leave(int id, bool at_upper, Motion& motion) {
  if (id < n_) {
    places_[at(id)] = at_upper ? Place::at_upper : Place::at_lower;
    motion = {n_ + id, at_upper ? -1 : 1};
  } else {
    motion.entering = id - n_;
    motion.sign = places_[at(motion.entering)] == Place::at_upper ? -1 : 1;
  }
}

/// How far an unknown can go from one bound to its other one.
double Pivoting::own_step(int entering) const {
  return entering < n_ ? form_.upper[entering] - form_.lower[entering] : inf;
}

/// The entering variable takes the row that blocks after its step; returns the variable of that row.
int Pivoting::enter(const Motion& motion, const Blocking& block, double step) {
  const auto [entering, sign] = motion;
  const int leaving = basic_[at(block.row)];
  const double value = (entering < n_ ? value_of_nonbasic(entering) : 0) + sign * step;
  if (entering < n_) places_[at(entering)] = Place::inside;
  exchange(block.row, -1 - where_[at(entering)]);
  beta_[block.row] = value;
  return leaving;
}

/// t has left the basis.
PivotResult Pivoting::end_of_path(bool at_upper) {
  if (at_upper) return PivotResult::back_at_start;
  rebuild();  // values without the rounding of the way; a failure leaves the present ones
  return PivotResult::done;
}

PivotResult Pivoting::follow(const Vector& weights, long& pivots, long max_pivots) {
  Motion motion;
  if (!first_pivot(direction(weights), motion)) return PivotResult::done;
  ++pivots;
  long since_rebuild = 0;
  bool fresh = false;
  while (pivots < max_pivots) {
    check_interruption();
    const Vector rate = motion.sign * tableau_.col(-1 - where_[at(motion.entering)]);
    const Blocking block = blocking(rate, own_step(motion.entering));
    if (block.row == -1) {  // once more with clean numbers before the ray is believed
      if (!refresh(fresh)) return PivotResult::ray;
      continue;
    }
    const double step = std::max(0.0, block.step);
    ++pivots;
    beta_ += step * rate;
    if (block.row == -2) {
      leave(motion.entering, motion.sign > 0, motion);
      continue;
    }
    const int leaving = enter(motion, block, step);
    if (leaving == t_) return end_of_path(block.at_upper);
    leave(leaving, block.at_upper, motion);
    fresh = ++since_rebuild % rebuild_after == 0 && rebuild();
  }
  return PivotResult::limit;
}

Vector Pivoting::y() const {
  Vector y(n_);
  for (int i = 0; i < n_; ++i)
    y[i] = where_[at(i)] >= 0 ? beta_[where_[at(i)]] : value_of_nonbasic(i);
  return y;
}

}  // namespace perp
