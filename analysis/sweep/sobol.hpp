#pragma once

#include <cstddef>
#include <cstdint>

namespace perp {

/// How many coordinates `sobol` has.
constexpr std::size_t sobol_dimensions = 32;

/// Coordinate `dimension` (from 0) of point `index` of the Sobol sequence, times 2^32, with the direction numbers of Joe and
/// Kuo (2008): of 2^m points from a multiple of 2^m on, each of 2^m equal parts of (0, 1) holds one.
std::uint32_t sobol(std::size_t dimension, std::uint32_t index);

}  // namespace perp
