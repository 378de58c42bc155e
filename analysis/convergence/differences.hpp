#pragma once

#include <vector>

#include <perp/analysis/convergence/study.hpp>

namespace perp {

/// How far the runs of two variants with one step length are apart.
struct StudyDifference {
  double h = 0;
  double largest = nan;  ///< max over the grid and the compared variables; NaN: not both are solved
  double t = 0;          ///< where it is
  double rounding = 0;   ///< differences up to here may be nothing but rounding
};

/// Of variant k > 0 and the first one, for every step length that both have.
std::vector<StudyDifference> differences(const ConvergenceStudy& study, std::size_t k);

}  // namespace perp
