#include <fmt/format.h>
#include <cmath>
#include <Eigen/Core>
#include <optional>
#include <variant>
#include <vector>

#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/columns.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/cli/output/well_posedness.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/linearize.hpp>
#include <perp/core/pencil/constraint_product.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>
#include <perp/schemes/step/step_equations.hpp>
#include <perp/schemes/step/step_solvability.hpp>

namespace perp::cli {
namespace {

constexpr long most_modes = 256;
constexpr long most_judged = 1024;        // modes whose eigenvalues are computed
constexpr long most_signs = 4096;         // modes of a block whose determinants are computed
constexpr double singular_below = 1e-13;  // reciprocal condition of a step matrix

/// The system in one mode: itself, or linearised at the start.
Lcs in_mode(const Model& model, const Mode& mode) {
  if (const Lcs* lcs = std::get_if<Lcs>(&model.system)) return *lcs;
  const Dcs& dcs = std::get<Dcs>(model.system);
  const double t = model.run.span.start;
  return linearized(dcs, t, state_in_mode(dcs, t, model.x0(), mode));
}

/// C_i B of the constraints that are left in a mode; "-" where there are none.
std::string product_text(const ModeDae& dae, const std::optional<int>& index) {
  if (index && *index <= 1) return "-";
  const Matrix product = constraint_product(dae);
  const bool regular = index && *index == 2;
  if (product.size() == 1 && regular) return fmt::format("{:.6g}", std::abs(product(0, 0)));
  if (!regular) return "singular";
  return fmt::format("{0}x{0}, nonsingular", product.rows());
}

/// One row of the table of modes: the index of the DAE, C_i B and the matrix of the step.
std::vector<std::string> describe_mode(const Model& model, const Mode& mode) {
  Lcs lcs;
  try {
    lcs = validated(in_mode(model, mode));
  } catch (const InvalidInput& error) {
    return {"unknown", "unknown", error.what()};
  }
  const ModeDae dae = mode_dae(lcs, mode);
  const std::optional<int> index = index_of(dae.E, dae.A);
  const StepEquations equations(lcs, step_options(model).theta);
  const double condition =
      scaled_reciprocal_condition(mode_matrix(equations.family(model.run.h).base, mode));
  return {index ? fmt::format("regular, index {}", *index) : "singular: not well-posed",
          product_text(dae, index),
          condition < singular_below ? "singular"
                                     : fmt::format("regular, 1/condition {:.1e}", condition)};
}

std::string law_text(const Model& model, int law) {
  return fmt::format("law {} ({})", law + 1, model.laws()[static_cast<std::size_t>(law)].name);
}

std::string branch_text(const Model& model, int law, const Mode& mode) {
  const auto i = static_cast<std::size_t>(law);
  return describe(model.laws()[i].branches[static_cast<std::size_t>(mode[i])]);
}

/// What keeps a step from having one solution; empty where nothing does.
std::string warning(const Model& model, const UniqueSolvability& found) {
  using Verdict = UniqueSolvability::Verdict;
  if (found.verdict == Verdict::singular)
    return fmt::format(
        "the step matrix of {} is singular: for some states, b and q there is no "
        "(x, lambda) or a continuum",
        describe(model.laws(), found.mode));
  if (found.verdict == Verdict::fold)
    return fmt::format(
        "{} folds between {} and {} (opposite determinants){}: steps that end near that corner "
        "have two solutions there, or none",
        law_text(model, found.law), branch_text(model, found.law, found.mode),
        branch_text(model, found.law, found.neighbour),
        model.laws().size() > 1 ? " in " + describe(model.laws(), found.mode) : "");
  if (found.verdict == Verdict::unknown) return "not decided: " + found.reason;
  return {};
}

std::string proof(const UniqueSolvability& found) {
  return found.verdict == UniqueSolvability::Verdict::monotone
             ? "definite matrix, monotone laws"
             : "the determinants of all modes have one sign";
}

/// The lines about shorter steps.
std::string shorter_text(const Model& model, const StepSolvability& found) {
  if (std::isnan(found.below))
    return "  shorter  not decided: the eigenvalues of a mode are lost in rounding\n";
  if (found.at_h.verdict == UniqueSolvability::Verdict::unknown) return {};
  const Span& span = model.run.span;
  const std::string limit =
      found.below > span.end - span.start
          ? fmt::format("0 < h <= {:g}, the whole run", span.end - span.start)
          : fmt::format("0 < h < {:.6g}, where the step matrix of {} becomes singular", found.below,
                        describe(model.laws(), found.mode));
  const std::string trouble = warning(model, found.shorter);
  if (trouble.empty())
    return fmt::format(
        "  exactly one for {} (no step matrix is singular there, by the eigenvalues of all "
        "modes)\n",
        limit);
  if (model.run.h < found.below) return fmt::format("  the same for {}\n", limit);
  return fmt::format("  warning: for {}: {}\n", limit, trouble);
}

std::string every_state(const Model& model, const UniqueSolvability& found) {
  return fmt::format("exactly one solution for h = {:g}, whatever the state, b and q ({})\n",
                     model.run.h, proof(found));
}

}  // namespace

std::string modes_text(const Model& model) {
  const std::vector<Law>& laws = model.laws();
  const double total = mode_count(laws);
  std::string text =
      fmt::format("modes        {:.6g}{}{}; step matrices for h = {:g}, scheme {}\n", total,
                  total > static_cast<double>(most_modes)
                      ? fmt::format(", of which the first {} are looked at", most_modes)
                      : "",
                  std::holds_alternative<Dcs>(model.system) ? ", linearised at the start" : "",
                  model.run.h, model.run.scheme);
  TextTable table({"#", "mode", "DAE in this mode", "|C_i B|", "step matrix"});
  Mode mode(laws.size(), 0);
  for (long k = 1; k <= most_modes; ++k) {
    std::vector<std::string> row = describe_mode(model, mode);
    row.insert(row.begin(), {fmt::format("{}", k), describe(laws, mode)});
    table.add(std::move(row));
    if (!next_mode(mode, laws)) break;
  }
  return text + table.text("  ");
}

std::string step_text(const Model& model) {
  if (model.laws().empty()) return {};
  const std::string heading = "one step     ";
  const Lcs* lcs = std::get_if<Lcs>(&model.system);
  if (lcs == nullptr)
    return heading + "number of solutions not decided: the steps are not affine\n";
  if (mode_count(model.laws()) > static_cast<double>(most_judged)) {
    const UniqueSolvability found = unique_solvability(
        StepEquations(*lcs, step_options(model).theta).family(model.run.h).base, most_signs);
    return heading + (found.is_unique() ? every_state(model, found)
                                        : "warning: " + warning(model, found) + "\n");
  }
  const StepSolvability found = step_solvability(*lcs, step_options(model).theta, model.run.h);
  const std::string trouble = warning(model, found.at_h);
  const std::string at_h = trouble.empty()
                               ? every_state(model, found.at_h)
                               : fmt::format("warning: for h = {:g}: {}\n", model.run.h, trouble);
  return heading + at_h + shorter_text(model, found);
}

}  // namespace perp::cli
