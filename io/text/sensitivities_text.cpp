// The summary of a run with derivatives.
#include <fmt/format.h>

#include <perp/analysis/run/columns.hpp>
#include <perp/io/json.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/sensitivities_text.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

/// The variables at the end, and their derivatives where the run has any.
std::string end_table(const Model& model, const SensitivityQuantities& quantities, const Step& last) {
  const std::vector<std::string> variables = variable_names(model);
  std::vector<std::string> header{fmt::format("t = {:.8g}", last.t), "value"};
  if (last.dx_dq.size() > 0)
    for (const std::string& name : quantities.names) header.push_back("d/d " + name);
  TextTable table(header);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    std::vector<std::string> line{variables[i], fmt::format("{:.10g}", last.x[row])};
    for (Eigen::Index k = 0; k < last.dx_dq.cols(); ++k)
      line.push_back(fmt::format("{:.10g}", last.dx_dq(row, k)));
    table.add(line);
  }
  return table.text();
}

/// The times of events that have derivatives.
std::string events_table(const Model& model, const SensitivityQuantities& quantities, const std::vector<Event>& events) {
  std::vector<std::string> header{"event", "t", "condition"};
  for (const std::string& name : quantities.names) header.push_back("dt/d " + name);
  TextTable table(header);
  for (const Event& event : events) {
    if (event.dt_dq.size() == 0) continue;
    const BranchTexts texts = branch_texts(model.laws(), event);
    std::vector<std::string> line{
        fmt::format("{} {}{}", to_string(event.kind), texts.law,
                    event.pieces.empty()
                        ? ""
                        : fmt::format(" (one-sided: {} orders)", event.pieces.size())),
        fmt::format("{:.10g}", event.t), fmt::format("{:.3g}", event.condition)};
    for (const double value : event.dt_dq) line.push_back(fmt::format("{:.8g}", value));
    table.add(line);
  }
  return table.text();
}

}  // namespace

std::string sensitivities_text(const Model& model, const Trajectory& run,
                               const SensitivityQuantities& quantities, const Step& last) {
  std::string text = fmt::format("model       {}\nstatus      {}: {}\n", title(model),
                                 status_text(run), run.message);
  text += end_table(model, quantities, last);
  if (run.events.empty()) return text;
  text += events_table(model, quantities, run.events);
  for (const Event& event : run.events)
    for (std::size_t k = 0; k < event.pieces.size(); ++k)
      text += fmt::format("one-sided   t = {:.8g}, order {}: dx/dq = {}\n", event.t, k + 1,
                          to_json(Vector(event.pieces[k].reshaped<Eigen::RowMajor>())).dump());
  return text;
}

}  // namespace perp::io
