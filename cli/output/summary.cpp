#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/cli/input/model_options.hpp>
#include <perp/cli/output/columns.hpp>
#include <perp/cli/output/summary.hpp>

namespace perp::cli {
namespace {

constexpr std::size_t most_lines = 24;        // of modes or events
constexpr std::size_t most_values = 12;       // of a state

/// Prints the first and the last of many lines.
template <class Print>
void print_some(std::FILE* stream, std::size_t count, const char* noun, const Print& line) {
  const bool cut = count > most_lines;
  for (std::size_t k = 0; k < count; ++k) {
    if (cut && k == most_lines - 4) {
      fmt::print(stream, "            ... {} more {}\n", count - most_lines, noun);
      k = count - 4;
    }
    line(k);
  }
}

/// The differential variables before and after; the algebraic ones hold an impulse.
std::string jump_text(const Model& model, const Event& event) {
  std::vector<std::string> names;
  Vector before(event.x_before.size());
  Vector after(event.x_after.size());
  Eigen::Index size = 0;
  for (const int j : model.differential_variables()) {
    names.push_back(model.variables[static_cast<std::size_t>(j)].name);
    before[size] = event.x_before[j];
    after[size++] = event.x_after[j];
  }
  return fmt::format("from {} to {}", named_values(names, before), named_values(names, after));
}

void print_modes(std::FILE* stream, const Summary& summary) {
  const std::vector<Law>& laws = summary.model.laws();
  if (laws.empty()) return;
  fmt::print(stream, "modes       {}\n", summary.modes.size());
  print_some(stream, summary.modes.size(), "changes of mode", [&](std::size_t k) {
    const ModeSpan& span = summary.modes[k];
    fmt::print(stream, "            t = {:<14.8g} to {:<14.8g} {}\n", span.start, span.end,
               describe(laws, span.mode));
  });
}

void print_events(std::FILE* stream, const Summary& summary) {
  const std::vector<Event>& events = summary.run.events;
  if (events.empty()) return;
  fmt::print(stream, "events      {}\n", events.size());
  print_some(stream, events.size(), "events", [&](std::size_t k) {
    fmt::print(stream, "            {}\n", event_text(summary.model, events[k]));
  });
}

/// Where a run of high order went on by a scheme of first order: said before all else.
void print_fall_back(std::FILE* stream, const Trajectory& run) {
  const auto from = run.provenance.find("first order from");
  if (from != run.provenance.end())
    fmt::print(stream, "first order from t = {} on ({}): {}\n", from->second,
               run.provenance.at("first order by"), run.provenance.at("first order because"));
}

void print_scheme(std::FILE* stream, const Summary& summary) {
  const RunOptions& options = summary.model.run;
  const auto& provenance = summary.run.provenance;
  const auto norm = provenance.find("norm");
  if (options.scheme == "located") {
    fmt::print(stream, "scheme      located (Radau IIA, {} stages), tol = {:g}, policy {}, norm {}\n",
               provenance.at("stages"), options.tol, options.policy, provenance.at("norm"));
    return;
  }
  if (norm == provenance.end()) {  // nothing is selected by it
    const auto scheme = provenance.find("scheme");
    fmt::print(stream, "scheme      {}, h = {:g}\n",
               scheme == provenance.end() ? options.scheme : scheme->second, options.h);
    return;
  }
  fmt::print(stream, "scheme      {}{}, h = {:g}, selector {}, norm {}\n", options.scheme,
             options.scheme == "theta" ? fmt::format(" ({:g})", options.theta) : "", options.h,
             options.selector, norm->second);
}

/// Of the laws of positions, or of velocities where the scheme solves those: its positions meet
/// their laws up to O(h) only, the penetration.
void print_residual(std::FILE* stream, const Summary& summary) {
  const auto& provenance = summary.run.provenance;
  const auto impacts = provenance.find("impact residual");
  if (impacts != provenance.end())
    fmt::print(stream,
               "residual    {}: largest, relative, of the laws of impact in all steps; deepest "
               "penetration of a gap {}\n",
               impacts->second, provenance.at("deepest penetration"));
  else if (const auto of_steps = provenance.find("residual"); of_steps != provenance.end())
    fmt::print(stream,
               "residual    {}: largest of all rows and steps, in bounds of their rounding ({})\n",
               of_steps->second, provenance.at("gate"));
  else if (summary.constraints.states() > 0)
    fmt::print(stream,
               "residual    {:.2g}: largest, relative, of the algebraic equations and laws over {} "
               "states\n",
               summary.constraints.largest(), summary.constraints.states());
}

}  // namespace

std::string named_values(const std::vector<std::string>& names, const Vector& values) {
  const std::size_t size = names.size();
  const std::size_t shown = size > most_values ? most_values - 1 : size;
  std::string left, right;
  for (std::size_t j = 0; j < shown; ++j) {
    left += (j > 0 ? ", " : "") + names[j];
    right += fmt::format("{}{:.7g}", j > 0 ? ", " : "", values[static_cast<Eigen::Index>(j)]);
  }
  if (shown < size) {
    left += ", ...";
    right += ", ...";
  }
  return size == 1 ? left + " = " + right : "(" + left + ") = (" + right + ")";
}

std::string status_text(const Trajectory& run) {
  const auto from = run.provenance.find("first order from");
  const std::string status = to_string(run.status);
  return from == run.provenance.end() ? status
                                      : fmt::format("{}, first order from t = {}", status, from->second);
}

std::string event_text(const Model& model, const Event& event) {
  const BranchTexts texts = branch_texts(model.laws(), event);
  const bool wrong_start = event.kind == EventKind::inconsistent_start;
  std::string line = fmt::format("t = {:<12.8g} {}", event.t, to_string(event.kind));
  if (!texts.law.empty()) line += fmt::format("  {}: {} -> {}", texts.law, texts.from, texts.to);
  if ((event.kind == EventKind::jump || wrong_start) && event.x_after.size() > 0)
    line += "  " + jump_text(model, event);
  if (event.size != 0)
    line += fmt::format("  {} {:.6g}", wrong_start ? "residual" : "size", event.size);
  if (event.t_after > event.t_before)
    line += fmt::format("  in ({:.8g}, {:.8g}]", event.t_before, event.t_after);
  if (!event.note.empty()) line += "  " + event.note;
  return line;
}

void print(std::FILE* stream, const Summary& summary) {
  print_fall_back(stream, summary.run);
  fmt::print(stream, "model       {}\n", title(summary.model));
  print_scheme(stream, summary);
  if (const auto& keys = summary.model.run.left_aside; !keys.empty())
    fmt::print(stream, "left aside  {}: of [run], no option of scheme {}\n", fmt::join(keys, ", "),
               summary.model.run.scheme);
  print_modes(stream, summary);
  print_events(stream, summary);
  fmt::print(stream, "end state   t = {:.8g}, {}\n", summary.last.t,
             named_values(variable_names(summary.model), summary.last.x));
  fmt::print(stream, "status      {}: {}\n", status_text(summary.run), summary.run.message);
  std::string counts;
  for (const auto& [name, count] : summary.run.counts)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", name, count);
  fmt::print(stream, "counts      {}\n", counts);
  print_residual(stream, summary);
  for (const std::string& file : summary.files) fmt::print(stream, "written     {}\n", file);
}

}  // namespace perp::cli
