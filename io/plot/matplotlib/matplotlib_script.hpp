#pragma once

#include <string>
#include <vector>

#include <perp/io/plot/run_plot.hpp>

namespace perp::io {

/// A panel of a picture over time.
struct CurvePanel {
  std::string label;        ///< of its axis
  std::vector<int> curves;  ///< places among the drawn columns
};

/// The picture over time as a program for Python, which reads the data file beside it and draws by matplotlib.
std::string matplotlib_script(const RunPlot& plot, const std::vector<CurvePanel>& panels, const Picture& picture);

}  // namespace perp::io
