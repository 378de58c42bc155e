#pragma once

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/core/dcs.hpp>

namespace perp::enclosure {

/// A system as x' = f(t, x, p), every equation solved for its one derivative. Parameters that are
/// wider than two neighbouring doubles are states behind the n variables, with rate 0: derivatives
/// by them keep the set narrow. `widened` lists their numbers.
struct SmoothSystem {
  Flow flow{};
  std::vector<int> widened{};
};

/// Throws InvalidInput, by name, where the system has what is not treated yet: laws, resets,
/// equations that hold no derivative or several, or one within a function. What the tape holds is
/// taken as exact.
SmoothSystem smooth_system(const Dcs& system, const Box& parameters);

}  // namespace perp::enclosure
