#include <fmt/format.h>
#include <algorithm>
#include <map>

#include <perp/io/sweep/sweep_text.hpp>

namespace perp::io {
namespace {

/// How to make a run again that ended early. A start of the variable x is set as x.
std::string example_of(const SweepTable& table, const SweepRun& run) {
  std::string text = fmt::format(", first run {}: perp run {}", run.point + 1, table.provenance["model"]["file"].text());
  for (const Json& set : table.provenance["options"]["set"].list()) text += " --set " + set.text();
  for (std::size_t k = 0; k < table.names.size(); ++k) {
    const std::string& name = table.names[k];
    text += fmt::format(" --set {}={}", name.ends_with("(0)") ? name.substr(0, name.size() - 3) : name, run.values[k]);
  }
  return text + fmt::format("  # {}", run.message);
}

/// The range of a measure over the runs, and how many have none.
std::string measure_text(const SweepTable& table, std::size_t k) {
  double least = inf, most = -inf;
  long missing = 0;
  std::string reason;
  for (const SweepRun& run : table.runs) {
    const MeasureResult& measure = run.measures[k];
    if (!measure.value && missing++ == 0) reason = measure.reason;
    least = std::min(least, measure.value.value_or(inf));
    most = std::max(most, measure.value.value_or(-inf));
  }
  std::string text = fmt::format("measured {}", table.measures[k]);
  if (least <= most) text += fmt::format(" in [{:.10g}, {:.10g}]", least, most);
  if (missing > 0) text += fmt::format("; {} runs have no value: {}", missing, reason);
  return text + "\n";
}

}  // namespace

std::string sweep_text(const SweepTable& table) {
  std::map<std::string, std::vector<const SweepRun*>> groups;
  for (const SweepRun& run : table.runs) groups[to_string(run.status)].push_back(&run);
  long all = 1;
  for (const long count : table.shape) all *= count;
  const Json& model = table.provenance["model"];
  std::string text = fmt::format("model    {} ({})\nruns     {} of {}\n", model["name"].text(), model["file"].text(),
                                 table.runs.size(), all);
  for (const auto& [status, runs] : groups) {
    text += fmt::format("         {} {}", runs.size(), status);
    if (runs.front()->status != Status::solved) text += example_of(table, *runs.front());
    text += "\n";
  }
  for (std::size_t k = 0; k < table.measures.size(); ++k) text += measure_text(table, k);
  return text;
}

}  // namespace perp::io
