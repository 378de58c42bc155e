#pragma once

#include <string>

#include <perp/tests/relations/grids/large_model.hpp>

namespace perp::relations {

/// How a large model is written.
enum class Form {
  equations,  ///< 0 <= w perp r >= 0
  box,        ///< r in box(w, 0, inf)
  cone,       ///< r in normal_cone(-(w), 0, inf)
  maximum,    ///< r = max(r - w, 0), r a variable
  minimum,    ///< 0 = min(r, w), r a variable
  operators,  ///< force*sign(w) in place; complementarities as equations
  entries,    ///< [system] by entries
  files,      ///< [system] by Matrix Market files in a folder
  branches    ///< [system] by entries, laws of one's own; two bounds of one variable are one law
};
inline constexpr int forms = 9;
const char* to_string(Form form);

/// The model as text; the variables come first, in their order. `folder`: for files.
std::string text(const LargeModel& model, Form form, const std::string& folder = {});

/// The model as families with indices.
std::string families_text(const GridModel& grid);

}  // namespace perp::relations
