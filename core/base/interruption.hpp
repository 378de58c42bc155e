#pragma once

namespace perp {

/// Thrown out of a long computation by `check_interruption`. A run ends with Status::interrupted
/// instead and keeps what it has.
class Interrupted {};

/// From now on every computation of the process ends at the next moment at which its method can
/// stop. May be called by a signal handler.
void request_interruption() noexcept;

/// Was that asked for?
bool interruption_requested() noexcept;

/// What stands in every loop that may take long. Throws Interrupted if that was asked for.
inline void check_interruption() {
  if (interruption_requested()) throw Interrupted();
}

}  // namespace perp
