#pragma once

#include <optional>

#include <perp/core/tape/tape.hpp>
#include <perp/core/law.hpp>

namespace perp {

/// λ of a law as a formula of w, whose line on the tape is given: the line of the result. None where λ is not one number
/// for all w but single ones, at which the formula has the middle of a jump: at ends, with memory, where branches overlap.
std::optional<int> append_multiplier(const Law& law, int w, Tape& tape);

/// Does λ jump where w passes `end`: is there a vertical branch, or do branches hold this w that do not meet? With memory
/// one goes on where the other ends.
bool law_jumps_at(const Law& law, double end);

}  // namespace perp
