#pragma once

#include <vector>

#include <perp/cli/convergence/study.hpp>

namespace perp::cli {

/// How far the runs of two variants with one step length are apart.
struct Difference {
  double h = 0;
  double largest = nan;  ///< max over the grid and the compared variables; NaN: not both are solved
  double t = 0;          ///< where it is
  double rounding = 0;   ///< differences up to here may be nothing but rounding
};

/// Of variant k > 0 and the first one, for every step length that both have.
std::vector<Difference> differences(const Study& study, std::size_t k);

}  // namespace perp::cli
