#pragma once

#include <array>

#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/schemes/lanes/eight.hpp>

namespace perp::eight {

/// Numbers that a step of one of them reads, and bounds of its mode, up to which affine steps are made side by side.
inline constexpr int most_affine_numbers = 4;
inline constexpr int most_affine_margins = 12;

/// What steps of eight runs in modes of affine systems work on: θ⁺_j = Σ_l c_jl θ_l + d_j as long as the margins of the mode are
/// not negative, in every lane by rows of its own. A free lane has rows of zeros.
struct AffineLanes {
  using Row = std::array<Eight, most_affine_numbers + 1>;

  int k = 0, margins = 0;
  std::array<Row, most_affine_margins> margin{};
  std::array<Row, most_affine_numbers> next{};
  std::array<Eight, most_affine_numbers> most_cancelled{};  ///< of rows of θ⁺, see ModeMap
  Eight finite_up_to{};
  std::array<std::array<Eight, most_affine_numbers>, 4> ring{};  ///< the last states: θ of step i at i mod 4
  long step = 0;                                                 ///< of the present state
  Bits taken{};
  std::array<const ModeMap*, width> map{};  ///< of a lane that is taken, for rows whose terms cancel
  std::array<const std::vector<int>*, width> which{};
};

/// Up to `most` steps of all lanes that are taken, until one of them is at a state from which its step is none in its mode: how
/// many were made. `ended`: these lanes.
long run_affine(AffineLanes& lanes, long most, Bits* ended);

}  // namespace perp::eight
