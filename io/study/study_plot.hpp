#pragma once

#include <perp/analysis/convergence/study.hpp>
#include <perp/io/plot/order_plot.hpp>

namespace perp::io {

/// The picture of a study: a curve for each variant and kind of error. Colours tell variants apart,
/// symbols kinds; with one variant colours tell kinds apart too.
OrderPlot plot_of(const ConvergenceStudy& study);

}  // namespace perp::io
