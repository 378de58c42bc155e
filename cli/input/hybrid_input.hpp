#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/cli/input/model_options.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp::cli {

/// The hybrid model of MODEL with the overrides of the options and start values "x1=1,x2=0" of
/// `at`; nothing where the file holds no binaries and constraints. Throws ModelError, InvalidInput,
/// FileError.
std::optional<HybridModel> read_hybrid(const ModelOptions& options, const std::string& at = {});

/// The value of each binary before: of `text`, "z1=1,z2=0.5", else its start. Empty where none has
/// one. Throws InvalidInput for names and numbers that are none, and where some binaries have a
/// value and others have not.
std::vector<double> previous_values(const HybridModel& model, const std::string& text);

}  // namespace perp::cli
