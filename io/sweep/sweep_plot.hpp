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

/// `variable`: that of a bifurcation diagram or a fan, an index. Throws InvalidInput where there is nothing of the kind to
/// draw, FileError.
void draw_sweep(const Picture& picture, SweepPlot kind, const SweepRequest& request, const Model& model,
                const SweepResult& result, int variable);

/// The kind of this name, or the one that fits the sweep where it is empty. Throws InvalidInput.
SweepPlot sweep_plot(const std::string& name, const SweepRequest& request);

}  // namespace perp::io
