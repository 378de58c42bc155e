#pragma once

#include <string>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/base/status.hpp>
#include <perp/core/lcs.hpp>

namespace perp {

/// A mode in which a continuous solution starts after a jump, with its first values.
struct ContinuousStart {
  Mode mode;      ///< m
  Vector x;       ///< n: the algebraic variables without their impulses
  Vector lambda;  ///< m: without their impulses
};

/// A point (or a continuum of points) that the state can jump to, [RAB] section 3.3.
struct ConsistentJump {
  std::vector<ContinuousStart> continuations;  ///< at least one; E x is the same in all of them
  double amplitude = nan;     ///< ‖E (x⁺ − x⁻)‖; of a continuum the least of its ends
  Vector impulse_x;           ///< n: of the algebraic variables, the σ of [RAB] eq. (18)
  Vector impulse_lambda;      ///< m: of the multipliers; NaN where not even the impulse is finite
  bool is_continuum = false;  ///< is it one of infinitely many?
  Matrix vertices{};          ///< n×k, of a continuum: its ends
  Matrix directions{};        ///< n×k, of a continuum: where it has no end

  /// The point, of a continuum one of its ends.
  [[nodiscard]] const Vector& x() const { return continuations.front().x; }
};

/// The jumps of variables that no equation couples to the others.
struct JumpBlock {
  std::vector<int> x;                 ///< indices of its variables, increasing
  std::vector<int> lambda;            ///< indices of its laws, increasing
  std::vector<ConsistentJump> jumps;  ///< of these alone, the smallest first
  bool complete = false;              ///< proved: there is no other
};

/// All of them, in product form: one jump of each block.
struct ConsistentJumps {
  Status status = Status::never_run;    ///< solved | no_solution (proved) | not_enumerated
  std::string message{};                ///< one sentence when not solved
  std::vector<JumpBlock> blocks{};      ///< independent parts
  std::vector<ConsistentJump> jumps{};  ///< the products, the smallest first
  bool all_listed = true;               ///< false: there are more than `JumpOptions::most_listed`
  long nodes = 0;                       ///< of the search

  /// Does a continuous solution start at x⁻, a jump of amplitude 0?
  [[nodiscard]] bool starts_continuously() const {
    return !jumps.empty() && jumps.front().amplitude == 0;
  }
  /// Is a jump of some block one of infinitely many?
  [[nodiscard]] bool has_continuum() const;
  /// Number of products; where there is a continuum, that of its pieces.
  [[nodiscard]] Integer count() const;
};

/// Limits of the search, and the mode before the jump.
struct JumpOptions {
  long max_nodes = 200'000;  ///< nodes of the search over the modes, all blocks together
  long most_listed = 1000;   ///< products of the blocks' jumps
  /// The mode before the jump: laws with memory leave their branch only where no jump stays in it
  /// (as a step does: those jumps count that change the fewest of them). Empty: it is not known,
  /// and every branch counts.
  Mode present{};
};

/// All jumps E (x⁺ − x⁻) = J Σ from the state x at t after which a continuous solution starts, Σ
/// the impulses of the algebraic variables and of the multipliers and J their columns; the laws
/// hold at x⁺. They are the limits h → 0 of the solutions of the implicit Euler step
///     E (x⁺ − x⁻) = h (A x⁺ + B λ⁺ + b(t + h)),   w⁺ = C x⁺ + D λ⁺ + q(t + h),
/// with unknowns of order 1/h as impulses: what is left of the step beside J Σ is a step from the
/// limit itself, which exists for all short h if and only if a continuous solution starts there.
/// All modes are searched in the ordered field of rational functions of √h (see FieldSearch), so
/// that no small step has to be chosen and nothing is rounded; independent blocks (see
/// `independent_blocks`) are searched one by one. Of b and q the values and the slopes at t count,
/// each known to a bound of its rounding: where that could make other modes solvable, or is not
/// known (b or q are no expressions), the block is not complete. Throws InvalidInput (see
/// `validated`; x or the present mode of the wrong size).
ConsistentJumps consistent_jumps(const Lcs& lcs, const Vector& x, double t,
                                 const JumpOptions& options = {});

/// Keeps the continuations that change the fewest laws with memory since the mode `present` (empty:
/// not known), and the jumps that still have one.
void respect_memory(JumpBlock& block, const std::vector<Law>& laws, const Mode& present);

/// Makes the list of products of the blocks' jumps, the `most` smallest ones, of n variables and m
/// laws. Of each product's continuations, and of the ends of its continuum, at most the first 4096.
void list_products(ConsistentJumps& jumps, int n, int m, long most);

}  // namespace perp
