// What pieces prove, written down step by step; called by them where it is asked for.
#include <algorithm>

#include <perp/analysis/enclosure/proof/proof_log.hpp>

namespace perp::enclosure {

void ProofLog::begin() {
  slices_.clear();
  rows_.clear();
}

std::vector<PieceProof> ProofLog::take() {
  if (!is_wanted_) return {};
  std::vector<PieceProof> one;
  one.push_back(std::move(proof_));
  return one;
}

int ProofLog::number_of(const ModeFlow& flow) {
  const auto found = std::find(known_.begin(), known_.end(), &flow);
  const int number = static_cast<int>(found - known_.begin());
  if (found == known_.end()) {
    known_.push_back(&flow);
    proof_.flows.push_back({flow.system.mode, flow.system.root, flow.system.flow});
  }
  return number;
}

void ProofLog::note_move(ModeFlow& flow, const Doubleton& set, double t, double until) {
  if (!is_wanted_) return;
  ProofStep step{.flow = number_of(flow), .t = t, .proved = flow.step.end(), .until = until};
  step.bound = flow.step.a_priori_bound();
  step.tube = flow.step.tube_box();
  step.remainder = flow.step.remainder();
  // as `TaylorStep::move` does it
  const Interval tau = Interval(until) - Interval(t);
  const Box box = flow.step.box_at(tau);
  step.F = flow.step.centre_at(tau);
  step.J = flow.step.jacobian_at(tau);
  flow.step.complete(Interval(until), step.F, step.J, box);
  flow.step.project(Interval(until), step.F, step.J, box);
  step.before = set.parts();
  step.linear = middle(step.J * IntervalMatrix(step.before.C));
  step.slices = std::exchange(slices_, {});
  step.rows = std::exchange(rows_, {});
  proof_.steps.push_back(std::move(step));
}

}  // namespace perp::enclosure
