#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>

#include <perp/core/base/error.hpp>
#include <perp/io/plot/blocks/block_drawing.hpp>
#include <perp/io/plot/map_plot.hpp>

namespace perp::io {
namespace {

// Told apart by lightness as well as by hue (after Okabe and Ito); the last one is what all further
// regions share.
constexpr std::array<const char*, 12> region_colours{"#56B4E9", "#009E73", "#E69F00", "#CC79A7",
                                                     "#0072B2", "#F0E442", "#D55E00", "#B5CF9B",
                                                     "#7A5BA6", "#F7C8B0", "#4D4D4D", "#A0522D"};
constexpr const char* further = "#DDDDDD";

struct Legend {
  std::vector<std::size_t> colour_of;  ///< of each region
  std::vector<std::string> texts, colours;
};

Legend legend_of(const ParameterMap& map) {
  std::vector<long> counts(map.regions.size(), 0);
  for (const int region : map.region) ++counts[static_cast<std::size_t>(region)];
  std::vector<std::size_t> largest(counts.size());
  std::iota(largest.begin(), largest.end(), std::size_t{0});
  std::stable_sort(largest.begin(), largest.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  const std::size_t own = std::min(region_colours.size(), counts.size());
  Legend legend{std::vector<std::size_t>(counts.size(), own), {}, {}};
  for (std::size_t k = 0; k < own; ++k) {
    legend.colour_of[largest[k]] = k;
    legend.texts.push_back(fmt::format("{} ({})", map.regions[largest[k]], counts[largest[k]]));
    legend.colours.emplace_back(region_colours[k]);
  }
  if (own < counts.size()) {
    long rest = 0;
    for (std::size_t k = own; k < counts.size(); ++k) rest += counts[largest[k]];
    legend.texts.push_back(fmt::format("{} further regions ({})", counts.size() - own, rest));
    legend.colours.emplace_back(further);
  }
  return legend;
}

/// What the cells of an axis reach, half of a step around each value.
struct CellEnds {
  const MapAxis& axis;
  [[nodiscard]] double operator()(double place) const {
    return axis.first + (place - 0.5) * (axis.last - axis.first) / (axis.count - 1);
  }
};

/// The cells of each entry of the legend, neighbours of one row together: x0 x1 y0 y1.
std::vector<std::string> rows_of(const ParameterMap& map, const Legend& legend) {
  const auto columns = static_cast<std::size_t>(map.axes[0].count);
  const std::size_t rows = map.points() / columns;
  const CellEnds x{map.axes[0]};
  std::vector<std::string> texts(legend.texts.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto colour_of = [&](std::size_t column) {
      return legend.colour_of[static_cast<std::size_t>(map.region[column * rows + row])];
    };
    const bool is_strip = map.axes.size() == 1;
    const double low = is_strip ? -0.5 : CellEnds{map.axes[1]}(static_cast<double>(row));
    const double high = is_strip ? 0.5 : CellEnds{map.axes[1]}(static_cast<double>(row) + 1);
    for (std::size_t from = 0, to = 0; from < columns; from = to) {
      while (to < columns && colour_of(to) == colour_of(from)) ++to;
      texts[colour_of(from)] += fmt::format("{} {} {} {}\n", x(static_cast<double>(from)), x(static_cast<double>(to)), low, high);
    }
  }
  return texts;
}

/// "set xrange [-2:2]" and the label.
std::string range_of(const char* letter, const MapAxis& axis) {
  const double half = (axis.last - axis.first) / (axis.count - 1) / 2;
  return fmt::format("set {0}range [{1}:{2}]\nset {0}label {3} noenhanced\n", letter,
                     std::min(axis.first - half, axis.last + half),
                     std::max(axis.first - half, axis.last + half), gnuplot_text(axis.name));
}

}  // namespace

void check_drawable(const std::vector<MapAxis>& axes) {
  if (axes.size() > 2)
    throw InvalidInput(fmt::format(
        "--plot draws one or two --vary but there are {}; leave it out, the data hold them all",
        axes.size()));
}

void draw_map(const Picture& picture, const ParameterMap& map, const std::string& title,
              const std::string& meaning) {
  check_drawable(map.axes);
  const bool is_strip = map.axes.size() == 1;
  const Legend legend = legend_of(map);
  const int entries = static_cast<int>(legend.texts.size());
  const int height = (is_strip ? 225 : 625) + 22 * entries;
  const double bottom = (22.0 * entries + 100) / height;
  std::string script = picture.preamble(700, height);
  script += fmt::format(
      "set title {} noenhanced font ',14'\n{}{}"
      "set lmargin at screen 0.12\nset rmargin at screen 0.96\nset tmargin at screen {}\n"
      "set bmargin at screen {}\nset border 15 lw 0.8 lc rgb '#333333' front\n"
      "set tics out nomirror scale 0.8,0.4 textcolor rgb '#333333' front\nunset colorbox\n"
      "set key noenhanced at screen 0.12,0.02 left bottom vertical maxcols 1 reverse Left "
      "samplen 2 spacing 1.2 title {} left\n{}",
      gnuplot_text(title), range_of("x", map.axes[0]),
      is_strip ? "set yrange [-0.5:0.5]\n" : range_of("y", map.axes[1]), 1 - 45.0 / height, bottom,
      gnuplot_text(meaning), is_strip ? "unset ytics\n" : "");
  BlockDrawing drawing{.title = title};
  drawing.panels.push_back({.x_label = map.axes[0].name, .y_label = is_strip ? "" : map.axes[1].name});
  const std::vector<std::string> rows = rows_of(map, legend);
  std::string data, layers;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::string& colour = legend.colours[k];
    data += data_block(legend.texts[k] + ": ends of its cells, x0 x1 y0 y1", rows[k]);
    drawing.blocks.push_back({.kind = DrawnBlock::Kind::areas, .name = legend.texts[k], .colour = colour});
    layers += fmt::format("{}data index {} using 1:3:1:2:3:4 with boxxyerror fc rgb '{}' lw 0.3 fs solid border lc rgb '{}' title {}",
                          k == 0 ? "" : ", \\\n     ", k, colour, colour, gnuplot_text(legend.texts[k]));
  }
  draw_blocks(picture, drawing, script + "\nplot " + layers + "\n", data);
}

}  // namespace perp::io
