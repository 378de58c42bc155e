#pragma once

namespace perp::cli {

/// From now on SIGINT and SIGTERM end computations where their method can stop, once: a second signal
/// ends the program at once.
void catch_interrupts();

/// Was the program asked to stop?
bool interrupted();

}  // namespace perp::cli
