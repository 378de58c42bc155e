#pragma once

#include <string>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/io/json.hpp>
#include <perp/schemes/continuation/step_path.hpp>

namespace perp::io {

/// The path in words: "[mode 1] up to h = 0.75, where the solutions fold back: a jump of 4.47 to
/// [mode 2]".
std::string describe(const StepPath& path, const Mode& present, const std::vector<Law>& laws);
Json to_json(const StepPath& path, const Mode& present, const std::vector<Law>& laws);

}  // namespace perp::io
