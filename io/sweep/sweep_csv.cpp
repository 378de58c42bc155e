#include <fmt/format.h>
#include <filesystem>
#include <fstream>

#include <perp/io/files/input_text.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/sweep/sweep_csv.hpp>

namespace perp::io {
namespace {

using Out = std::back_insert_iterator<fmt::memory_buffer>;

void write_names(Out to, const SweepTable& table, const std::vector<std::string>& names) {
  fmt::format_to(to, "run");
  for (const std::string& name : names) fmt::format_to(to, ",{}", quoted(name));
  if (table.has_directions) fmt::format_to(to, ",direction");
}

void write_point(Out to, const SweepTable& table, const SweepRun& run) {
  fmt::format_to(to, "{}", run.point + 1);
  for (const double value : run.values) fmt::format_to(to, ",{}", value);
  if (table.has_directions) fmt::format_to(to, ",{}", run.is_down ? "down" : "up");
}

void write_runs(const std::string& file, const SweepTable& table) {
  OutputFile out(file);
  const Out to = std::back_inserter(out.buffer());
  write_names(to, table, table.names);
  fmt::format_to(to, ",status,t_end");
  for (const std::string& measure : table.measures) fmt::format_to(to, ",{}", measure);
  fmt::format_to(to, "\n");
  for (const SweepRun& run : table.runs) {
    write_point(to, table, run);
    fmt::format_to(to, ",{},{}", to_string(run.status), run.t_end);
    for (const MeasureResult& measure : run.measures)
      measure.value ? fmt::format_to(to, ",{}", *measure.value) : fmt::format_to(to, ",");
    fmt::format_to(to, "\n");
    out.end_record();
  }
  out.close();
}

/// States of all runs, a row for each: with their number in the section, or the kept ones.
void write_states(const std::string& file, const SweepTable& table, std::vector<SectionPoint> SweepRun::* states) {
  OutputFile out(file);
  const Out to = std::back_inserter(out.buffer());
  const SectionNames names = section_names(table);
  const bool has_number = states == &SweepRun::section;
  write_names(to, table, names.varied);
  if (has_number) fmt::format_to(to, ",{}", names.counter);
  fmt::format_to(to, ",t");
  for (const std::string& name : names.variables) fmt::format_to(to, ",{}", quoted(name));
  fmt::format_to(to, "\n");
  for (const SweepRun& run : table.runs) {
    long number = 0;
    for (const SectionPoint& state : run.*states) {
      write_point(to, table, run);
      if (has_number) fmt::format_to(to, ",{}", ++number);
      fmt::format_to(to, ",{}", state.t);
      for (const double value : state.x) fmt::format_to(to, ",{}", value);
      fmt::format_to(to, "\n");
      out.end_record();
    }
  }
  out.close();
}

/// FILE.name.csv beside FILE.csv.
std::string beside(const std::string& file, const char* name) {
  return fmt::format("{}.{}.csv", file.ends_with(".csv") ? file.substr(0, file.size() - 4) : file, name);
}

}  // namespace

bool is_whole_table(const std::string& file, const SweepTable& head) {
  std::error_code error;
  if (!std::filesystem::exists(file + ".json", error)) return false;
  if (read_file(file + ".json") != head.provenance.dump(1) + "\n") return false;
  std::ifstream rows(file);
  long left = 1;
  for (const long count : head.shape) left *= count;
  std::string line;
  std::getline(rows, line);
  while (std::getline(rows, line)) {
    if (line.find(fmt::format(",{},", to_string(Status::solved))) == std::string::npos) return false;
    --left;
  }
  return left == 0;
}

std::string section_file(const std::string& file) { return beside(file, "section"); }

std::string trajectories_file(const std::string& file) { return beside(file, "trajectories"); }

std::vector<std::string> write_sweep_csv(const std::string& file, const SweepTable& table) {
  write_runs(file, table);
  if (file == "-") return {};
  std::vector<std::string> files{file};
  if (table.has_section) {
    files.push_back(section_file(file));
    write_states(files.back(), table, &SweepRun::section);
  }
  if (table.has_kept) {
    files.push_back(trajectories_file(file));
    write_states(files.back(), table, &SweepRun::kept);
  }
  files.push_back(file + ".json");
  write_file(files.back(), table.provenance.dump(1) + "\n");
  return files;
}

}  // namespace perp::io
