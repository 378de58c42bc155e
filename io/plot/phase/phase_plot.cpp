// Phase pictures as blocks of data and scripts of gnuplot.
#include <fmt/format.h>
#include <algorithm>

#include <perp/io/plot/blocks/block_drawing.hpp>
#include <perp/io/plot/phase/phase_plot.hpp>

namespace perp::io {
namespace {

constexpr int width = 760, panel_height = 560, row_height = 22, left = 92, letter = 9;

using Point = PlanePoint;
using Kind = DrawnBlock::Kind;

std::string point_rows(const std::vector<Point>& points) {
  std::string rows;
  for (const Point& point : points) rows += fmt::format("{} {}\n", point.x, point.y);
  return rows;
}

std::string vector_rows(const PhaseDrawing::Vectors& list) {
  std::string rows;
  for (const auto& [from, to] : list) rows += fmt::format("{} {} {} {}\n", from.x, from.y, to.x - from.x, to.y - from.y);
  return rows;
}

std::string piece_rows(const std::vector<std::vector<Point>>& pieces) {
  std::string rows;
  for (const auto& piece : pieces) rows += (rows.empty() ? "" : "\n") + point_rows(piece);
  return rows;
}

/// Blocks of data and the commands that draw them, in the order in which they are drawn.
struct Script {
  std::string data{}, plots{};
  int blocks = 0;
  int entries = 0;           ///< of the legend
  std::size_t longest = 16;  ///< of their names
  std::vector<DrawnBlock> looks{};  ///< for matplotlib and pages

  /// `how`: behind the block's index; `look`, without the name, the same for matplotlib and pages.
  void add(const std::string& comment, const std::string& rows, const std::string& how, const std::string& name, DrawnBlock look) {
    look.name = name;
    looks.push_back(std::move(look));
    data += data_block(fmt::format("index {}: {}", blocks, comment), rows);
    draw(blocks++, how, name);
  }
  void draw(int block, const std::string& how, const std::string& name) {
    plots += fmt::format("{}data index {} {} {}", plots.empty() ? "" : ", \\\n     ", block, how,
                         name.empty() ? "notitle" : "title " + gnuplot_text(name));
    if (name.empty()) return;
    ++entries;
    longest = std::max(longest, name.size());
  }
};

/// What lies below the paths.
void add_layers(const PhaseDrawing& drawing, Script& script) {
  if (!drawing.flow.empty())
    script.add("flow, x y dx dy", vector_rows(drawing.flow),
               "using 1:2:3:4 with vectors head filled size screen 0.008,18 fixed lw 1 lc rgb '#9A9A9A'", drawing.flow_name,
               {.kind = Kind::arrows, .colour = "#9A9A9A", .size = 0.7});
  for (const PhaseDrawing::Lines& surface : drawing.surfaces)
    script.add(surface.name, piece_rows(surface.pieces),
               fmt::format("with lines lw 2 dt (8,4) lc rgb '{}'", surface.colour), surface.name,
               {.kind = Kind::dashed, .colour = surface.colour, .size = 1.3});
}

void add_paths(const PhaseDrawing& drawing, Script& script) {
  for (const PhaseDrawing::Lines& mode : drawing.modes)
    script.add("path, " + mode.name, piece_rows(mode.pieces),
               fmt::format("with lines lw {} lc rgb '{}'", mode.is_wide ? 4 : 2, mode.colour), mode.name,
               {.kind = Kind::line, .colour = mode.colour, .size = mode.is_wide ? 2.6 : 1.3});
  script.add("direction, x y dx dy", vector_rows(drawing.directions),
             "using 1:2:3:4 with vectors head filled size screen 0.016,22 fixed lw 1.5 lc rgb '#000000'", "",
             {.kind = Kind::arrows, .colour = "#000000"});
  if (drawing.jumps.empty()) return;
  // A jump is dotted and has its arrow in the middle.
  script.add("jumps, x y dx dy", vector_rows(drawing.jumps),
             "using 1:2:3:4 with vectors nohead lw 2 dt (1.5,3.5) lc rgb '#555555'", "jump",
             {.kind = Kind::jumps, .colour = "#555555", .size = 1.3});
  script.draw(script.blocks - 1,
              "using ($1 + 0.5*$3):($2 + 0.5*$4):(0.03*$3):(0.03*$4) with vectors head nofilled size screen "
              "0.016,22 fixed lw 1.5 lc rgb '#555555'", "");
}

void add_points(const PhaseDrawing& drawing, Script& script) {
  script.add("start", point_rows(drawing.starts), "with points pt 7 ps 1.2 lc rgb '#FFFFFF'", "",
             {.kind = Kind::hollow, .colour = "#000000", .size = 7});
  script.looks.back().name = "start";
  script.draw(script.blocks - 1, "with points pt 6 ps 1.2 lw 2 lc rgb '#000000'", "start");
  script.add("end", point_rows(drawing.ends), "with points pt 5 ps 1.1 lc rgb '#000000'", "end",
             {.kind = Kind::full, .colour = "#000000", .size = 7});
  for (const PhaseDrawing::Marks& marks : drawing.equilibria)
    script.add(marks.name, point_rows(marks.points),
               fmt::format("with points pt {} ps 1.5 lw 2.5 lc rgb '{}'", marks.sign, marks.colour), marks.name,
               {.kind = marks.sign == 6 ? Kind::hollow : Kind::full, .colour = marks.colour, .size = 8});
}

/// Does it show more than runs?
bool has_layers(const PhaseDrawing& drawing) {
  return !drawing.flow.empty() || !drawing.surfaces.empty() || !drawing.equilibria.empty();
}

std::string settings(const PhaseDrawing& drawing, const RunPlot& plot, const Picture& picture, const Script& script) {
  const int columns = std::clamp((width - left) / (70 + letter * static_cast<int>(script.longest)), 1, 3);
  const int rows = (script.entries + columns - 1) / columns;
  const int height = 46 + panel_height + 60 + rows * row_height + 12;
  const bool is_framed = has_layers(drawing);
  const auto range = [&](const Range& of) {
    return is_framed ? fmt::format("[{}:{}]", of.lower, of.upper) : axis_range(of.lower, of.upper);
  };
  const std::string margins = drawing.is_x_logarithmic || drawing.is_y_logarithmic || is_framed
                                  ? ""
                                  : "set offsets graph 0.04, graph 0.04, graph 0.04, graph 0.04\n";
  return picture.preamble(width, height) +
         fmt::format(
             "set title {} noenhanced font ',14'\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n"
             "set border 3 lw 0.8 lc rgb '#333333'\n"
             "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
             "set grid back lt 1 lw 0.5 lc rgb '#D0D0D0'\n{}{}{}set xrange {}\nset yrange {}\n"
             "set lmargin at screen {:.4f}\nset rmargin at screen 0.97\nset tmargin at screen {:.4f}\n"
             "set bmargin at screen {:.4f}\n"
             "set key at screen {:.4f},{:.4f} left bottom vertical maxcols {} maxrows {} noenhanced "
             "reverse Left samplen 2.2 spacing 1.2\n\nplot ",
             gnuplot_text(plot.model.name), gnuplot_text(drawing.x_label), gnuplot_text(drawing.y_label),
             drawing.is_x_logarithmic ? "set logscale x\n" : "", drawing.is_y_logarithmic ? "set logscale y\n" : "", margins,
             range(drawing.x), range(drawing.y), static_cast<double>(left) / width, 1 - 46.0 / height,
             1 - static_cast<double>(46 + panel_height) / height, static_cast<double>(left) / width, 12.0 / height, columns, rows);
}

}  // namespace

void draw_phase(const Picture& picture, const RunPlot& plot, const PhaseDrawing& drawing) {
  Script script;
  add_layers(drawing, script);
  add_paths(drawing, script);
  add_points(drawing, script);
  const DrawnAxes axes{.x_label = drawing.x_label,
                       .y_label = drawing.y_label,
                       .is_x_logarithmic = drawing.is_x_logarithmic,
                       .is_y_logarithmic = drawing.is_y_logarithmic,
                       .x = drawing.x,
                       .y = drawing.y};
  draw_blocks(picture, {plot.model.name, {axes}, script.looks}, settings(drawing, plot, picture, script) + script.plots + "\n", script.data);
}

}  // namespace perp::io
