// The summary of an enclosure and what made it.
#include <fmt/format.h>
#include <algorithm>

#include <perp/cli/enclosures/enclosure_summary.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/models/language/exact_numbers.hpp>

namespace perp::cli {
namespace {

using enclosure::EnclosureEvent;
using enclosure::EnclosureRow;
using enclosure::Flag;
using enclosure::Interval;

constexpr std::size_t most_events = 24;

/// "[0.1, 0.2]", or the number.
std::string short_interval(const Interval& value) {
  if (value.is_point()) return fmt::format("{}", value.lo);
  return fmt::format("[{}, {}]", enclosure::decimal_below(value.lo),
                     enclosure::decimal_above(value.hi));
}

const std::vector<int>& disturbances(const enclosure::ExactModel& model) {
  return model.model.exact_numbers->disturbances;
}

std::string set_text(const enclosure::ExactModel& model, const std::vector<int>& guesses) {
  std::string text;
  const auto add = [&text](const std::string& name, const Interval& value, bool varies = false) {
    if (enclosure::is_wide(value) || varies)
      text += fmt::format("{}{} in [{:.8g}, {:.8g}]{}", text.empty() ? "" : ", ", name, value.lo,
                          value.hi, varies ? " at every t" : "");
  };
  for (std::size_t k = 0; k < model.model.parameters.size(); ++k) {
    const auto& varying = disturbances(model);
    add(model.parameters[k], model.values[k],
        std::find(varying.begin(), varying.end(), static_cast<int>(k)) != varying.end());
  }
  for (std::size_t j = 0; j < model.start.size(); ++j)
    if (std::find(guesses.begin(), guesses.end(), static_cast<int>(j)) == guesses.end())
      add(model.variables[j] + "(0)", model.start[j]);
  return text.empty() ? "one point, as the decimal numbers of the file" : text;
}

/// What holds until when: the flags change once, from unique to all.
std::string flags_text(const EnclosureRun& run) {
  const auto& rows = run.result.rows;
  const auto later = std::find_if(rows.begin(), rows.end(),
                                  [](const EnclosureRow& row) { return row.flag == Flag::all; });
  const std::string end = fmt::format("{:.8g}", rows.back().t);
  const char* const point = run.result.forbids_starts ? "every consistent point" : "every point";
  const char* const functions = disturbances(run.model).empty() ? "" : " for each function of time";
  if (later == rows.end())
    return fmt::format("unique until t = {}: {} has exactly one solution{}, and it is in the rows", end, point, functions);
  const std::string all = fmt::format("all until t = {}: every solution of {}{} is in a row of its time", end, point, functions);
  const auto same = std::find_if(rows.begin(), later,
                                 [&](const EnclosureRow& row) { return row.t == later->t; });
  if (same == rows.begin()) return all;
  return fmt::format("unique until t = {:.8g}, then {}", std::prev(same)->t, all);
}

/// Of the union of the rows at the last time.
std::string widths_text(const EnclosureRun& run) {
  const auto& rows = run.result.rows;
  std::string text;
  for (std::size_t j = 0; j < run.model.variables.size(); ++j) {
    Interval all = rows.back().box[j];
    for (auto row = rows.rbegin(); row != rows.rend() && row->t == rows.back().t; ++row)
      all = hull(all, row->box[j]);
    text += fmt::format("{}{} {:.3g}", j > 0 ? ", " : "", run.model.variables[j],
                        width(all) + 0.0);  // never -0
  }
  return text;
}

/// Widths of several branches are those of the box around them.
std::string rows_text(const EnclosureRun& run) {
  const auto& rows = run.result.rows;
  const auto count = std::count_if(rows.begin(), rows.end(), [&rows](const EnclosureRow& row) {
    return row.t == rows.back().t;
  });
  return count == 1 ? "" : fmt::format(", of the box around {} rows", count);
}

double widest_event(const std::vector<EnclosureEvent>& events) {
  double widest = 0;
  for (const EnclosureEvent& event : events) widest = std::max(widest, width(event.t));
  return widest;
}

std::string event_line(const EnclosureRun& run, const EnclosureEvent& event) {
  const EnclosureRowText text = text_of(run.model, event);
  std::string line = fmt::format("t = {:.8g} +- {:.2g} {}{}", middle(event.t),
                                 radius(event.t) + 0.0,
                                 event.type, event.unique ? "" : " (possible)");
  if (!text.law.empty()) line += "  " + text.law;
  if (!text.from.empty() || !text.to.empty())
    line += fmt::format(": {} -> {}", text.from, text.to);
  if (!text.note.empty()) line += "  " + text.note;
  return line;
}

void print_events(std::FILE* stream, const EnclosureRun& run) {
  const std::vector<EnclosureEvent>& events = run.result.events;
  if (events.empty()) return;
  const auto unique = std::count_if(events.begin(), events.end(),
                                    [](const EnclosureEvent& event) { return event.unique; });
  fmt::print(stream, "events      {}: {} unique, {} possible; widest interval {:.2g}\n",
             events.size(), unique, static_cast<long>(events.size()) - unique,
             widest_event(events));
  for (std::size_t k = 0; k < std::min(events.size(), most_events); ++k)
    fmt::print(stream, "            {}\n", event_line(run, events[k]));
  if (events.size() > most_events)
    fmt::print(stream, "            ... {} more events\n", events.size() - most_events);
}

void print_lost(std::FILE* stream, const EnclosureRun& run) {
  const enclosure::Lost& lost = *run.result.lost;
  fmt::print(stream, "lost        t in {}: {}\n", short_interval(lost.t), lost.reason);
  const EnclosureRowText text = text_of(run.model, lost);
  if (!text.law.empty()) fmt::print(stream, "            law {}\n", text.law);
  if (!text.from.empty()) fmt::print(stream, "            last certain mode {}\n", text.from);
  if (!lost.advice.empty()) fmt::print(stream, "            try: {}\n", lost.advice);
}

/// What the set of starts is not.
void print_starts(std::FILE* stream, const EnclosureRun& run, const std::vector<int>& guesses) {
  for (const int j : guesses)
    fmt::print(stream, "guess       {}(0) is computed: {} has no derivative, and its interval bounds nothing\n",
               run.model.variables[static_cast<std::size_t>(j)], run.model.variables[static_cast<std::size_t>(j)]);
  if (run.result.forbids_starts)
    fmt::print(stream, "starts      only the points of the set that an equation between them, or a law, allows: of the others nothing is said\n");
}

Json bounds(const Interval& value) {
  return {enclosure::decimal_below(value.lo), enclosure::decimal_above(value.hi)};
}

}  // namespace

void print_enclosure(std::FILE* stream, const EnclosureRun& run,
                     const std::vector<std::string>& files) {
  const Span& span = run.model.span;
  fmt::print(stream, "model       {}\n", title(run.model.model));
  const std::vector<int> guesses = run.model.guesses();
  fmt::print(stream, "enclosed    t = {} to {}; {}\n", span.start, span.end, set_text(run.model, guesses));
  print_starts(stream, run, guesses);
  if (!run.result.rows.empty()) {
    fmt::print(stream, "proved      {}\n", flags_text(run));
    fmt::print(stream, "widths      at t = {:.8g}{}: {}\n", run.result.rows.back().t,
               rows_text(run), widths_text(run));
  }
  if (run.result.joined > 0)
    fmt::print(stream,
               "joined      {} branches of independent parts have more combinations than the limit: rows hold "
               "them together, their events are possible\n",
               run.result.joined);
  if (run.by_pieces)
    fmt::print(stream, "paving      {} piece{} of the set, each with rows of its own\n",
               run.result.paving.size(), run.result.paving.size() == 1 ? "" : "s");
  print_events(stream, run);
  fmt::print(stream, "counts      {} steps, {} piece{}, {:.2g} s\n", run.result.steps,
             run.result.pieces, run.result.pieces == 1 ? "" : "s", run.seconds);
  if (run.result.lost) print_lost(stream, run);
  for (const std::string& file : files) fmt::print(stream, "written     {}\n", file);
}

Json enclosure_provenance(const EnclosureRun& run, const enclosure::EncloseOptions& options,
                          const std::vector<std::string>& set) {
  Json json = provenance(run.model.model, set);
  Json parameters = Json::object(), start = Json::object();
  for (std::size_t k = 0; k < run.model.model.parameters.size(); ++k)
    parameters[run.model.parameters[k]] = bounds(run.model.values[k]);
  for (std::size_t j = 0; j < run.model.variables.size(); ++j)
    start[run.model.variables[j]] = bounds(run.model.start[j]);
  json["model"]["parameters"] = parameters;
  json["model"]["start"] = start;
  for (const int k : disturbances(run.model))
    json["model"]["at_every_t"].push_back(run.model.parameters[static_cast<std::size_t>(k)]);
  const Span& span = run.model.span;
  json["options"] = {{"set", set},
                     {"t", {span.start, span.end}},
                     {"order", options.step.order},
                     {"tol", options.step.share}};
  json["status"] = run.result.lost ? "lost" : "proved";
  json["counts"] = {{"steps", run.result.steps},
                    {"pieces", run.result.pieces},
                    {"rows", run.rows().size()},
                    {"events", run.result.events.size()}};
  if (run.by_pieces) json["counts"]["paving"] = run.result.paving.size();
  json["consistent_starts_only"] = run.result.forbids_starts;
  if (run.result.joined > 0) json["counts"]["joined"] = run.result.joined;
  if (run.result.lost) {
    const EnclosureRowText text = text_of(run.model, *run.result.lost);
    json["lost"] = {{"t", bounds(run.result.lost->t)},
                    {"reason", run.result.lost->reason},
                    {"advice", run.result.lost->advice},
                    {"law", text.law},
                    {"mode", text.from}};
  }
  return json;
}

}  // namespace perp::cli
