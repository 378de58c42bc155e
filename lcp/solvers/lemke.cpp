#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <perp/lcp/forms/pivoting.hpp>
#include <perp/lcp/forms/standard_forms.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/solver.hpp>

namespace perp {
namespace {

/// Starts tried before giving up: the present mode, all at bounds, then others.
constexpr int attempts = 12;

/// A number in [0, 1) that depends on (attempt, index) only: the same on every machine.
double sample(int attempt, int index) {
  std::uint64_t x = static_cast<std::uint64_t>(attempt) * 0x9e3779b97f4a7c15U +
                    static_cast<std::uint64_t>(index) * 0xd1b54a32d192ed03U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((x ^ (x >> 31U)) >> 11U) * 0x1p-53;
}

/// Places of the unknowns of one law where its curve is in its k-th branch, and back.
void set_places(const BoxForm& form, const CurveUnknowns& law, int k, std::vector<Place>& places) {
  for (int j = 0; j < law.count; ++j) {
    Place& place = places[static_cast<std::size_t>(law.first + j)];
    place = j < k ? Place::inside : Place::at_lower;
    const bool box = law.count == 1 && form.upper[law.first] < inf;
    if (box && k == 2) place = Place::at_upper;
  }
}

int branch_of(const CurveUnknowns& law, const std::vector<Place>& places) {
  std::size_t k = 0;
  for (int j = 0; j < law.count && law.order.size() > 1; ++j) {
    const Place place = places[static_cast<std::size_t>(law.first + j)];
    if (place == Place::inside) k = static_cast<std::size_t>(j) + 1;
    if (place == Place::at_upper) k = 2;
  }
  return law.order[k];
}

std::vector<Place> places_of(const BoxForm& form, const Mode& mode) {
  std::vector<Place> places(static_cast<std::size_t>(form.n()), Place::at_lower);
  for (std::size_t i = 0; i < form.laws.size(); ++i) {
    const auto& order = form.laws[i].order;
    for (std::size_t k = 0; k < order.size(); ++k)
      if (order[k] == mode[i]) set_places(form, form.laws[i], static_cast<int>(k), places);
  }
  return places;
}

/// Where an unknown starts that a sample in [0, 1) decides: at a bound, or inside in other bases.
Place chosen_place(double choice, bool has_upper, bool other_bases) {
  if (choice < 0.5) return Place::at_lower;
  if (has_upper && (choice < 0.75 || !other_bases)) return Place::at_upper;
  return other_bases ? Place::inside : Place::at_lower;
}

/// The a-th start: its places and covering weights. Attempt 0 is the present mode, attempt 1 every
/// unknown at its lower bound with equal weights; then other bounds and weights, then other bases.
bool begin(Pivoting& pivoting, const BoxForm& form, int attempt, const Mode* present,
           Vector& weights) {
  const int n = form.n();
  weights = Vector::Ones(n);
  if (attempt == 0) return present != nullptr && pivoting.start(places_of(form, *present));
  std::vector<Place> places(static_cast<std::size_t>(n), Place::at_lower);
  if (attempt == 1) return pivoting.start_at_bounds(places);
  const bool other_bases = attempt >= attempts / 2;
  for (int i = 0; i < n; ++i) {
    weights[i] = 0.125 + 4 * sample(attempt, i);
    places[static_cast<std::size_t>(i)] =
        chosen_place(sample(attempt, n + i), form.upper[i] < inf, other_bases);
  }
  return other_bases ? pivoting.start(places) : pivoting.start_at_bounds(places);
}

/// The point of the final basis in the problem's own unknowns, solved anew in its mode.
Solution recovered(const Mlcp& problem, const Scaling& scaling, const BoxForm& form,
                   const Pivoting& pivoting, double tol) {
  const Vector point = form.back * pivoting.y() + form.back0;
  const Vector u = scaling.u_scale.cwiseProduct(point.head(problem.p()));
  const Vector lambda = scaling.lambda_scale.cwiseProduct(point.tail(problem.m()));
  Mode mode;
  for (const CurveUnknowns& law : form.laws) mode.push_back(branch_of(law, pivoting.places()));
  Solution solution = refined(problem, u, lambda, mode);
  if (solution.residual <= tol) return solution;
  return refined(problem, u, lambda, nearest_mode(problem, u, lambda));
}

const char* reason(PivotResult result) {
  switch (result) {
    case PivotResult::done: return "its answer fails the residual check";
    case PivotResult::ray: return "its path ends in a ray";
    case PivotResult::back_at_start: return "its path returns to its start";
    case PivotResult::singular_start: return "the free unknowns are not determined by any start";
    case PivotResult::limit: return "the limit of pivots is reached";
  }
  return "";
}

/// Lemke's method on the scaled box form, from several starts; see Pivoting.
SolveResult solve_lemke(const Mlcp& problem, const SolveOptions& options) {
  const Scaling scaling = equilibrate(problem);
  const BoxForm form = box_form(scaled(problem, scaling));
  Pivoting pivoting(form);
  SolveResult result;
  PivotResult last = PivotResult::singular_start;
  Vector weights;
  int starts = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (!begin(pivoting, form, attempt, options.present, weights)) continue;
    ++starts;
    last = pivoting.follow(weights, result.iterations, options.max_iterations);
    if (last == PivotResult::limit) break;
    if (last != PivotResult::done) continue;
    result.solution = recovered(problem, scaling, form, pivoting, options.tol);
    if (!(result.solution.residual <= options.tol)) continue;
    result.status = Status::solved;
    return result;
  }
  result.status = Status::not_solved;
  result.message = fmt::format("lemke gave up after {} pivots from {} starts: {}",
                               result.iterations, starts, reason(last));
  return result;
}

constexpr MlcpSolver lemke_methods[] = {
    {"lemke",
     "Lemke's method with free unknowns and boxes, any laws whose graphs are curves without ends",
     no_box_form, solve_lemke},
};

}  // namespace

extern const MlcpSolvers lemke;
const MlcpSolvers lemke{lemke_methods};

}  // namespace perp
