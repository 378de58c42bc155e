#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/run/history.hpp>
#include <perp/io/plot/curves.hpp>
#include <perp/io/plot/picture.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// Everything a picture of a run shows.
struct RunPlot {
  const Model& model;
  std::vector<int> variables;      ///< those of `curves`, indices of the model's
  std::vector<bool> is_algebraic;  ///< of all variables
  std::vector<ModeSpan> modes;
  Curves curves;
  bool ends_early;  ///< no solution continues from the last state
};

/// The variables over time, one panel or several (by unit and size), with a band of colour for each
/// mode.
void draw_over_time(const Picture& picture, const RunPlot& plot);

/// The second of two drawn variables (indices of `variables`) over the first, coloured by mode,
/// with arrows in the direction of time.
void draw_phase(const Picture& picture, const RunPlot& plot, int horizontal, int vertical);

}  // namespace perp::io
