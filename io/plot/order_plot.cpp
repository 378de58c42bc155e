#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <perp/core/base/error.hpp>
#include <perp/core/base/types.hpp>
#include <perp/io/plot/blocks/block_drawing.hpp>
#include <perp/io/plot/order_plot.hpp>

namespace perp::io {
namespace {

/// gnuplot's numbers of one symbol, filled and hollow.
struct Symbol {
  int filled, hollow;
};
constexpr std::array<Symbol, 4> symbols{{{7, 6}, {9, 8}, {5, 4}, {13, 12}}};

/// The range of the step lengths that have a point. Throws InvalidInput where there is none.
Range range_of(const OrderPlot& plot) {
  Range range{inf, 0};
  for (const auto& curve : plot.curves)
    for (const auto& point : curve.points) {
      if (!(point.error > 0)) continue;
      range.lower = std::min(range.lower, point.h);
      range.upper = std::max(range.upper, point.h);
    }
  if (range.upper == 0) throw InvalidInput("there is no picture: no run has an error above 0");
  return range;
}

/// Three blocks for each curve: what counts, what does not, the fitted line.
std::string data_of(const OrderPlot& plot) {
  std::string text;
  for (const auto& curve : plot.curves) {
    std::string counted, others, line;
    Range range{inf, 0};
    for (const auto& point : curve.points) {
      if (!(point.error > 0)) continue;
      (point.counts ? counted : others) += fmt::format("{} {}\n", point.h, point.error);
      if (!point.counts) continue;
      range.lower = std::min(range.lower, point.h);
      range.upper = std::max(range.upper, point.h);
    }
    if (curve.has_order)
      for (const double h : {range.lower, range.upper})
        line += fmt::format("{} {}\n", h, curve.factor * std::pow(h, curve.order));
    text += data_block(curve.label + ", counted: h error", counted) +
            data_block(curve.label + ", not counted: h error", others) +
            data_block(curve.label + ", fitted line: h error", line);
  }
  return text;
}

bool has_points(const OrderPlot::Curve& curve, bool counted) {
  return std::any_of(curve.points.begin(), curve.points.end(), [counted](const auto& point) {
    return point.error > 0 && point.counts == counted;
  });
}

std::string entry_of(const OrderPlot::Curve& curve) {
  return "title " + gnuplot_text(curve.label + ": " +
                                 (curve.has_order ? fmt::format("fitted order {:.2f}", curve.order)
                                                  : "no order"));
}

/// The points of curve k, those that count and the others, or that there is none.
std::vector<std::string> point_layers(const OrderPlot::Curve& curve, std::size_t k, double size) {
  const char* colour = curve_colour(curve.colour);
  const Symbol symbol = symbols[curve.symbol % symbols.size()];
  const bool has_counted = has_points(curve, true);
  const bool has_others = has_points(curve, false);
  std::vector<std::string> layers;
  if (has_counted)
    layers.push_back(
        fmt::format("data index {} with points pt {} ps {:.2f} lw 1.5 lc rgb '{}' {}", 3 * k,
                    symbol.filled, size, colour, entry_of(curve)));
  if (has_others)
    layers.push_back(
        fmt::format("data index {} with points pt {} ps {:.2f} lw 1.5 lc rgb '{}' {}", 3 * k + 1,
                    symbol.hollow, size, colour, has_counted ? "notitle" : entry_of(curve)));
  if (layers.empty())
    layers.push_back(fmt::format("keyentry with points pt 2 lc rgb '{}' title {}", colour,
                                 gnuplot_text(curve.label + ": no error above 0")));
  return layers;
}

/// What is plotted: lines below points; of several curves in one place the first has the largest
/// symbols, so that all are seen.
std::vector<std::string> layers_of(const OrderPlot& plot) {
  std::vector<std::string> lines, points;
  bool any_hollow = false;
  for (std::size_t k = 0; k < plot.curves.size(); ++k) {
    const auto& curve = plot.curves[k];
    const auto above = static_cast<double>(plot.curves.size() - 1 - k);
    const double size = 1 + above * std::min(0.3, 2 / static_cast<double>(plot.curves.size()));
    if (curve.has_order)
      lines.push_back(fmt::format("data index {} with lines lw 1.5 dt 2 lc rgb '{}' notitle",
                                  3 * k + 2, curve_colour(curve.colour)));
    std::ranges::move(point_layers(curve, k, size), std::back_inserter(points));
    any_hollow = any_hollow || has_points(curve, false);
  }
  if (any_hollow)
    points.emplace_back(
        "keyentry with points pt 6 lc rgb '#777777' title 'hollow: counts for no order'");
  lines.insert(lines.end(), points.begin(), points.end());
  return lines;
}

/// The blocks of `data_of`.
std::vector<DrawnBlock> blocks_of(const OrderPlot& plot) {
  std::vector<DrawnBlock> blocks;
  for (const auto& curve : plot.curves) {
    const std::string colour = curve_colour(curve.colour);
    const std::string name = curve.label + (curve.has_order ? fmt::format(": fitted order {:.2f}", curve.order) : ": no order");
    const bool has_counted = has_points(curve, true);
    blocks.push_back({DrawnBlock::Kind::full, has_counted ? name : "", colour, 6});
    blocks.push_back({DrawnBlock::Kind::hollow, has_counted ? "" : name, colour, 6});
    blocks.push_back({DrawnBlock::Kind::dashed, "", colour, 1});
  }
  return blocks;
}

}  // namespace

void draw_order(const Picture& picture, const OrderPlot& plot) {
  const Range range = range_of(plot);
  const int entries = static_cast<int>(plot.curves.size()) + 1;
  const int height = 500 + 22 * entries;
  std::string script = picture.preamble(760, height);
  script += fmt::format(
      "set title {} noenhanced font ',14'\nset xlabel 'step length h'\nset ylabel {} noenhanced\n"
      "set logscale xy\nset format xy '10^{{%T}}'\nset mxtics 10\nset mytics 10\n"
      "set xrange [{}:{}]\nset lmargin at screen 0.12\nset rmargin at screen 0.96\n"
      "set tmargin at screen {}\nset bmargin at screen {}\n"
      "set border 3 lw 0.8 lc rgb '#333333'\n"
      "set tics nomirror out scale 0.8,0.4 textcolor rgb '#333333'\n"
      "set grid back lt 1 lw 0.5 lc rgb '#D0D0D0'\n"
      "set key noenhanced at screen 0.12,0.02 left bottom vertical maxcols 1 reverse Left "
      "samplen 2 spacing 1.2\n\nplot",
      gnuplot_text(plot.title), gnuplot_text(plot.error), range.lower / 1.3, range.upper * 1.3,
      1 - 45.0 / height, (22.0 * entries + 70) / height);
  const DrawnAxes axes{.x_label = "step length h", .y_label = plot.error, .is_x_logarithmic = true, .is_y_logarithmic = true};
  draw_blocks(picture, {plot.title, {axes}, blocks_of(plot)}, fmt::format("{} {}\n", script, fmt::join(layers_of(plot), ", \\\n     ")),
              data_of(plot));
}

}  // namespace perp::io
