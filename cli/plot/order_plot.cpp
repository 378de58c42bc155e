#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/cli/plot/order_plot.hpp>
#include <perp/core/error.hpp>
#include <perp/core/types.hpp>

namespace perp::cli {

void draw_order(const Picture& picture, const OrderPlot& plot) {
  std::string in_fit, others, line;
  double low = inf;
  double high = 0;
  bool any = false;
  for (const auto& point : plot.points) {
    low = std::min(low, point.h);
    high = std::max(high, point.h);
    if (!(point.error > 0)) continue;  // 0 has no logarithm
    any = true;
    (point.fitted ? in_fit : others) += fmt::format("{} {}\n", point.h, point.error);
  }
  if (!any) throw InvalidInput("there is no picture: every error is exactly 0");
  if (plot.has_fit)
    for (const double h : {low, high})
      line += fmt::format("{} {}\n", h, plot.factor * std::pow(h, plot.order));
  const std::string data =
      data_block("index 0, in the fit: h error", in_fit) +
      data_block("index 1, not in the fit (rounding errors): h error", others) +
      data_block("index 2, the fit: h error", line);
  std::string script = picture.preamble(760, 560);
  script += fmt::format(
      "set title {} noenhanced font ',14'\nset xlabel 'step length h'\nset ylabel {} noenhanced\n"
      "set logscale xy\nset format xy '10^{{%T}}'\nset mxtics 10\nset mytics 10\n"
      "set xrange [{}:{}]\nset lmargin at screen 0.12\nset rmargin at screen 0.96\n"
      "set tmargin at screen 0.91\nset bmargin at screen 0.18\n"
      "set border 3 lw 0.8 lc rgb '#333333'\n"
      "set tics nomirror out scale 0.8,0.4 textcolor rgb '#333333'\n"
      "set grid back lt 1 lw 0.5 lc rgb '#D0D0D0'\n"
      "set key noenhanced at screen 0.12,0.02 left bottom horizontal reverse Left samplen 2.5 "
      "spacing 1.2\n",
      gnuplot_text(plot.title), gnuplot_text(plot.error), low / 1.3, high * 1.3);
  script += "\nplot ";
  if (plot.has_fit)
    script += fmt::format(
        "data index 2 with lines lw 2 lc rgb '{}' title 'fitted order {:.2f}', \\\n     ",
        curve_colour(1), plot.order);
  if (!in_fit.empty())
    script += fmt::format("data index 0 with points pt 7 ps 1.1 lc rgb '{}' title 'error'",
                          curve_colour(0));
  if (!others.empty())
    script += fmt::format(
        "{}data index 1 with points pt 6 ps 1.1 lw 1.5 lc rgb '#777777' title 'rounding errors'",
        in_fit.empty() ? "" : ", \\\n     ");
  picture.draw(script + "\n", data);
}

}  // namespace perp::cli
