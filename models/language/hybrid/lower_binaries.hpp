#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/hybrid/hybrid_parts.hpp>

namespace perp {

/// A hybrid model with laws in place of binaries and constraints, or why it has none.
struct LoweredBinaries {
  Dcs system{};          ///< multiplier i is binary i; behind them constraints without binaries
  std::string reason{};  ///< empty: it is exact
  int constraint = -1;   ///< that the reason is about, -1: a binary
  int binary = -1;       ///< that it is about, -1: none
};

/// Laws in place of binaries, where that is exact: each binary stands in one constraint, which
/// holds no other binary. A constraint without binaries is the law `constraint`. With the faces a = g|z=0 and b = g|z=1
///     b = −κ a, κ > 0      step, w = a
///     a + b/κ = c < 0      hysteresis(−1, 0), w = a / |c|: z = 0 until a reaches 0, then 1 until a
///                          falls to c
///     a + b/κ = c > 0      gap(0, 1), w = a / c
///     a = 0 or b = 0       one value is always allowed, the other one while w <= 0; with memory
/// with c and κ functions of the parameters alone; what holds for their present numbers only is no
/// law. Ends of bands stay functions of the parameters.
LoweredBinaries lower_binaries(const HybridModel& model);

/// Does a run by this scheme keep the binaries of a model of its size, laws or not?
bool keeps_binaries(const HybridModel& model, const std::string& scheme);

/// Why its start is asked of the binaries and not of laws in their place: what lower_binaries says, or that it is a large
/// model, whose runs by its scheme keep them. Empty: laws are asked.
std::string reason_for_binaries(const HybridModel& model);

/// A binary, one with a declared value first, with a law without memory that starts where the law allows both values;
/// -1: none. Which one was before the start, and which is taken of several that go on, is the rule of the binaries, and
/// no law knows.
int binary_on_surface(const HybridModel& model, const LoweredBinaries& lowered);

/// The laws that stand for the binaries of a part where it would be run alone by them, with this scheme.
std::optional<LoweredBinaries> laws_alone(const HybridPart& part, const std::string& scheme);

}  // namespace perp
