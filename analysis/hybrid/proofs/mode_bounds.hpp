#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <perp/analysis/hybrid/proofs/mode_series.hpp>
#include <perp/analysis/hybrid/value_search.hpp>
#include <perp/core/base/rational.hpp>

namespace perp {

/// What is certain of a mode just after t: signs of the derivatives of its constraints, decided by
/// numbers with bounds of all their errors, and of exact states that these leave open by rational
/// numbers. The one decision about zeros of the rule nearest_mode and of its words.
class ModeBounds {
 public:
  ModeBounds(const HybridModel& model, const HybridStructure& structure, Faces& faces,
             ValueSearch& search);
  ~ModeBounds();

  /// The mode that is asked about from now on, at states that are known to `share` (0: exact).
  void look_at(double t, const Vector& x, double share, const ModeCandidate& candidate);

  /// 1, -1: certainly the sign of coefficient k of constraint l, of -z_i (end 0), z_i - 1 (end 1);
  /// 0: it is 0, or as far as is known. None: nothing bounds it.
  ///@{
  std::optional<int> constraint(int l, int k);
  std::optional<int> beyond_end(int binary, int end, int k);
  ///@}
  /// Do the equations, the surfaces of released binaries among them, contradict each other at the
  /// states? None: not known.
  std::optional<bool> contradicts();
  /// Is it shown that the equations leave a sliding binary open? Such a mode is no continuation of its own, and no proof
  /// that there is none.
  bool leaves_binaries_open();
  /// Is it shown that no solution goes on in this mode? Derivatives that are 0 as far as is known are
  /// taken as 0.
  bool is_excluded();

  /// Σ (ẋ_j / nominal_j)² with its error, and without where rational numbers give it; none: not
  /// bounded.
  struct RateNorm {
    RunningError bounded{};
    std::optional<Rational> exact{};
  };
  std::optional<RateNorm> rate_norm();

 private:
  struct Mode {
    Tape tape{};
    std::vector<int> equations{};     ///< lines: those of the model, then surfaces = 0
    std::vector<int> constraints{};   ///< lines of what is neither void nor held
    std::map<int, int> place{};       ///< of a constraint among these
    std::vector<int> released{};
    bool is_mode = false;
    std::optional<bool> is_affine{};     ///< once it is known
    std::optional<ModeBlocks> blocks{};  ///< where that is asked for, else
  };
  template <class Number>
  class Level;
  Mode& mode();
  bool read_mode(Mode& mode);
  void read_constraints(const std::map<int, double>& values, Mode& mode);
  Level<RunningError>* filter();
  Level<Rational>* exact();
  template <class Ask>
  std::optional<int> sign(const Ask& ask);
  template <class Coefficient>
  bool becomes_positive(const Coefficient& coefficient);

  const HybridModel& model_;
  const HybridStructure& structure_;
  Faces& faces_;
  ValueSearch& search_;
  ModeCandidate candidate_;
  std::vector<RunningError> inputs_;
  bool is_exact_ = false;           // the states
  std::map<std::vector<int>, Mode> modes_;  // met, by the branches of all binaries
  long kept_lines_ = 0;                     // of their tapes, where they begin
  Mode* mode_ = nullptr;                    // of the candidate, once it is asked about
  std::unique_ptr<Level<RunningError>> filter_;
  std::unique_ptr<Level<Rational>> exact_;
};

}  // namespace perp
