#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace perp::linear {

inline constexpr int no_exponent = std::numeric_limits<int>::min();  ///< of a zero
inline constexpr int most_exponent = 1000;                           ///< of a scale, which has to be a double

/// Of the largest power of two below |value|; `no_exponent` of 0 and what is below the normal numbers.
inline int exponent_of(double value) {
  const auto field = static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52U) & 0x7ffU);
  return field == 0 ? no_exponent : field - 1023;
}

inline double power_of_two(int exponent) {
  const int bounded = std::clamp(exponent, -most_exponent, most_exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(bounded + 1023) << 52U);
}

}  // namespace perp::linear
