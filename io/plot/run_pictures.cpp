// The pictures of a run, from the states that were sampled of it.
#include <fmt/format.h>
#include <algorithm>

#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/io/files/trajectory_file.hpp>
#include <perp/io/plot/field/field_plot.hpp>
#include <perp/io/plot/phase/phase_plot.hpp>
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

/// The columns as they are drawn.
std::vector<DrawnColumn> drawn_of(const RunPictures& pictures, const Model& model) {
  const std::vector<DrawnColumn> all = drawn_columns(model);
  std::vector<DrawnColumn> drawn;
  for (const int column : pictures.sampled()) {
    drawn.push_back(all[static_cast<std::size_t>(column)]);
    drawn.back().is_logarithmic = std::ranges::find(pictures.logarithmic, column) != pictures.logarithmic.end();
  }
  return drawn;
}

/// The states of a recorded run within the window. Throws InvalidInput where it has none of the columns.
OtherRun other_run(const std::string& file, const std::vector<DrawnColumn>& drawn, const Span& window) {
  std::vector<std::string> names;
  for (const DrawnColumn& column : drawn) names.push_back(column.name);
  const GridStates states = read_trajectory(file, names).states;
  OtherRun other{.name = file};
  bool has_any = false;
  for (std::size_t k = 0; k < states.size(); ++k) {
    if (states.t(k) < window.start || states.t(k) > window.end) continue;
    other.t.push_back(states.t(k));
    other.x.push_back(states.x(k));
    has_any = has_any || !other.x.back().array().isNaN().all();
  }
  if (!has_any)
    throw InvalidInput(fmt::format("--plot-with {}: it has none of the columns that are drawn at these times: {}", file, fmt::join(names, ", ")));
  return other;
}

PhaseDrawing drawing_of(const RunPictures& pictures, const RunPlot& plot, const PhaseLayers& layers) {
  const std::vector<int> columns = pictures.sampled();
  std::vector<PhasePath> paths{{plot.curves, plot.modes}};
  for (const Model& other : layers.starts) {
    paths.push_back(phase_path(other, columns, pictures.window));
    paths.back().modes = within(std::move(paths.back().modes), pictures.window);
  }
  const auto place = [&](int column) {
    return static_cast<int>(std::ranges::find(columns, column) - columns.begin());
  };
  return phase_drawing(plot, paths, layers, place(pictures.horizontal), place(pictures.vertical));
}

/// A run that is interrupted is drawn, without what is still to be computed.
void draw_phase(const RunPictures& pictures, const RunPlot& plot) {
  try {
    draw_phase(*pictures.phase, plot, drawing_of(pictures, plot, interruption_requested() ? PhaseLayers{} : pictures.layers));
  } catch (const Interrupted&) {
    draw_phase(*pictures.phase, plot, drawing_of(pictures, plot, {}));
  }
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
          Samples& samples, FieldSamples& field, const Trajectory& run, std::vector<std::string>& files) {
  if (!pictures.over_time) return;
  const auto& states = samples.finish();
  if (states.empty()) throw InvalidInput("there is no picture: the run has no state");
  const std::vector<DrawnColumn> drawn = drawn_of(pictures, model);
  RunPlot plot{model, drawn, pictures.panels, within(modes, pictures.window),
               curves(states, drawn, ColumnValues(model, pictures.sampled()), modes, run.events),
               run.status == Status::no_solution, pictures.is_time_logarithmic, {}, modes};
  if (pictures.phase) {
    draw_phase(pictures, plot);
    files.push_back(pictures.phase->file());
  }
  // What only the phase picture needs stands at the end.
  const auto count = static_cast<Eigen::Index>(pictures.drawn.size());
  plot.drawn.resize(pictures.drawn.size());
  for (Curves::Row& row : plot.curves.rows) row.x.conservativeResize(count);
  std::erase_if(plot.curves.jumps, [&](const Curves::Jump& jump) { return jump.curve >= count; });
  for (const std::string& file : pictures.others) plot.others.push_back(other_run(file, plot.drawn, pictures.window));
  draw_over_time(*pictures.over_time, plot);
  files.push_back(pictures.over_time->file());
  if (!pictures.field) return;
  draw_field(*pictures.field, {model.name, pictures.array, field.finish(), std::min(pictures.window.end, run.t.back())});
  files.push_back(pictures.field->file());
}

}  // namespace perp::io
