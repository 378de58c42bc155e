#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/schemes/located/radau/radau.hpp>

namespace perp {
namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();

/// Throws InvalidInput where sizes do not fit or a column does not exist.
void check_columns(const ModeFlow& flow, const Matrix& S_start, const std::vector<int>& column_of_parameter) {
  const Eigen::Index N = flow.size(), q = S_start.cols();
  if (S_start.rows() != N)
    throw InvalidInput(fmt::format("S_start must have {} rows but has {}", N, S_start.rows()));
  if (static_cast<int>(column_of_parameter.size()) != flow.parameter_count())
    throw InvalidInput(fmt::format("column_of_parameter must have {} entries but has {}",
                                   flow.parameter_count(), column_of_parameter.size()));
  for (const int column : column_of_parameter)
    if (column >= q)
      throw InvalidInput(fmt::format("column_of_parameter names column {} of {}", column, q));
}

}  // namespace

/// The converged equations of the stages, 0 = R(Y, y_n, p), differentiated:
///     Σ_j ((A⁻¹)_ij/h H_ẏ + δ_ij H_y) dY_j = (1/h) Σ_j (A⁻¹)_ij H_ẏ S_start - H_p   at stage i
/// with dY_j in units; solution_: all of it but the backward substitution. False: no finite derivatives.
bool Radau::stage_variations(const Matrix& S_start, const std::vector<int>& column_of_parameter) {
  const Polynomial& step = latest();
  const Eigen::Index N = flow_.size(), q = S_start.cols(), all = N * stages();
  resize_stages();
  right_side_.resize(all, q);
  for (int i = 0; i < stages(); ++i) {
    stage_point(step.base, step.Z, step.h, i);
    if (!stage_row(step.t, step.h, i)) return false;
    auto rows = right_side_.middleRows(i * N, N);
    rows.noalias() = H_ydot_.lazyProduct(S_start);
    rows *= table_.A_inverse.row(i).sum() / step.h;
    flow_.by_parameters(H_p_);
    for (std::size_t k = 0; k < column_of_parameter.size(); ++k)
      if (column_of_parameter[k] >= 0)
        rows.col(column_of_parameter[k]) -=
            row_scale_.cwiseProduct(H_p_.col(static_cast<Eigen::Index>(k)));
  }
  all_.compute(stages_);
  all_.forward(right_side_, solution_);
  return true;
}

/// Only the last stage is wanted at the end of a step, so the last block of unknowns is all that is solved for
/// backwards.
void Radau::take_variation_end(const Matrix& S_start) {
  const Eigen::Index N = flow_.size();
  variation_start_ = S_start;
  variation_end_ = solution_.bottomRows(N);
  all_.factors().bottomRightCorner(N, N).triangularView<Eigen::Upper>().solveInPlace(variation_end_);
  variation_end_.array().colwise() *= unit_.array();
  knows_variation_ = true;
}

bool Radau::sensitivities(const Matrix& S_start, Matrix& S_end,
                          const std::vector<int>& column_of_parameter) {
  if (latest().h == 0) throw InvalidInput("sensitivities need a step that was solved");
  check_columns(flow_, S_start, column_of_parameter);
  if (!knows_variation_ || variation_start_ != S_start) {
    if (!stage_variations(S_start, column_of_parameter)) return false;
    take_variation_end(S_start);
  }
  S_end = variation_end_;
  return S_end.allFinite();
}

/// The estimate of the state, for the variational equation, which is linear: its defect at the start of the polynomial
/// through the start and the stages,
///     -((μ/h) H_ẏ + H_y)⁻¹ (H_ẏ u_S'(t_n) + H_y S_n + H_p),
/// by the frozen matrix and by that of the start. Neither is filtered twice: a mode that grows is not told from one that
/// decays where a step is long for it. 0 where the derivatives are not finite at a stage, which no length mends.
double Radau::variation_error(const Variation& along) {
  assert(attempted_);
  if (!stage_variations(along.start, along.column_of_parameter)) return 0;
  take_variation_end(along.start);
  all_.factors().triangularView<Eigen::Upper>().solveInPlace(solution_);
  for (int i = 0; i < stages(); ++i)
    solution_.middleRows(i * flow_.size(), flow_.size()).array().colwise() *= unit_.array();
  if (!solution_.allFinite()) return 0;
  variation_noise_.setZero(along.start.cols());
  if (!variation_defect(along, 0) ||
      !flow_.linearize(attempt_.t, ydot_, Y_start_, H_, rates_at_, slopes_at_))
    return variation_norm(along, along.start - variation_at_start());
  scaled_matrix(attempt_.h, start_matrix_, start_scale_);
  start_.compute(flow_.places(), start_matrix_);
  filter_variation(real_, row_scale_, variation_error_);
  filter_variation(start_, start_scale_, start_error_);
  const auto error = [&] { return std::max(variation_norm(along, variation_error_), variation_norm(along, start_error_)); };
  if (error() <= 1) return error();
  measure_variation_noise(along);
  return error();
}

/// Of the stages alone, extrapolated to the start.
Matrix Radau::variation_at_start() const {
  const Eigen::Index N = flow_.size();
  Matrix at_start = Matrix::Zero(N, solution_.cols());
  for (int j = 0; j < stages(); ++j) at_start += extrapolation_[j] * solution_.middleRows(j * N, N);
  return at_start;
}

/// The defect at the start. Algebraic parts of the derivatives there are those of the stages, of the state those it has.
/// `share`: state, rates and derivatives are moved by this share of their terms, with alternating signs. False: no finite
/// value.
bool Radau::variation_defect(const Variation& along, double share) {
  const Eigen::Index N = flow_.size(), q = along.start.cols();
  Matrix rates = Matrix::Zero(N, q), start = variation_at_start();
  for (int k = 0; k < flow_.size(); ++k)
    if (flow_.is_differential(k)) start.row(k) = along.start.row(k);
  for (int j = 0; j < stages(); ++j) rates += defect_[j] / attempt_.h * (solution_.middleRows(j * N, N) - start);
  set_start();
  Y_start_ = y_;
  if (share > 0) {
    const double per_time = defect_.cwiseAbs().sum() / attempt_.h;
    for (Eigen::Index k = 0; k < N; ++k) {
      const double moved = k % 2 == 0 ? share : -share;
      ydot_[k] += moved * per_time * noise_[k];
      Y_start_[k] -= moved * noise_[k];
      rates.row(k) += moved * per_time * start.row(k).cwiseAbs();
      start.row(k) -= moved * start.row(k);
    }
  }
  if (!flow_.linearize(attempt_.t, ydot_, Y_start_, H_, H_ydot_, H_y_)) return false;
  variation_defect_.noalias() = H_ydot_ * rates + H_y_ * start;
  flow_.by_parameters(H_p_);
  for (std::size_t k = 0; k < along.column_of_parameter.size(); ++k)
    if (along.column_of_parameter[k] >= 0)
      variation_defect_.col(along.column_of_parameter[k]) += H_p_.col(static_cast<Eigen::Index>(k));
  return variation_defect_.allFinite();
}

/// -error of each column, by this matrix.
void Radau::filter_variation(const linear::EntryLu<double>& matrix, const Vector& scale, Matrix& error) {
  error.resize(variation_defect_.rows(), variation_defect_.cols());
  for (Eigen::Index c = 0; c < variation_defect_.cols(); ++c) {
    H_ = scale.cwiseProduct(variation_defect_.col(c));
    matrix.solve(H_, delta_);
    error.col(c) = delta_.cwiseProduct(unit_);
  }
}

/// What rounding makes of the estimate, of each column: a column may be no more than that, where terms cancel in it or have
/// not begun to act, and no length knows it better.
void Radau::measure_variation_noise(const Variation& along) {
  measure_stage_noise();
  const Matrix before = variation_defect_;
  if (!variation_defect(along, rounding)) return;
  variation_defect_ -= before;
  Matrix noise;
  filter_variation(start_, start_scale_, noise);
  for (Eigen::Index c = 0; c < noise.cols(); ++c) add_variation_noise(noise.col(c), c);
}

/// Solutions of A X = B by L U solve (A + E) X = B with |E| ≤ eps |L| |U|, so that a column may be what rows of others leave
/// in it. Two combinations of signs stand for the largest. The estimate takes differences of the stages, divided by μ.
void Radau::measure_stage_noise() {
  const Eigen::Index N = flow_.size();
  const double taken = defect_.cwiseAbs().sum() / table_.mu;
  Matrix terms = solution_;
  for (int i = 0; i < stages(); ++i) terms.middleRows(i * N, N).array().colwise() /= unit_.array();
  const Matrix sizes = all_.factors().cwiseAbs();
  terms = sizes.triangularView<Eigen::Upper>() * terms.cwiseAbs();
  terms = sizes.triangularView<Eigen::UnitLower>() * terms;
  terms *= rounding;
  for (const bool alternate : {false, true}) {
    Matrix moves = terms;
    if (alternate)
      for (Eigen::Index row = 1; row < moves.rows(); row += 2) moves.row(row) *= -1;
    all_.factors().triangularView<Eigen::UnitLower>().solveInPlace(moves);
    all_.factors().triangularView<Eigen::Upper>().solveInPlace(moves);
    for (Eigen::Index c = 0; c < moves.cols(); ++c)
      for (int i = 0; i < stages(); ++i) add_variation_noise(taken * moves.col(c).segment(i * N, N).cwiseProduct(unit_), c);
  }
}

/// The largest differential entry, in units of the variables.
void Radau::add_variation_noise(const Vector& noise, Eigen::Index column) {
  for (int k = 0; k < flow_.n(); ++k) {
    if (!flow_.is_differential(k) || !std::isfinite(noise[k])) continue;
    variation_noise_[column] = std::max(variation_noise_[column], std::abs(noise[k]) * tolerance_.rtol / tolerance_.atol[k]);
  }
}

/// The largest differential component at the start or a stage, in units of the variables.
double Radau::variation_size(const Matrix& start, Eigen::Index column) const {
  double size = 0;
  for (int k = 0; k < flow_.n(); ++k) {
    if (!flow_.is_differential(k)) continue;
    double largest = std::abs(start(k, column));
    for (int j = 0; j < stages(); ++j) largest = std::max(largest, std::abs(solution_(j * flow_.size() + k, column)));
    size = std::max(size, largest * tolerance_.rtol / tolerance_.atol[k]);
  }
  return size;
}

/// Of differential components in their units, each column beside its own size, and beside what the rounding of that which
/// it was computed of leaves. Inf: not finite.
double Radau::variation_norm(const Variation& along, const Matrix& error) const {
  constexpr double roundings = 64;
  constexpr double smallest = std::numeric_limits<double>::min() / (rounding * rounding);  // products of what is smaller lack digits
  double largest = 0;
  for (Eigen::Index c = 0; c < error.cols(); ++c) {
    const double left = roundings * std::max(rounding * along.terms[c], variation_noise_[c]);
    const double allowed = variation_rtol_ * variation_size(along.start, c) + left + smallest;
    for (int k = 0; k < flow_.n(); ++k) {
      if (!flow_.is_differential(k)) continue;
      if (!std::isfinite(error(k, c))) return inf;
      largest = std::max(largest, std::abs(error(k, c)) * tolerance_.rtol / tolerance_.atol[k] / allowed);
    }
  }
  return largest;
}

}  // namespace perp
