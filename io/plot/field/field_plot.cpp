// Pictures of arrays: cells of colour.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/io/plot/blocks/block_drawing.hpp>
#include <perp/io/plot/field/field_plot.hpp>

namespace perp::io {
namespace {

/// What a picture of cells is made of.
struct Parts {
  BlockDrawing drawing;
  std::string script, data;
};

/// Of all values that are drawn.
Range values_of(const FieldPlot& plot) {
  Range values{inf, -inf};
  for (const FieldSamples::State& state : plot.states)
    for (const double value : state.values)
      if (std::isfinite(value)) values = {std::min(values.lower, value), std::max(values.upper, value)};
  return values;
}

/// "x y value x0 x1 y0 y1" of a cell that reaches half a stride beyond its indices.
std::string cell(double x, double y, double value, const Range& across, double half) {
  return fmt::format("{} {} {} {} {} {} {}\n", x, y, value, across.lower, across.upper, y - half, y + half);
}

/// The commands that all panels share. A range of one value is left to gnuplot.
std::string style(const FieldPlot& plot, const Range& values) {
  const std::string scale = values.lower < values.upper ? fmt::format("set cbrange [{}:{}]\n", values.lower, values.upper) : "";
  return fmt::format(
      "set border 15 lw 0.8 lc rgb '#333333' front\nset tics out nomirror scale 0.6 textcolor rgb '#333333' front\nunset key\n"
      "set cblabel {} noenhanced\n{}{}",
      gnuplot_text(with_unit(plot.array.name, plot.array.unit)), scale, palette_of_cells());
}

/// Each cell reaches a little into the next ones, which are drawn later: no background is seen between them.
std::string cells_of(std::size_t block) {
  return fmt::format(
      "plot data index {} using 1:2:4:($5+0.2*($5-$4)):6:($7+0.2*($7-$6)):3 with boxxyerror fc palette fs solid noborder notitle\n", block);
}

/// From half a stride below the least to half a stride above the greatest element.
std::string index_range(const char* letter, const FieldPlot& plot, int ArrayColumns::Element::*index, int stride) {
  const auto [least, greatest] = std::ranges::minmax(plot.array.drawn, {}, index);
  return fmt::format("set {}range [{}:{}]\n", letter, least.*index - 0.5 * stride, greatest.*index + 0.5 * stride);
}

/// One index: each state is a column of cells up to the next one.
Parts over_time(const FieldPlot& plot, const Picture& picture, const Range& values) {
  const ArrayColumns& array = plot.array;
  std::string rows;
  for (std::size_t k = 0; k < plot.states.size(); ++k) {
    const FieldSamples::State& state = plot.states[k];
    const double next = k + 1 < plot.states.size() ? plot.states[k + 1].t : plot.end;
    if (k > 0 && !(next > state.t)) break;  // the last state, at the end
    for (std::size_t e = 0; e < array.drawn.size(); ++e)
      rows += cell(state.t, array.drawn[e].i, state.values[static_cast<Eigen::Index>(e)], {state.t, next}, 0.5 * array.stride_i);
  }
  const DrawnAxes axes{.x_label = "t", .y_label = "index of " + array.name};
  const double start = plot.states.front().t;
  return {{plot.title, {axes}, {{.kind = DrawnBlock::Kind::cells, .name = with_unit(array.name, array.unit), .values = values}}},
          picture.preamble(900, 560) + style(plot, values) +
              fmt::format("set title {} noenhanced font ',14'\nset xlabel 't'\nset ylabel {} noenhanced\n{}{}", gnuplot_text(plot.title),
                          gnuplot_text(axes.y_label), plot.end > start ? fmt::format("set xrange [{}:{}]\n", start, plot.end) : "",
                          index_range("y", plot, &ArrayColumns::Element::i, array.stride_i)) +
              cells_of(0),
          data_block(array.name + ": t, index, value, ends of the cell", rows)};
}

/// Two indices: a panel for each state, in rows of three.
Parts over_indices(const FieldPlot& plot, const Picture& picture, const Range& values) {
  const ArrayColumns& array = plot.array;
  const std::string name = with_unit(array.name, array.unit);
  const std::size_t rows = (plot.states.size() + 2) / 3;
  const int height = static_cast<int>(60 + 320 * rows);
  Parts parts{{.title = plot.title},
              picture.preamble(1000, height) + style(plot, values) +
                  index_range("x", plot, &ArrayColumns::Element::i, array.stride_i) + index_range("y", plot, &ArrayColumns::Element::j, array.stride_j) +
                  fmt::format("set size ratio -1\nset multiplot layout {},3 title {} noenhanced font ',14' margins 0.06,0.89,{},{} spacing 0.05,{}\n"
                              "set colorbox user origin 0.91,0.2 size 0.018,0.6\n",
                              rows, gnuplot_text(plot.title), 55.0 / height, 1 - 75.0 / height, 60.0 / height),
              {}};
  for (std::size_t k = 0; k < plot.states.size(); ++k) {
    const FieldSamples::State& state = plot.states[k];
    const std::string when = fmt::format("t = {:.6g}", state.t);
    std::string cells;
    for (std::size_t e = 0; e < array.drawn.size(); ++e) {
      const double i = array.drawn[e].i, half = 0.5 * array.stride_i;
      cells += cell(i, array.drawn[e].j, state.values[static_cast<Eigen::Index>(e)], {i - half, i + half}, 0.5 * array.stride_j);
    }
    parts.data += data_block(fmt::format("{} at {}: both indices, value, ends of the cell", array.name, when), cells);
    parts.script += fmt::format("set title '{}'\nset xlabel '{}'\nset ylabel '{}'\n", when, k + 3 >= plot.states.size() ? "first index" : "",
                                k % 3 == 0 ? "second index" : "") + cells_of(k) + "unset colorbox\n";
    parts.drawing.panels.push_back({.x_label = "first index", .y_label = "second index, " + when});
    parts.drawing.blocks.push_back({.kind = DrawnBlock::Kind::cells, .name = name, .panel = static_cast<int>(k), .values = values});
  }
  parts.script += "unset multiplot\n";
  return parts;
}

}  // namespace

void draw_field(const Picture& picture, const FieldPlot& plot) {
  if (plot.states.empty()) throw InvalidInput("there is no picture: the run has no state at these times");
  const Range values = values_of(plot);
  if (!(values.lower <= values.upper)) throw InvalidInput(fmt::format("there is no picture: {} has no value", plot.array.name));
  const Parts parts = plot.array.has_two ? over_indices(plot, picture, values) : over_time(plot, picture, values);
  draw_blocks(picture, parts.drawing, parts.script, parts.data);
}

}  // namespace perp::io
