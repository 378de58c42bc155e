// The tables of an enclosure as CSV.
#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/run/columns.hpp>
#include <perp/cli/enclosures/enclosure_run.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/io/files/output_file.hpp>

namespace perp::cli {
namespace {

using enclosure::Box;
using enclosure::decimal_above;
using enclosure::decimal_below;
using enclosure::Interval;

void append(std::string& line, const std::string& field) {
  if (!line.empty()) line += ',';
  line += field;
}

void append_names(std::string& line, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    append(line, quoted(name + "_lo"));
    append(line, quoted(name + "_hi"));
  }
}

/// Empty fields: no value is proved to exist there.
void append_bounds(std::string& line, const Interval& value) {
  if (!value.has_value()) {
    line += ",,";
    return;
  }
  append(line, std::isfinite(value.lo) ? decimal_below(value.lo) : "-inf");
  append(line, std::isfinite(value.hi) ? decimal_above(value.hi) : "inf");
}

void append_box(std::string& line, const Box& box, std::size_t size) {
  for (std::size_t k = 0; k < size; ++k)
    append_bounds(line, k < box.size() ? box[k] : Interval::none());
}

void write_line(OutputFile& file, std::string line) {
  line += '\n';
  file.buffer().append(line.data(), line.data() + line.size());
  file.end_record();
}

}  // namespace

std::string modes_text(const enclosure::ExactModel& model, const std::vector<Mode>& modes) {
  if (modes.empty()) return "too many to list";
  std::string text;
  for (const Mode& mode : modes)
    text += (text.empty() ? "" : " or ") + describe(model.system.laws, mode);
  return text;
}

EnclosureRowText text_of(const enclosure::ExactModel& model,
                         const enclosure::EnclosureEvent& event) {
  EnclosureRowText text{.note = event.note};
  if (event.law >= 0) {
    const Law& law = model.system.laws[static_cast<std::size_t>(event.law)];
    const auto name = [&law](int branch) {
      return branch < 0 ? std::string() : describe(law.branches[static_cast<std::size_t>(branch)]);
    };
    text.law = law.name;
    text.from = name(event.from);
    text.to = name(event.to);
  } else if (event.reset >= 0) {
    text.law = model.system.resets[static_cast<std::size_t>(event.reset)].name;
  }
  return text;
}

EnclosureRowText text_of(const enclosure::ExactModel& model, const enclosure::Lost& lost) {
  EnclosureRowText text{.note = lost.reason};
  if (!lost.advice.empty()) text.note += "; try: " + lost.advice;
  if (lost.law >= 0)
    text.law = model.system.laws[static_cast<std::size_t>(lost.law)].name;
  else if (lost.reset >= 0)
    text.law = model.system.resets[static_cast<std::size_t>(lost.reset)].name;
  if (!lost.mode.empty()) text.from = describe(model.system.laws, lost.mode);
  return text;
}

void write_rows_csv(const std::string& file, const EnclosureRun& run) {
  OutputFile out(file, Writing::rows);
  const Columns columns = columns_of(run.model.model);
  const std::vector<std::string> outputs = run.model.outputs();
  std::string line = run.by_pieces ? "t,piece,branch,flag,how" : "t,branch,flag,how";
  const std::vector<std::string> set =
      run.by_pieces ? run.model.set_names() : std::vector<std::string>();
  append_names(line, set);
  append_names(line, columns.x);
  append_names(line, columns.lambda);
  append_names(line, outputs);
  append(line, "mode");
  write_line(out, line);
  for (const TableRow& of : run.rows()) {
    const enclosure::EnclosureRow* row = of.row;
    line = enclosure::exact_decimal(row->t);
    if (run.by_pieces) append(line, fmt::format("{}", of.piece));
    line += fmt::format(",{},{},{}", row->branch, to_string(row->flag), to_string(row->how));
    if (run.by_pieces) append_box(line, run.set_of(of), set.size());
    append_box(line, row->box, columns.x.size());
    append_box(line, run.model.multipliers(row->multipliers), columns.lambda.size());
    append_box(line, run.outputs(of), outputs.size());
    append(line, quoted(modes_text(run.model, row->modes)));
    write_line(out, line);
  }
  out.close();
}

void write_events_csv(const std::string& file, const EnclosureRun& run) {
  std::string text = "t_lo,t_hi,branch,type,law,from,to,proof,note\n";
  const auto add = [&](const Interval& t, const std::string& branch, const std::string& type,
                       const EnclosureRowText& names, const char* proof) {
    std::string line;
    append_bounds(line, t);
    for (const std::string& field : {branch, type, quoted(names.law), quoted(names.from),
                                     quoted(names.to), std::string(proof), quoted(names.note)})
      line += "," + field;
    text += line + "\n";
  };
  for (const enclosure::EnclosureEvent& event : run.result.events)
    add(event.t, fmt::format("{}", event.branch), event.type, text_of(run.model, event),
        event.unique ? "unique" : "possible");
  if (run.result.lost)
    add(run.result.lost->t, "", "lost", text_of(run.model, *run.result.lost), "");
  write_file(file, text);
}

void write_tube_csv(const std::string& file, const EnclosureRun& run) {
  OutputFile out(file, Writing::rows);
  const Columns columns = columns_of(run.model.model);
  std::string line = "t_lo,t_hi,branch,flag";
  append_names(line, columns.x);
  write_line(out, line);
  for (const enclosure::TubeRow& row : run.result.tube) {
    line = fmt::format("{},{},{},{}", enclosure::exact_decimal(row.from),
                       enclosure::exact_decimal(row.to), row.branch, to_string(row.flag));
    append_box(line, row.box, columns.x.size());
    write_line(out, line);
  }
  out.close();
}

}  // namespace perp::cli
