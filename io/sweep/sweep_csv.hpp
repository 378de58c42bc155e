#pragma once

#include <string>
#include <vector>

#include <perp/analysis/sweep/sweep.hpp>
#include <perp/io/json.hpp>

namespace perp::io {

/// FILE.csv: run,<what is varied>,[direction,]status,t_end,<measures>, a row for each run; a measure without a
/// value is an empty field. FILE.section.csv: run,<what is varied>,[direction,]k,t,<variables>. FILE.csv.json:
/// the provenance. Returns the files written. Throws FileError.
std::vector<std::string> write_sweep(const std::string& file, const SweepRequest& request, const Model& model,
                                     const SweepResult& result, const Json& provenance);

/// "out.section.csv" of "out.csv".
std::string section_file(const std::string& file);

/// What made a sweep.
Json sweep_provenance(const SweepRequest& request, const Model& model, const std::vector<std::string>& set);

/// What a sweep says to people.
std::string sweep_text(const SweepRequest& request, const Model& model, const SweepResult& result);

}  // namespace perp::io
