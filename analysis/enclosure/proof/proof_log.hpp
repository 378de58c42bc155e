#pragma once

#include <utility>
#include <vector>

#include <perp/analysis/enclosure/modes/mode_flow.hpp>
#include <perp/analysis/enclosure/modes/monitor.hpp>

namespace perp::enclosure {

/// The signs of gaps over times τ of a step: trends where the times begin, and what was concluded.
struct ProofSlice {
  Interval tau{};
  std::vector<Monitor> before{}, after{};
};

/// The states at an exact time within a step.
struct ProofRow {
  double t = 0;
  Box box{};
};

/// A set that a step moved from t to `until`: what a re-check needs, as it stood in memory.
///     R ⊂ int V, with R = x_{K+1} over Z = Σ_{k ≤ K} x_k T^k + V T^(K+1),  T = [0, proved − t],
///     x(until) ∈ F + J (x(t) − x̂) for all members, which is in the set after the step
struct ProofStep {
  int flow = -1;  ///< number of its equations in the proof
  double t = 0, proved = 0, until = 0;
  Box bound{}, tube{}, remainder{};  ///< V, Z, R
  Box F{};
  IntervalMatrix J{0, 0};
  Matrix linear{};  ///< C' = mid(J C), before the set was reorganized
  Doubleton::Parts before{}, after{};
  std::vector<ProofSlice> slices{};
  std::vector<ProofRow> rows{};
};

/// The equations of a mode, solved for the rates.
struct ProofFlow {
  Mode mode{};
  int root = 0;
  Flow flow{};
};

/// The steps in modes of one piece of the set, in the order in which they were made; those that
/// were taken back too, since what they prove holds as well. Events and phases with open laws are
/// not in it.
struct PieceProof {
  Box start{};
  std::vector<ProofFlow> flows{};
  std::vector<ProofStep> steps{};
};

/// Watches a piece and writes down what it proves, if it is asked to; it changes nothing of that.
class ProofLog {
 public:
  ProofLog(const Box& start, bool is_wanted) : is_wanted_(is_wanted) { proof_.start = start; }

  /// A step was prepared.
  void begin();
  /// The monitors were carried over these times.
  void note_slice(const Interval& tau, const std::vector<Monitor>& before,
                  const std::vector<Monitor>& after) {
    if (is_wanted_) slices_.push_back({tau, before, after});
  }
  void note_row(double t, const Box& box) {
    if (is_wanted_) rows_.push_back({t, box});
  }
  /// Before the step of this mode moves the set, and after it has.
  ///@{
  void note_move(ModeFlow& flow, const Doubleton& set, double t, double until);
  void note_moved(const Doubleton& set) {
    if (is_wanted_) proof_.steps.back().after = set.parts();
  }
  ///@}

  /// One proof, or none where it is not wanted.
  std::vector<PieceProof> take();

 private:
  int number_of(const ModeFlow& flow);

  bool is_wanted_;
  PieceProof proof_;
  std::vector<const ModeFlow*> known_;  // by number of the flow
  std::vector<ProofSlice> slices_;
  std::vector<ProofRow> rows_;
};

}  // namespace perp::enclosure
