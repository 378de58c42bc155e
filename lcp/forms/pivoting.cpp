#include <algorithm>
#include <cmath>
#include <cstddef>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/forms/pivoting.hpp>

namespace perp {
namespace {

constexpr double tiny_pivot = 1e-11;  // beside the largest entry of its own row or column
// Difference of steps that count as equal, of the larger of them and of 1: the problem is equilibrated and
// t a number without unit. Ties choose pivots, no results.
constexpr double tie = 1e-13;
constexpr long rebuild_after = 60;    // pivots after which rounding is swept out

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

bool Pivoting::start(const std::vector<Place>& places) {
  places_ = places;
  basic_.resize(at(n_));
  nonbasic_.resize(at(n_ + 1));
  where_.resize(at(2 * n_ + 1));
  idle_.assign(at(n_), 0);
  t_column_ = Vector::Zero(n_);
  t_upper_ = inf;
  for (int i = 0; i < n_; ++i) {
    if (i < form_.free) places_[at(i)] = Place::inside;
    const bool inside = places_[at(i)] == Place::inside;
    basic_[at(i)] = inside ? i : n_ + i;
    nonbasic_[at(i)] = inside ? n_ + i : i;
    where_[at(basic_[at(i)])] = i;
    where_[at(nonbasic_[at(i)])] = -1 - i;
  }
  nonbasic_[at(n_)] = t_;
  where_[at(t_)] = -1 - n_;
  return rebuild();
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

/// The largest entry (row, column), beside its row, of the tableau between the equality rows still
/// basic and the free unknowns still outside.
Pivoting::Entry Pivoting::largest_free_entry() const {
  Entry best;
  double size = tiny_pivot;
  for (int i = 0; i < form_.free; ++i) {
    const int row = where_[at(n_ + i)];
    if (row < 0 || idle_[at(row)] != 0) continue;
    const double of_row = size_of_row(row);
    for (int j = 0; j < form_.free; ++j) {
      const int c = -1 - where_[at(j)];
      if (c < 0 || std::abs(tableau_(row, c)) <= size * of_row) continue;
      size = std::abs(tableau_(row, c)) / of_row;
      best = {row, c};
    }
  }
  return best;
}

/// Where that block is zero: the pair (y_k, F_k) through which an equality row and a free unknown
/// are coupled most, pivoted together with them. False if there is none.
bool Pivoting::pivot_with_pair() {
  const auto pair = [&](int k) {
    const bool inside = where_[at(k)] >= 0;
    return Entry{where_[at(inside ? k : n_ + k)], -1 - where_[at(inside ? n_ + k : k)]};
  };
  int best = -1;
  Entry outer;
  double size = tiny_pivot;
  for (int i = 0; i < form_.free; ++i) {
    const int row = where_[at(n_ + i)];
    if (row < 0 || idle_[at(row)] != 0) continue;
    for (int j = 0; j < form_.free; ++j) {
      const int c = -1 - where_[at(j)];
      if (c < 0) continue;
      for (int k = form_.free; k < n_; ++k) {
        const Entry of_pair = pair(k);
        const double smaller_one =
            std::min(std::abs(tableau_(row, of_pair.column)), std::abs(tableau_(of_pair.row, c)));
        if (smaller_one <= size) continue;
        size = smaller_one;
        best = k;
        outer = {row, c};
      }
    }
  }
  if (best < 0) return false;
  const Entry inner = pair(best);
  exchange(outer.row, inner.column);
  exchange(inner.row, outer.column);
  Place& place = places_[at(best)];
  if (place != Place::inside)
    place = Place::inside;
  else
    place = form_.lower[best] > -inf ? Place::at_lower : Place::at_upper;
  return true;
}

/// Does an equality row contain nothing but other equalities, that is zeros?
bool Pivoting::is_empty(int row) const {
  const double size = size_of_row(row);
  for (int c = 0; c <= n_; ++c) {
    const int id = nonbasic_[at(c)];
    const bool equality = id >= n_ && id < n_ + form_.free;
    if (!equality && std::abs(tableau_(row, c)) > tiny_pivot * size) return false;
  }
  return true;
}

/// Free unknowns into the basis, equality rows out of it; see start_at_bounds.
bool Pivoting::pivot_free_in() {
  for (int remaining = form_.free; remaining > 0; --remaining) {
    const Entry entry = largest_free_entry();
    if (entry.row >= 0) {
      exchange(entry.row, entry.column);
      continue;
    }
    if (pivot_with_pair()) continue;
    for (int i = 0; i < form_.free; ++i) {
      const int row = where_[at(n_ + i)];
      if (row < 0 || idle_[at(row)] != 0) continue;
      if (!is_empty(row)) return false;
      idle_[at(row)] = 1;
    }
    return true;
  }
  return true;
}

bool Pivoting::start_at_bounds(std::vector<Place> places) {
  for (int i = 0; i < n_; ++i) {
    Place& place = places[at(i)];
    if (place == Place::inside) place = Place::at_lower;
    if (place == Place::at_lower && form_.lower[i] == -inf) place = Place::at_upper;
    if (place == Place::at_upper && form_.upper[i] == inf) place = Place::at_lower;
  }
  if (!start(places)) {
    // The block of the free unknowns is singular: begin with all F basic and pivot.
    for (int i = 0; i < n_; ++i) {
      basic_[at(i)] = n_ + i;
      nonbasic_[at(i)] = i;
      where_[at(n_ + i)] = i;
      where_[at(i)] = -1 - i;
    }
    if (!rebuild() || !pivot_free_in() || !rebuild()) return false;
  }
  for (int row = 0; row < n_; ++row)
    if (idle_[at(row)] != 0 && std::abs(beta_[row]) > tiny_pivot) return false;
  return true;
}

/// g: into the ranges of the basic variables, which all hold for t large; where a two-sided range
/// is violated, to a point inside every range at t = 1.
Vector Pivoting::direction(const Vector& weights) {
  Vector g = Vector::Zero(n_);
  bool bounded = false;
  for (int row = 0; row < n_; ++row) {
    const int id = basic_[at(row)];
    const Range limits = range(id);
    if (idle_[at(row)] != 0 || (limits.lower == -inf && limits.upper == inf)) continue;
    const bool two_sided = limits.lower > -inf && limits.upper < inf;
    if (!two_sided) g[row] = limits.lower > -inf ? weights[row] : -weights[row];
    const double value = beta_[row];
    bounded = bounded || (two_sided && (value < limits.lower || value > limits.upper));
  }
  if (!bounded) return g;
  t_upper_ = 1;
  for (int row = 0; row < n_; ++row) {
    const Range limits = range(basic_[at(row)]);
    if (idle_[at(row)] != 0 || (limits.lower == -inf && limits.upper == inf)) continue;
    double target = 0;
    if (limits.lower > -inf && limits.upper < inf) {
      const double part = weights[row] / (1 + weights[row]);
      target = limits.lower + part * (limits.upper - limits.lower);
    } else if (limits.lower > -inf) {
      target = std::max(beta_[row], limits.lower) + weights[row];
    } else {
      target = std::min(beta_[row], limits.upper) - weights[row];
    }
    g[row] = target - beta_[row];
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

Pivoting::Blocking Pivoting::blocking(const Vector& rate, double own_step) const {
  Blocking best;
  if (own_step < inf) best = {-2, own_step, false};
  for (int row = 0; row < n_; ++row) {
    if (std::abs(rate[row]) <= tiny_pivot * size_of_row(row) || idle_[at(row)] != 0) continue;
    const Range limits = range(basic_[at(row)]);
    const bool up = rate[row] > 0;
    const double bound = up ? limits.upper : limits.lower;
    if (!std::isfinite(bound)) continue;
    const double step = (bound - beta_[row]) / rate[row];
    const double margin = tie * std::max(1.0, std::abs(step));
    const bool equal = best.row != -1 && std::abs(step - best.step) <= margin;
    // t leaves whenever it can: then the problem is solved.
    const bool t_row = basic_[at(row)] == t_ && !up;
    const bool t_best =
        best.row >= 0 && basic_[at(best.row)] == t_ && best.step >= 0 && !best.at_upper;
    if (equal ? !t_best && (t_row ||
                            smaller(row, rate[row], best.row, best.row >= 0 ? rate[best.row] : 1.0))
              : step < best.step)
      best = {row, step, up};
  }
  return best;
}

/// Lowers t from above until the first row blocks. False if none does before t = 0: solved.
bool Pivoting::first_pivot(const Vector& g, int& leaving) {
  const int c = -1 - where_[at(t_)];
  tableau_.col(c) = g;
  Matrix B(n_, n_);
  for (int i = 0; i < n_; ++i) B.col(i) = column(basic_[at(i)]);
  t_column_ = -(B * g);
  slack_ = basic_;
  const Blocking block = blocking(-g, inf);
  if (block.row == -1 || -block.step <= 0) return false;
  const double t = -block.step;
  leaving = basic_[at(block.row)];
  if (leaving < n_) places_[at(leaving)] = block.at_upper ? Place::at_upper : Place::at_lower;
  beta_ += t * g;
  exchange(block.row, c);
  beta_[block.row] = t;
  return true;
}

/// A variable has left at a bound: the complement that enters and the sign of its motion.
void Pivoting::leave(int id, bool at_upper, int& entering, int& sign) {
  if (id < n_) {
    places_[at(id)] = at_upper ? Place::at_upper : Place::at_lower;
    entering = n_ + id;
    sign = at_upper ? -1 : 1;
  } else {
    entering = id - n_;
    sign = places_[at(entering)] == Place::at_upper ? -1 : 1;
  }
}

PivotResult Pivoting::follow(const Vector& weights, long& pivots, long max_pivots) {
  if (n_ == 0) return PivotResult::done;
  int leaving = -1;
  if (!first_pivot(direction(weights), leaving)) return PivotResult::done;
  ++pivots;
  int entering = -1;
  int sign = 1;
  leave(leaving, leaving < n_ && places_[at(leaving)] == Place::at_upper, entering, sign);
  long since_rebuild = 0;
  bool fresh = false;
  while (pivots < max_pivots) {
    const int c = -1 - where_[at(entering)];
    const Vector rate = sign * tableau_.col(c);
    const double own = entering < n_ ? form_.upper[entering] - form_.lower[entering] : inf;
    const Blocking block = blocking(rate, own);
    if (block.row == -1) {
      if (fresh || !rebuild()) return PivotResult::ray;
      fresh = true;  // once more with clean numbers before the ray is believed
      continue;
    }
    const double step = std::max(0.0, block.step);
    ++pivots;
    beta_ += step * rate;
    if (block.row == -2) {
      leave(entering, sign > 0, entering, sign);
      continue;
    }
    const int leaving_now = basic_[at(block.row)];
    const double value = (entering < n_ ? value_of_nonbasic(entering) : 0) + sign * step;
    if (entering < n_) places_[at(entering)] = Place::inside;
    exchange(block.row, c);
    beta_[block.row] = value;
    if (leaving_now == t_) {
      if (block.at_upper) return PivotResult::back_at_start;
      rebuild();  // values without the rounding of the way; a failure leaves the present ones
      return PivotResult::done;
    }
    leave(leaving_now, block.at_upper, entering, sign);
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
