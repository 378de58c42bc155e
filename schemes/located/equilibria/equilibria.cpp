#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/pencil/finite_eigenvalues.hpp>
#include <perp/schemes/located/equilibria/equilibria.hpp>
#include <perp/schemes/located/equilibria/point_search.hpp>
#include <perp/schemes/located/equilibria/rest_equations.hpp>
#include <perp/schemes/located/equilibria/rest_spectrum.hpp>
#include <perp/schemes/located/equilibria/surface_sides.hpp>
#include <perp/schemes/located/jets/mode_selection.hpp>

namespace perp {
namespace {

constexpr double same_equilibrium = 1e-7;        ///< relative difference of equal points
constexpr double at_end = 1e-8;      ///< relative distance to the end of a branch that is none

/// By the least distance of a law to the ends of its branch, and whether one slides.
EquilibriumKind kind_of(double distance, bool sliding) {
  if (distance < -at_end) return EquilibriumKind::outside;
  if (distance <= at_end) return EquilibriumKind::boundary;
  return sliding ? EquilibriumKind::pseudo : EquilibriumKind::regular;
}

/// Distance to the nearest end of the branch, relative to the sizes; negative beyond it.
double margin(const Branch& branch, double w, double w_size, double lambda) {
  const bool vertical = is_vertical(branch);
  const Range range = vertical ? branch.lambda : w_range(branch);
  const double value = vertical ? lambda : w;
  double smallest = inf;
  for (const auto& [end, sign] : {std::pair{range.lower, 1.0}, {range.upper, -1.0}}) {
    if (!std::isfinite(end)) continue;
    const double size = std::max({vertical ? 1.0 : w_size, std::abs(end), std::abs(value)});
    smallest = std::min(smallest, sign * (value - end) / (size > 0 ? size : 1));
  }
  return smallest;
}

/// The search of `find_equilibria`.
class RestSearch : PointSearch {
 public:
  RestSearch(const Dcs& system, double t, const Vector& x, const EquilibriumOptions& options)
      : PointSearch(system, t, x, options), flow_(system) {}

  void search(const Mode& mode, std::vector<Equilibrium>& found);

 private:
  bool solve(const Mode& mode, const Vector& x, const Vector& lambda, Equilibrium& result);
  void keep(Equilibrium next, std::vector<Equilibrium>& list) const;
  void classify(Equilibrium& result, const Vector& w_sizes);
  [[nodiscard]] std::vector<double> eigenvalue_errors(const Equilibrium& result, RestEquations& equations);
  void keep_certain_signs(Equilibrium& result);
  void find_sides(Equilibrium& result);
  void list_continuations(Equilibrium& result, const std::vector<int>& open);
  bool find_from(const RestStarts::Start& start, const Mode& mode, Equilibrium& next);
  [[nodiscard]] bool are_equal(const Vector& a, const Vector& b) const {
    for (Eigen::Index j = 0; j < a.size(); ++j)
      if (std::abs(a[j] - b[j]) > same_equilibrium * std::max({scale_[j], std::abs(a[j]), std::abs(b[j])}))
        return false;
    return true;
  }
  /// The same with the multipliers, which differ by at most `most`.
  [[nodiscard]] bool are_equal(const Equilibrium& a, const Equilibrium& b, double most) const {
    return are_equal(a.x, b.x) && (a.lambda - b.lambda).norm() <= most;
  }

  ModeFlow flow_;
};

/// The laws that slide or are at an end decide how the solution goes on.
void RestSearch::classify(Equilibrium& result, const Vector& w_sizes) {
  double smallest = inf;
  bool sliding = false;
  std::vector<int> open;
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    const auto law = static_cast<Eigen::Index>(i);
    const double distance =
        margin(branch(result.mode, i), result.w[law], w_sizes[law], result.lambda[law]);
    const bool slides = is_sliding(laws_[i], result.mode[i]);
    smallest = std::min(smallest, distance);
    sliding = sliding || slides;
    if (slides || distance <= at_end) open.push_back(static_cast<int>(i));
  }
  result.kind = kind_of(smallest, sliding);
  if (result.kind != EquilibriumKind::outside) list_continuations(result, open);
}

void RestSearch::list_continuations(Equilibrium& result, const std::vector<int>& open) {
  const Selection after =
      select(jets_, t_, result.x, result.lambda, result.mode, open, SelectionOptions{});
  result.continuations.clear();
  for (const Continuation& next : after.admissible)
    result.continuations.push_back({next.mode, next.jet.lambda.col(0), next.jet.x.col(1)});
  // The point rests, also where the series of its mode do not tell that they are the only ones in it.
  const auto is_of_point = [&](const Continuation& next) {
    return next.mode == result.mode || std::ranges::find(next.also, result.mode) != next.also.end();
  };
  if (result.constant && std::ranges::none_of(after.admissible, is_of_point))
    result.continuations.push_back({result.mode, result.lambda, Vector::Zero(result.x.size())});
}

bool RestSearch::solve(const Mode& mode, const Vector& x, const Vector& lambda,
                       Equilibrium& result) {
  RestEquations equations(flow_, t_, scale_);
  if (!equations.start(x, lambda)) return false;
  if (flow_.size() > 0 && !newton_.run(equations)) return false;
  result.residual = equations.relative_residual();
  if (result.residual > options_.tol) return false;
  result.mode = mode;
  result.x.resize(flow_.n());
  result.lambda.resize(flow_.m());
  flow_.scatter(equations.y(), result.x, result.lambda);
  const Vector near = scale_ + x_.cwiseAbs();
  if ((result.x.cwiseAbs().array() > options_.far * near.array()).any()) return false;
  result.isolated = newton_.elimination().rank() == newton_.elimination().columns();
  result.constant = !equations.moves_with_time();
  if (const auto values = finite_eigenvalues(equations.rate_matrix(), -equations.matrix())) {
    result.eigenvalues = *values;
    clean(result.eigenvalues, equations);
    result.stability = stability_of(result.eigenvalues);
  }
  Matrix w_ydot, w_y, w_p;
  Vector w_t;
  if (!flow_.linearize_w(t_, Vector::Zero(flow_.size()), equations.y(), result.w, w_ydot, w_y, w_t,
                         w_p))
    return false;
  classify(result, w_y.cwiseAbs() * equations.sizes());
  return true;
}

/// How far each eigenvalue moves over the error of the point, at which the equations stand:
///     |y − y*| ≤ 2 Σ_i |J⁻¹ e_i| (|H_i| + rounding)   at a simple root,
/// while on the way to a k-fold root J falls by at least 1 − (1 − 2/k)^(k−1) > 0.86 of itself.
std::vector<double> RestSearch::eigenvalue_errors(const Equilibrium& result, RestEquations& equations) {
  newton_.factorise(equations);
  const Vector bounds = equations.residual_bounds();
  std::vector<double> errors(result.eigenvalues.size());
  Vector step;
  for (Eigen::Index i = 0; i < bounds.size(); ++i) {
    if (bounds[i] == 0) continue;
    newton_.solve(Vector(bounds[i] * Vector::Unit(bounds.size(), i)), step);
    std::vector<double> largest(errors.size());
    for (const double share : {2.0, -4.0}) {  // to y + 2 step, to y − 2 step
      equations.move(share, step);
      const bool finite = equations.evaluate();
      for (std::size_t k = 0; k < errors.size(); ++k)
        largest[k] = std::max(largest[k], finite ? distance_to_spectrum(result.eigenvalues[k],
                                                                        equations)
                                                 : inf);
    }
    equations.move(2, step);
    for (std::size_t k = 0; k < errors.size(); ++k) errors[k] += largest[k];
  }
  return errors;
}

/// The sign of Re s is said where |Re s| is beyond twice the change of s over the error of the point.
void RestSearch::keep_certain_signs(Equilibrium& result) {
  RestEquations equations(flow_, t_, scale_);
  if (result.eigenvalues.empty() || !equations.start(result.x, result.lambda)) return;
  const std::vector<double> errors = eigenvalue_errors(result, equations);
  for (std::size_t k = 0; k < errors.size(); ++k)
    if (std::complex<double>& value = result.eigenvalues[k]; std::abs(value.real()) <= 2 * errors[k])
      value = {0, value.imag()};
  result.stability = stability_of(result.eigenvalues);
}

void RestSearch::find_sides(Equilibrium& result) {
  std::vector<int> sliding;
  for (std::size_t i = 0; i < laws_.size(); ++i)
    if (is_sliding(laws_[i], result.mode[i])) sliding.push_back(static_cast<int>(i));
  const SurfaceSides sides = result.kind == EquilibriumKind::pseudo ? surface_sides(jets_, t_, result, sliding) : SurfaceSides{};
  result.sides = sides.list;
  result.overall = result.kind == EquilibriumKind::boundary ? Stability::unknown : with_sides(result.stability, sides);
}

/// Equal points are one; of a continuum the first stands for all, or the first that is not virtual.
void RestSearch::keep(Equilibrium next, std::vector<Equilibrium>& list) const {
  const auto known = std::find_if(list.begin(), list.end(), [&](const Equilibrium& other) {
    return (!other.isolated && !next.isolated) ||
           are_equal(other, next, same_equilibrium);
  });
  if (known == list.end())
    list.push_back(std::move(next));
  else if (known->kind == EquilibriumKind::outside && next.kind != EquilibriumKind::outside)
    *known = std::move(next);
}

/// The equilibrium that Newton's method finds from here, or from where algebraic variables fit to the others.
bool RestSearch::find_from(const RestStarts::Start& start, const Mode& mode, Equilibrium& next) {
  if (solve(mode, start.x, start.lambda, next)) return true;
  const Jet jet = jets_.solve_from(mode, t_, start.x, start.lambda);
  if (!(jet.residual < inf)) return false;
  next = Equilibrium{};
  return solve(mode, jet.x.col(0), jet.lambda.col(0), next);
}

void RestSearch::search(const Mode& mode, std::vector<Equilibrium>& found) {
  flow_.set_mode(mode);
  std::vector<Equilibrium> here;
  from_starts(mode, [&](const RestStarts::Start& start) {
    Equilibrium next;
    if (find_from(start, mode, next)) keep(std::move(next), here);
  });
  sort(here);
  for (Equilibrium& next : here) {
    keep_certain_signs(next);
    find_sides(next);
    const auto shared = std::find_if(found.begin(), found.end(), [&](const Equilibrium& other) {
      return other.kind == EquilibriumKind::boundary && next.kind == EquilibriumKind::boundary &&
             are_equal(other, next, at_end);
    });
    if (shared == found.end()) {
      found.push_back(std::move(next));
      continue;
    }
    shared->also.push_back(mode);
    shared->in_also.push_back(next.stability);
  }
}

}  // namespace

const char* to_string(EquilibriumKind kind) {
  switch (kind) {
    case EquilibriumKind::regular: return "regular";
    case EquilibriumKind::pseudo: return "pseudo";
    case EquilibriumKind::boundary: return "boundary";
    case EquilibriumKind::outside: return "virtual";
  }
  return "";
}

const char* to_string(Stability stability) {
  switch (stability) {
    case Stability::attracting: return "attracting";
    case Stability::saddle: return "saddle";
    case Stability::repelling: return "repelling";
    case Stability::unstable: return "unstable";
    case Stability::marginal: return "marginal";
    case Stability::rigid: return "rigid";
    case Stability::unknown: return "unknown";
  }
  return "";
}

Equilibria find_equilibria(const Dcs& system, double t, const Vector& x,
                           const EquilibriumOptions& options) {
  if (x.size() != system.n())
    throw InvalidInput(fmt::format("x must have {} entries but has {}", system.n(), x.size()));
  if (options.starts < 1)
    throw InvalidInput(fmt::format("starts must be at least 1 but is {}", options.starts));
  RestSearch search(system, t, x, options);
  Equilibria result;
  Mode mode(system.laws.size(), 0);
  int looked = 0;
  do {
    if (++looked > options.most_modes) {
      result.complete = false;
      break;
    }
    search.search(mode, result.found);
  } while (next_mode(mode, system.laws));
  return result;
}

}  // namespace perp
