#pragma once

#include <string>
#include <vector>

#include <perp/io/sweep/sweep_table.hpp>

namespace perp::io {

/// FILE.csv: run,<what is varied>,[direction,]status,t_end,<measures>, a row for each run; a measure without a
/// value is an empty field. FILE.section.csv: run,<what is varied>,[direction,]k,t,<variables>. FILE.trajectories.csv: the
/// same without k, of states that are kept. FILE.csv.json: the provenance. "-" is standard output, for the first alone. Returns the files written. Throws FileError.
std::vector<std::string> write_sweep_csv(const std::string& file, const SweepTable& table);

/// Is FILE.csv the whole table of this sweep, with all its runs solved? The runs of `head` do not count.
bool is_whole_table(const std::string& file, const SweepTable& head);

/// "out.section.csv" of "out.csv".
std::string section_file(const std::string& file);
/// "out.trajectories.csv" of "out.csv".
std::string trajectories_file(const std::string& file);

}  // namespace perp::io
