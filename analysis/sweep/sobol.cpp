#include <array>
#include <bit>

#include <perp/analysis/sweep/sobol.hpp>

namespace perp {
namespace {

constexpr int bits = 32;
constexpr int most_numbers = 7;

/// A primitive polynomial over the integers modulo 2, its coefficients as bits, and the first
/// numbers m_1, m_2, ... of its recurrence, which are odd and m_i < 2^i.
struct Start {
  std::uint32_t polynomial;
  std::array<std::uint8_t, most_numbers> m;
};

/// Joe and Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci.
/// Comput. 30 (2008): coordinates from the second one on.
constexpr std::array<Start, sobol_dimensions - 1> starts{{{3, {1}},
                                                          {7, {1, 3}},
                                                          {11, {1, 3, 1}},
                                                          {13, {1, 1, 1}},
                                                          {19, {1, 1, 3, 3}},
                                                          {25, {1, 3, 5, 13}},
                                                          {37, {1, 1, 5, 5, 17}},
                                                          {41, {1, 1, 5, 5, 5}},
                                                          {47, {1, 1, 7, 11, 19}},
                                                          {55, {1, 1, 5, 1, 1}},
                                                          {59, {1, 1, 1, 3, 11}},
                                                          {61, {1, 3, 5, 5, 31}},
                                                          {67, {1, 3, 3, 9, 7, 49}},
                                                          {91, {1, 1, 1, 15, 21, 21}},
                                                          {97, {1, 3, 1, 13, 27, 49}},
                                                          {103, {1, 1, 1, 15, 7, 5}},
                                                          {109, {1, 3, 1, 15, 13, 25}},
                                                          {115, {1, 1, 5, 5, 19, 61}},
                                                          {131, {1, 3, 7, 11, 23, 15, 103}},
                                                          {137, {1, 3, 7, 13, 13, 15, 69}},
                                                          {143, {1, 1, 3, 13, 7, 35, 63}},
                                                          {145, {1, 3, 5, 9, 1, 25, 53}},
                                                          {157, {1, 3, 1, 13, 9, 35, 107}},
                                                          {167, {1, 3, 1, 5, 27, 61, 31}},
                                                          {171, {1, 1, 5, 11, 19, 41, 61}},
                                                          {185, {1, 3, 5, 3, 3, 13, 69}},
                                                          {191, {1, 1, 7, 13, 1, 19, 1}},
                                                          {193, {1, 3, 7, 5, 13, 19, 59}},
                                                          {203, {1, 1, 3, 9, 25, 29, 41}},
                                                          {211, {1, 3, 5, 13, 23, 1, 55}},
                                                          {213, {1, 3, 7, 3, 13, 59, 17}}}};

using Directions = std::array<std::uint32_t, bits>;

/// v_1, v_2, ... times 2^32: v_i = m_i/2^i, from i = s + 1 on by the polynomial x^s + a_1 x^(s-1) +
/// ... + 1: v_i = a_1 v_(i-1) ^ ... ^ a_(s-1) v_(i-s+1) ^ v_(i-s) ^ v_(i-s)/2^s.
constexpr Directions directions_of(const Start& start) {
  Directions v{};
  const int degree = std::bit_width(start.polynomial) - 1;
  for (int i = 0; i < bits; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i < degree) {
      v[at] = std::uint32_t{start.m[at]} << (bits - 1 - i);
      continue;
    }
    v[at] = v[at - static_cast<std::size_t>(degree)] >> degree;
    for (int k = 1; k <= degree; ++k)
      if ((start.polynomial >> (degree - k) & 1U) != 0)
        v[at] ^= v[at - static_cast<std::size_t>(k)];
  }
  return v;
}

/// The first coordinate is van der Corput's: the bits of the index in reverse.
constexpr std::array<Directions, sobol_dimensions> all_directions() {
  std::array<Directions, sobol_dimensions> all{};
  for (int i = 0; i < bits; ++i)
    all[0][static_cast<std::size_t>(i)] = std::uint32_t{1} << (bits - 1 - i);
  for (std::size_t k = 0; k < starts.size(); ++k) all[k + 1] = directions_of(starts[k]);
  return all;
}

constexpr std::array<Directions, sobol_dimensions> directions = all_directions();

}  // namespace

std::uint32_t sobol(std::size_t dimension, std::uint32_t index) {
  const Directions& v = directions.at(dimension);
  std::uint32_t x = 0;
  for (std::size_t i = 0; index != 0; ++i, index >>= 1U)
    if ((index & 1U) != 0) x ^= v[i];
  return x;
}

}  // namespace perp
