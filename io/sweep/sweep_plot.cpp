#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <perp/analysis/sweep/contours.hpp>
#include <perp/analysis/sweep/kept_states.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/plot/blocks/block_drawing.hpp>
#include <perp/io/plot/mode_colours.hpp>
#include <perp/io/sweep/sweep_plot.hpp>

namespace perp::io {
namespace {

constexpr long few_points = 3000;  ///< of a bifurcation diagram: larger dots

/// Of what is varied, with its unit where it is the start of a variable.
std::string axis_name(const SweepRequest& request, const Model& model, std::size_t axis) {
  const std::string name = request.points.names().at(axis);
  const auto variable = std::ranges::find(model.variables, name, &Variable::name);
  return variable == model.variables.end() ? name : with_unit(name, variable->unit);
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "NaN"; }

/// What all these pictures share with those of runs.
std::string style(const std::string& title) {
  return fmt::format(
      "set title {} noenhanced font ',14'\nset border 3 lw 0.8 lc rgb '#333333'\n"
      "set tics nomirror out scale 0.6 textcolor rgb '#333333'\nset grid back lt 1 lw 0.5 lc rgb '#D0D0D0'\n"
      "set key noenhanced reverse Left outside right top samplen 2.2 spacing 1.2\n",
      gnuplot_text(title));
}

/// "value measure" of the runs of one direction; both directions where there is one only.
std::string curve_rows(const SweepRequest& request, const SweepResult& result, std::size_t measure, bool is_down) {
  std::string rows;
  for (const SweepRun& run : result.runs)
    if (request.follow != Follow::both || run.is_down == is_down)
      rows += fmt::format("{} {}\n", request.points.values(run.point)[0],
                          measure < run.measures.size() ? number(run.measures[measure].value) : "NaN");
  return rows;
}

std::string rows_without_value(const SweepRequest& request, const SweepResult& result) {
  std::string rows;
  for (const SweepRun& run : result.runs)
    if (std::any_of(run.measures.begin(), run.measures.end(), [](const MeasureResult& m) { return !m.value; }))
      rows += fmt::format("{} 0\n", request.points.values(run.point)[0]);
  return rows;
}

/// What the legend adds to a measure where runs go both ways.
const char* way_of(int directions, int down) {
  if (directions == 1) return "";
  return down == 1 ? ", down" : ", up";
}

/// One block for each measure and direction; runs without a value are crosses on the axis.
void draw_curve(const Picture& picture, const SweepRequest& request, const Model& model, const SweepResult& result) {
  std::string data, layers;
  std::vector<DrawnBlock> blocks;
  const int directions = request.follow == Follow::both ? 2 : 1;
  std::size_t block = 0;
  for (std::size_t k = 0; k < result.measures.size(); ++k)
    for (int down = 0; down < directions; ++down, ++block) {
      const std::string label = result.measures[k] + way_of(directions, down);
      data += data_block(label, curve_rows(request, result, k, down == 1));
      layers += fmt::format("data index {} with linespoints pt 7 ps 0.4 lw 1.5 lc rgb '{}' title {}, \\\n     ", block,
                            curve_colour(block), gnuplot_text(label));
      blocks.push_back({DrawnBlock::Kind::joined, label, curve_colour(block), 3});
    }
  const std::string missing = rows_without_value(request, result);
  data += data_block("runs without a value", missing);
  layers += fmt::format("data index {} axes x1y2 with points pt 2 lc rgb '#777777' {}", block,
                        missing.empty() ? "notitle" : "title 'no value'");
  blocks.push_back({DrawnBlock::Kind::crosses, missing.empty() ? "" : "no value", "#777777", 6});
  const std::string label = result.measures.size() == 1 ? result.measures[0] : "";
  const std::string script = picture.preamble(900, 560) + style(model.name) +
                             fmt::format("set xlabel {} noenhanced\nset ylabel {} noenhanced\nset y2range [0:1]\n"
                                         "set offsets 0, 0, graph 0.03, graph 0.03\nplot {}\n",
                                         gnuplot_text(axis_name(request, model, 0)), gnuplot_text(label), layers);
  draw_blocks(picture, {model.name, {{.x_label = axis_name(request, model, 0), .y_label = label}}, blocks}, script, data);
}

/// Points of a bifurcation diagram in one colour.
struct Dots {
  std::string name{}, colour{};
  std::string rows{};  ///< "value x"
};

/// All points that `place` says belong to these.
template <class Place>
void add_dots(const SweepRequest& request, const SweepResult& result, int variable, std::vector<Dots>& dots, const Place& place) {
  for (const SweepRun& run : result.runs)
    for (const SectionPoint& point : run.section)
      dots[place(run, point)].rows += fmt::format("{} {}\n", request.points.values(run.point)[0], point.x[variable]);
}

/// Up and down.
std::vector<Dots> dots_of_directions(const SweepRequest& request, const SweepResult& result, int variable) {
  std::vector<Dots> dots{{"up", curve_colour(0)}, {"down", curve_colour(1)}};
  add_dots(request, result, variable, dots,
           [](const SweepRun& run, const SectionPoint& /*point*/) { return run.is_down ? std::size_t{1} : std::size_t{0}; });
  return dots;
}

/// One for each mode in which a run came to the section, in the order in which they appear.
std::vector<Dots> dots_of_modes(const SweepRequest& request, const Model& model, const SweepResult& result, int variable) {
  std::vector<ModeSpan> met;
  for (const SweepRun& run : result.runs)
    for (const SectionPoint& point : run.section)
      if (met.empty() || met.back().mode != point.mode) met.push_back({.mode = point.mode});
  const ModeColours colours(model.laws(), met, met);
  std::vector<Dots> dots;
  for (const ModeColours::Entry& entry : colours.entries()) dots.push_back({entry.text, entry.strong});
  add_dots(request, result, variable, dots,
           [&colours](const SweepRun& /*run*/, const SectionPoint& point) { return colours.index(point.mode); });
  return dots;
}

/// The points of the section, by mode or by direction.
std::vector<Dots> dots_of(const SweepDrawing& drawing, const SweepRequest& request, const Model& model, const SweepResult& result) {
  return drawing.by_mode ? dots_of_modes(request, model, result, drawing.variable)
                         : dots_of_directions(request, result, drawing.variable);
}

/// How many they are. Throws InvalidInput where there is none.
std::size_t count_of_points(const SweepResult& result) {
  std::size_t count = 0;
  for (const SweepRun& run : result.runs) count += run.section.size();
  if (count == 0) throw InvalidInput("there is no picture: the section has no point");
  return count;
}

void draw_bifurcation(const Picture& picture, const SweepDrawing& drawing, const SweepRequest& request, const Model& model,
                      const SweepResult& result) {
  const std::vector<Dots> dots = dots_of(drawing, request, model, result);
  const std::size_t count = count_of_points(result);
  const bool has_legend = drawing.by_mode || request.follow == Follow::both;
  const double size = static_cast<long>(count) > few_points ? 0.15 : 0.4;
  std::string layers, data;
  std::vector<DrawnBlock> blocks;
  for (std::size_t k = 0; k < dots.size(); ++k) {
    layers += fmt::format("{}data index {} with points pt 7 ps {} lc rgb '{}' notitle", k == 0 ? "" : ", ", k, size, dots[k].colour);
    if (has_legend) layers += fmt::format(", keyentry with points pt 7 ps 0.8 lc rgb '{}' title {}", dots[k].colour, gnuplot_text(dots[k].name));
    data += data_block(dots[k].name, dots[k].rows);
    blocks.push_back({DrawnBlock::Kind::full, has_legend ? dots[k].name : "", dots[k].colour, 4 * size});
  }
  const auto [first, last] = std::minmax_element(request.points.axes[0].values.begin(), request.points.axes[0].values.end());
  const double margin = 0.02 * (*last - *first);  // points on the frame are seen too
  const Variable& shown = model.variables[static_cast<std::size_t>(drawing.variable)];
  const std::string label = with_unit(shown.name, shown.unit);
  const std::string title = model.name + ", section " + request.section;
  const std::string script =
      picture.preamble(900, 560) + style(title) +
      fmt::format("set xlabel {} noenhanced\nset ylabel {} noenhanced\n"
                  "set xrange [{}:{}]\nset offsets 0, 0, graph 0.03, graph 0.03\nplot {}\n",
                  gnuplot_text(axis_name(request, model, 0)), gnuplot_text(label), *first - margin, *last + margin, layers);
  draw_blocks(picture, {title, {{.x_label = axis_name(request, model, 0), .y_label = label}}, blocks}, script, data);
}

/// The ends of the cell of each value: half-way to its neighbours, and as far beyond the first and the last.
std::map<double, Range> cells_of(const std::vector<double>& values) {
  const std::set<double> sorted(values.begin(), values.end());
  std::map<double, Range> cells;
  for (auto value = sorted.begin(); value != sorted.end(); ++value) {
    const auto after = std::next(value);
    const bool is_first = value == sorted.begin(), is_last = after == sorted.end();
    const double above = is_last ? inf : *after - *value;
    const double below = is_first ? (is_last ? 1 : above) : *value - *std::prev(value);
    cells[*value] = {*value - below / 2, *value + (is_last ? below : above) / 2};
  }
  return cells;
}

/// The values of an axis in their order.
std::vector<double> sorted_values(const SweepAxis& axis) {
  const std::set<double> values(axis.values.begin(), axis.values.end());
  return {values.begin(), values.end()};
}

/// Lines of equal values, linear between the points of the grid: "x y", an empty line behind each piece.
std::string contour_rows(const SweepRequest& request, const SweepResult& result, const ContourLevels& levels) {
  const std::vector<double> x = sorted_values(request.points.axes[0]), y = sorted_values(request.points.axes[1]);
  std::vector<double> values(x.size() * y.size(), nan);
  for (const SweepRun& run : result.runs) {
    const std::vector<double> at = request.points.values(run.point);
    const auto i = std::ranges::lower_bound(x, at[0]) - x.begin(), k = std::ranges::lower_bound(y, at[1]) - y.begin();
    if (!run.measures.empty()) values[static_cast<std::size_t>(i) * y.size() + static_cast<std::size_t>(k)] = run.measures[0].value.value_or(nan);
  }
  std::string rows;
  for (const double level : levels.values)
    for (const auto& piece : contour(x, y, values, level))
      rows += fmt::format("{}{} {}\n{} {}\n", rows.empty() ? "" : "\n", piece[0], piece[1], piece[2], piece[3]);
  return rows;
}

/// Two axes and a colour, a cell around each pair of values; the first axis horizontal. Runs without a value have none.
void draw_heat(const Picture& picture, const SweepRequest& request, const Model& model, const SweepResult& result) {
  std::string rows;
  Range values{inf, -inf};
  const std::map<double, Range> horizontal = cells_of(request.points.axes[0].values);
  const std::map<double, Range> vertical = cells_of(request.points.axes[1].values);
  for (const SweepRun& run : result.runs) {
    const std::vector<double> at = request.points.values(run.point);
    const Range &x = horizontal.at(at[0]), &y = vertical.at(at[1]);
    if (run.measures.empty() || !run.measures[0].value) continue;
    const double value = *run.measures[0].value;
    values = {std::min(values.lower, value), std::max(values.upper, value)};
    rows += fmt::format("{} {} {} {} {} {} {}\n", at[0], at[1], value, x.lower, x.upper, y.lower, y.upper);
  }
  if (rows.empty()) throw InvalidInput("there is no picture: no run has a value");
  const ContourLevels levels = contour_levels(values.lower, values.upper);
  const std::string lines = contour_rows(request, result, levels);
  const std::string name = lines.empty() ? "" : fmt::format("{}, every {:.4g}", result.measures[0], levels.step);
  const DrawnAxes axes{.x_label = axis_name(request, model, 0), .y_label = axis_name(request, model, 1)};
  const std::string script =
      picture.preamble(900, 560) + style(model.name) +
      fmt::format(
          "set xlabel {} noenhanced\nset ylabel {} noenhanced\nset cblabel {} noenhanced\nset xrange [{}:{}]\nset yrange [{}:{}]\n"
          "set key at graph 1, 1.02 right bottom\n{}{}"
          "plot data index 0 using 1:2:4:5:6:7:3 with boxxyerror fc palette fs solid noborder notitle, \\\n"
          "     data index 1 with lines lw 1.2 lc rgb '#000000' {}\n",
          gnuplot_text(axes.x_label), gnuplot_text(axes.y_label), gnuplot_text(result.measures[0]), horizontal.begin()->second.lower,
          horizontal.rbegin()->second.upper, vertical.begin()->second.lower, vertical.rbegin()->second.upper,
          levels.values.empty() ? "" : fmt::format("set cbrange [{}:{}]\nset cbtics {}\n", values.lower, values.upper, levels.step),
          palette_of_cells(),
          name.empty() ? "notitle" : "title " + gnuplot_text(name));
  draw_blocks(picture,
              {model.name, {axes}, {{DrawnBlock::Kind::cells, result.measures[0], "", 1}, {DrawnBlock::Kind::line, name, "#222222", 0.7}}},
              script,
              data_block(result.measures[0] + ": values of both axes, of the measure, ends of the cell", rows) +
                  data_block("lines of equal values", lines));
}

void draw_histogram(const Picture& picture, const SweepRequest& /*request*/, const Model& model,
                    const SweepResult& result) {
  std::vector<double> values;
  for (const SweepRun& run : result.runs)
    if (!run.measures.empty() && run.measures[0].value) values.push_back(*run.measures[0].value);
  if (values.empty()) throw InvalidInput("there is no picture: no run has a value");
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const auto bins = std::clamp<std::size_t>(static_cast<std::size_t>(std::sqrt(static_cast<double>(values.size()))), 5, 60);
  const double width = *high > *low ? (*high - *low) / static_cast<double>(bins) : 1;
  std::vector<long> counts(bins);
  for (const double value : values)
    ++counts[std::min(bins - 1, static_cast<std::size_t>((value - *low) / width))];
  std::string rows;
  for (std::size_t k = 0; k < bins; ++k)
    rows += fmt::format("{} {}\n", *low + (static_cast<double>(k) + 0.5) * width, counts[k]);
  std::string script = picture.preamble(900, 560) + style(model.name);
  script += fmt::format("set xlabel {} noenhanced\nset ylabel 'runs'\nset style fill solid 0.6\n"
                        "set boxwidth {}\nset yrange [0:*]\n",
                        gnuplot_text(result.measures[0]), width);
  draw_blocks(picture,
              {model.name, {{.x_label = result.measures[0], .y_label = "runs"}}, {{DrawnBlock::Kind::bars, "", curve_colour(0), width}}},
              script + fmt::format("plot data index 0 with boxes lc rgb '{}' notitle\n", curve_colour(0)),
              data_block(result.measures[0], rows));
}

/// Median and shares of the runs over time. Runs that ended early count as long as they lasted.
void draw_fan(const Picture& picture, const Model& model, const SweepResult& result, int variable) {
  std::vector<std::vector<SectionPoint>> states;
  for (const SweepRun& run : result.runs) states.push_back(run.kept);
  std::string wide, narrow, median;
  for (const FanRow& row : fan_of(states, variable)) {
    wide += fmt::format("{} {} {} {}\n", row.t, row.lowest, row.highest, row.runs);
    narrow += fmt::format("{} {} {}\n", row.t, row.lower, row.upper);
    median += fmt::format("{} {}\n", row.t, row.median);
  }
  if (median.empty()) throw InvalidInput("there is no picture: no run has a state");
  const Variable& shown = model.variables[static_cast<std::size_t>(variable)];
  const DrawnAxes axes{.x_label = "t", .y_label = with_unit(shown.name, shown.unit)};
  const char* const colour = curve_colour(0);
  const std::string script =
      picture.preamble(900, 560) + style(fmt::format("{}, {} runs", model.name, result.runs.size())) +
      fmt::format("set xlabel 't'\nset ylabel {} noenhanced\nset offsets 0, 0, graph 0.03, graph 0.03\n"
                  "plot data index 0 using 1:2:3 with filledcurves fs transparent solid 0.2 noborder lc rgb '{}' title '90 % of the runs', \\\n"
                  "     data index 1 using 1:2:3 with filledcurves fs transparent solid 0.35 noborder lc rgb '{}' title '50 %', \\\n"
                  "     data index 2 with lines lw 2 lc rgb '{}' title 'median'\n",
                  gnuplot_text(axes.y_label), colour, colour, colour);
  draw_blocks(picture,
              {model.name, {axes},
               {{DrawnBlock::Kind::band, "90 % of the runs", colour, 0}, {DrawnBlock::Kind::band, "50 %", colour, 0},
                {DrawnBlock::Kind::line, "median", colour, 2}}},
              script,
              data_block("t, 5 % and 95 % of the runs, how many they are", wide) + data_block("t, 25 % and 75 %", narrow) +
                  data_block("t, median", median));
}

SweepPlot fitting_plot(const SweepRequest& request) {
  if (!request.section.empty()) return SweepPlot::bifurcation;
  if (request.points.axes.empty()) return SweepPlot::histogram;
  return request.points.axes.size() == 2 ? SweepPlot::heat : SweepPlot::curve;
}

/// Are there two axes whose every combination is one run?
bool is_plane(const SweepRequest& request) {
  const SweepPoints& points = request.points;
  return points.axes.size() == 2 && !points.side_by_side && points.runs == 1 && request.follow != Follow::both;
}

/// What a sweep lacks for a picture of measures; empty: nothing.
std::string lacking_of_measures(SweepPlot kind, const SweepRequest& request) {
  if (request.measures.empty()) return "--measure";
  if (kind == SweepPlot::curve) return request.points.axes.empty() ? "--vary" : "";
  return kind != SweepPlot::heat || is_plane(request) ? "" : "two axes of --vary, without --zip, --runs and --follow both";
}

/// The same of any picture.
std::string lacking(SweepPlot kind, const SweepRequest& request) {
  if (kind == SweepPlot::bifurcation) return request.section.empty() || request.points.axes.empty() ? "--section and --vary" : "";
  if (kind == SweepPlot::fan) return request.points.draws.empty() ? "--random" : "";
  return lacking_of_measures(kind, request);
}

}  // namespace

SweepPlot sweep_plot(const std::string& name, const SweepRequest& request) {
  const std::vector<std::string> names{"curve", "heat", "histogram", "bifurcation", "fan"};
  const SweepPlot kind = name.empty() ? fitting_plot(request)
                                      : static_cast<SweepPlot>(find_name(name, names, "--plot-type"));
  if (const std::string lacks = lacking(kind, request); !lacks.empty())
    throw InvalidInput(
        fmt::format("a picture of type {} needs {}", names[static_cast<std::size_t>(kind)], lacks));
  return kind;
}

bool is_coloured_by_mode(const std::string& name, SweepPlot kind) {
  if (name.empty()) return false;
  find_name(name, std::vector<std::string>{"mode"}, "--colour");
  if (kind != SweepPlot::bifurcation)
    throw InvalidInput("--colour mode is of the points of a section: a picture of type bifurcation has them");
  return true;
}

void draw_sweep(const Picture& picture, const SweepDrawing& drawing, const SweepRequest& request, const Model& model,
                const SweepResult& result) {
  switch (drawing.kind) {
    case SweepPlot::curve: return draw_curve(picture, request, model, result);
    case SweepPlot::heat: return draw_heat(picture, request, model, result);
    case SweepPlot::histogram: return draw_histogram(picture, request, model, result);
    case SweepPlot::fan: return draw_fan(picture, model, result, drawing.variable);
    case SweepPlot::bifurcation: return draw_bifurcation(picture, drawing, request, model, result);
  }
}

}  // namespace perp::io
