#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/io/plot/run_plot.hpp>

namespace perp::io {

/// One name of the legend: areas, lines, points and heads of arrows of one look.
struct PageCurve {
  std::string name{};  ///< empty: not in the legend
  std::string colour{};
  double width = 1.6;
  std::string dash{};  ///< lengths of strokes and gaps; empty: a whole line
  std::vector<std::vector<std::pair<double, double>>> lines{};
  std::vector<std::vector<std::pair<double, double>>> dotted{};  ///< jumps: thin
  std::vector<std::pair<double, double>> points{};
  std::vector<std::array<std::pair<double, double>, 2>> arrows{};  ///< from, to: heads at their ends
  std::vector<std::vector<std::pair<double, double>>> areas{};     ///< corners: filled
  double opacity = 1;                                              ///< of the areas
  double point_size = 9;   ///< in pixels
  bool is_hollow = false;  ///< the points
};

/// A stretch of the horizontal axis behind the curves.
struct PageBand {
  Range x{};
  std::string name{}, colour{};
};

/// Curves over one pair of axes.
struct PagePanel {
  std::string x_label{}, y_label{};
  Range x{inf, -inf}, y{inf, -inf};  ///< what is shown at first
  bool is_x_logarithmic = false, is_y_logarithmic = false;
  std::vector<PageCurve> curves{};
  std::vector<PageBand> bands{};
};

/// Panels below each other; `shares_x`: they are zoomed together.
struct Page {
  std::string title{};
  bool shares_x = true;
  std::vector<PagePanel> panels{};
};

/// The page as HTML that needs nothing else: the curves as SVG, and a script that zooms into them, hides what is
/// clicked in the legend, and writes the axes. What has no place on a logarithmic axis interrupts its line.
std::string html_page(const Page& page);

/// A picture over time as such a page. Throws InvalidInput as `panels_of`.
std::string page_over_time(const RunPlot& plot);

}  // namespace perp::io
