#pragma once

#include <string>

#include <perp/analysis/sweep/sweep.hpp>
#include <perp/io/plot/picture.hpp>

namespace perp::io {

/// How a sweep is drawn.
enum class SweepPlot {
  curve,        ///< each measure over the first axis; runs without a value as crosses on the axis
  heat,         ///< the first measure over two axes, with lines of equal values
  histogram,    ///< the first measure's values, counted
  bifurcation,  ///< a variable in the points of the section over the first axis
  fan           ///< a variable over time: its median, and where 50 % and 90 % of the runs are
};

/// What is drawn of a sweep.
struct SweepDrawing {
  SweepPlot kind = SweepPlot::curve;
  int variable = 0;      ///< that of a bifurcation diagram or a fan, an index
  bool by_mode = false;  ///< the points of a bifurcation diagram have the colours of their modes, not of directions
};

/// Throws InvalidInput where there is nothing of the kind to draw, FileError.
void draw_sweep(const Picture& picture, const SweepDrawing& drawing, const SweepRequest& request, const Model& model,
                const SweepResult& result);

/// Are points coloured by their modes: `--colour mode`? Empty: no. Throws InvalidInput for another word, and where there are none.
bool is_coloured_by_mode(const std::string& name, SweepPlot kind);

/// The kind of this name, or the one that fits the sweep where it is empty. Throws InvalidInput.
SweepPlot sweep_plot(const std::string& name, const SweepRequest& request);

}  // namespace perp::io
