#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/pencil/finite_eigenvalues.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/polynomials/positive_roots.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/step/solvability/step_determinants.hpp>
#include <perp/schemes/step/solvability/step_poles.hpp>
#include <perp/schemes/step/solvability/step_solvability.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {
namespace {

constexpr double real_to = 1e-6;   ///< share of an imaginary part that is rounding
constexpr double most_work = 3e5;  ///< operations in rational numbers

/// The largest positive real eigenvalue of a mode's flow, else 0; 0 too where the pencil is
/// singular and every step matrix with it. NaN where the eigenvalues are lost in rounding.
double fastest_growth(const Lcs& lcs, const Mode& mode) {
  const ModeDae dae = mode_dae(lcs, mode);
  const auto eigenvalues = finite_eigenvalues(dae.E, dae.A);
  if (!eigenvalues) return index_of(dae.E, dae.A) ? nan : 0;
  double largest = 0;
  for (const std::complex<double>& s : *eigenvalues)
    if (std::abs(s.imag()) <= real_to * std::abs(s)) largest = std::max(largest, s.real());
  return largest;
}

/// The smallest root of all modes' determinants, and its mode.
struct SmallestRoot {
  double below = inf;  ///< NaN: not known
  Mode mode{};
  std::vector<std::pair<Block, std::vector<Mode>>> always{};  ///< of each block, its modes whose determinant is 0 for every h

  /// Is the determinant of this mode 0 for every h?
  [[nodiscard]] bool is_always(const Mode& all) const {
    return std::ranges::any_of(always, [&](const auto& of) {
      Mode part;
      for (const int i : of.first.lambda) part.push_back(all[at(i)]);
      return std::ranges::find(of.second, part) != of.second.end();
    });
  }
};

SmallestRoot by_eigenvalues(const StepEquations& equations) {
  const Lcs scaled = stepped(equations);
  SmallestRoot root;
  double growth = 0;
  Mode mode(scaled.laws.size(), 0);
  do {
    const double here = fastest_growth(scaled, mode);
    if (std::isnan(here)) return {.below = nan};
    if (!(here > growth)) continue;
    growth = here;
    root = {.below = 1 / (equations.theta() * growth), .mode = mode};
  } while (next_mode(mode, scaled.laws));
  return root;
}

/// The laws of a block.
std::vector<Law> laws_of(const StepEquations& equations, const Block& block) {
  std::vector<Law> laws;
  for (const int i : block.lambda) laws.push_back(equations.laws()[at(i)]);
  return laws;
}

/// Makes `root` that of a block, where one of its modes has a smaller one.
void include_modes(const StepEquations& equations, const Block& block, const StepDeterminants& determinants,
                   SmallestRoot& root) {
  const std::vector<Law> laws = laws_of(equations, block);
  std::vector<Mode>& always = root.always.emplace_back(block, std::vector<Mode>()).second;
  Mode mode(laws.size(), 0);
  do {
    const PositiveRoots roots(determinants.polynomial(mode));
    if (roots.is_zero()) always.push_back(mode);
    if (roots.is_zero() || !roots.has_root_to(root.below)) continue;
    const double here = roots.smallest();
    if (!(here < root.below)) continue;
    root.below = here;
    root.mode = Mode(equations.laws().size(), 0);
    for (std::size_t i = 0; i < laws.size(); ++i) root.mode[at(block.lambda[i])] = mode[i];
  } while (next_mode(mode, laws));
}

/// Nothing where the work is too much.
std::optional<SmallestRoot> by_polynomials(const StepEquations& equations, double h) {
  if (equations.rows_are_rounded()) return std::nullopt;
  const std::vector<Block> blocks = independent_blocks(equations.family(h).base);
  std::vector<StepDeterminants> determinants;
  double work = 0;
  for (const Block& block : blocks) {
    determinants.emplace_back(equations, block);
    work += mode_count(laws_of(equations, block)) * determinants.back().work();
  }
  if (work > most_work) return std::nullopt;
  SmallestRoot root;
  for (std::size_t k = 0; k < blocks.size(); ++k) include_modes(equations, blocks[k], determinants[k], root);
  return root;
}

}  // namespace

double mode_count(const std::vector<Law>& laws) {
  double count = 1;
  for (const Law& law : laws) count *= static_cast<double>(law.branches.size());
  return count;
}

StepSolvability step_solvability(const Lcs& lcs, double theta, double h, long max_modes) {
  check_theta(theta);
  check_h(h);
  if (mode_count(lcs.laws) > static_cast<double>(max_modes))
    throw InvalidInput(fmt::format("laws must have at most {} modes but have {:.6g}", max_modes,
                                   mode_count(lcs.laws)));
  StepEquations equations(lcs, theta);
  const std::optional<SmallestRoot> proved = by_polynomials(equations, h);
  const SmallestRoot root = proved ? *proved : by_eigenvalues(equations);
  StepSolvability result;
  result.below = root.below;
  result.mode = root.mode;
  result.is_proved = proved.has_value();
  const Vector x = Vector::Zero(lcs.n());  // every right-hand side is looked at
  const auto at_h = [&](double step) {
    return unique_solvability(equations.problem(x, 0, step, step));
  };
  result.at_h = at_h(h);
  result.is_always = result.at_h.verdict == UniqueSolvability::Verdict::singular && root.is_always(result.at_h.mode);
  if (!std::isnan(root.below)) result.shorter = h < root.below ? result.at_h : at_h(root.below / 2);
  return result;
}

}  // namespace perp
