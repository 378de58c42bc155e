#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>

namespace perp {

/// A mode that continues from the start, with the index of its equations.
struct StartMode {
  HybridContinuation continuation{};
  std::optional<int> index{};  ///< of the DAE linearised there; none: its pencil is singular
  std::string fault{};         ///< why nothing is known of the index; else empty
};

/// What a hybrid model does at its start.
struct StartModes {
  HybridContinuations found{};
  std::vector<StartMode> modes{};  ///< the first of found.list
};

/// The continuations from the start of the model, the declared values of its binaries before it,
/// with the index of at most `most` of them.
StartModes start_modes(HybridModes& modes, int most, const HybridModeOptions& options = {});

/// Those that people are shown: at most 16, of more than 12 binaries the nearest to the declared start
/// alone. `stop`: as `HybridModeOptions::stop`.
StartModes shown_start_modes(const HybridModel& model, const std::function<bool()>& stop = {});

/// The row that the declared binaries violate at the start, with its value where that is positive:
/// "g1: (3 - x)*z <= 0, which it exceeds by 2". `found`: the continuations from there.
std::string violated_start(const HybridModel& model, const HybridContinuations& found);

/// "1*s": a letter for each binary, * for any_binary and s for released_binary.
std::string values_text(const std::vector<int>& z);
/// The name of a row of HybridContinuations::violated: of an equation, a constraint, or behind them a binary.
std::string row_word(const HybridModel& model, int row);

}  // namespace perp
