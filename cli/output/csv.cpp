#include <fmt/compile.h>
#include <algorithm>

#include <perp/cli/output/csv.hpp>

namespace perp::cli {
namespace {

void append(fmt::memory_buffer& buffer, double value) {
  fmt::format_to(std::back_inserter(buffer), FMT_COMPILE("{},"), value);
}

}  // namespace

CsvWriter::CsvWriter(const std::string& file, const Model& model,
                     const std::vector<std::string>& quantities)
    : file_(file),
      mode_text_(model.laws()),
      lambdas_(model.laws().size()),
      quantities_(static_cast<Eigen::Index>(quantities.size())),
      outputs_(model.outputs) {
  const Columns columns = columns_of(model);
  std::string header = "t,";
  for (const std::string& name : columns.x) header += quoted(name) + ",";
  for (const std::string& name : columns.lambda) header += quoted(name) + ",";
  for (const std::string& name : columns.outputs) header += quoted(name) + ",";
  for (const auto& [letter, count] : {std::pair{"x", columns.x.size()}, {"lambda", lambdas_}})
    for (std::size_t i = 1; i <= count; ++i)
      for (const std::string& name : quantities)
        header += fmt::format("d{}{}_d{},", letter, i, name);
  header += "mode\n";
  file_.buffer().append(header.data(), header.data() + header.size());
  file_.end_record();
}

void CsvWriter::row(const Step& step) {
  fmt::memory_buffer& buffer = file_.buffer();
  append(buffer, step.t);
  for (const double value : step.x) append(buffer, value);
  for (std::size_t i = 0; i < lambdas_; ++i)
    append(buffer, static_cast<Eigen::Index>(i) < step.lambda.size()
                       ? step.lambda[static_cast<Eigen::Index>(i)]
                       : nan);
  if (!outputs_.names.empty())
    for (const double value : outputs_.at(step.t, step.x, step.lambda)) append(buffer, value);
  if (quantities_ > 0)
    for (const auto& [matrix, rows] : {std::pair{&step.dx_dq, step.x.size()},
                                       {&step.dlambda_dq, static_cast<Eigen::Index>(lambdas_)}})
      for (Eigen::Index i = 0; i < rows; ++i)
        for (Eigen::Index k = 0; k < quantities_; ++k)
          append(buffer, i < matrix->rows() ? (*matrix)(i, k) : nan);
  if (mode_field_.empty() || step.mode != mode_) {
    mode_ = step.mode;
    mode_field_ = quoted(mode_text_(step.mode)) + "\n";
  }
  buffer.append(mode_field_.data(), mode_field_.data() + mode_field_.size());
  file_.end_record();
}

void write_events(const std::string& file, const std::vector<Law>& laws,
                  const std::vector<Event>& events, const std::vector<std::string>& quantities) {
  std::string text = "t,type,law,from,to,t_before,t_after,size,note";
  // Schemes that count continuations say how many, and whether the one taken is strict.
  const bool counted = std::any_of(events.begin(), events.end(),
                                   [](const Event& event) { return event.continuations > 0; });
  if (counted) text += ",continuations,strict";
  for (const std::string& name : quantities) text += ",dt_d" + name;
  text += quantities.empty() ? "\n" : ",condition\n";
  for (const Event& event : events) {
    if (event.kind == EventKind::no_solution) {  // how the run ended, not what happened on the way
      text += fmt::format("# no_solution after t = {}: {}\n", event.t, event.note);
      continue;
    }
    if (event.kind == EventKind::accumulation) {  // the limit of events, none itself
      text += fmt::format("# zeno at t = {}: {}\n", event.t, event.note);
      continue;
    }
    const BranchTexts branches = branch_texts(laws, event);
    text += fmt::format("{},{},{},{},{},{},{},{},{}", event.t, to_string(event.kind),
                        quoted(branches.law), quoted(branches.from), quoted(branches.to),
                        event.t_before, event.t_after, event.size, quoted(event.note));
    if (counted)
      text += event.continuations > 0
                  ? fmt::format(",{},{}", event.continuations, event.is_weak ? "no" : "yes")
                  : ",,";
    if (!quantities.empty()) {
      for (std::size_t k = 0; k < quantities.size(); ++k)
        text += static_cast<Eigen::Index>(k) < event.dt_dq.size()
                    ? fmt::format(",{}", event.dt_dq[static_cast<Eigen::Index>(k)])
                    : ",";
      text += fmt::format(",{}", event.condition);
    }
    text += "\n";
  }
  write_file(file, text);
}

}  // namespace perp::cli
