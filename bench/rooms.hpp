#pragma once

#include <string>

namespace perp::bench {

/// A chain of n rooms with a heater each, whose power falls when the heater of the next room is on:
///     ẋ_i = −0.1 (x_i − 5) + 0.2 Σ (x_j − x_i) + 4 z_i (1 − 0.3 z_{i+1}),
///     (lo_i − x_i)(1 − z_i) + (x_i − hi_i) z_i <= 0,
/// t in [0, 2], as the text of a model file.
std::string rooms(int n);

}  // namespace perp::bench
