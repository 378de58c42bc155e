// Singular points of the equations of a mode: asked by ConsistentJets where all solutions are meant.
#include <algorithm>
#include <cmath>

#include <perp/schemes/located/jets/array/rank_around.hpp>
#include <perp/schemes/newton/rank_newton.hpp>

namespace perp {
namespace {

/// Of its size by which a coefficient is moved: less where the domain of the formulas ends, and by orders of magnitude, since a
/// variable that is 0 does not tell in which of them it will be.
constexpr double shares[] = {0x1p-2, 0x1p-6, 0x1p-12, 0x1p20, 0x1p40};

/// Numbers of (1/2, 3/2) without relations between them: multiples of the golden section.
class Spread {
 public:
  double next() {
    constexpr double golden = 0.61803398874989485;
    at_ = std::fmod(at_ + golden, 1.0);
    return 0.5 + at_;
  }

 private:
  double at_ = 0;
};

/// The coefficients moved by shares of their sizes.
Jet moved(const Jet& jet, const JetScales& scales, double share) {
  Spread moves;
  Jet other = jet;
  other.t += share * moves.next() * scales.time;
  const auto move = [&](Matrix& coefficients, const Vector& units) {
    double power = 1;
    for (Eigen::Index k = 0; k < coefficients.cols(); ++k, power /= scales.time)
      for (Eigen::Index i = 0; i < coefficients.rows(); ++i)
        coefficients(i, k) += share * moves.next() * std::max(std::abs(coefficients(i, k)), units[i] * power);
  };
  move(other.x, scales.x);
  move(other.lambda, scales.lambda);
  return other;
}

/// Number of unknowns of the array, and its rank.
struct Shape {
  int unknowns = 0, rank = 0;

  /// Is the array around a point of this shape more than at it? Terms of very different sizes may hide some of a rank there.
  [[nodiscard]] bool is_less_than(const Shape& around) const {
    return around.unknowns < unknowns || (around.unknowns == unknowns && around.rank > rank);
  }
};

/// `share`: of the sizes of the terms of a row, what its entries count from.
Shape shape_of(const ModeArray& equations, double share) {
  RankElimination elimination;
  elimination.factorise(equations.matrix(), equations.sizes(), share * equations.row_sizes(), RankNewton::rank_tolerance);
  return {equations.unknowns(), elimination.rank()};
}

}  // namespace

bool has_rank_around(ModeArray& equations, const Jet& jet) {
  if (equations.is_linear()) return true;
  if (!equations.begin(jet)) return false;
  const Shape here = shape_of(equations, 1);
  bool is_known = false;
  for (const double share : shares) {
    if (!equations.begin(moved(jet, equations.scales(), share))) continue;
    // Around it every entry counts, however small it is beside what its row holds at a state.
    if (here.is_less_than(shape_of(equations, 0))) return false;
    is_known = true;
  }
  return is_known;
}

}  // namespace perp
