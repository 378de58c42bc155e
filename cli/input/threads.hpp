#pragma once

namespace perp::cli {

/// How many threads an option asks for; 0: as many as the machine has cores. Throws InvalidInput,
/// naming the option.
int threads_from(int wanted, const char* option);

}  // namespace perp::cli
