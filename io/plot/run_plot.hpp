#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/run/history.hpp>
#include <perp/io/plot/curves.hpp>
#include <perp/io/plot/picture.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// Another run for comparison: its states at the drawn columns.
struct OtherRun {
  std::string name{};        ///< for people
  std::vector<double> t{};   ///< not falling
  std::vector<Vector> x{};   ///< one for each of `t`, an entry for each drawn column; NaN: it does not have it

  /// Does it have the drawn column at any time?
  [[nodiscard]] bool has(int column) const {
    return std::ranges::any_of(x, [&](const Vector& state) { return !std::isnan(state[column]); });
  }
};

/// Everything a picture of a run shows.
struct RunPlot {
  const Model& model;
  std::vector<DrawnColumn> drawn;         ///< one for each of `curves`
  std::vector<std::vector<int>> panels;   ///< places in `drawn` of each panel; empty: by unit and size
  std::vector<ModeSpan> modes;
  Curves curves;
  bool ends_early;  ///< no solution continues from the last state
  bool is_time_logarithmic = false;
  std::vector<OtherRun> others{};
  std::vector<ModeSpan> whole{};  ///< the modes of the whole run, `modes` those in the window
};

/// The columns over time, one panel or several, with a band of colour for each mode. Throws InvalidInput where a
/// logarithmic axis has values that are not positive.
void draw_over_time(const Picture& picture, const RunPlot& plot);

}  // namespace perp::io
