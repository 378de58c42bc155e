#include <algorithm>

#include <perp/analysis/convergence/differences.hpp>

namespace perp {
namespace {

StudyDifference difference(const GridRun& a, const GridRun& b) {
  StudyDifference result{.h = a.h};
  if (a.status != Status::solved || b.status != Status::solved) return result;
  result.largest = 0;
  double scale = 0;
  // Schemes with steps of one length have one grid.
  for (std::size_t k = 0; k < std::min(a.states.size(), b.states.size()); ++k) {
    const Vector x = a.states.x(k);
    const double distance = (x - b.states.x(k)).lpNorm<Eigen::Infinity>();
    scale = std::max(scale, x.lpNorm<Eigen::Infinity>());
    if (!(distance > result.largest)) continue;
    result.largest = distance;
    result.t = a.states.t(k);
  }
  result.rounding = rounding_level(scale, std::max(a.steps, b.steps));
  return result;
}

}  // namespace

std::vector<StudyDifference> differences(const ConvergenceStudy& study, std::size_t k) {
  std::vector<StudyDifference> list;
  for (const StudyRow& first : study.variants.front().rows)
    for (const StudyRow& other : study.variants[k].rows)
      if (other.run.h == first.run.h) list.push_back(difference(first.run, other.run));
  return list;
}

}  // namespace perp
