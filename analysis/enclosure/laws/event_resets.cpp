// What resets make of the states of an event, also those whose condition jumps with a law; called
// by event windows.
#include <algorithm>

#include <perp/analysis/enclosure/modes/event_window.hpp>
#include <perp/core/base/index.hpp>

namespace perp::enclosure {

/// The values that the resets set, as outputs in a mode, and their rows among the states. False: not only states are
/// set.
bool EventWindow::find_values(const ModeSystem& in, const std::vector<int>& resets, Flow& flow,
                              std::vector<int>& rows) {
  flow = in.flow;
  flow.dependents.clear();
  flow.outputs.clear();
  const std::vector<int>& list = flows_.space().variables;
  for (const int reset : resets) {
    const std::vector<int>& values = in.resets[at(reset)];
    flow.outputs.insert(flow.outputs.end(), values.begin(), values.end());
    for (const int j : flows_.system().resets[at(reset)].variables) {
      const auto found = std::find(list.begin(), list.end(), j);
      if (found == list.end()) return fail("the reset sets an algebraic variable");
      rows.push_back(static_cast<int>(found - list.begin()));
    }
  }
  return true;
}

/// State i, which the resets set to the value number k of those that were computed over S*.
void EventWindow::set_state(const ModeFlow& in, const IntervalSeries& values, int k, int i) {
  after_[at(i)] = values.output(k, 0);
  after_rates_[at(i)] = values.output(k, 1);
  for (int j = 0; j < set_.states(); ++j) {
    reset_(i, j) = values.output_derivative(k, j, 0);
    if (&in != &from_ && !reset_(i, j).is_zero())
      after_rates_[at(i)] += reset_(i, j) * (rates_[at(j)] - values.coefficient(j, 1));
  }
}

/// R, its derivative and its rate along the old mode; the identity where no reset fires. With the
/// formulas of a mode in which the rates are f_2,
///     Ṙ = R' f_1 + R_t = (R' f_2 + R_t) + R' (f_1 − f_2)
bool EventWindow::reset_states(ModeFlow& in, const std::vector<int>& resets) {
  const int n = set_.states();
  after_ = states_;
  center_after_ = center_;
  after_rates_ = rates_;
  reset_ = IntervalMatrix(Matrix(Matrix::Identity(n, n)));
  if (resets.empty()) return true;
  Flow flow;
  std::vector<int> rows;
  if (!find_values(in.system, resets, flow, rows)) return false;
  IntervalSeries series(flow);
  if (!series.compute(Interval(t_) + center_delta_, center_, 2, false))
    return fail("the reset has no value on its surface");
  for (int k = 0; k < static_cast<int>(rows.size()); ++k)
    center_after_[at(rows[at(k)])] = series.output(k, 0);
  if (!series.compute(time(), states_, 2, true))
    return fail("the reset has no value on its surface");
  for (int k = 0; k < static_cast<int>(rows.size()); ++k) set_state(in, series, k, rows[at(k)]);
  return true;
}

/// Resets whose condition the change of law takes from one side to the other in its direction: both
/// are proved, before the event since all other gaps are positive until then, after it by the
/// monitors of the new mode.
std::vector<int> EventWindow::jumped_over(const Successor& next, const OpenLaws& open) const {
  const ModeFlow& to = flows_.get(next.mode, time(), states_, open, next.root);
  std::vector<int> list;
  for (const Monitor& now : next.monitors) {
    const int reset = to.system.gaps[at(now.gap)].reset;
    if (reset < 0) continue;
    const bool has_jumped =
        std::any_of(monitors_.begin(), monitors_.end(), [&](const Monitor& before) {
          return from_.system.gaps[at(before.gap)].reset == reset && before.side == -now.side;
        });
    const int direction = flows_.system().resets[at(reset)].direction;
    if (has_jumped && (direction == 0 || direction == now.side)) list.push_back(reset);
  }
  return list;
}

/// Laws change first, then resets fire, then the mode is chosen again.
std::vector<Successor> EventWindow::after_jumps(const std::vector<Successor>& list,
                                                const OpenLaws& open) {
  std::vector<Successor> left = list;
  std::erase_if(left, [](const Successor& next) { return next.verdict == Verdict::refuted; });
  const bool fires = std::any_of(left.begin(), left.end(), [&](const Successor& next) {
    return next.verdict == Verdict::proved && !jumped_over(next, open).empty();
  });
  if (!fires) return list;
  const Successor& through = left.front();
  const auto unknown = [&](const std::string& why) {
    Successor next{.mode = through.mode, .root = through.root};
    next.reason = why;
    return std::vector<Successor>{next};
  };
  if (left.size() > 1 || !open.laws.empty())
    return unknown("a reset fires with the change of a law, whose next branch is not known");
  ModeFlow& in = flows_.get(through.mode, time(), states_, through.root);
  in.use(through.implicit);
  fired_ = jumped_over(through, open);
  fired_in_ = &in;
  if (!reset_states(in, fired_)) return unknown(reason_);
  return Successors(flows_, time(), after_, open).at_start(&in, fired_);
}

std::vector<Successor> EventWindow::successors(const OpenLaws& open) {
  Successors successors(flows_, time(), after_, open);
  if (!fired_.empty()) return successors.at_start(&from_, fired_);
  const std::vector<Successor> list = successors.after(from_, reached_);
  return reached_law() < 0 ? list : after_jumps(list, open);
}

}  // namespace perp::enclosure
