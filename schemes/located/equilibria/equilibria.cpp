#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/located/equilibria/equilibria.hpp>
#include <perp/schemes/located/equilibria/point_search.hpp>
#include <perp/schemes/located/equilibria/rest_equations.hpp>
#include <perp/schemes/located/equilibria/rest_root.hpp>
#include <perp/schemes/located/equilibria/rest_spectrum.hpp>
#include <perp/schemes/located/equilibria/surface_sides.hpp>
#include <perp/schemes/located/jets/mode_selection.hpp>

namespace perp {
namespace {

constexpr double same_start = 1e-9;  ///< difference of rates and multipliers of one series, in their units

/// To which side of the ends of its branch the law is, as far as errors tell: 1 inside, -1 beyond one, 0 at one.
int side_of(const Branch& branch, const RunningError& w, const RunningError& lambda) {
  const bool vertical = is_vertical(branch);
  const Range range = vertical ? branch.lambda : w_range(branch);
  const RunningError& value = vertical ? lambda : w;
  // The ends of a sloped branch are quotients.
  const double roundings = vertical || branch.a == 0 ? 0 : 4 * unit_roundoff;
  int smallest = 1;
  for (const auto& [end, sign] : {std::pair{range.lower, 1}, {range.upper, -1}})
    if (std::isfinite(end))
      smallest = std::min(smallest, sign * decided_sign(value - RunningError(end, roundings * std::abs(end))));
  return smallest;
}

/// By the least side of a law, and whether one slides.
EquilibriumKind kind_of(int side, bool sliding) {
  if (side < 0) return EquilibriumKind::outside;
  if (side == 0) return EquilibriumKind::boundary;
  return sliding ? EquilibriumKind::pseudo : EquilibriumKind::regular;
}

/// Are two numbers one as far as their errors tell?
bool are_equal(const Vector& a, const Vector& a_error, const Vector& b, const Vector& b_error) {
  return ((a - b).array().abs() <= a_error.array() + b_error.array()).all();
}
bool are_equal(const Equilibrium& a, const Equilibrium& b) {
  return are_equal(a.x, a.x_error, b.x, b.x_error) && are_equal(a.lambda, a.lambda_error, b.lambda, b.lambda_error);
}

/// The search of `find_equilibria`.
class RestSearch : PointSearch {
 public:
  RestSearch(const Dcs& system, double t, const Vector& x, const EquilibriumOptions& options)
      : PointSearch(system, t, x, options), flow_(system) {}

  void search(const Mode& mode, std::vector<Equilibrium>& found);

 private:
  bool solve(const Mode& mode, const Vector& x, const Vector& lambda, Equilibrium& result);
  void keep(Equilibrium next, std::vector<Equilibrium>& list);
  void classify(Equilibrium& result);
  void set_errors(Equilibrium& result, RestEquations& equations, const Vector& errors);
  [[nodiscard]] std::vector<double> eigenvalue_errors(const Equilibrium& result, RestEquations& equations);
  void keep_certain_signs(Equilibrium& result);
  void find_sides(Equilibrium& result);
  void add_start(Equilibrium::Start start, Equilibrium& point) const;
  void list_continuations(Equilibrium& result, const std::vector<int>& open);
  bool find_from(const RestStarts::Start& start, const Mode& mode, Equilibrium& next);
  [[nodiscard]] bool is_one_point(const Equilibrium& a, const Equilibrium& b);
  [[nodiscard]] Vector unknowns(const Equilibrium& point) const {
    Vector y;
    flow_.gather(point.x, point.lambda, y);
    return y;
  }

  ModeFlow flow_;
};

/// The laws that slide or are at an end decide how the solution goes on.
void RestSearch::classify(Equilibrium& result) {
  int smallest = 1;
  bool sliding = false;
  std::vector<int> open;
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    const auto law = static_cast<Eigen::Index>(i);
    const int side = side_of(branch(result.mode, i), RunningError(result.w[law], result.w_error[law]),
                             RunningError(result.lambda[law], result.lambda_error[law]));
    const bool slides = is_sliding(laws_[i], result.mode[i]);
    smallest = std::min(smallest, side);
    sliding = sliding || slides;
    if (slides || side <= 0) open.push_back(static_cast<int>(i));
  }
  result.kind = kind_of(smallest, sliding);
  if (result.kind != EquilibriumKind::outside) list_continuations(result, open);
}

/// How far x, λ and w are off at most where the unknowns are off by these errors.
void RestSearch::set_errors(Equilibrium& result, RestEquations& equations, const Vector& errors) {
  result.w.resize(flow_.m()), result.w_error.resize(flow_.m());
  const std::vector<RunningError> w = equations.w(errors);
  for (std::size_t i = 0; i < w.size(); ++i) {
    result.w[static_cast<Eigen::Index>(i)] = w[i].value;
    result.w_error[static_cast<Eigen::Index>(i)] = w[i].error;
  }
  // λ = c/b is rounded where the mode fixes it.
  result.x_error = errors.head(flow_.n());
  result.lambda_error = 2 * unit_roundoff * result.lambda.cwiseAbs();
  for (std::size_t k = 0; k < flow_.free_laws().size(); ++k)
    result.lambda_error[flow_.free_laws()[k]] = errors[flow_.n() + static_cast<int>(k)];
}

/// Series of one mode with the same rates are one solution: rest, of which the later coefficients of a fast mode are noise.
void RestSearch::add_start(Equilibrium::Start start, Equilibrium& point) const {
  const auto is_near = [](const Vector& a, const Vector& b, const Vector& least) {
    return ((a - b).array().abs() <= same_start * a.cwiseAbs().cwiseMax(least).array()).all();
  };
  const bool is_known = std::ranges::any_of(point.continuations, [&](const Equilibrium::Start& other) {
    return other.mode == start.mode && is_near(other.lambda, start.lambda, scales().lambda) &&
           is_near(scales().time * other.xdot, scales().time * start.xdot, scales().x.cwiseMax(point.x.cwiseAbs()));
  });
  if (!is_known) point.continuations.push_back(std::move(start));
}

void RestSearch::list_continuations(Equilibrium& result, const std::vector<int>& open) {
  const Selection after =
      select(jets_, t_, result.x, result.lambda, result.mode, open, SelectionOptions{});
  result.continuations.clear();
  for (const Continuation& next : after.admissible)
    add_start({next.mode, next.jet.lambda.col(0), next.jet.x.col(1)}, result);
  // The point rests, also where the series of its mode do not tell that they are the only ones in it.
  const auto is_of_point = [&](const Continuation& next) {
    return next.mode == result.mode || std::ranges::find(next.also, result.mode) != next.also.end();
  };
  if (result.constant && std::ranges::none_of(after.admissible, is_of_point))
    result.continuations.push_back({result.mode, result.lambda, Vector::Zero(result.x.size())});
}

bool RestSearch::solve(const Mode& mode, const Vector& x, const Vector& lambda,
                       Equilibrium& result) {
  RestEquations equations(flow_, t_, scales());
  if (!equations.start(x, lambda) || !find_root(equations, newton_)) return false;
  const Vector errors = root_errors(equations, newton_);
  if ((errors.array() > equations.sizes().array()).any()) return false;
  result.residual = equations.relative_residual();
  result.mode = mode;
  flow_.scatter(equations.y(), result.x, result.lambda);
  set_errors(result, equations, errors);
  if (!result.w.allFinite()) return false;
  result.constant = !equations.moves_with_time();
  result.isolated = !has_roots_beside(equations, newton_);
  if (const auto values = certain_eigenvalues(equations)) {
    result.eigenvalues = *values;
    result.stability = stability_of(result.eigenvalues);
  }
  classify(result);
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
  RestEquations equations(flow_, t_, scales());
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

/// Points of one mode: the error of a multiple root is larger than that of a simple one, which `are_equal` looks at.
bool RestSearch::is_one_point(const Equilibrium& a, const Equilibrium& b) {
  if ((!a.isolated && !b.isolated) || are_equal(a, b)) return true;
  RestEquations equations(flow_, t_, scales());
  return is_one_root(equations, unknowns(a), unknowns(b));
}

/// Equal points are one; of a continuum the first stands for all, or the first that is not virtual.
void RestSearch::keep(Equilibrium next, std::vector<Equilibrium>& list) {
  const auto known =
      std::find_if(list.begin(), list.end(), [&](const Equilibrium& other) { return is_one_point(other, next); });
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
             are_equal(other, next);
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
