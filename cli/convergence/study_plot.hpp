#pragma once

#include <perp/cli/convergence/study.hpp>
#include <perp/cli/plot/order_plot.hpp>

namespace perp::cli {

/// The picture of a study: a curve for each variant and kind of error. Colours tell variants apart,
/// symbols kinds; with one variant colours tell kinds apart too.
OrderPlot plot_of(const Study& study);

}  // namespace perp::cli
