#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <perp/analysis/hybrid/proofs/mode_bounds.hpp>
#include <perp/analysis/hybrid/value_search.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

namespace perp {

/// Taylor series of a hybrid model in a mode, and what its constraints say just after t.
class HybridJets {
 public:
  HybridJets(const HybridModel& model, const HybridStructure& structure, Faces& faces,
           ValueSearch& search, ModeBounds& bounds);

  /// Before the candidates of one state are judged. The sizes of the variables; empty: from the
  /// data and each state that is judged.
  void begin(Vector sizes);

  struct Verdict {
    HybridContinuation continuation{};
    std::vector<int> violated{};  ///< rows; behind them row count + i: binary i leaves [0, 1]
    bool has_jet = false;
  };

  /// Constraints of a mode are judged by the first derivative of orders 0 to 3 that is told from 0:
  /// far from 0 by its sign, near it by ModeBounds; where nothing bounds it (modes of index 2 that are
  /// not affine), by what its terms and those of g within the time scale round by. States are known to
  /// `share`; they are kept but for rounding, by which they return to the constraints of the mode.
  Verdict judge(double t, const ModeCandidate& candidate, double share);

 private:
  bool find_surfaces(const std::vector<int>& z, std::vector<int>& released, std::vector<int>& surfaces);
  Jet jet_of(ConsistentJets& jets, double t, const ModeCandidate& candidate) const;
  void read_start(const Jet& jet, HybridContinuation& result) const;
  ConsistentJets& jets_for(const std::vector<int>& surfaces, double t, const Vector& x);
  [[nodiscard]] bool keeps_states(const Vector& given, const Jet& jet,
                                  const ConsistentJets& jets) const;
  bool looks_at_surfaces(const ModeCandidate& candidate, const Jet& jet, double share);
  int constraint_sign(const Jet& jet, int l, int k, double time, double share);
  int read_derivatives(const Jet& jet, int l, double time, double share, ConstraintJet& row);
  ConstraintJet form_of(int l, const std::vector<int>& z, const std::vector<int>& released);
  void read_constraints(const ModeCandidate& candidate, const Jet& jet, double time, double share,
                        Verdict& verdict);
  int released_sign(int i, int end, int k, double distance, double share);
  int first_sign(const Jet& jet, int i, int end, double time, double share);
  void read_released(const ModeCandidate& candidate, const Jet& jet, const ConsistentJets& jets,
                     double share, Verdict& verdict);

  const HybridModel& model_;
  const HybridStructure& structure_;
  Faces& faces_;
  ValueSearch& search_;
  ModeBounds& bounds_;
  /// The equations with the surfaces of some binaries.
  struct Surfaces {
    explicit Surfaces(Dcs given);
    Dcs system;
    ConsistentJets jets;
    DcsEvaluator evaluator;
    std::vector<std::pair<Vector, JetScales>> scales{};  // at the points judged so far
  };
  const JetScales& scales_at(Surfaces& surfaces, double t, const Vector& x) const;
  std::map<std::vector<int>, std::unique_ptr<Surfaces>> surfaces_;  // of all binaries
  Vector sizes_;
};

}  // namespace perp
