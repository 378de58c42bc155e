#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/base/rational.hpp>

namespace perp::relations {

/// A planar DAE of [RAB]'s kind with small rational numbers: x' = a + B z on the graph y = g(x) of a piecewise linear
/// function with jumps, the vertical parts of which belong to it, (x, y) = (x[0], x[1]).
struct PlanarModel {
  Rational slope, offset;                       ///< of g where nothing bends or jumps
  std::vector<Rational> points, bends, jumps;   ///< + bend |x - p| + jump sign(x - p), points increasing
  Rational a[2], B[2];
  Rational start[2];
  Rational end;

  /// g at x, on the side of a point where x is one.
  [[nodiscard]] Rational graph(const Rational& x, int side) const;
  [[nodiscard]] Rational slope_at(const Rational& x, int side) const;
};

/// Its only solution, by its pieces, in rational numbers.
struct PlanarCourse {
  struct Event {
    Rational t;
    bool is_jump;
  };
  std::vector<Event> events;  ///< passages of points, jumps of least |z|
  bool goes_on = true;        ///< false: neither a mode nor a jump leads on from its end
  Rational t;                 ///< of its end
  Rational x, y, z;           ///< there
  Rational closest;           ///< least distance in time of two events, or of one and the end of the span
};

/// A random model with a start on its graph.
PlanarModel random_planar_model(unsigned seed);

/// Nothing where the model has several solutions, no velocity in a mode, a tie, or an event on an end.
std::optional<PlanarCourse> planar_course(const PlanarModel& model);

/// The model in units by powers of two, as text: x, y, z and t are these times larger numbers. `bend` is added to the
/// first equation.
struct PlanarUnits {
  double x = 1, y = 1, z = 1, t = 1;
};
std::string planar_text(const PlanarModel& model, const PlanarUnits& units, const std::string& bend);

}  // namespace perp::relations
