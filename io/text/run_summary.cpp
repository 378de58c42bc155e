#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/run/columns.hpp>
#include <perp/core/branches.hpp>
#include <perp/io/text/run_summary.hpp>

namespace perp::io {
namespace {

constexpr std::size_t most_lines = 24;   // of modes or events
constexpr std::size_t most_values = 12;  // of a state
constexpr std::size_t most_changes = 6;  // of one mode to the next

/// The first and the last of many lines.
template <class Line>
std::string some(std::size_t count, const char* noun, const Line& line) {
  std::string text;
  const bool cut = count > most_lines;
  for (std::size_t k = 0; k < count; ++k) {
    if (cut && k == most_lines - 4) {
      text += fmt::format("            ... {} more {}\n", count - most_lines, noun);
      k = count - 4;
    }
    text += line(k);
  }
  return text;
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

/// The first of the laws that change between two modes, and how many more.
std::string changes_text(const EventTexts& texts, const Mode& before, const Mode& after) {
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i] || ++count > most_changes) continue;
    Event change;
    change.law = static_cast<int>(i);
    change.from = before[i];
    change.to = after[i];
    const BranchTexts names = texts(change);
    text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : ", ", names.law, names.from, names.to);
  }
  return count > most_changes ? fmt::format("{} and {} more", text, count - most_changes) : text;
}

std::string modes_of(const RunSummary& summary) {
  const Laws& laws = summary.model.laws();
  if (laws.empty()) return {};
  const EventTexts texts(laws);
  const auto mode_text = [&](std::size_t k) {
    const Mode& mode = summary.modes[k].mode;
    return k == 0 || laws.size() <= most_laws_told ? describe_briefly(laws, mode) : changes_text(texts, summary.modes[k - 1].mode, mode);
  };
  return fmt::format("modes       {}\n", summary.modes.size()) +
         some(summary.modes.size(), "changes of mode", [&](std::size_t k) {
           const ModeSpan& span = summary.modes[k];
           return fmt::format("            t = {:<14.8g} to {:<14.8g} {}\n", span.start, span.end, mode_text(k));
         });
}

std::string events_of(const RunSummary& summary) {
  const std::vector<Event>& events = summary.run.events;
  if (events.empty()) return {};
  return fmt::format("events      {}\n", events.size()) +
         some(events.size(), "events", [&](std::size_t k) {
           return fmt::format("            {}\n", event_text(summary.model, events[k]));
         });
}

std::string measures_of(const RunSummary& summary) {
  std::string text;
  for (const Measure& measure : summary.measures)
    text += measure.result.value
                ? fmt::format("measured    {} = {}\n", measure.name, *measure.result.value)
                : fmt::format("measured    {} has no value: {}\n", measure.name, measure.result.reason);
  return text;
}

/// Where a run of high order went on by a scheme of first order: said before all else.
std::string fall_back_of(const Trajectory& run) {
  const auto from = run.provenance.find("first order from");
  if (from != run.provenance.end())
    return fmt::format("first order from t = {} on ({}): {}\n", from->second,
                       run.provenance.at("first order by"),
                       run.provenance.at("first order because"));
  return {};
}

/// The scheme that follows a solution from event to event.
std::string located_text(const RunSummary& summary) {
  const RunOptions& options = summary.model.run;
  const auto& provenance = summary.run.provenance;
  const auto norm = provenance.find("norm");
  std::vector<std::string> methods;
  if (const auto series = provenance.find("series"); series != provenance.end())
    methods.push_back("Taylor series of order 6 to " + series->second);
  if (const auto stages = provenance.find("stages"); stages != provenance.end())
    methods.push_back("Radau IIA, " + stages->second + " stages");
  return fmt::format(
      "scheme      located ({}), tol = {:g}, {}\n", fmt::join(methods, "; "),
      options.tol,
      summary.model.hybrid != nullptr
          ? "modes by nearest_mode"
          : fmt::format("policy {}{}", options.policy, norm == provenance.end() ? "" : ", norm " + norm->second));
}

std::string scheme_of(const RunSummary& summary) {
  const RunOptions& options = summary.model.run;
  const auto& provenance = summary.run.provenance;
  if (options.scheme == "located") return located_text(summary);
  const auto norm = provenance.find("norm");
  if (norm == provenance.end()) {  // nothing is selected by it
    const auto scheme = provenance.find("scheme");
    return fmt::format("scheme      {}, h = {:g}\n",
                       scheme == provenance.end() ? options.scheme : scheme->second, options.h);
  }
  return fmt::format("scheme      {}{}, h = {:g}, selector {}, norm {}\n", options.scheme,
                     options.scheme == "theta" ? fmt::format(" ({:g})", options.theta) : "",
                     options.h, options.selector, norm->second);
}

/// Of the laws of positions, or of velocities where the scheme solves those: its positions meet
/// their laws up to O(h) only, the penetration.
std::string residual_of(const RunSummary& summary) {
  const auto& provenance = summary.run.provenance;
  const auto impacts = provenance.find("impact residual");
  if (impacts != provenance.end())
    return fmt::format(
        "residual    {}: largest, relative, of the laws of impact in all steps; deepest "
        "penetration of a gap {}\n",
        impacts->second, provenance.at("deepest penetration"));
  if (const auto of_steps = provenance.find("residual"); of_steps != provenance.end())
    return fmt::format(
        "residual    {}: largest of all rows and steps, in bounds of their rounding ({})\n",
        of_steps->second, provenance.at("gate"));
  if (summary.constraints.states() > 0)
    return fmt::format(
        "residual    {:.2g}: largest, relative, of the algebraic equations and laws over {} "
        "states\n",
        summary.constraints.largest(), summary.constraints.states());
  return {};
}

long count_of(const Trajectory& run, const char* name) {
  const auto counted = run.counts.find(name);
  return counted == run.counts.end() ? 0 : counted->second;
}

std::string plural(long count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

/// Where several continuations started: "the start and at 2 events"; empty: nowhere.
std::string moments_of_choices(const Trajectory& run) {
  const bool at_start = count_of(run, "choices_at_start") > 0;
  const auto events = std::ranges::count_if(run.events, [](const Event& event) { return event.continuations > 1; });
  if (events == 0) return at_start ? "the start" : "";
  return (at_start ? "the start and at " : "") + plural(events, "event");
}

/// A choice among several solutions is said in one line, whichever scheme makes it.
std::string choice_of(const RunSummary& summary) {
  const RunOptions& options = summary.model.run;
  const bool has_rule = summary.model.hybrid != nullptr;  // nearest_mode, in all schemes
  if (options.policy == "all") return {};                 // each of them is listed below
  // Of its own steps, of a rest that it captures.
  const long steps = count_of(summary.run, "several_solutions") + count_of(summary.run, "captured_several_solutions");
  if (steps > 0)
    return fmt::format("choice      {} of several solutions in {}; --{}\n", has_rule ? "nearest_mode" : options.selector,
                       plural(steps, "step"), has_rule ? "policy all follows each" : "all lists them");
  const std::string moments = moments_of_choices(summary.run);
  if (moments.empty()) return {};
  return fmt::format("choice      {} of several continuations at {}; --policy all follows each\n",
                     has_rule ? "nearest_mode" : options.policy, moments);
}

}  // namespace

std::string title(const Model& model) { return fmt::format("{} ({})", model.name, model.file); }

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
  return from == run.provenance.end()
             ? status
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

std::string text_of(const RunSummary& summary) {
  const Model& model = summary.model;
  std::string text = fall_back_of(summary.run);
  text += fmt::format("model       {}\n", title(model)) + scheme_of(summary);
  if (const auto& keys = model.run.left_aside; !keys.empty())
    text += fmt::format("left aside  {}: of [run], no option of scheme {}\n", fmt::join(keys, ", "),
                        model.run.scheme);
  if (const auto start = summary.run.provenance.find("start");
      start != summary.run.provenance.end())
    text += fmt::format("start       {}\n", start->second);
  text += modes_of(summary) + events_of(summary) + choice_of(summary);
  text += fmt::format("end state   t = {:.8g}, {}\n", summary.last.t,
                      named_values(variable_names(model), summary.last.x));
  text += measures_of(summary);
  text += fmt::format("status      {}: {}\n", status_text(summary.run), summary.run.message);
  std::string counts;
  for (const auto& [name, count] : summary.run.counts)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", name, count);
  text += fmt::format("counts      {}\n", counts) + residual_of(summary);
  for (const std::string& file : summary.files) text += fmt::format("written     {}\n", file);
  return text;
}

}  // namespace perp::io
