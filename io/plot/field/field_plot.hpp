#pragma once

#include <string>
#include <vector>

#include <perp/io/plot/field/field_samples.hpp>
#include <perp/io/plot/picture.hpp>

namespace perp::io {

/// An array in colours: with one index over time and the index, with two over its indices, a panel for each state.
struct FieldPlot {
  std::string title;
  ArrayColumns array;
  std::vector<FieldSamples::State> states;  ///< in the order of time
  double end = 0;                           ///< of the time that is drawn
};

/// Throws InvalidInput where there is no state, FileError.
void draw_field(const Picture& picture, const FieldPlot& plot);

}  // namespace perp::io
