// Taylor series of modes at the present state: made by the run, asked where modes begin and end.
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/schemes/located/mode_jets.hpp>

namespace perp {
namespace {

constexpr double at_end = 1e-11;  ///< of the terms of a margin: not to be told from its end

}  // namespace

ModeJets::ModeJets(const LocatedState& at) : at_(at), jets_(at.system), first_jets_(at.system, 1), evaluator_(at.system) {}

Vector ModeJets::arguments_at(double t, const Vector& x) {
  std::vector<double> z(static_cast<std::size_t>(evaluator_.inputs()), 0.0);
  std::vector<double> rows(static_cast<std::size_t>(at_.system.n() + at_.system.m()));
  z[0] = t;
  std::copy(x.begin(), x.end(), z.begin() + at_.system.variable_input(0));
  evaluator_.evaluate(z.data(), rows.data());
  return Eigen::Map<const Vector>(rows.data() + at_.system.n(), at_.system.m());
}

void ModeJets::set_scales() {
  jets_.set_scales({at_.scales.time, at_.scales.x, at_.scales.lambda, at_.scales.fastest});
  first_jets_.set_scales(jets_.scales());
}

/// Is w of this law a function of t and x alone?
bool ModeJets::is_of_state(int law) const {
  const Dcs& system = at_.system;
  const auto is_other = [&](int input) {
    const bool is_rate = input >= system.derivative_input(0) && input < system.variable_input(0);
    return is_rate || (input >= system.multiplier_input(0) && input < system.parameter_input(0));
  };
  const int w = system.G[static_cast<std::size_t>(law)];
  return dependent_lines(system.tape, is_other)[static_cast<std::size_t>(w)] == 0;
}

/// How a mode is integrated, found once for each. The laws whose multiplier only the second
/// derivative of w holds are contacts, kept by dw/dt = 0, which is of index 2; other unknowns that
/// one level of differentiation leaves open are of a higher index, and so is a law whose w holds multipliers.
const ModeJets::Structure& ModeJets::structure(const Jet& jet) {
  const auto known = structures_.find(jet.mode);
  if (known != structures_.end()) return known->second;
  Structure structure;
  const Jet first = first_jets_.solve(jet.mode, jet.t, jet.x.col(0), jet.lambda.col(0),
                                      jets_.is_nonlinear_in_rates() ? Vector(jet.x.col(1)) : Vector());
  for (int i = 0; i < at_.system.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch = at_.system.laws[law].branches[static_cast<std::size_t>(jet.mode[law])];
    if (!is_vertical(branch) || first.lambda_known[law] > 0) continue;
    structure.is_high_index = structure.is_high_index || !is_of_state(i);
    structure.velocity_level.resize(static_cast<std::size_t>(at_.system.m()), 0);
    structure.velocity_level[law] = 1;
  }
  if (structure.is_high_index)
    structure.velocity_level.clear();
  else if (structure.velocity_level.empty())
    structure.is_high_index = std::any_of(first.x_known.begin(), first.x_known.end(),
                                          [](int known_of_x) { return known_of_x == 0; });
  return structures_.emplace(jet.mode, std::move(structure)).first->second;
}

Jet ModeJets::values_at(const Step& state) {
  const auto known = structures_.find(state.mode);
  const bool is_of_one_level = known != structures_.end() && known->second.velocity_level.empty() &&
                               !known->second.is_high_index;
  if (is_of_one_level) {
    Jet first = first_jets_.solve(state.mode, state.t, state.x, state.lambda);
    if (first.consistent && first.determined) return first;
  }
  return at_state(state);
}

/// The end of a branch that a law is at with this w.
std::optional<double> ModeJets::end_at(int law, double w, bool is_hit) const {
  const auto i = static_cast<std::size_t>(law);
  const Branch& present = at_.system.laws[i].branches[static_cast<std::size_t>(at_.now.mode[i])];
  if (is_vertical(present)) return present.c / present.a;
  const double size = at_.law_sizes.size() > 0 ? at_.law_sizes[law] : at_.scales.w[law];
  std::optional<double> nearest;
  double least = is_hit ? inf : at_end;
  for (const Branch& branch : at_.system.laws[i].branches) {
    const Range range = w_range(branch);
    for (const double end : {range.lower, range.upper}) {
      if (!std::isfinite(end)) continue;
      const double share = std::abs(w - end) / std::max({size, std::abs(w), std::abs(end)});
      if (!(share < least) && !(w == end)) continue;
      least = share;
      nearest = end;
    }
  }
  return nearest;
}

void ModeJets::hold_ends(const std::vector<int>& hit) {
  if (!jets_.has_rough_laws()) return;
  const Vector w = arguments_at(at_.now.t, at_.now.x);
  ends_.assign(static_cast<std::size_t>(at_.system.m()), BranchForms::open);
  for (int i = 0; i < at_.system.m(); ++i) {
    if (!jets_.rough_laws()[static_cast<std::size_t>(i)]) continue;
    const bool is_hit = std::find(hit.begin(), hit.end(), i) != hit.end();
    const auto end = end_at(i, w[i], is_hit);
    if (end) ends_[static_cast<std::size_t>(i)] = *end;
  }
  tell_ends();
}

bool ModeJets::holds_ends() const {
  return std::any_of(ends_.begin(), ends_.end(), [](double end) { return std::isfinite(end); });
}

void ModeJets::release_ends() {
  if (rests_ || ends_.empty()) return;
  ends_.clear();
  tell_ends();
}

void ModeJets::tell_ends() {
  jets_.hold_ends(ends_);
  first_jets_.hold_ends(ends_);
}

}  // namespace perp
