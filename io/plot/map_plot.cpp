#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>

#include <perp/core/base/error.hpp>
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

/// The colour numbers as a matrix: a line for each value of the second axis.
std::string rows_of(const ParameterMap& map, const Legend& legend) {
  const auto columns = static_cast<std::size_t>(map.axes[0].count);
  const std::size_t rows = map.points() / columns;
  std::string text;
  for (std::size_t k = 0; k < std::max<std::size_t>(rows, 2); ++k) {  // an image has two lines
    const std::size_t row = std::min(k, rows - 1);
    for (std::size_t column = 0; column < columns; ++column) {
      const auto region = static_cast<std::size_t>(map.region[column * rows + row]);
      text += fmt::format("{}{}", legend.colour_of[region], column + 1 < columns ? ' ' : '\n');
    }
  }
  return text;
}

/// "set xrange [-2:2]" and what maps the columns of the matrix on it.
std::string range_of(const char* letter, const MapAxis& axis) {
  const double half = (axis.last - axis.first) / (axis.count - 1) / 2;
  return fmt::format("set {0}range [{1}:{2}]\nset {0}label {3} noenhanced\n", letter,
                     std::min(axis.first - half, axis.last + half),
                     std::max(axis.first - half, axis.last + half), gnuplot_text(axis.name));
}

std::string position_of(const MapAxis& axis, int column) {
  return fmt::format("({} + {} * ${})", axis.first, (axis.last - axis.first) / (axis.count - 1),
                     column);
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
  script += fmt::format("set cbrange [0:{}]\nset palette maxcolors {} defined (",
                        std::max(1, entries - 1), std::max(2, entries));
  for (int k = 0; k < std::max(2, entries); ++k)
    script += fmt::format("{}{} '{}'", k > 0 ? ", " : "", k,
                          legend.colours[static_cast<std::size_t>(std::min(k, entries - 1))]);
  script += fmt::format(")\n\nplot data matrix using {}:{}:3 with image notitle",
                        position_of(map.axes[0], 1),
                        is_strip ? "($2 / 2 - 0.25)" : position_of(map.axes[1], 2));
  for (int k = 0; k < entries; ++k)
    script += fmt::format(", \\\n     keyentry with boxes fs solid 1 noborder fc rgb '{}' title {}",
                          legend.colours[static_cast<std::size_t>(k)],
                          gnuplot_text(legend.texts[static_cast<std::size_t>(k)]));
  const std::string data =
      "# numbers of the legend's entries; a line for each value of the "
      "vertical axis\n" +
      rows_of(map, legend);
  picture.draw(script + "\n", data);
}

}  // namespace perp::io
