#pragma once

#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/core/dcs.hpp>

namespace perp {

/// A jump of the states of a hybrid model into a mode that goes on from there.
struct HybridJump {
  HybridContinuation continuation;
  double size = 0;  ///< ‖∂F/∂ẋ (x⁺ − x⁻)‖
};

struct HybridJumps {
  std::vector<HybridJump> found{};  ///< the smallest first
  bool is_complete = true;          ///< false: not every value of the binaries was looked at
};

/// Jumps from (t, x) by impulses of the algebraic variables, for every value of the binaries: the
/// limit h → 0 of an implicit Euler step in that mode (see find_jumps), after which the same value
/// continues. `system`: constraint_system of the model. Found by Newton's method.
HybridJumps hybrid_jumps(HybridModes& modes, const Dcs& system, double t, const Vector& x,
                         const HybridModeOptions& options);

}  // namespace perp
