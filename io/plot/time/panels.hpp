#pragma once

#include <string>
#include <vector>

#include <perp/io/plot/run_plot.hpp>

namespace perp::io {

/// A panel of a picture over time.
struct CurvePanel {
  std::string label{};         ///< of its axis: "x1, x2 [m]"
  std::vector<int> curves{};   ///< places among the drawn columns
  double low = inf, high = -inf;  ///< of all values
  bool is_logarithmic = false;
};

/// The panels that were asked for; else columns of one unit and about one size share one, and what laws give has
/// its own. Throws InvalidInput where a logarithmic axis has values that are not positive.
std::vector<CurvePanel> panels_of(const RunPlot& plot);

/// The times of the axis: those of the run, on a logarithmic axis from the first that is positive. Throws
/// InvalidInput where none is.
Range shown_times(const RunPlot& plot);

/// As in the legend: "z (algebraic)".
std::string legend_name(const DrawnColumn& column);

/// Is it drawn as a broken line?
bool is_algebraic_variable(const DrawnColumn& column);

}  // namespace perp::io
