#pragma once

#include <map>
#include <memory>
#include <vector>

#include <perp/analysis/hybrid/value_search.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

namespace perp {

/// Taylor series of a hybrid model in a mode, and what its constraints say just after t.
class ModeJets {
 public:
  ModeJets(const HybridModel& model, const HybridStructure& structure, Faces& faces,
           ValueSearch& search);

  /// The sizes of the variables; empty: from the data and each state that is judged.
  void set_sizes(Vector sizes) { sizes_ = std::move(sizes); }

  struct Verdict {
    HybridContinuation continuation{};
    std::vector<int> violated{};  ///< rows; behind them row count + i: binary i leaves [0, 1]
    bool has_jet = false;
  };

  /// Constraints of a mode are judged by the first derivative of orders 0 to 3 that is not 0:
  /// |g⁽ᵏ⁾| > `share` of the sizes of its terms and of those of g within the time scale: a rate that
  /// cancels is known no better. The states of the candidate are kept but for
  /// rounding, by which they return to the constraints of the mode.
  Verdict judge(double t, const ModeCandidate& candidate, double share);

 private:
  ConsistentJets& jets_for(const std::vector<int>& surfaces, double t, const Vector& x);
  [[nodiscard]] bool keeps_states(const Vector& given, const Jet& jet,
                                  const ConsistentJets& jets) const;
  void read_constraints(const ModeCandidate& candidate, const Jet& jet, double time, double share,
                        Verdict& verdict);
  void read_released(const ModeCandidate& candidate, const Jet& jet, const ConsistentJets& jets,
                     double share, Verdict& verdict);

  const HybridModel& model_;
  const HybridStructure& structure_;
  Faces& faces_;
  ValueSearch& search_;
  std::map<std::vector<int>, std::unique_ptr<ConsistentJets>>
      jets_;  // by the surfaces of all binaries
  std::map<std::vector<int>, Dcs> systems_;
  Vector sizes_;
};

}  // namespace perp
