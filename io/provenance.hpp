#pragma once

#include <string>
#include <vector>

#include <perp/analysis/measures/measures.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/io/json.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// What every result of a model tells: program and version, the model with its hash, parameters and
/// start, the options; `set` are the --set of the command line.
Json provenance(const Model& model, const std::vector<std::string>& set);

/// What made a trajectory: program, model, options, counts, status, events. Numbers that JSON has
/// no word for are the texts "inf", "-inf", "nan". A measure without a value is null, with its reason.
Json provenance(const Model& model, const Trajectory& run, const std::vector<std::string>& set,
                const std::vector<Measure>& measures = {});

}  // namespace perp::io
