#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/schemes/step/implicit_step.hpp>

namespace perp {
namespace {

/// Largest |residual| / error of some rows: 0 for rows that hold exactly, infinite without a bound.
double largest_ratio(const double* residual, const double* error, int count) {
  double largest = 0;
  for (int i = 0; i < count; ++i) {
    if (!std::isfinite(error[i]) || !std::isfinite(residual[i])) return inf;
    if (residual[i] != 0) largest = std::max(largest, std::abs(residual[i]) / error[i]);
  }
  return largest;
}

bool are_finite(const std::vector<double>& values) {
  double zero = 0;  // NaN if anything is not finite
  for (const double value : values) zero += 0 * value;
  return zero == 0;
}

}  // namespace

/// The entry of a row in the column of an input.
ImplicitStep::Place ImplicitStep::place_of(const Dcs& system, int row, int input) {
  if (input >= system.multiplier_input(0)) return {row, input - system.multiplier_input(0), Kind::multiplier};
  if (input >= system.variable_input(0)) return {row, input - system.variable_input(0), Kind::variable};
  if (input >= system.derivative_input(0)) return {row, input - system.derivative_input(0), Kind::derivative};
  return {row, 0, Kind::time};
}

ImplicitStep::ImplicitStep(const Dcs& system) : evaluator_(system), laws_(system.laws) {
  const int n = evaluator_.n(), m = evaluator_.m();
  has_derivatives_.assign(static_cast<std::size_t>(n), 0);
  const auto& entries = evaluator_.entries();
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const auto [row, column] = entries[k];
    places_.push_back(place_of(system, row, column));
    if (places_.back().kind == Kind::derivative && row < n) has_derivatives_[static_cast<std::size_t>(row)] = 1;
  }
  const auto all = static_cast<std::size_t>(n + m);
  x_ = Vector::Zero(n);
  branch_.resize(static_cast<std::size_t>(m));
  unknown_.resize(static_cast<std::size_t>(m));
  free_laws_.reserve(static_cast<std::size_t>(m));
  curved_.reserve(static_cast<std::size_t>(n + m));
  curved_rows_.reserve(evaluator_.variable_entries().size());
  const auto inputs = static_cast<std::size_t>(evaluator_.inputs());
  for (std::vector<double>* list : {&z_, &z_error_, &z_old_}) list->resize(inputs);
  for (std::vector<double>* list :
       {&rows_, &rows_old_, &bounded_rows_, &row_errors_, &errors_, &errors_old_, &residual_})
    list->resize(all);
  derivatives_.resize(entries.size());
  last_derivatives_.resize(entries.size());
  derivatives_old_.resize(entries.size());
  place_.assign(entries.size(), -1);
  law_place_.resize(all);
  if (!is_large()) jacobian_.resize(all * all);
  all_units_.resize(all);
  units_.resize(all);
}

void ImplicitStep::set_step(const Vector& x, double t_next, double h) {
  x_ = x;
  shift_.resize(0);
  t_ = t_next;
  t_old_ = t_next - h;
  h_ = h;
  consistency_ = false;
}

void ImplicitStep::set_base(const Vector& base) {
  shift_ = base - x_;
  x_ = base;
}

void ImplicitStep::set_consistency(const Vector& x, double t) {
  x_ = x;
  shift_.resize(0);
  t_ = t;
  h_ = 1;
  consistency_ = true;
}

void ImplicitStep::constraints(double t, const Vector& x, const Vector& lambda, Vector& equations,
                               Vector& w) {
  Vector z = Vector::Zero(evaluator_.inputs());
  z[0] = t;
  z.segment(1 + n(), n()) = x;
  z.tail(m()) = lambda;
  evaluator_.evaluate(z.data(), rows_.data());
  std::vector<double> algebraic;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n()); ++i)
    if (has_derivatives_[i] == 0) algebraic.push_back(rows_[i]);
  const auto count = static_cast<Eigen::Index>(algebraic.size());
  equations = Eigen::Map<const Vector>(algebraic.data(), count);
  w = Eigen::Map<const Vector>(rows_.data() + n(), m());
}

void ImplicitStep::move(const Vector& d, const Vector& lambda, double s, const double* step,
                        Vector& d_moved, Vector& lambda_moved) const {
  for (int j = 0; j < n(); ++j) d_moved[j] = d[j] + s * step[j];
  for (int i = 0; i < m(); ++i) {
    const int unknown = unknown_[static_cast<std::size_t>(i)];
    lambda_moved[i] = unknown < 0 ? lambda[i] : lambda[i] + s * step[unknown];
  }
}

void ImplicitStep::snap(const double* step, double share, Vector& d, Vector& lambda) const {
  for (int j = 0; j < n(); ++j) {
    const double rounding = share * std::abs(step[j]);
    if (std::abs(x_[j] + d[j]) <= rounding)
      d[j] = -x_[j];
    else if (std::abs(d[j]) <= rounding)
      d[j] = 0;
  }
  for (const int law : free_laws_) {
    const int unknown = unknown_[static_cast<std::size_t>(law)];
    if (std::abs(lambda[law]) <= share * std::abs(step[unknown])) lambda[law] = 0;
  }
}

/// Derivative k, of a row of F as it is and of a law times a of its branch, to its entry of the matrix.
inline void ImplicitStep::add(std::size_t k, double slope) {
  const int place = place_[k];
  if (place >= 0) jacobian_[at(place)] += places_[k].kind == Kind::derivative ? slope / h_ : slope;
}

/// z at the end of the step and, for θ < 1, at its beginning.
void ImplicitStep::write_inputs(const Vector& d, const Vector& lambda) {
  double* z = z_.data();
  *z++ = t_;
  if (shift_.size() > 0)
    for (int j = 0; j < n(); ++j) *z++ = (shift_[j] + d[j]) / h_;
  else
    for (int j = 0; j < n(); ++j) *z++ = consistency_ ? 0 : d[j] / h_;
  for (int j = 0; j < n(); ++j) *z++ = x_[j] + d[j];
  for (int i = 0; i < m(); ++i) *z++ = lambda[i];
  if (theta_ == 1) return;
  z_old_ = z_;
  z_old_[0] = t_old_;
  for (int j = 0; j < n(); ++j) z_old_[static_cast<std::size_t>(1 + n() + j)] = x_[j];
}

/// The unknowns are rounded numbers, d/h and x + d are rounded once more. A shift and its sum with d are rounded too.
void ImplicitStep::write_input_errors(const Vector& d, const Vector& lambda) {
  double* error = z_error_.data();
  *error++ = 0;
  for (int j = 0; j < n(); ++j) {
    const double shift = shift_.size() > 0 ? shift_[j] : 0, change = shift + d[j];
    const double rounding = shift == 0 ? half_ulp(d[j]) : half_ulp(d[j]) + half_ulp(shift) + half_ulp(change);
    *error++ = consistency_ ? 0 : rounding / h_ + half_ulp(change / h_);
  }
  for (int j = 0; j < n(); ++j) *error++ = half_ulp(d[j]) + half_ulp(x_[j] + d[j]);
  for (int i = 0; i < m(); ++i)
    *error++ = unknown_[static_cast<std::size_t>(i)] < 0 ? 0 : half_ulp(lambda[i]);
}

/// θ F⁺ + (1−θ) F in the rows with derivatives; what stands at x is no unknown there.
void ImplicitStep::average() {
  evaluator_.linearize(z_old_.data(), rows_old_.data(), derivatives_old_.data());
  const auto averaged = [&](int row) {
    return row < n() && has_derivatives_[static_cast<std::size_t>(row)] != 0;
  };
  for (int i = 0; i < n(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (averaged(i)) rows_[row] = theta_ * rows_[row] + (1 - theta_) * rows_old_[row];
  }
  for (std::size_t k = 0; k < places_.size(); ++k) {
    if (!averaged(places_[k].row)) continue;
    derivatives_[k] *= theta_;
    if (places_[k].kind != Kind::variable) derivatives_[k] += (1 - theta_) * derivatives_old_[k];
  }
}

void ImplicitStep::average_errors() {
  for (int j = 0; j < n(); ++j) z_error_[static_cast<std::size_t>(1 + n() + j)] = 0;
  evaluator_.evaluate_bounded(z_old_.data(), z_error_.data(), rows_old_.data(), errors_old_.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(n()); ++i) {
    if (has_derivatives_[i] == 0) continue;
    const RunningError sum = RunningError(theta_) * RunningError(bounded_rows_[i], row_errors_[i]) +
                             RunningError(1 - theta_) * RunningError(rows_old_[i], errors_old_[i]);
    bounded_rows_[i] = sum.value;
    row_errors_[i] = sum.error;
  }
}

bool ImplicitStep::linearise(const Vector& d, const Vector& lambda) {
  write_inputs(d, lambda);
  evaluator_.linearize(z_.data(), rows_.data(), derivatives_.data());
  if (theta_ != 1 && !consistency_) average();
  if (!are_finite(rows_)) return false;
  if (!are_finite(derivatives_)) replace_infinite_derivatives();
  write_equations(lambda);
  if (consistency_) consistency_rows(d);
  return true;
}

/// Residual and matrix of F and of the free laws, from rows and derivatives; a row that consistency replaces has no
/// entries.
void ImplicitStep::write_equations(const Vector& lambda) {
  const int n = this->n();
  std::fill_n(jacobian_.begin(), is_large() ? std::ssize(jacobian_) : size_ * size_, 0.0);
  for (int i = 0; i < n; ++i)
    residual_[static_cast<std::size_t>(i)] = rows_[static_cast<std::size_t>(i)];
  for (const int law : free_laws_) {
    const int row = unknown_[static_cast<std::size_t>(law)];
    residual_[static_cast<std::size_t>(row)] = law_residual(law, lambda[law]);
    jacobian_[at(law_place_[at(row)])] = branch(law).b;
  }
  for (std::size_t k = 0; k < places_.size(); ++k) {  // those of F come first
    const int row = places_[k].row;
    if (row >= n)
      add(k, branch(row - n).a * derivatives_[k]);
    else if (!consistency_ || has_derivatives_[at(row)] == 0)
      add(k, derivatives_[k]);
  }
}

/// Rows with derivatives become ∂F/∂ẋ d = 0.
void ImplicitStep::consistency_rows(const Vector& d) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(n()); ++i)
    if (has_derivatives_[i] != 0) residual_[i] = 0;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    if (places_[k].kind != Kind::derivative || places_[k].row >= n()) continue;
    add(k, derivatives_[k]);
    residual_[static_cast<std::size_t>(places_[k].row)] += derivatives_[k] * d[places_[k].index];
  }
}

double ImplicitStep::bound(const Vector& d, const Vector& lambda) {
  write_inputs(d, lambda);
  write_input_errors(d, lambda);
  return bound_by_input_errors(d, lambda);
}

/// Of numbers whose products underflow no digits are asked for.
double ImplicitStep::bound_written(const Vector& d, const Vector& lambda) {
  constexpr double least = 0x1p-480 * unit_roundoff;  // products of two smaller ones may round by more than u of themselves
  write_inputs(d, lambda);
  write_input_errors(d, lambda);
  for (int j = 0; j < n(); ++j) z_error_[at(1 + n() + j)] = std::max(half_ulp(variable(j)), least);
  return bound_by_input_errors(d, lambda);
}

/// Errors and residuals of all rows from those of the inputs, and the largest of their ratios.
double ImplicitStep::bound_by_input_errors(const Vector& d, const Vector& lambda) {
  evaluator_.evaluate_bounded(z_.data(), z_error_.data(), bounded_rows_.data(), row_errors_.data());
  if (theta_ != 1 && !consistency_) average_errors();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n()); ++i) {
    residual_[i] = bounded_rows_[i];
    errors_[i] = row_errors_[i];
  }
  for (const int law : free_laws_) {
    const Branch& piece = branch(law);
    const auto row = static_cast<std::size_t>(unknown_[static_cast<std::size_t>(law)]);
    const RunningError multiplier(lambda[law], half_ulp(lambda[law]));
    const RunningError miss = RunningError(piece.a) * bounded_w(law) +
                              RunningError(piece.b) * multiplier - RunningError(piece.c);
    residual_[row] = miss.value;
    errors_[row] = miss.error;
  }
  if (consistency_) bound_consistency_rows(d);
  return largest_ratio(residual_.data(), errors_.data(), size_);
}

/// Of ∂F/∂ẋ d with the derivatives of the last `linearise`.
void ImplicitStep::bound_consistency_rows(const Vector& d) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(n()); ++i)
    if (has_derivatives_[i] != 0) residual_[i] = errors_[i] = 0;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    if (places_[k].kind != Kind::derivative || places_[k].row >= n()) continue;
    const auto row = static_cast<std::size_t>(places_[k].row);
    const double change = d[places_[k].index];
    const RunningError sum = RunningError(residual_[row], errors_[row]) +
                             RunningError(derivatives_[k]) * RunningError(change, half_ulp(change));
    residual_[row] = sum.value;
    errors_[row] = sum.error;
  }
}

void ImplicitStep::replace_infinite_derivatives() {
  for (std::size_t k = 0; k < derivatives_.size(); ++k) {
    if (std::isfinite(derivatives_[k]))
      last_derivatives_[k] = derivatives_[k];
    else
      derivatives_[k] = last_derivatives_[k];
  }
}

void ImplicitStep::w(Vector& value) const {
  for (int i = 0; i < m(); ++i)
    value[i] =
        branch(i).b == 0 ? branch(i).c / branch(i).a : rows_[static_cast<std::size_t>(n() + i)];
}

void ImplicitStep::w_derivatives(int law, double* derivatives) const {
  std::fill_n(derivatives, size_, 0.0);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const Place& place = places_[k];
    if (place.row != n() + law) continue;
    if (place.kind == Kind::derivative) {
      derivatives[place.index] += derivatives_[k] / h_;
    } else if (place.kind == Kind::variable) {
      derivatives[place.index] += derivatives_[k];
    } else if (place.kind == Kind::multiplier) {
      const int unknown = unknown_[static_cast<std::size_t>(place.index)];
      if (unknown >= 0) derivatives[unknown] += derivatives_[k];
    }
  }
}

/// √Σ_rows (Σ_j term(∂F_i/∂ẋ_j, j))²
template <class Term>
double ImplicitStep::norm_of_rows(const Term& term) const {
  double squares = 0, sum = 0;
  int row = -1;
  for (std::size_t k = 0; k < places_.size() && places_[k].row < n(); ++k) {  // by rows
    if (places_[k].row != row) {
      squares += sum * sum;
      sum = 0;
      row = places_[k].row;
    }
    if (places_[k].kind == Kind::derivative) sum += term(derivatives_[k], places_[k].index);
  }
  return std::sqrt(squares + sum * sum);
}

double ImplicitStep::norm(const Vector& d) const {
  return norm_of_rows([&](double slope, int j) { return slope * d[j]; });
}

/// Σ_j term(∂F_i/∂ẋ_j, j) of every row.
template <class Term>
Vector ImplicitStep::rate_rows(double t, const Vector& rate, const Vector& x,
                               const Vector& lambda, const Term& term) {
  z_[0] = t;
  std::copy(rate.begin(), rate.end(), z_.begin() + 1);
  std::copy(x.begin(), x.end(), z_.begin() + 1 + n());
  std::copy(lambda.begin(), lambda.end(), z_.begin() + 1 + 2 * n());
  evaluator_.linearize(z_.data(), rows_.data(), derivatives_.data());
  Vector sums = Vector::Zero(n());
  for (std::size_t k = 0; k < places_.size() && places_[k].row < n(); ++k)
    if (places_[k].kind == Kind::derivative && std::isfinite(derivatives_[k]))
      sums[places_[k].row] += term(derivatives_[k], places_[k].index);
  return sums;
}

Vector ImplicitStep::motion(double t, const Vector& rate, const Vector& x, const Vector& lambda,
                            const Vector& d) {
  return rate_rows(t, rate, x, lambda, [&](double slope, int j) { return slope * d[j]; });
}

Vector ImplicitStep::motion_terms(double t, const Vector& rate, const Vector& x,
                                  const Vector& lambda, const Vector& d) {
  return rate_rows(t, rate, x, lambda,
                   [&](double slope, int j) { return std::abs(slope * d[j]); });
}

/// Of F, then G.
Vector ImplicitStep::row_terms(double t, const Vector& x, const Vector& lambda) {
  std::fill(z_.begin(), z_.end(), 0.0);
  std::fill(z_error_.begin(), z_error_.end(), 0.0);
  z_[0] = t;
  std::copy(x.begin(), x.end(), z_.begin() + 1 + n());
  std::copy(lambda.begin(), lambda.end(), z_.begin() + 1 + 2 * n());
  std::transform(z_.begin() + 1 + n(), z_.end(), z_error_.begin() + 1 + n(), half_ulp);
  evaluator_.evaluate_bounded(z_.data(), z_error_.data(), bounded_rows_.data(), row_errors_.data());
  Vector terms(n() + m());
  for (int i = 0; i < n() + m(); ++i) {
    const double error = row_errors_[at(i)];
    terms[i] = std::isfinite(error) ? std::max(error / unit_roundoff, std::abs(bounded_rows_[at(i)])) : 0;
  }
  return terms;
}

Vector ImplicitStep::rate_terms(double t, const Vector& x, const Vector& lambda) {
  return row_terms(t, x, lambda).head(n());
}

double ImplicitStep::norm_error(const Vector& d_error) const {
  return norm_of_rows([&](double slope, int j) { return std::abs(slope) * d_error[j]; });
}

}  // namespace perp
