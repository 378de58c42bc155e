// A run over time as a page for a browser: called where a picture's file ends in .html.
#include <algorithm>
#include <cmath>

#include <perp/io/plot/html/html_page.hpp>
#include <perp/io/plot/mode_colours.hpp>
#include <perp/io/plot/time/panels.hpp>

namespace perp::io {
namespace {

/// The pieces of a curve between its interruptions.
std::vector<std::vector<std::pair<double, double>>> pieces(const Curves& curves, int curve) {
  std::vector<std::vector<std::pair<double, double>>> lines(1);
  for (const Curves::Row& row : curves.rows) {
    if (!std::isnan(row.x[curve]))
      lines.back().emplace_back(row.t, row.x[curve]);
    else if (!lines.back().empty())
      lines.emplace_back();
  }
  return lines;
}

PageCurve page_curve(const RunPlot& plot, int curve, std::size_t k) {
  const DrawnColumn& column = plot.drawn[static_cast<std::size_t>(curve)];
  PageCurve shown{.name = legend_name(column),
                  .colour = curve_colour(k),
                  .dash = is_algebraic_variable(column) ? "9 5" : "",
                  .lines = pieces(plot.curves, curve)};
  for (const Curves::Jump& jump : plot.curves.jumps)
    if (jump.curve == curve) shown.dotted.push_back({{jump.t, jump.from}, {jump.t, jump.to}});
  return shown;
}

/// The curves of another run in a panel.
PageCurve other_curve(const OtherRun& other, const CurvePanel& panel) {
  PageCurve shown{.name = other.name, .colour = "#222222", .width = 1, .dash = "2 3"};
  for (const int curve : panel.curves) {
    shown.lines.emplace_back();
    for (std::size_t k = 0; k < other.t.size(); ++k) shown.lines.back().emplace_back(other.t[k], other.x[k][curve]);
  }
  return shown;
}

std::vector<PageBand> bands_of(const RunPlot& plot) {
  std::vector<PageBand> bands;
  if (plot.model.laws().empty()) return bands;
  const ModeColours colours(plot.model.laws(), plot.modes, plot.whole);
  for (const ModeSpan& span : plot.modes)
    if (span.end > span.start) {
      const ModeColours::Entry& entry = colours.entries()[colours.index(span.mode)];
      bands.push_back({{span.start, span.end}, entry.text, entry.light});
    }
  return bands;
}

}  // namespace

std::string page_over_time(const RunPlot& plot) {
  Page page{.title = plot.model.name};
  const Range times = shown_times(plot);
  const std::vector<PageBand> bands = bands_of(plot);
  for (const CurvePanel& panel : panels_of(plot)) {
    PagePanel shown{.x_label = "t",
                    .y_label = panel.label,
                    .x = times,
                    .y = {panel.low, panel.high},
                    .is_x_logarithmic = plot.is_time_logarithmic,
                    .is_y_logarithmic = panel.is_logarithmic,
                    .bands = bands};
    for (std::size_t k = 0; k < panel.curves.size(); ++k) shown.curves.push_back(page_curve(plot, panel.curves[k], k));
    for (const OtherRun& other : plot.others)
      if (std::ranges::any_of(panel.curves, [&](int curve) { return other.has(curve); }))
        shown.curves.push_back(other_curve(other, panel));
    page.panels.push_back(std::move(shown));
  }
  return html_page(page);
}

}  // namespace perp::io
