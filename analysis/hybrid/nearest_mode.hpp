#pragma once

#include <vector>

#include <perp/analysis/hybrid/hybrid_continuation.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/models/language/hybrid/faces.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// The least set of sub-problems, increasing, that holds the violated rows, every sub-problem that
/// needs a called one, and every sub-problem with a constraint that is on its surface (g_l = 0, not
/// void) whose derivative needs an unknown of a called one. `violated` and `on_surface`: rows;
/// behind the rows row count + i stands for binary i.
std::vector<int> called_sub_problems(const HybridModel& model, const HybridStructure& structure,
                                     const std::vector<int>& violated,
                                     const std::vector<int>& on_surface);

/// Places of the rate norms that the bounds of their errors do not show to be larger than the least
/// one, increasing; not empty where `norms` is not.
std::vector<std::size_t> least_rate_norms(const std::vector<RunningError>& norms);

/// Puts the continuations in the order of the rule nearest_mode, best first:
///     fewest changes outside of the called sub-problems, inside, fewest released binaries, nearest
///     root of the equations, smallest rate norm, and of equal ones the one that changes the binary declared first.
/// Says which of them decided. `previous`: of each binary; empty where it is not known, then
/// changes do not count, NaN of binaries of which none is known. Rate norms are equal where neither
/// rational numbers nor the bounds of their errors tell them apart.
void order_continuations(const std::vector<double>& previous, bool previous_continues,
                         HybridContinuations& continuations);

}  // namespace perp
