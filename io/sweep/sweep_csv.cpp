#include <fmt/format.h>
#include <algorithm>
#include <map>

#include <perp/analysis/run/columns.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/provenance.hpp>
#include <perp/io/sweep/sweep_csv.hpp>

namespace perp::io {
namespace {

using Out = std::back_insert_iterator<fmt::memory_buffer>;

void write_names(Out to, const SweepRequest& request, const SweepResult& result) {
  fmt::format_to(to, "run");
  for (const std::string& name : result.names) fmt::format_to(to, ",{}", quoted(name));
  if (request.follow == Follow::both) fmt::format_to(to, ",direction");
}

void write_point(Out to, const SweepRequest& request, const SweepRun& run) {
  fmt::format_to(to, "{}", run.point + 1);
  for (const double value : request.points.values(run.point)) fmt::format_to(to, ",{}", value);
  if (request.follow == Follow::both) fmt::format_to(to, ",{}", run.is_down ? "down" : "up");
}

void write_runs(const std::string& file, const SweepRequest& request, const SweepResult& result) {
  OutputFile out(file);
  const Out to = std::back_inserter(out.buffer());
  write_names(to, request, result);
  fmt::format_to(to, ",status,t_end");
  for (const std::string& measure : result.measures) fmt::format_to(to, ",{}", measure);
  fmt::format_to(to, "\n");
  for (const SweepRun& run : result.runs) {
    if (run.status == Status::never_run) continue;
    write_point(to, request, run);
    fmt::format_to(to, ",{},{}", to_string(run.status), run.t_end);
    for (const MeasureResult& measure : run.measures)
      measure.value ? fmt::format_to(to, ",{}", *measure.value) : fmt::format_to(to, ",");
    fmt::format_to(to, "\n");
    out.end_record();
  }
  out.close();
}

void write_section(const std::string& file, const SweepRequest& request, const Model& model,
                   const SweepResult& result) {
  OutputFile out(file);
  const Out to = std::back_inserter(out.buffer());
  write_names(to, request, result);
  fmt::format_to(to, ",k,t");
  for (const std::string& name : variable_names(model)) fmt::format_to(to, ",{}", quoted(name));
  fmt::format_to(to, "\n");
  for (const SweepRun& run : result.runs)
    for (std::size_t k = 0; k < run.section.size(); ++k) {
      write_point(to, request, run);
      fmt::format_to(to, ",{},{}", k + 1, run.section[k].t);
      for (const double value : run.section[k].x) fmt::format_to(to, ",{}", value);
      fmt::format_to(to, "\n");
      out.end_record();
    }
  out.close();
}

/// How to make a run again that ended early.
std::string example_of(const SweepRequest& request, const Model& model, const SweepRun& run) {
  std::string text = fmt::format(", first run {}: perp run {}", run.point + 1, model.file);
  for (const Override& item : request.points.overrides(run.point))
    text += fmt::format(" --set {}={}", item.key, item.value);
  return text + fmt::format("  # {}", run.message);
}

/// The range of a measure over the runs, and how many have none.
std::string measure_text(const SweepResult& result, std::size_t k) {
  double least = inf, most = -inf;
  long missing = 0;
  std::string reason;
  for (const SweepRun& run : result.runs) {
    if (k >= run.measures.size()) continue;
    const MeasureResult& measure = run.measures[k];
    if (!measure.value && missing++ == 0) reason = measure.reason;
    least = std::min(least, measure.value.value_or(inf));
    most = std::max(most, measure.value.value_or(-inf));
  }
  std::string text = fmt::format("measured {}", result.measures[k]);
  if (least <= most) text += fmt::format(" in [{:.10g}, {:.10g}]", least, most);
  if (missing > 0) text += fmt::format("; {} runs have no value: {}", missing, reason);
  return text + "\n";
}

}  // namespace

std::string section_file(const std::string& file) {
  return file.ends_with(".csv") ? file.substr(0, file.size() - 4) + ".section.csv" : file + ".section.csv";
}

std::vector<std::string> write_sweep(const std::string& file, const SweepRequest& request, const Model& model,
                                     const SweepResult& result, const Json& provenance) {
  write_runs(file, request, result);
  if (file == "-") return {};
  std::vector<std::string> files{file};
  if (!request.section.empty()) {
    files.push_back(section_file(file));
    write_section(files.back(), request, model, result);
  }
  files.push_back(file + ".json");
  write_file(files.back(), provenance.dump(1) + "\n");
  return files;
}

Json sweep_provenance(const SweepRequest& request, const Model& model, const std::vector<std::string>& set) {
  Json json = provenance(model, set);
  const SweepPoints& points = request.points;
  Json axes = Json::array(), draws = Json::array();
  for (const SweepAxis& axis : points.axes) axes.push_back({{"name", axis.name}, {"values", axis.values}});
  for (const SweepDraw& draw : points.draws) draws.push_back({{"name", draw.name}, {"distribution", draw.text}});
  Json sweep{{"axes", axes}, {"zip", points.side_by_side}, {"measures", request.measures}};
  if (!points.draws.empty()) {
    sweep["random"] = draws;
    sweep["runs"] = points.runs;
    sweep["seed"] = points.seed;
    sweep["sampling"] = points.latin ? "lhs" : "random";
  }
  if (!request.after.empty()) sweep["after"] = request.after;
  if (!request.section.empty()) sweep["section"] = request.section;
  constexpr const char* follow[] = {"none", "up", "down", "both"};
  sweep["follow"] = follow[static_cast<int>(request.follow)];
  json["sweep"] = sweep;
  return json;
}

std::string sweep_text(const SweepRequest& request, const Model& model, const SweepResult& result) {
  std::map<std::string, std::vector<const SweepRun*>> groups;
  std::size_t made = 0;
  for (const SweepRun& run : result.runs) {
    if (run.status == Status::never_run) continue;
    ++made;
    groups[to_string(run.status)].push_back(&run);
  }
  std::string text = fmt::format("model    {} ({})\nruns     {} of {}\n", model.name, model.file, made,
                                 result.runs.size());
  for (const auto& [status, runs] : groups) {
    text += fmt::format("         {} {}", runs.size(), status);
    if (runs.front()->status != Status::solved) text += example_of(request, model, *runs.front());
    text += "\n";
  }
  for (std::size_t k = 0; k < result.measures.size(); ++k) text += measure_text(result, k);
  return text;
}

}  // namespace perp::io
