#pragma once

#include <array>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// A rectangle in the plane of two variables, and how finely the flow is looked at in it.
struct PhasePlaneGrid {
  int horizontal = -1, vertical = -1;  ///< variables, the only differential ones of the model
  Range x{}, y{};                      ///< finite, positive where logarithmic
  bool is_x_logarithmic = false, is_y_logarithmic = false;
  int arrows = 17;  ///< in each direction
  int cells = 48;   ///< the same, for surfaces
};

/// A point of the plane.
struct PlanePoint {
  double x = 0, y = 0;
};

/// The flow of a model in the plane of its state, at one time.
struct PhasePlane {
  double t = 0;
  struct Arrow {
    PlanePoint at, rate;
  };
  std::vector<Arrow> arrows{};
  /// Where w of a law is at an end of its branches.
  struct Surface {
    int law = -1;
    std::vector<std::array<PlanePoint, 2>> segments{};
  };
  std::vector<Surface> surfaces{};  ///< of the laws that have any in the rectangle
  int inconsistent = 0;             ///< places of arrows at which no solution starts
};

/// Throws InvalidInput unless these two variables are the state of the model, and laws say which modes continue.
void check_phase_plane(const Model& model, int horizontal, int vertical);

/// ẋ at the points of a grid, and the curves on which laws switch: lines through the points on the edges of the cells at
/// which w is there, to 1e-9 of its change along the edge. Algebraic variables, multipliers and modes are those of the
/// start of a run of backward Euler at the point, at the start of the model's span. Throws InvalidInput where the state
/// is not these two variables, Interrupted.
PhasePlane phase_plane(const Model& model, const PhasePlaneGrid& grid);

}  // namespace perp
