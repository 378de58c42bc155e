#pragma once

#include <string>
#include <vector>

#include <perp/analysis/sweep/sweep.hpp>
#include <perp/io/json.hpp>

namespace perp::io {

/// What the files of a sweep hold.
struct SweepTable {
  std::vector<std::string> names;      ///< of what is varied
  bool has_directions = false;         ///< two runs of each point, up and down
  std::vector<std::string> measures;   ///< names
  bool has_section = false;
  bool has_kept = false;               ///< states of each run
  std::vector<std::string> variables;  ///< of the states of the section and of those that are kept
  std::vector<long> shape;             ///< of all runs: axes, then draws, then directions
  Json provenance;
  std::vector<SweepRun> runs;          ///< those that were made, in order
};

/// What the columns of a section's rows are called: a start that is varied is x(0) beside the variable x, the number of the
/// point is k, or k_ beside a column k, and a variable that is called as a column of every section has a _ too.
struct SectionNames {
  std::vector<std::string> varied{}, variables{};
  std::string counter{};
};
SectionNames section_names(const SweepTable& table);

/// The table of a sweep without its runs; `set`: the overrides of all runs; `has_kept`: with the states that the sweep keeps.
SweepTable sweep_head(const SweepRequest& request, const Model& model, const std::vector<std::string>& set,
                      bool has_kept = false);

/// The same with the runs that were made.
SweepTable with_runs(SweepTable head, const SweepResult& result);

}  // namespace perp::io
