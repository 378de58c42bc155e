#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <perp/analysis/hybrid/hybrid_continuation.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// How well the states of a run are known at its events, as a share of their sizes: events lie where a constraint is 0
/// as far as the steps of the scheme tell.
inline constexpr double share_of_computed = 1e-11;

/// What a search over the modes of a hybrid model may take, and what counts as 0 in it.
struct HybridModeOptions {
  /// How far states may be from the exact ones, as a share of themselves and their sizes; 0: they are the numbers that
  /// are given. Signs are decided by bounds of all errors that follow from it; a derivative that these leave open is 0
  /// as far as is known. Of exact states rational numbers decide, where they can.
  double share = 0;
  /// The sizes of the variables, also of those that are 0 but for rounding; empty: states are known to that share of
  /// themselves alone.
  Vector sizes{};
  /// A previous value that continues is the only one looked for; else values that change outside of
  /// the called sub-problems only where no other continues. The choice is the same.
  bool nearest_alone = false;
  long most_nodes = 1L << 20;   ///< values of sub-problems
  long most_candidates = 4096;  ///< values of all binaries whose derivatives are computed
  long most_excluded = 64;      ///< that are kept
  int most_outside =
      2;  ///< changes outside of called sub-problems, where a complete search is too long
  std::function<bool()> stop{};  ///< true ends the search
};

/// Determines the modes of a hybrid model in which a solution continues from a state: all of them,
/// binary and sliding, by Taylor series up to third order, and the one that the rule nearest_mode
/// takes. One object serves one thread.
class HybridModes {
 public:
  explicit HybridModes(HybridModel model);
  ~HybridModes();
  HybridModes(HybridModes&&) noexcept;
  HybridModes& operator=(HybridModes&&) noexcept;

  [[nodiscard]] const HybridModel& model() const;
  [[nodiscard]] const HybridStructure& structure() const;

  /// Do all equations keep the states, whatever the binaries? Each ẋ and y is given by an equation of
  /// its own with a slope that is a number: they are finite, and no state jumps.
  [[nodiscard]] bool keeps_states() const;

  /// `x` (n): the states, and a guess of the algebraic variables. `previous`: of each binary the
  /// value before, between 0 and 1 of one that slides, NaN of one of which none is known; empty: of
  /// all. Known ones are kept where some continuation keeps them; between values of the others the
  /// smallest rate norm decides. Throws InvalidInput for sizes and values that are none.
  HybridContinuations continuations(double t, const Vector& x, const std::vector<double>& previous,
                                    const HybridModeOptions& options = {});

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace perp
