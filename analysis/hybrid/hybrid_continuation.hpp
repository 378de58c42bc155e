#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/base/status.hpp>
#include <perp/core/base/types.hpp>
#include <perp/models/language/hybrid/constraint_system.hpp>

namespace perp {

/// What a constraint does just after t in a mode.
struct ConstraintJet {
  bool is_void = false;  ///< g vanishes identically in this mode
  bool is_held = false;  ///< a multiple of a surface on which a released binary slides
  /// dᵏg/dtᵏ, k = 0, 1, .. up to the first that is not 0, or the last that was looked at.
  std::vector<double> derivatives{};
};

/// A way in which a solution of a hybrid model goes on from (t, x).
struct HybridContinuation {
  std::vector<double> z;      ///< of a released binary its value in [0, 1]
  std::vector<int> released;  ///< binaries that slide, increasing
  std::vector<int> surfaces;  ///< of each binary, see HybridMode
  /// Every constraint that is not void or held is shown to be negative just after t; else derivatives of order 0
  /// to 3 of one are 0, or cannot be told from it.
  bool is_strict = true;
  Vector x;               ///< the given states to rounding, and the algebraic variables of this mode
  Vector rates;           ///< ẋ of the states, NaN of algebraic variables
  std::vector<ConstraintJet> constraints{};
  int outside = 0,
      inside = 0;        ///< binaries that change outside and inside of the called sub-problems
  /// How many solutions of the same equations in this mode are nearer to the algebraic variables
  /// before: where unknowns of a sub-problem multiply each other.
  int root = 0;
  double rate_norm = 0;  ///< Σ (ẋ_j / nominal_j)² over the states
  double rate_norm_error = 0;  ///< how far it may be from the exact one
  std::optional<Rational> exact_rate_norm{};  ///< where rational numbers give it
};

/// How a binary stands in a list of values, besides 0, 1 and released_binary.
inline constexpr int any_binary = -1;

/// Values of binaries that do not continue.
struct Exclusion {
  std::vector<int> z;
  std::vector<int>
      rows;           ///< that exclude it: violated constraints, or equations without a solution
  std::string why{};     ///< "is positive", "has no solution", ...
  bool is_shown = true;  ///< by bounds of all errors; else as far as the derivatives were computed
};

/// Which values of the binaries continue at (t, x).
struct HybridContinuations {
  /// solved: there is one, and `chosen` is the rule's; no_solution: it is shown that none of all
  /// continues; not_solved: none was found; not_enumerated: the search ended before it was complete.
  Status status = Status::never_run;
  std::vector<HybridContinuation> list{};  ///< best first
  bool is_complete = true;  ///< every continuation of the kind that was looked for is in the list
  /// How many continue, where all were counted: the list may hold the best ones alone.
  std::optional<long> count{};
  /// How many of these change no binary outside of the called sub-problems, where these were counted.
  std::optional<long> count_inside{};
  std::optional<int> chosen{};  ///< of the list
  std::string decided_by{};
  /// Rows that the previous value violates (equations first, then constraints; behind them "binary
  /// i leaves [0, 1]").
  std::vector<int> violated{};
  std::vector<int> called{};          ///< sub-problems that the event calls, increasing
  std::vector<Exclusion> excluded{};  ///< as far as they are kept
  long excluded_count = 0;
  std::vector<std::string> notes{};  ///< what the list does not show

  /// How many continue, where it is known; else those that change called binaries alone, where that is.
  [[nodiscard]] std::optional<long> known_count() const {
    if (count) return count;
    return is_complete ? std::optional(static_cast<long>(list.size())) : count_inside;
  }
};

}  // namespace perp
