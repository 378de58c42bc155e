#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/located/radau/radau.hpp>
#include <perp/schemes/step/step_gate.hpp>

// The equations of the stages in Z_i = Y_i - y_n,
//     R_i = H(t_n + c_i h, (1/h) Σ_j (A⁻¹)_ij Z_j, y_n + Z_i) = 0,
// with every row of H divided by its largest entry in (μ/h) H_ẏ + H_y, its columns in their units:
// rows with ẏ are of the size 1/h, rows without it of the size 1.

namespace perp {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
// In units of the rounding of the terms of an unknown:
constexpr double at_rounding = 4;
constexpr double negligible = 0.5;        ///< of what is left
constexpr double surely_rounding = 64;    ///< if corrections do not shrink any more
constexpr double near_rounding = 1e5;     ///< the same in full Newton's method
constexpr double slow = 0.5;              ///< contraction that is called none
constexpr double most_extrapolation = 9;  ///< in lengths of the known step
constexpr int most_iterations = 20;
constexpr int most_jacobians = 2;

/// work(row, column, number of the entry)
template <class Work>
void for_each_entry(const linear::EntryPlaces& places, const Work& work) {
  for (int column = 0; column < places.columns(); ++column)
    for (int e = places.start[at(column)]; e < places.start[at(column + 1)]; ++e) work(places.row[at(e)], column, e);
}

/// Is what follows a correction of this size, if all contract so?
bool is_negligible(double size, double contraction) {
  return contraction < 1 && size * contraction <= (1 - contraction) * negligible;
}

/// May it be rounding, since it is small and has hardly shrunk?
bool rests_near_rounding(double now, double before) { return now <= near_rounding && now > slow * before; }

/// How corrections shrink with one Jacobian. The largest contraction of two iterations foretells the
/// next: the norm of a correction is no smooth sequence.
struct Contraction {
  double before = inf;  ///< the last correction
  double last = 1;      ///< contraction
  double best = inf;    ///< the smallest correction
  int stalled = 0;      ///< corrections since one that was small beside the best

  /// Is nothing of any size left after this correction?
  [[nodiscard]] bool ends_with(double now) const {
    return now <= at_rounding || is_negligible(now, std::max(now / before, last));
  }
  void take(double now) {
    last = before < inf ? now / before : 1;
    before = now;
    stalled = now <= slow * best ? 0 : stalled + 1;
    best = std::min(best, now);
  }
};

}  // namespace

Radau::Outcome Radau::attempt(double h) {
  if (!(h > 0) || !std::isfinite(h))
    throw InvalidInput(fmt::format("the step must be positive but is {}", h));
  ++counts_.attempts;
  knows_variation_ = false;
  h_ = h;
  Outcome outcome = Outcome::diverged;
  for (const bool predicted : {true, false}) {
    if (predicted && !can_predict()) continue;
    outcome = solve_from(predicted);
    if (outcome == Outcome::solved) break;
  }
  if (outcome == Outcome::solved)
    finish();
  else
    attempted_ = false;
  return outcome;
}

/// From these starting values, by full Newton's method where the simplified one fails.
Radau::Outcome Radau::solve_from(bool predicted) {
  start_from(predicted);
  Outcome outcome = simplified_newton();
  frozen_nearby_ = predicted;
  if (outcome == Outcome::solved) return outcome;
  start_from(predicted);
  outcome = full_newton();
  frozen_nearby_ = false;
  return outcome;
}

/// Is there a polynomial of this state or of the step before that is not much shorter, or the rates
/// of a beginning?
bool Radau::can_predict() const {
  if (latest().h == 0) return rates_.size() > 0;
  return h_ <= most_extrapolation * latest().h;
}

/// Starting values: that polynomial or straight line, or the state.
void Radau::start_from(bool predicted) {
  if (!predicted) {
    Z_.setZero();
    return;
  }
  const Polynomial& known = latest();
  if (known.h == 0) {
    Z_.noalias() = h_ * rates_ * table_.c.transpose();
    return;
  }
  Basis l(stages() + 1);
  for (int i = 0; i < stages(); ++i) {
    table_.basis((attempted_ ? 0 : 1) + table_.c[i] * h_ / known.h, l);
    Z_.col(i) = known.base - y_;
    for (int j = 0; j < stages(); ++j) Z_.col(i) += l[j + 1] * known.Z.col(j);
  }
}

/// Stage i: ydot_ and Y_.
void Radau::stage_point(const Vector& base, const Matrix& Z, double h, int i) {
  ydot_.setZero();
  for (int j = 0; j < stages(); ++j) ydot_ += table_.A_inverse(i, j) * Z.col(j);
  ydot_ /= h;
  Y_ = base + Z.col(i);
}

/// The matrices (μ_k/h) H_ẏ + H_y with the Jacobian of the middle stage, factorised. False: left
/// the domain.
bool Radau::freeze_jacobian(const Vector& base, const Matrix& Z) {
  const int i = stages() / 2;
  stage_point(base, Z, h_, i);
  if (!flow_.linearize(t_ + table_.c[i] * h_, ydot_, Y_, H_, rates_at_, slopes_at_)) return false;
  scaled_matrix(h_, M_, row_scale_);
  real_.compute(flow_.places(), M_);
  for (std::size_t k = 0; k < complex_.size(); ++k) {
    const std::complex<double> factor = table_.pairs[k] / h_;
    for_each_entry(flow_.places(), [&](int row, int column, int e) {
      M_complex_[e] = row_scale_[row] * (factor * rates_at_[e] + slopes_at_[e]) * unit_[column];
    });
    complex_[k].compute(flow_.places(), M_complex_);
  }
  ++counts_.factorisations;
  return true;
}

/// (μ/h) H_ẏ + H_y with columns in their units and rows divided by their largest entries, and what these are, inverse.
void Radau::scaled_matrix(double h, Vector& matrix, Vector& scale) const {
  matrix.resize(std::ssize(flow_.places().row));
  scale.setZero(flow_.size());
  for_each_entry(flow_.places(), [&](int row, int column, int e) {
    matrix[e] = (table_.mu / h * rates_at_[e] + slopes_at_[e]) * unit_[column];
    scale[row] = std::max(scale[row], std::abs(matrix[e]));
  });
  scale = scale.cwiseInverse();
  for_each_entry(flow_.places(), [&](int row, int, int e) { matrix[e] = scale[row] * matrix[e]; });
}

/// What unknown k counts at least in roundings.
double Radau::least_size(Eigen::Index k) const {
  const bool has_unit = k < flow_.n() && (resolved_.empty() || resolved_[at(k)] == 0);
  return has_unit ? tolerance_.atol[k] : std::numeric_limits<double>::min();
}

/// The same of each in the bounds of rows: 0 but for unknowns that a row determines alone, as the argument of a law that
/// slides. Such a row has no rounding of its own, and their corrections are made of those of others.
Vector Radau::least_sizes_alone() const {
  std::vector<int> unknown(static_cast<std::size_t>(flow_.size()), -1);  // of each row; -2: several
  for_each_entry(flow_.places(), [&](int row, int column, int e) {
    if (rates_at_[e] == 0 && slopes_at_[e] == 0) return;
    int& known = unknown[static_cast<std::size_t>(row)];
    known = known == -1 || known == column ? column : -2;
  });
  Vector sizes = Vector::Zero(flow_.size());
  for (const int k : unknown)
    if (k >= 0) sizes[k] = least_size(k);
  return sizes;
}

/// The rounding of unknown k, in units of eps: that of the terms of the row which determines it
/// best.
void Radau::measure_rounding() {
  for (Eigen::Index k = 0; k < Y_.size(); ++k) {
    delta_[k] = std::max((Z_.row(k).array() + y_[k]).abs().maxCoeff(), least_size(k));
  }
  noise_ = delta_;
  delta_ = delta_.cwiseQuotient(unit_);
  H_.setZero(Y_.size());
  for_each_entry(flow_.places(), [&](int row, int column, int e) { H_[row] += std::abs(M_[e]) * delta_[column]; });
  delta_.setConstant(inf);  // the least of each column
  for_each_entry(flow_.places(), [&](int row, int column, int e) {
    if (M_[e] != 0) delta_[column] = std::min(delta_[column], H_[row] / std::abs(M_[e]));
  });
  for (Eigen::Index k = 0; k < Y_.size(); ++k)
    if (delta_[k] < inf) noise_[k] = std::max(noise_[k], delta_[k] * unit_[k]);
}

/// R_ at Z_. False: left the domain.
bool Radau::residuals() {
  Ydot_.noalias() = Z_.lazyProduct(table_.A_inverse.transpose()) / h_;
  for (int i = 0; i < stages(); ++i) {
    ydot_ = Ydot_.col(i);
    Y_ = y_ + Z_.col(i);
    if (!flow_.evaluate(t_ + table_.c[i] * h_, ydot_, Y_, H_)) return false;
    R_.col(i) = H_.cwiseProduct(row_scale_);
  }
  return true;
}

/// Is every row of every stage 0 to a few bounds of its own rounding? Where a matrix is nearly
/// singular, as at a fold, corrections of the size of rounding tell nothing.
bool Radau::rows_vanish() {
  std::vector<RunningError> ydot(static_cast<std::size_t>(flow_.size())), y = ydot, rows;
  const Vector least = least_sizes_alone();
  for (int i = 0; i < stages(); ++i) {
    for (Eigen::Index k = 0; k < Z_.rows(); ++k) {
      double rate = 0, terms = 0;
      for (int j = 0; j < stages(); ++j) {
        rate += table_.A_inverse(i, j) * Z_(k, j);
        terms += std::abs(table_.A_inverse(i, j) * Z_(k, j));
      }
      const double value = y_[k] + Z_(k, i);
      ydot[static_cast<std::size_t>(k)] = RunningError(rate / h_, (stages() + 1) * eps * terms / h_);
      y[static_cast<std::size_t>(k)] = RunningError(value, 2 * half_ulp(std::max(std::abs(value), least[k])));
    }
    const double t = t_ + table_.c[i] * h_;
    if (!flow_.evaluate_bounded(RunningError(t, 2 * half_ulp(t)), ydot, y, rows)) return false;
    if (!std::all_of(rows.begin(), rows.end(),
                     [](const RunningError& row) { return vanishes(row, most_rounding); }))
      return false;
  }
  return true;
}

/// R_ becomes the correction of Z_ with the frozen Jacobian: one real system, and one complex
/// system for every pair of eigenvalues.
void Radau::correction() {
  W_.noalias() = R_.lazyProduct(table_.T_inverse.transpose());
  real_.solve(W_.col(0), delta_);
  W_.col(0) = delta_;
  for (std::size_t k = 0; k < complex_.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(2 * k + 1);
    for (Eigen::Index row = 0; row < W_.rows(); ++row)
      w_complex_[row] = {W_(row, column), W_(row, column + 1)};
    complex_[k].solve(w_complex_, solution_complex_);
    W_.col(column) = solution_complex_.real();
    W_.col(column + 1) = solution_complex_.imag();
  }
  R_.noalias() = W_.lazyProduct(table_.T.transpose());
  R_ = unit_.asDiagonal() * R_;
}

/// Takes the correction in R_; its size in units of rounding. Inf: not finite.
double Radau::take_correction() {
  Z_ -= R_;
  measure_rounding();
  double largest = 0;
  for (Eigen::Index j = 0; j < R_.cols(); ++j)
    for (Eigen::Index k = 0; k < R_.rows(); ++k) {
      const double share = std::abs(R_(k, j)) / (eps * noise_[k]);
      if (!std::isfinite(share)) return inf;
      largest = std::max(largest, share);
    }
  return largest;
}

/// Where corrections do not shrink: are they what the rounding of all rows together makes of the unknowns, and vanish the
/// rows? Unknowns that are small beside those of other rows are known less well than any row of their own says. Two
/// combinations of signs stand for the largest.
bool Radau::rests_at_rounding() {
  const Vector correction = R_.cwiseAbs().rowwise().maxCoeff(), terms = H_;
  Vector rounding = noise_;
  for (const bool alternate : {false, true}) {
    for (Eigen::Index i = 0; i < terms.size(); ++i) H_[i] = alternate && i % 2 != 0 ? -terms[i] : terms[i];
    real_.solve(H_, delta_);
    rounding = rounding.cwiseMax(delta_.cwiseProduct(unit_).cwiseAbs());
  }
  return (correction.array() <= surely_rounding * eps * rounding.array()).all() && rows_vanish();
}

/// Down to rounding, or until the corrections stop to shrink, once with a new Jacobian.
Radau::Outcome Radau::simplified_newton() {
  int iterations = 0;
  for (int jacobian = 0; jacobian < most_jacobians; ++jacobian) {
    if (!freeze_jacobian(y_, Z_)) return Outcome::domain;
    if (const std::optional<Outcome> outcome = iterate(iterations)) return *outcome;
  }
  return Outcome::diverged;
}

/// The same with the frozen Jacobian, after so many iterations. Empty: the corrections stopped to shrink.
std::optional<Radau::Outcome> Radau::iterate(int& iterations) {
  Contraction contraction;
  while (iterations < most_iterations) {
    ++iterations;
    if (!residuals()) return Outcome::domain;
    correction();
    ++counts_.iterations;
    const double now = take_correction();
    if (now == inf) return Outcome::diverged;
    if (contraction.ends_with(now)) return Outcome::solved;
    contraction.take(now);
    if (contraction.stalled < 2) continue;
    if (now <= surely_rounding || rests_at_rounding()) return Outcome::solved;
    return std::nullopt;
  }
  return Outcome::diverged;
}

/// The equations of all stages and their matrix. False: left the domain.
bool Radau::full_system() {
  for (int i = 0; i < stages(); ++i) {
    stage_point(y_, Z_, h_, i);
    if (!stage_row(t_, h_, i)) return false;
  }
  return true;
}

/// The last resort: the Jacobian of every stage in every iteration.
Radau::Outcome Radau::full_newton() {
  if (!freeze_jacobian(y_, Z_)) return Outcome::domain;  // for the scales, and for `error`
  resize_stages();
  double before = inf;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    if (!full_system()) return Outcome::domain;
    full_newton_.compute(stages_);
    ++counts_.factorisations;
    ++counts_.iterations;
    all_residual_ = R_.reshaped();
    full_newton_.solve(all_residual_, all_solution_);
    R_.reshaped() = all_solution_;
    R_ = unit_.asDiagonal() * R_;
    const double now = take_correction();
    if (now == inf) return Outcome::diverged;
    if (now <= at_rounding) return Outcome::solved;
    if (rests_near_rounding(now, before) && rows_vanish()) return Outcome::solved;
    before = now;
  }
  return Outcome::diverged;
}

void Radau::resize_stages() {
  const Eigen::Index all = stages() * flow_.size();
  stages_.resize(all, all);
  all_residual_.resize(all);
  all_solution_.resize(all);
}

/// At stage_point: the rows of stage i of the equations (R_) and of their matrix, (A⁻¹_ij / h) H_ẏ
/// in block j and H_y added in block i, for unknowns in their units; H_ydot_ is left. False: left the domain.
bool Radau::stage_row(double t, double h, int i) {
  if (!flow_.linearize(t + table_.c[i] * h, ydot_, Y_, H_, H_ydot_, H_y_)) return false;
  const Eigen::Index N = Y_.size();
  H_ydot_ = row_scale_.asDiagonal() * H_ydot_;
  R_.col(i) = row_scale_.cwiseProduct(H_);
  for (int j = 0; j < stages(); ++j)
    stages_.block(i * N, j * N, N, N) =
        table_.A_inverse(i, j) / h * H_ydot_ * unit_.asDiagonal();
  stages_.block(i * N, i * N, N, N) += row_scale_.asDiagonal() * H_y_ * unit_.asDiagonal();
  return true;
}

}  // namespace perp
