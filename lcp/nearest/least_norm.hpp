#include <perp/core/linear/least_squares.hpp>
#pragma once

#include <Eigen/Core>

namespace perp {


/// The point of conv(vertices) + cone(rays) + span(lines) (columns are generators, at least one
/// vertex) that is nearest in a norm.
struct LeastNorm {
  RealVector y;
  long double norm = 0;
  bool converged = false;  ///< false: the iteration limit ended the search
};

/// Minimises ‖W (y - center)‖₂ by an active set of generators: the affine minimiser of the active
/// ones is taken as long as it is a convex combination, else the search stops where a weight
/// becomes 0; then the generator with the most negative slope joins (Wolfe 1976 for points, here
/// with rays and lines). The last linear least squares problem is solved by QR: the result is exact
/// to rounding.
LeastNorm least_norm(const RealMatrix& vertices, const RealMatrix& rays, const RealMatrix& lines,
                     const RealMatrix& W, const RealVector& center);

}  // namespace perp
