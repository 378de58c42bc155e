#pragma once

#include <vector>

#include <perp/core/dcs.hpp>

namespace perp::enclosure {

/// A system of its own within another one: no equation, law or reset holds unknowns of both.
struct SystemPart {
  /// What its k-th variable, law, equation and reset are in the whole, increasing.
  ///@{
  std::vector<int> variables{}, laws{}, equations{}, resets{};
  ///@}
  std::vector<int> parameters{};  ///< those of the whole that it holds; it has all of them
  Dcs system{};
};

/// The connected components of what unknowns equations, laws and resets hold, numbered by their
/// first variable. What has no derivative is with the first variable that has one; components with
/// more or fewer equations than variables are one together. Parameters and time connect nothing.
std::vector<SystemPart> independent_systems(const Dcs& whole);

}  // namespace perp::enclosure
