#pragma once

#include <perp/tests/relations/models/random_model.hpp>

namespace perp::relations {

/// The model of a seed: 1 to 6 states with laws, resets, algebraic variables; the same for ever for
/// one seed of one version of the generator.
RandomModel random_model(unsigned seed);

/// The same of another kind: binaries in constraints of one and of several, void ones, bounds, inputs.
RandomModel random_hybrid_model(unsigned seed);

/// A small model to stand beside another one: a relay, a bouncing ball or an oscillator.
RandomModel companion(unsigned seed);

/// The same beside a model with binaries: a room with a thermostat, a tank, or an oscillator.
RandomModel hybrid_companion(unsigned seed);

}  // namespace perp::relations
