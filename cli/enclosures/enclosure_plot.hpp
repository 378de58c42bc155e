#pragma once

#include <vector>

#include <perp/cli/enclosures/enclosure_run.hpp>
#include <perp/io/plot/picture.hpp>

namespace perp::cli {

/// The variables over time, a panel for each: bands between the bounds of the rows of one branch,
/// hatched where the flag is `all`, and grey stripes for the intervals of events. By pieces, bands
/// of each.
void draw_enclosure(const Picture& picture, const EnclosureRun& run,
                    const std::vector<int>& variables);

}  // namespace perp::cli
