#pragma once

#include <string>
#include <vector>

#include <perp/core/law.hpp>

namespace perp {

struct CurvePoint {
  double w = 0;
  double lambda = 0;
};

/// The graph of a law as one polygonal curve that comes from infinity and goes to infinity.
struct Curve {
  std::string reason;                  ///< not empty: the graph is no such curve, and why
  std::vector<int> order;              ///< branch indices in their order along the curve
  std::vector<CurvePoint> directions;  ///< of the branches, largest component 1 in absolute value
  std::vector<CurvePoint> corners;     ///< between consecutive branches; one point of a single line
  std::vector<double> lengths;         ///< of the branches, in units of their directions; ends: inf
};

/// Walks along the branches from one infinite end to the other. Corners are compared with 2^-48 of
/// the size of the law's coordinates; a branch that is a single point of the others is left out.
Curve curve_of(const Law& law);

/// The same curve, walked the other way.
void reverse(Curve& curve);

}  // namespace perp
