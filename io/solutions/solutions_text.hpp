#pragma once

#include <string>

#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/io/json.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// Both classes of a step, with what proves them or how far the search got.
std::string describe_class(const ListedSolutions& solutions);

/// A table of the solutions, the chosen one marked with '*'; `indent` begins every line.
std::string table_of(const ListedSolutions& solutions, const Model& model,
                     const std::string& indent = {});

Json to_json(const ListedSolutions& solutions, const Model& model);

}  // namespace perp::io
