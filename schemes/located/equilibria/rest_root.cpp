// Roots of the equations of a point at rest, to the last digit: called by the search for equilibria.
#include <algorithm>
#include <cmath>

#include <perp/core/base/interruption.hpp>
#include <perp/schemes/located/equilibria/rest_root.hpp>

namespace perp {
namespace {

constexpr int most_corrections = 100;  ///< behind those of `RankNewton`
constexpr int most_idle = 3;           ///< of these that do not contract
/// Corrections contract by 1 − 1/k at a k-fold root; those that do by less go to no root.
constexpr double most_folds = 16;
/// From this contraction on the root is a multiple one: half way between 0 and 1/2.
constexpr double multiple = 0.25;
/// Between two points, and where it is divided nothing else is by symmetry.
constexpr double between[] = {0.5, 0.381966, 0.7236068};
/// Pivots that fall with the distance from a multiple root, beside those of other rows: what is none of rounding's may be this small.
constexpr double smallest_pivot = 0x1p-200;
constexpr double beside = 0x1p-7;  ///< how far roots beside one are looked for, in units of the unknowns

double size_of(const Vector& step, const Vector& sizes) { return (step.array() / sizes.array()).abs().maxCoeff(); }

/// Sets entries of y that are no larger than these errors to 0, together, where 0 solves as well.
void drop_entries(RestEquations& equations, const Vector& errors) {
  const Vector y = equations.y();
  const double before = equations.misfit();
  Vector without = y;
  for (Eigen::Index j = 0; j < y.size(); ++j)
    if (std::abs(y[j]) <= std::abs(errors[j])) without[j] = 0;
  if (without == y) return;
  equations.set(without);
  if (equations.evaluate() && equations.misfit() <= before && is_root(equations)) return;
  equations.set(y);
  static_cast<void>(equations.evaluate());
}

/// The same for each entry alone, at a root.
void drop_single_entries(RestEquations& equations, const Vector& errors) {
  for (Eigen::Index j = 0; j < errors.size(); ++j) {
    if (equations.y()[j] == 0) continue;
    Vector single = Vector::Zero(errors.size());
    single[j] = errors[j];
    drop_entries(equations, single);
  }
}

/// The corrections of Newton's method, which at a k-fold root are 1/k of the way.
class Corrections {
 public:
  /// `tolerance`: pivots below are zero.
  Corrections(RestEquations& equations, RankNewton& newton, double tolerance)
      : equations_(equations), newton_(newton), tolerance_(tolerance) {}

  /// One of them. False: it is not finite, or leads to no root.
  bool move() {
    newton_.factorise(equations_, tolerance_);
    newton_.solve(equations_.residual(), moved_);
    const double size = size_of(moved_, equations_.sizes()), ratio = size / last_;
    if (!(size < inf)) return false;
    const double folds = ratio > multiple ? std::round(1 / (1 - ratio)) : 1;
    const bool contracts = ratio < 1 - 1 / most_folds;
    idle_ += contracts ? 0 : 1;
    const bool is_multiple = contracts && folds > 1;
    if (is_multiple) moved_ *= folds;
    last_ = is_multiple ? inf : size;  // the next one is none of that sequence
    equations_.move(-1, moved_);
    return idle_ < most_idle && equations_.evaluate();
  }
  [[nodiscard]] const Vector& moved() const { return moved_; }

 private:
  RestEquations& equations_;
  RankNewton& newton_;
  double tolerance_;
  Vector moved_;
  double last_ = inf;
  int idle_ = 0;
};

/// From where Newton's method has come to. False: to no root.
bool correct_to_root(RestEquations& equations, RankNewton& newton, double tolerance) {
  Vector moved = Vector::Zero(equations.y().size());  // by the last correction of a slow sequence
  Corrections corrections(equations, newton, tolerance);
  for (int k = 0; k < most_corrections; ++k) {
    check_interruption();
    drop_entries(equations, moved);
    if (is_root(equations)) {
      drop_single_entries(equations, root_errors(equations, newton).cwiseMax(moved.cwiseAbs()));
      return true;
    }
    if (!corrections.move()) return false;
    moved = corrections.moved();
  }
  return false;
}

}  // namespace

Vector root_errors(RestEquations& equations, RankNewton& newton) {
  newton.factorise(equations);
  const Vector bounds = equations.residual_bounds();
  Vector errors = Vector::Zero(bounds.size()), step;
  for (Eigen::Index i = 0; i < bounds.size(); ++i) {
    if (bounds[i] == 0) continue;
    if (!(bounds[i] < inf)) return Vector::Constant(bounds.size(), inf);
    newton.solve(Vector(bounds[i] * Vector::Unit(bounds.size(), i)), step);
    errors += 2 * step.cwiseAbs();
  }
  const RankElimination& elimination = newton.elimination();
  if (elimination.rank() < elimination.columns()) {
    const double way = size_of(equations.y() - equations.y_start(), equations.sizes());
    errors += static_cast<double>(bounds.size()) * unit_roundoff * way * equations.sizes();
  }
  return errors;
}

bool find_root(RestEquations& equations, RankNewton& newton) {
  if (equations.y().size() == 0) return true;
  // What it does not reach may be a multiple root, on the way to which it is slow, and where pivots fall.
  static_cast<void>(newton.run(equations));
  if (!equations.y().allFinite() || !equations.evaluate()) return false;
  const Vector y = equations.y();
  if (correct_to_root(equations, newton, RankNewton::rank_tolerance)) return true;
  equations.set(y);
  return equations.evaluate() && correct_to_root(equations, newton, smallest_pivot) &&
         size_of(equations.y() - y, equations.sizes()) <= beside;  // pivots that are small elsewhere lead to no root near
}

bool is_one_root(RestEquations& equations, const Vector& a, const Vector& b) {
  return std::ranges::all_of(between, [&](double share) {
    equations.set(a + share * (b - a));
    return is_root(equations);
  });
}

bool has_roots_beside(RestEquations& equations, RankNewton& newton) {
  newton.factorise(equations);
  if (newton.elimination().rank() == newton.elimination().columns()) return false;
  const Vector root = equations.y(), sizes = equations.sizes();
  Matrix open;
  newton.elimination().null_space(open);
  bool found = false;
  for (Eigen::Index k = 0; k < open.cols() && !found; ++k)
    for (const double way : {beside, -beside}) {
      equations.set(root + way * open.col(k));
      found = found || (equations.evaluate() && find_root(equations, newton) &&
                        size_of(equations.y() - root, sizes) > beside / 2);
    }
  equations.set(root);
  return equations.evaluate() && found;
}

}  // namespace perp
