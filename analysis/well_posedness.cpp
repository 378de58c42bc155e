// What the equations of a model say before any run: `perp check` asks it.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/well_posedness.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/core/linearize.hpp>
#include <perp/core/pencil/constraint_product.hpp>
#include <perp/core/pencil/exact_index.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {
namespace {

constexpr long most_modes = 256;
constexpr std::size_t most_full_variables = 4096;  // of a mode with full matrices
constexpr double most_work = 2.5e6;  // rows³ of the matrices of the modes that are listed where there are more
constexpr double most_exact_work = 1e5;   // the same where their index is found in rational numbers
constexpr long most_judged = 1024;        // modes whose eigenvalues are computed
constexpr long most_signs = 4096;         // modes of a block whose determinants are computed
constexpr long most_checked = 50;         // pieces of the consistent start
constexpr double singular_below = 1e-13;  // reciprocal condition of a step matrix

ModeWellPosedness judged(const Model& model, const Mode& mode, bool is_judged_exactly) {
  ModeWellPosedness result{.mode = mode};
  Lcs lcs;
  try {
    lcs = validated(model.system.in_mode(model.run.span.start, model.x0(), mode));
  } catch (const InvalidInput& error) {
    result.fault = error.what();
    return result;
  }
  // The index, and C_i B of what is left after differentiation.
  const ModeDae dae = mode_dae(lcs, mode);
  result.index = is_judged_exactly ? exact_index(lcs, mode) : index_of(dae.E, dae.A);
  if (!result.index || *result.index > 1) result.product = constraint_product(dae);
  const StepEquations equations(lcs, step_options(model).theta);
  result.reciprocal_condition =
      scaled_reciprocal_condition(mode_matrix(equations.family(model.run.h).base, mode));
  return result;
}

/// Operations on the matrices of one mode, about.
double work_of_mode(const Model& model) {
  return std::pow(static_cast<double>(model.variables.size() + model.laws().size()), 3);
}

/// Some of very many modes tell less than they cost.
long modes_looked_at(const Model& model, double count) {
  if (model.variables.size() > most_full_variables) return 0;
  if (count <= static_cast<double>(most_modes)) return most_modes;
  return static_cast<long>(std::min(static_cast<double>(most_modes), most_work / work_of_mode(model)));
}

}  // namespace

bool ModeWellPosedness::has_singular_step() const { return reciprocal_condition < singular_below; }

ModelModes well_posedness(const Model& model) {
  ModelModes modes{.count = mode_count(model.laws()), .is_linearised = !is_affine(model)};
  Mode mode(model.laws().size(), 0);
  const bool is_judged_exactly =
      std::min(modes.count, static_cast<double>(most_modes)) * work_of_mode(model) <= most_exact_work;
  bool has_next = true;
  for (long left = modes_looked_at(model, modes.count); has_next && left > 0; --left) {
    modes.list.push_back(judged(model, mode, is_judged_exactly));
    has_next = next_mode(mode, model.laws());
  }
  return modes;
}

ModelSteps solvability_of_steps(const Model& model) {
  ModelSteps steps;
  const Lcs* lcs = model.system.affine();
  steps.is_affine = lcs != nullptr;
  if (model.laws().empty()) return steps;
  const double theta = step_options(model).theta;
  if (lcs == nullptr) {
    steps.longest_monotone = longest_monotone_step(model.system.functions(), theta);
    return steps;
  }
  steps.judges_shorter = mode_count(model.laws()) <= static_cast<double>(most_judged);
  if (steps.judges_shorter)
    steps.found = step_solvability(*lcs, theta, model.run.h);
  else
    steps.found.at_h =
        unique_solvability(StepEquations(*lcs, theta).family(model.run.h).base, most_signs);
  return steps;
}

StartConsistency consistency_of_start(const Model& model) {
  const StepEquations equations(model.lcs(), step_options(model).theta);
  const SolutionSet set = enumerate(equations.consistency(model.x0(), model.run.span.start));
  std::set<Mode> modes;
  for (const Piece& piece : pieces(set, most_checked))
    modes.insert(piece.modes.begin(), piece.modes.end());
  return {set.complete, multiplicity(set), count(set), {modes.begin(), modes.end()}};
}

int rank_of_e(const Lcs& lcs) { return static_cast<int>(linear::FullLu(lcs.E).rank()); }

}  // namespace perp
