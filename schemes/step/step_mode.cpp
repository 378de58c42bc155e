// The unknowns that the branches of a mode leave open in an ImplicitStep.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/schemes/step/implicit_step.hpp>

namespace perp {

void ImplicitStep::set_mode(const Mode& mode, bool hold) {
  if (set_ && set_->is_for(mode, hold, consistency_)) return;
  set_ = {mode, hold, consistency_};
  free_laws_.clear();
  size_ = n();
  for (std::size_t i = 0; i < mode.size(); ++i) {
    branch_[i] = &laws_[i].branches[static_cast<std::size_t>(mode[i])];
    unknown_[i] = hold || branch_[i]->a == 0 ? -1 : size_++;
    if (unknown_[i] >= 0) free_laws_.push_back(static_cast<int>(i));
  }
  write_units();
  find_curved();
  if (!is_placed_ || placed_ != free_laws_) place_entries();
}

/// What the equations of the mode are not linear in.
void ImplicitStep::find_curved() {
  nonlinear_ = nonlinear_in_lambda_ = false;
  curved_.clear();
  curved_rows_.clear();
  is_curved_.assign(at(n() + m()), 0);
  for (const DcsEvaluator::Variable& variable : evaluator_.variable_entries()) {
    const auto& [row, column] = evaluator_.entries()[variable.entry];
    if (is_replaced(row) || !is_unknown(column) || std::none_of(variable.inputs.begin(), variable.inputs.end(),
                                            [&](int input) { return is_unknown(input); }))
      continue;
    nonlinear_ = true;
    curved_rows_.push_back(row < n() ? row : unknown_[static_cast<std::size_t>(row - n())]);
    nonlinear_in_lambda_ = nonlinear_in_lambda_ || column > 2 * n();
    const int unknown = unknown_of(column);
    if (is_curved_[at(unknown)] == 0) curved_.push_back(unknown);
    is_curved_[at(unknown)] = 1;
  }
}

bool ImplicitStep::is_curved_alone(int unknown) const {
  const auto& list = evaluator_.variable_entries();
  return std::any_of(list.begin(), list.end(), [&](const DcsEvaluator::Variable& variable) {
    const auto& [row, column] = evaluator_.entries()[variable.entry];
    const auto is_it = [&](int input) { return is_unknown(input) && unknown_of(input) == unknown; };
    return !is_replaced(row) && is_it(column) && std::any_of(variable.inputs.begin(), variable.inputs.end(), is_it);
  });
}

/// Does another equation stand in place of this row of F where consistent states are looked for?
bool ImplicitStep::is_replaced(int row) const {
  return consistency_ && row < n() && has_derivatives_[static_cast<std::size_t>(row)] != 0;
}

/// The unknown that moves an input, which the mode leaves open.
int ImplicitStep::unknown_of(int input) const {
  const int law = input - (1 + 2 * n());
  return law < 0 ? (input - 1) % n() : unknown_[static_cast<std::size_t>(law)];
}

std::vector<int> ImplicitStep::laws_of_rates() const {
  std::vector<int> list;
  for (const Place& place : places_)  // by rows
    if (place.row >= n() && place.kind == Kind::derivative &&
        (list.empty() || list.back() != place.row - n()))
      list.push_back(place.row - n());
  return list;
}

/// Does the mode leave the input open?
bool ImplicitStep::is_unknown(int input) const {
  const int law = input - (1 + 2 * n());
  return input > 0 && (law < 0 || unknown_[static_cast<std::size_t>(law)] >= 0);
}

void ImplicitStep::fix(Vector& lambda) const {
  for (int i = 0; i < m(); ++i)
    if (branch(i).a == 0) lambda[i] = branch(i).c / branch(i).b;
}

}  // namespace perp
