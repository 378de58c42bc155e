#pragma once

#include <string>
#include <vector>

#include <perp/io/plot/time/panels.hpp>

namespace perp::io {

/// The picture over time as a program for Python, which reads the data file beside it and draws by matplotlib.
std::string matplotlib_script(const RunPlot& plot, const std::vector<CurvePanel>& panels, const Picture& picture);

}  // namespace perp::io
