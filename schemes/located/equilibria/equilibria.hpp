#pragma once

#include <complex>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>

namespace perp {

enum class EquilibriumKind {
  regular,   ///< every law is inside of a branch that is no sliding one
  pseudo,    ///< inside of its branches, at least one of them sliding
  boundary,  ///< at the end of a branch, to within the rounding of the point: of two modes, or where a sliding set ends
  outside    ///< of the equations of the mode, but beyond the end of one of its branches: virtual
};

const char* to_string(EquilibriumKind kind);

/// What the flow of the mode does next to an equilibrium, by its eigenvalues.
enum class Stability {
  attracting,
  saddle,    ///< some fall, some grow
  repelling,
  unstable,  ///< some grow, none falls, the others are 0 to within their errors
  marginal,  ///< none is known to grow, some are 0 to within their errors
  rigid,     ///< the mode leaves no freedom to move
  unknown    ///< its equations are singular
};

const char* to_string(Stability stability);

/// A constant solution of the equations of one mode:  0 = H(t, 0, y).
struct Equilibrium {
  Mode mode;
  std::vector<Mode> also{};  ///< other modes with the same point, at a boundary
  std::vector<Stability> in_also{};  ///< the flow of each of these, as `stability`
  Vector x, lambda, w;
  Vector x_error{}, lambda_error{}, w_error{};  ///< how far they are off by rounding, as far as it can be told
  EquilibriumKind kind = EquilibriumKind::regular;
  /// Finite eigenvalues of the (sliding) flow of the mode, empty where its equations are singular or
  /// leave no freedom to move. Parts that are rounding are 0, and so are real parts that are not
  /// beyond what the error of the point makes of them, as at a multiple root.
  std::vector<std::complex<double>> eigenvalues;
  Stability stability = Stability::unknown;
  bool isolated = true;  ///< false: one of a continuum, others were found beside it
  bool constant = true;  ///< false: the equations change with time, at this moment or a later one: this is no solution
  /// A solution that starts here, by its mode, its multipliers and its rates.
  struct Start {
    Mode mode;
    Vector lambda, xdot;
  };
  /// Those that start here, rest included, in the modes of the laws that slide or are at the end of
  /// a branch; none for an equilibrium outside. More than 1: rest is not the only way to go on.
  std::vector<Start> continuations{};
  /// A side of the surfaces that a pseudo-equilibrium slides on: its mode, and whether the solution of this mode at the
  /// point leaves into it or arrives out of it.
  struct Side {
    Mode mode;
    bool leaves = false;
  };
  /// Those of which one of the two is shown.
  std::vector<Side> sides{};
  /// What solutions next to the point do, on its sides too: `stability` is of the flow in its mode alone. At a boundary
  /// the flows of the modes do not tell: two that attract may go away together.
  Stability overall = Stability::unknown;
  double residual = 0;  ///< largest, relative to the sizes of the terms
};

struct EquilibriumOptions {
  int starts = 24;   ///< per mode: the given one, then seeded random ones around it
  double reach = 2;  ///< of random starts, in units of |x| and the scale, 1 where that is missing; of each third one, as below
  unsigned seed = 1;
  int most_modes = 729;  ///< looked at, in lexicographic order
  /// Units of the variables, in which steps are measured, and each third start is spread; 0 or empty: from the data, see
  /// `model_scales`.
  Vector scale{};
};

struct Equilibria {
  std::vector<Equilibrium> found;  ///< in lexicographic order of the mode, then by x
  bool complete = true;            ///< false: there are more modes than were looked at
};

/// Equilibria of every mode at time t by Newton's method from x, λ and from random starts around
/// them; there may be more than are found. A point is one where every equation is within 8 bounds of its rounding (of the
/// point and of the row), and where at least one digit of every entry is known. Throws InvalidInput (sizes, see `validate`).
Equilibria find_equilibria(const Dcs& system, double t, const Vector& x,
                           const EquilibriumOptions& options = {});

/// A point of the surface of a law where the flow of a neighbouring mode touches it, so that a
/// sliding set ends there ([BJ] section 2):  w_i at its end, dw_i/dt = 0.
struct TangentPoint {
  int law = -1;
  Mode mode;  ///< the one whose flow is tangent
  Vector x, lambda;
  /// d²w_i/dt² in this mode, positive: into the region of the mode. The touch is visible where the
  /// trajectory lies in its own region, else invisible.
  double curvature = 0;
  bool isolated = true;  ///< false: one of a curve or surface of them
  bool at_end = false;   ///< the multiplier of the sliding mode is at the end of its range here
};

/// Tangent points of all laws with a sliding branch, by Newton's method from x and random starts.
/// Throws InvalidInput as above.
std::vector<TangentPoint> find_tangent_points(const Dcs& system, double t, const Vector& x,
                                              const EquilibriumOptions& options = {});

}  // namespace perp
