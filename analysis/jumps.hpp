#pragma once

#include <string>

#include <perp/models/language/model.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>

namespace perp {

/// The jumps of any model, and how sure the list is.
struct ModelJumps {
  ConsistentJumps jumps;   ///< with the states behind them
  std::string proof{};      ///< words for people; empty where the search was ended
  bool is_proved = false;  ///< there is no other jump
};

/// All jumps from x at t after which a continuous solution starts. A model that is affine is
/// enumerated; of another the modes are tried by Newton's method, all variables are one block, a
/// continuum of jumps in one mode is not listed then, and `max_nodes` bounds the modes. Throws
/// InvalidInput for models with resets, whose jumps are given, and
/// where a contact with a restitution closes, whose jump is that of Newton's law.
ModelJumps jumps_of(const Model& model, const Vector& x, double t, const JumpOptions& options);

}  // namespace perp
