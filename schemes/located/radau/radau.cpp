#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/schemes/located/radau/radau.hpp>

namespace perp {
namespace {

// Bounds of the step control: [HW] section IV.8.
constexpr double safety = 0.9;
constexpr double most_growth = 8;
constexpr double most_growth_of_size = 1024;  // of a variable in a step, as far as its tolerance follows
constexpr double most_shrinking = 0.1;
/// Times the largest entry of a row at the start of a step; a row of the matrix of its middle stage that is larger filters
/// errors of the start away.
constexpr double most_growth_of_row = 1024;

/// Constants, computed when they are first asked for.
template <int stages>
const RadauTable& constants() {
  static const RadauTable table = radau_table(stages);
  return table;
}

/// Throws InvalidInput.
const RadauTable& table_of(int stages) {
  switch (stages) {
    case 3: return constants<3>();
    case 5: return constants<5>();
    case 7: return constants<7>();
    default: throw InvalidInput(fmt::format("stages must be 3, 5 or 7 but is {}", stages));
  }
}

}  // namespace

Radau::Radau(ModeFlow& flow, int stages, RadauTolerance tolerance)
    : flow_(flow), table_(table_of(stages)) {
  set_tolerance(std::move(tolerance));
  Basis l(stages + 1);
  table_.basis_derivative(0, l);
  defect_ = l.tail(stages);
  extrapolation_ = table_.weights.tail(stages).cwiseProduct(table_.c);
  for (int j = 0; j < stages; ++j)
    for (int k = 0; k < stages; ++k)
      if (k != j) extrapolation_[j] *= -table_.c[k];
  complex_.resize(table_.pairs.size());
}

void Radau::set_tolerance(RadauTolerance tolerance) {
  tolerance_ = std::move(tolerance);
  if (!(tolerance_.rtol > 0)) throw InvalidInput("rtol must be positive");
  if (tolerance_.atol.size() != flow_.n())
    throw InvalidInput(fmt::format("atol must have {} entries, one for each variable, but has {}",
                                   flow_.n(), tolerance_.atol.size()));
  if (!(tolerance_.atol.array() > 0).all()) throw InvalidInput("atol must be positive");
  // The estimate is O(h^(s+1)), the error of a run at the ends of its steps O(h^(2s-1)).
  const double wanted = 0.1 * std::pow(tolerance_.rtol, (stages() + 1.0) / (2.0 * stages() - 1.0));
  variation_rtol_ = std::max(wanted, tolerance_.rtol);
  if (tolerance_.inside) return;
  tolerance_.atol *= wanted / tolerance_.rtol;
  tolerance_.rtol = wanted;
}

void Radau::set_units(const Vector& x, const Vector& lambda) {
  x_unit_ = x;
  lambda_unit_ = lambda;
}

void Radau::start(double t, const Vector& y, const Vector& rates) {
  if (y.size() != flow_.size())
    throw InvalidInput(
        fmt::format("y must have {} entries in this mode but has {}", flow_.size(), y.size()));
  t_ = t;
  y_ = y;
  rates_ = rates;
  first_ = true;
  resolved_.clear();
  attempted_ = rejected_ = estimated_ = false;
  knows_variation_ = false;
  last_error_ = last_h_ = 0;
  const int s = stages(), N = flow_.size();
  unit_ = Vector::Ones(N);
  if (x_unit_.size() > 0) flow_.gather(x_unit_, lambda_unit_, unit_);
  for (Polynomial* step : {&attempt_, &last_}) {
    step->h = 0;
    step->base.resize(N);
    step->Z.resize(N, s);
  }
  for (Vector* v : {&end_, &row_scale_, &noise_, &ydot_, &Y_, &H_, &delta_}) v->resize(N);
  for (Matrix* X : {&Z_, &Ydot_, &R_, &W_}) X->resize(N, s);
  M_complex_.resize(std::ssize(flow_.places().row));
  w_complex_.resize(N);
  solution_complex_.resize(N);
}

/// A solved attempt: its end, and what stands for an algebraic part of the state that is a guess,
/// the polynomial through the stages alone.
void Radau::finish() {
  attempt_.t = t_;
  attempt_.h = h_;
  attempt_.base = y_;
  attempt_.Z.swap(Z_);
  end_ = y_ + attempt_.Z.col(stages() - 1);
  attempted_ = true;
  estimated_ = false;
  if (!first_) return;
  for (int k = 0; k < flow_.size(); ++k) {
    if (flow_.is_differential(k)) continue;
    const double move = attempt_.Z.row(k).dot(extrapolation_);
    attempt_.base[k] += move;
    attempt_.Z.row(k).array() -= move;
  }
}

/// What the relative tolerance of x_k refers to in a step. An end that is far beyond the start and the unit is not
/// allowed to make its own tolerance: stages that leave the course for 1e16 would pass at any length.
double Radau::size_of(int k) const {
  const double start = std::abs(attempt_.base[k]), unit = tolerance_.atol[k] / tolerance_.rtol;
  return std::max(start, std::min(std::abs(end_[k]), most_growth_of_size * std::max(start, unit)));
}

/// Largest component of an error in units of the tolerance; differential components only. Inf: not
/// finite.
double Radau::tolerance_norm(const Vector& error) const {
  double largest = 0;
  for (int k = 0; k < flow_.n(); ++k) {
    if (!flow_.is_differential(k)) continue;
    const double size = size_of(k);
    const double share = std::abs(error[k]) / (tolerance_.atol[k] + tolerance_.rtol * size);
    if (!std::isfinite(share)) return inf;
    largest = std::max(largest, share);
  }
  return largest;
}

/// For a mode without derivatives: what the last stage but one of the degree adds to the polynomial
/// through the stages, of x.
double Radau::algebraic_error() const {
  double largest = 0;
  for (int k = 0; k < flow_.n(); ++k) {
    double share = 0;
    for (int j = 0; j < stages(); ++j)
      share += table_.weights[j + 1] * table_.c[j] * attempt_.Z(k, j);
    for (int j = 0; j + 1 < stages(); ++j) share *= table_.c[j];
    const double size = size_of(k);
    largest = std::max(largest, std::abs(share) / (tolerance_.atol[k] + tolerance_.rtol * size));
  }
  return largest;
}

/// Does any of the variables have a derivative in the equations?
bool Radau::is_any_differential() const {
  for (int k = 0; k < flow_.n(); ++k)
    if (flow_.is_differential(k)) return true;
  return false;
}

double Radau::error(const Variation* along) {
  assert(attempted_);
  if (estimated_) return error_;
  const bool any = is_any_differential();
  if (any) {
    if (!frozen_nearby_ && !freeze_jacobian(attempt_.base, attempt_.Z)) return error_ = inf;
    frozen_nearby_ = true;
  }
  error_ = any ? differential_error() : algebraic_error();
  by_variation_ = false;
  if (along != nullptr && any && error_ <= 1) {
    error_ = std::max(error_, variation_error(*along));
    by_variation_ = error_ > 1;
  }
  propose(any ? stages() + 1 : stages() - 1);
  estimated_ = true;
  return error_;
}

/// ydot_ and Y_start_: rates and unknowns at the start by the polynomial of the step.
void Radau::set_start() {
  ydot_.noalias() = attempt_.Z.lazyProduct(defect_) / attempt_.h;
  Y_start_ = attempt_.base;
  for (int k = 0; k < flow_.size(); ++k)
    if (!flow_.is_differential(k)) Y_start_[k] += attempt_.Z.row(k).dot(extrapolation_);
}

/// The norm of the defect at (t, ydot_, y), filtered by the matrix of the real eigenvalue; delta_ is left. Inf: no value.
double Radau::filtered_defect(const Vector& y) {
  if (!flow_.evaluate(attempt_.t, ydot_, y, H_)) return inf;
  H_ = H_.cwiseProduct(row_scale_);
  real_.solve(H_, delta_);
  delta_ = delta_.cwiseProduct(unit_);
  return tolerance_norm(delta_);
}

/// The polynomial u of the step solves the equations at the stages, not at its start: the defect
/// there, filtered by the matrix of the real eigenvalue,
///     error = -((μ/h) H_ẏ + H_y)⁻¹ H(t_n, u'(t_n), y_n),
/// is the difference to a formula of order s that uses the start with the weight 1/μ ([HW] section
/// IV.8 for H = ẏ - f). On a stiff transient the estimate is filtered once more.
double Radau::differential_error() {
  set_start();
  const double unfiltered = error_by_start();
  double error = filtered_defect(Y_start_);
  if (error >= 1 && (first_ || rejected_)) {
    Y_ = Y_start_ - delta_;
    error = std::min(error, filtered_defect(Y_));
  }
  error = std::max(error, unfiltered);
  if (error != inf) return error;
  // Where the equations have no value at the start: how far from it the polynomial through the
  // stages alone is, which is of order s.
  extrapolate_stages(Y_);
  delta_ = attempt_.base - Y_;
  return tolerance_norm(delta_);
}

/// The same estimate by the matrix at the start, (t, ydot_, Y_start_), where a row of the frozen one has outgrown it; 0
/// elsewhere. Stages may have further solutions, far from the course, where a nonlinear term is large at the middle stage
/// and filters any error away.
double Radau::error_by_start() {
  if (!flow_.linearize(attempt_.t, ydot_, Y_start_, H_, rates_at_, slopes_at_)) return 0;
  scaled_matrix(attempt_.h, start_matrix_, start_scale_);
  const bool is_outgrown = (start_scale_.array() > most_growth_of_row * row_scale_.array()).any();
  if (!is_outgrown || !start_scale_.allFinite()) return 0;
  start_.compute(flow_.places(), start_matrix_);
  H_ = H_.cwiseProduct(start_scale_);
  start_.solve(H_, delta_);
  delta_ = delta_.cwiseProduct(unit_);
  return tolerance_norm(delta_);
}

/// The next step: the elementary rule, and after an accepted step Gustafsson's prediction.
void Radau::propose(int order) {
  const double exponent = -1.0 / order;
  double factor = error_ > 0 ? safety * std::pow(error_, exponent) : most_growth;
  if (error_ <= 1 && last_h_ > 0 && error_ > 0) {
    const double trend = std::pow(error_ * error_ / std::max(last_error_, 1e-2), exponent);
    factor = std::min(factor, safety * (attempt_.h / last_h_) * trend);
  }
  factor = std::clamp(factor, most_shrinking, rejected_ ? 1 : most_growth);
  proposed_ = attempt_.h * factor;
  if (error_ > 1) rejected_ = true;
}

void Radau::accept() {
  assert(attempted_);
  if (estimated_) {
    last_error_ = error_;
    last_h_ = attempt_.h;
  }
  t_ = attempt_.t + attempt_.h;
  y_ = end_;
  std::swap(attempt_, last_);
  first_ = attempted_ = rejected_ = estimated_ = false;
  ++counts_.steps;
}

void Radau::set_aside(Attempt& kept) const {
  assert(attempted_);
  kept.polynomial = attempt_;
  kept.end = end_;
  kept.knows_variation = knows_variation_;
  if (knows_variation_) kept.variation_start = variation_start_, kept.variation_end = variation_end_;
  kept.error = error_;
  kept.proposed = proposed_;
  kept.estimated = estimated_;
}

void Radau::take_back(const Attempt& kept) {
  attempt_ = kept.polynomial;
  h_ = attempt_.h;
  end_ = kept.end;
  knows_variation_ = kept.knows_variation;
  if (knows_variation_) variation_start_ = kept.variation_start, variation_end_ = kept.variation_end;
  error_ = kept.error;
  proposed_ = kept.proposed;
  estimated_ = kept.estimated;
  attempted_ = true;
}

bool Radau::correction_at(double s, const Vector& ydot, const Vector& y, Vector& correction) {
  assert(attempted_);
  if (!frozen_nearby_ && !freeze_jacobian(attempt_.base, attempt_.Z)) return false;
  frozen_nearby_ = true;
  if (!flow_.evaluate(attempt_.t + s * attempt_.h, ydot, y, H_)) return false;
  H_ = H_.cwiseProduct(row_scale_);
  correction.resize(H_.size());
  real_.solve(H_, correction);
  correction = -correction.cwiseProduct(unit_);
  return correction.allFinite();
}

bool Radau::correction_by_point(double s, const Vector& ydot, const Vector& y, Vector& correction) {
  if (!flow_.linearize(attempt_.t + s * attempt_.h, ydot, y, H_, rates_at_, slopes_at_)) return false;
  scaled_matrix(attempt_.h, start_matrix_, start_scale_);
  if (!start_scale_.allFinite()) return false;
  start_.compute(flow_.places(), start_matrix_);
  H_ = H_.cwiseProduct(start_scale_);
  correction.resize(H_.size());
  start_.solve(H_, correction);
  correction = -correction.cwiseProduct(unit_);
  return correction.allFinite();
}

void Radau::interpolate(double s, Vector& y) const { interpolate(latest(), s, y); }

void Radau::interpolate(const Attempt& kept, double s, Vector& y) const { interpolate(kept.polynomial, s, y); }

/// base + Σ_j ℓ_j(s) Z_j
void Radau::interpolate(const Polynomial& step, double s, Vector& y) const {
  assert(step.h > 0);
  Basis l(stages() + 1);
  table_.basis(s, l);
  y = step.base;
  for (int j = 0; j < stages(); ++j) y += l[j + 1] * step.Z.col(j);
}

void Radau::extrapolate_stages(Vector& y) const {
  y = attempt_.base + attempt_.Z * extrapolation_;
}

void Radau::interpolate_derivative(double s, Vector& ydot) const {
  const Polynomial& step = latest();
  assert(step.h > 0);
  Basis l(stages() + 1);
  table_.basis_derivative(s, l);
  ydot.setZero(step.base.size());
  for (int j = 0; j < stages(); ++j) ydot += l[j + 1] / step.h * step.Z.col(j);
}

}  // namespace perp
