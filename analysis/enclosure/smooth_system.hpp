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

/// Encloses all solutions with these starts (one interval for each variable) and parameters (one
/// for each of the system; constant in time). Rows hold the variables, then the parameters that are
/// states.
Enclosure enclose(const Dcs& system, const Box& start, const Box& parameters, const Span& span,
                  const EncloseOptions& options = {});

}  // namespace perp::enclosure
