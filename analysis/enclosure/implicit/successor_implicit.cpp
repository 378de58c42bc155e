// Which root of implicit equations goes on; called where the next mode is proved.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/law_coupling.hpp>
#include <perp/analysis/enclosure/modes/successor.hpp>
#include <perp/core/branches.hpp>

namespace perp::enclosure {
namespace {

constexpr int finest = 16;  ///< parts of the range of a multiplier

/// The rows of J so that its largest entries at a root stand on the diagonal, with positive sign:
/// the equations in another order and with other signs have the same roots.
IntervalMatrix aligned(const IntervalMatrix& J, const IntervalMatrix& at_root) {
  const int n = J.rows();
  IntervalMatrix rows(n, n);
  std::vector<bool> is_used(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    int best = -1;
    for (int i = 0; i < n; ++i)
      if (!is_used[static_cast<std::size_t>(i)] &&
          (best < 0 || mignitude(at_root(i, j)) > mignitude(at_root(best, j))))
        best = i;
    is_used[static_cast<std::size_t>(best)] = true;
    const bool is_negative = middle(at_root(best, j)) < 0;
    for (int k = 0; k < n; ++k) rows(j, k) = is_negative ? -J(best, k) : J(best, k);
  }
  return rows;
}

}  // namespace

void Successors::set_before(ModeFlow* before) {
  before_ = before;
  if (before != nullptr && before->has_implicit()) before_root_ = before->root();
}

/// Are the unknowns given by the same equations of time and states as before, whatever the mode is?
/// A reset must not set what stands in these.
bool Successors::is_same_implicit(const ModeFlow& flow) const {
  if (before_ == nullptr || flow.system.implicit_sources.empty() ||
      flow.system.implicit_sources != before_->system.implicit_sources ||
      flow.system.flow.implicit.inputs != before_->system.flow.implicit.inputs)
    return false;
  if (from_ != nullptr) return true;
  const Dcs& system = flows_.system();
  Tape tape = system.tape;
  const ExactLines lines(tape);
  const std::vector<int> set = set_variables();
  return std::none_of(flow.system.implicit_sources.begin(), flow.system.implicit_sources.end(),
                      [&](int source) {
                        return std::any_of(set.begin(), set.end(), [&](int j) {
                          return lines.depends(system.F[static_cast<std::size_t>(source)],
                                               system.variable_input(j));
                        });
                      });
}

/// Has the algebraic variable the same value after the event, since w of the law that was met holds
/// no other unknown, by a constant coefficient, and stays at its corner?
bool Successors::is_held_by_argument(const ModeFlow& flow, int input) const {
  if (law_ < 0 || of_multiplier_ || !is_vertical(branch(flow.system.mode, law_))) return false;
  const Branch& held = branch(flow.system.mode, law_);
  const Dcs& system = flows_.system();
  const int w = system.G[static_cast<std::size_t>(law_)];
  if (!(Interval(held.c) / Interval(held.a) == corner_.w) || !corner_.w.is_point() ||
      unknowns_of(system, flows_.space(), w) != std::vector<int>{input})
    return false;
  Tape tape = system.tape;
  ExactLines lines(tape);
  const int slope = lines.derivative(w, input);
  return lines.is_number(slope) && !lines.is_number(slope, 0);
}

/// A number of the range of a multiplier.
Interval Successors::multiplier_guess(const Mode& mode, int law) const {
  const Interval range(branch(mode, law).lambda.lower, branch(mode, law).lambda.upper);
  if (range.is_bounded()) return Interval(middle(range));
  const double end = std::isfinite(range.lo) ? range.lo : range.hi;
  return Interval(std::isfinite(end) ? end : 0);
}

/// What an unknown of the new mode is before the event, or where the start says it is; of rates and
/// multipliers it says nothing.
Interval Successors::implicit_value(const Mode& mode, int input, bool is_known) {
  const Dcs& system = flows_.system();
  const int j = input - system.variable_input(0), i = input - system.multiplier_input(0);
  if (is_known && j >= 0) return before_->observed(i >= 0 ? system.n() + i : j);
  if (i >= 0) return multiplier_guess(mode, i);
  if (j >= 0) return start_ == nullptr ? Interval(0) : (*start_)[static_cast<std::size_t>(j)];
  if (!is_known) return Interval(0);
  const auto& states = flows_.space().variables;
  const auto place =
      std::find(states.begin(), states.end(), input - system.derivative_input(0)) - states.begin();
  return before_->jet().coefficient(static_cast<int>(place), 1);
}

Box Successors::implicit_values(const ModeFlow& flow) {
  bool is_known = false;
  if (before_ != nullptr) {
    before_->use(before_root_);
    is_known = before_->follow(t_, box_) && before_->observe(t_, box_) &&
               before_->expand(t_, box_, 2, false);
  }
  Box values;
  for (const int input : flow.system.flow.implicit.inputs)
    values.push_back(implicit_value(flow.system.mode, input, is_known));
  return values;
}

/// Are there no other roots, whatever the unknowns are, multipliers in the ranges of their
/// branches? So it is where all principal minors of ∂h/∂z are positive everywhere (Gale and
/// Nikaido).
bool Successors::is_only_root(ModeFlow& flow) {
  Box everywhere;
  for (const int input : flow.system.flow.implicit.inputs) {
    const int i = input - flows_.system().multiplier_input(0);
    const Interval all(-directed::infinity, directed::infinity);
    everywhere.push_back(i < 0 ? all
                               : Interval(branch(flow.system.mode, i).lambda.lower,
                                          branch(flow.system.mode, i).lambda.upper));
  }
  const IntervalMatrix at_root = flow.jacobian(t_, box_, flow.root().z);
  return is_P_matrix(aligned(flow.jacobian(t_, box_, everywhere), at_root));
}

/// A simple root over the whole set. Where the start means one it need not be the only one.
bool Successors::find_root(ModeFlow& flow, bool is_to_be_only) {
  const Box values = implicit_values(flow);
  flow.use({});
  if (!flow.find(t_, box_, values, false)) return false;
  if (!is_to_be_only || is_only_root(flow)) return true;
  flow.use({});
  return false;
}

/// Why the root is not known; none: it is.
const char* Successors::follow_implicit(ModeFlow& flow, bool& keeps) {
  if (is_same_implicit(flow)) {
    flow.use(before_root_);
    keeps = flow.follow(t_, box_);
    return keeps ? nullptr
                 : "the root of its implicit equations is not simple everywhere in the set";
  }
  const Box values = implicit_values(flow);
  flow.use({});
  keeps = from_ != nullptr && keeps_rates(flow) && flow.find(t_, box_, values, true);
  if (keeps) return nullptr;
  if (!flow.find(t_, box_, values, false))
    return "no root of its implicit equations was found that is simple over the whole set";
  if (before_ != nullptr && !is_only_root(flow))
    return "algebraic variables jump, and its implicit equations may have other roots";
  return nullptr;
}

void Successors::find_implicit(ModeFlow& flow, Successor& successor) {
  const char* const reason = follow_implicit(flow, successor.keeps_implicit);
  if (reason != nullptr) {
    flow.use({});
    successor.keeps_implicit = false;
    successor.verdict = Verdict::open;
    successor.reason = reason;
  }
  successor.implicit = flow.root();
}

/// Is w' not 0, whatever λ of this part of the range is?
bool Successors::leaves(const Mode& mode, int law, const Interval& lambda) {
  ModeSystem made =
      mode_system(flows_.system(), flows_.space(), mode, flows_.near(t_, box_), {{law}, {lambda}});
  if (made.outcome != ModeSystem::Outcome::made) return false;
  made.flow.outputs = {made.flow.outputs[made.gaps.size()]};
  if (made.flow.implicit.empty()) {
    IntervalSeries series(made.flow);
    return series.compute(t_, box_, 2, false) && certain_sign(series.output(0, 1)) != 0;
  }
  ModeFlow flow(std::move(made), flows_.options());
  const bool is_same = is_same_implicit(flow);
  if (is_same) flow.use(before_root_);
  const bool of_states = !flow.system.implicit_sources.empty();
  if (is_same ? !flow.follow(t_, box_) : !find_root(flow, before_ != nullptr || !of_states))
    return false;
  return flow.expand(t_, box_, 2, false) && certain_sign(flow.jet().output(0, 1)) != 0;
}

// w' over all λ of the range, part by part: where it is not 0, no solution keeps w for any time.
bool Successors::must_leave(const Mode& mode, int law, const Interval& values) {
  if (leaves(mode, law, values)) return true;
  if (!values.is_bounded() || !flows_.get(mode, t_, box_, open_).has_implicit()) return false;
  for (int k = 0; k < finest; ++k) {
    const Interval part = Interval(values.lo) + (Interval(values.hi) - Interval(values.lo)) *
                                                    Interval(k, k + 1) / Interval(finest);
    if (!leaves(mode, law, part)) return false;
  }
  return true;
}

/// Can no solution stay on a vertical branch of this mode?
bool Successors::is_left(const Mode& mode) {
  if (!open_.laws.empty()) return false;
  for (int j = 0; j < static_cast<int>(mode.size()); ++j) {
    const Branch& here = branch(mode, j);
    const ModeFlow& flow = flows_.get(mode, t_, box_, open_);
    if (!is_vertical(here) || !has_argument_of_states(flow, j) || is_direct(j)) continue;
    if (must_leave(mode, j, Interval(here.lambda.lower, here.lambda.upper))) return true;
  }
  return false;
}

}  // namespace perp::enclosure
