#pragma once

#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp {

/// How a binary stands in a mode, besides 0 and 1: it slides, its value is between them.
inline constexpr int released_binary = 2;

/// The model with laws for its rows: multiplier i is binary i with the branches λ = 0 | λ = 1 |
/// λ in [0, 1] (which surface holds the last one depends on the other binaries: its w is 0 here);
/// multiplier q + l stands for constraint l, w = g_l <= 0. Parameters stay inputs.
Dcs constraint_system(const HybridModel& model);

/// The model's tape without known inputs and with `count` multipliers behind its binaries; `rows`
/// become its equations and constraints.
Tape with_multipliers(const HybridModel& model, int count, std::vector<int>& rows);

/// What a mode of a hybrid model holds.
struct HybridMode {
  std::vector<int> z;         ///< of each binary 0, 1 or released_binary
  std::vector<int> surfaces;  ///< of each released binary the constraint whose face at z_i = 0 is
                              ///< the surface that holds it; -1: not released
  std::vector<char> is_idle;  ///< constraints that are void or held in this mode
};

/// One mode of it as a system of its own: binaries are numbers in F and G, or, released, λ in [0,
/// 1] with w = 0 on their surface. Laws, multipliers and parameters are those of `system`, each law
/// with the branch of this mode alone. `watches`: constraints and the ends of [0, 1] are only evaluated,
/// not kept.
Dcs mode_system(const HybridModel& model, const Dcs& system, const HybridMode& mode, bool watches);

}  // namespace perp
