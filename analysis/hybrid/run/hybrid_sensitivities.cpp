// Sensitivities of hybrid runs: those of each mode, from its start, are composed with those before.
#include <algorithm>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/core/base/index.hpp>

namespace perp {

/// S = dx/dq at the start of the span.
void HybridRun::begin_sensitivities() {
  if (request_.columns() == 0) return;
  const std::vector<char>& is_state = modes().structure().is_state;
  for (int j = 0; j < hybrid_.n(); ++j)
    if (is_state[at(j)]) states_.push_back(j);
  S_ = Matrix::Zero(hybrid_.n(), request_.columns());
  for (std::size_t k = 0; k < request_.starts.size(); ++k)
    S_(request_.starts[k], static_cast<Eigen::Index>(k)) = 1;
}

/// Within a mode: by all states where it began, and the parameters.
SensitivityRequest HybridRun::request_of_mode() const {
  if (request_.columns() == 0) return {};
  return {states_, request_.parameters};
}

/// d/dq = (d/dx_begin) S + (0 | d/dp), rows of anything that the mode's run differentiates.
Matrix HybridRun::composed(const Matrix& of_mode) const {
  if (of_mode.size() == 0) return of_mode;
  const auto states = static_cast<Eigen::Index>(states_.size());
  const auto parameters = static_cast<Eigen::Index>(request_.parameters.size());
  Matrix result = of_mode.leftCols(states) * S_(states_, Eigen::all);
  result.rightCols(parameters) += of_mode.rightCols(parameters);
  return result;
}

/// Of a state within the mode; at the start of the run they are those of the given states, before a mode of higher index
/// brings them onto its constraint.
void HybridRun::compose_sensitivities(Step& step, bool is_first) const {
  if (request_.columns() == 0) return;
  step.dx_dq = composed(step.dx_dq);
  step.dlambda_dq = composed(step.dlambda_dq);
  if (is_first)
    for (const int j : states_) step.dx_dq.row(j) = S_.row(j);
}

/// At the end of a mode: the moment t* and the state there by q.
void HybridRun::end_sensitivities(const Event& end) {
  if (request_.columns() == 0) return;
  dt_end_ = composed(end.dt_dq.transpose()).transpose();
  dx_end_ = composed(end.pieces.at(0));
  condition_ = end.condition;
}

/// S+ = dx*/dq - x'+ dt*/dq; where the mode goes on nothing happens to S.
void HybridRun::pass_sensitivities(bool is_same_mode) {
  if (request_.columns() == 0) return;
  if (is_same_mode) {
    S_ = last_.dx_dq;
    return;
  }
  for (const int j : states_) S_.row(j) = dx_end_.row(j) - rates_[j] * dt_end_.transpose();
}

}  // namespace perp
