// The pictures of a run, from the states that were sampled of it.
#include <algorithm>

#include <perp/core/base/error.hpp>
#include <perp/io/plot/run_pictures.hpp>
#include <perp/io/plot/run_plot.hpp>

namespace perp::io {
namespace {

/// The stretches within the window, cut at its ends.
std::vector<ModeSpan> within(std::vector<ModeSpan> modes, const Span& window) {
  std::erase_if(modes, [&](const ModeSpan& span) { return span.end < window.start || span.start > window.end; });
  for (ModeSpan& span : modes) {
    span.start = std::max(span.start, window.start);
    span.end = std::min(span.end, window.end);
  }
  return modes;
}

}  // namespace

std::vector<int> RunPictures::sampled() const {
  std::vector<int> columns = drawn;
  for (const int column : {horizontal, vertical})
    if (column >= 0 && std::find(columns.begin(), columns.end(), column) == columns.end())
      columns.push_back(column);
  return columns;
}

void draw(const RunPictures& pictures, const Model& model, const std::vector<ModeSpan>& modes,
          Samples& samples, const Trajectory& run, std::vector<std::string>& files) {
  if (!pictures.over_time) return;
  const auto& states = samples.finish();
  if (states.empty()) throw InvalidInput("there is no picture: the run has no state");
  const std::vector<int> columns = pictures.sampled();
  const std::vector<DrawnColumn> all = drawn_columns(model);
  std::vector<DrawnColumn> drawn;
  for (const int column : columns) drawn.push_back(all[static_cast<std::size_t>(column)]);
  RunPlot plot{model, drawn, pictures.panels, within(modes, pictures.window),
               curves(states, drawn, ColumnValues(model, columns), modes, run.events),
               run.status == Status::no_solution};
  if (pictures.phase) {
    const auto place = [&](int column) {
      return static_cast<int>(std::find(columns.begin(), columns.end(), column) - columns.begin());
    };
    draw_phase(*pictures.phase, plot, place(pictures.horizontal), place(pictures.vertical));
    files.push_back(pictures.phase->file());
  }
  // What only the phase picture needs stands at the end.
  const auto count = static_cast<Eigen::Index>(pictures.drawn.size());
  plot.drawn.resize(pictures.drawn.size());
  for (Curves::Row& row : plot.curves.rows) row.x.conservativeResize(count);
  std::erase_if(plot.curves.jumps, [&](const Curves::Jump& jump) { return jump.curve >= count; });
  draw_over_time(*pictures.over_time, plot);
  files.push_back(pictures.over_time->file());
}

}  // namespace perp::io
