#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/schemes/located/radau/radau.hpp>

namespace perp {
namespace {

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
/// Only the last stage is wanted, so the last block of unknowns is all that is solved for
/// backwards.
bool Radau::sensitivities(const Matrix& S_start, Matrix& S_end,
                          const std::vector<int>& column_of_parameter) {
  const Polynomial& step = latest();
  const Eigen::Index N = flow_.size(), q = S_start.cols(), all = N * stages();
  if (step.h == 0) throw InvalidInput("sensitivities need a step that was solved");
  check_columns(flow_, S_start, column_of_parameter);
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
  S_end = solution_.bottomRows(N);
  all_.factors().bottomRightCorner(N, N).triangularView<Eigen::Upper>().solveInPlace(S_end);
  S_end = unit_.asDiagonal() * S_end;
  return S_end.allFinite();
}

}  // namespace perp
