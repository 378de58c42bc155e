// Modes and steps of a model in words.
#include <fmt/format.h>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/io/text/text_table.hpp>
#include <perp/io/text/well_posedness_text.hpp>

namespace perp::io {
namespace {

/// C_i B of the constraints that are left in a mode; "-" where there are none.
std::string product_text(const ModeWellPosedness& mode) {
  if (mode.index && *mode.index <= 1) return "-";
  const bool regular = mode.index && *mode.index == 2;
  if (mode.product.size() == 1 && regular)
    return fmt::format("{:.6g}", std::abs(mode.product(0, 0)));
  if (!regular) return "singular";
  return fmt::format("{0}x{0}, nonsingular", mode.product.rows());
}

/// Of the step matrix. One that rounding may have made singular, or regular, is not called singular: exact determinants may tell more.
std::string step_text(double reciprocal_condition, bool has_singular_step) {
  if (reciprocal_condition == 0) return "singular";
  return fmt::format("{}, 1/condition {:.1e}", has_singular_step ? "singular up to rounding" : "regular", reciprocal_condition);
}

/// The row of a mode after its number and name.
std::vector<std::string> described(const ModeWellPosedness& mode) {
  if (!mode.fault.empty()) return {"unknown", "unknown", mode.fault};
  return {mode.index ? fmt::format("regular, index {}", *mode.index) : "singular: not well-posed",
          product_text(mode),
          step_text(mode.reciprocal_condition, mode.has_singular_step())};
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
        describe_briefly(model.laws(), found.mode));
  if (found.verdict == Verdict::fold)
    return fmt::format(
        "{} folds between {} and {} (opposite determinants){}: steps that end near that corner "
        "have two solutions there, or none",
        law_text(model, found.law), branch_text(model, found.law, found.mode),
        branch_text(model, found.law, found.neighbour),
        model.laws().size() > 1 ? " in " + describe_briefly(model.laws(), found.mode) : "");
  if (found.verdict == Verdict::unknown) return "not decided: " + found.reason;
  return {};
}

std::string proof(const UniqueSolvability& found) {
  return found.verdict == UniqueSolvability::Verdict::monotone
             ? "definite matrix, monotone laws"
             : "the determinants of all modes have one sign";
}

/// Six digits that are not above the value, but for the rounding of a decimal number.
std::string at_most(double value) {
  const std::string nearest = fmt::format("{:.6g}", value);
  if (std::stod(nearest) <= value * (1 + 0x1p-50)) return nearest;
  const double step = std::pow(10, std::floor(std::log10(value)) - 5);
  return fmt::format("{:.6g}", (std::ceil(value / step) - 1) * step);
}

/// The lines about shorter steps.
std::string shorter_text(const Model& model, const StepSolvability& found) {
  if (std::isnan(found.below))
    return "  shorter  not decided: the eigenvalues of a mode are lost in rounding\n";
  if (found.at_h.verdict == UniqueSolvability::Verdict::unknown) return {};
  if (found.is_always) return "  the same for every h\n";
  const Span& span = model.run.span;
  const std::string limit =
      found.below > span.end - span.start
          ? fmt::format("0 < h <= {:g}, the whole run", span.end - span.start)
          : fmt::format("0 < h < {}, where the step matrix of {} becomes singular", at_most(found.below),
                        describe_briefly(model.laws(), found.mode));
  const std::string trouble = warning(model, found.shorter);
  if (trouble.empty())
    return fmt::format("  exactly one for {} (no step matrix is singular there, {})\n", limit,
                       found.is_proved ? "by the exact determinants of all modes"
                                       : "by eigenvalues in double precision, which is no proof");
  if (model.run.h < found.below) return fmt::format("  the same for {}\n", limit);
  return fmt::format("  warning: for {}: {}\n", limit, trouble);
}

std::string every_state(const Model& model, const UniqueSolvability& found) {
  return fmt::format("exactly one solution for h = {:g}, whatever the state, b and q ({})\n",
                     model.run.h, proof(found));
}

}  // namespace

std::string modes_text(const Model& model, const ModelModes& modes) {
  const Laws& laws = model.laws();
  const std::size_t listed = modes.list.size();
  std::string text = fmt::format(
      "modes        {}{}{}; step matrices for h = {:g}, scheme {}\n",
      std::isinf(modes.count) ? "more than 1.8e308" : fmt::format("{:.6g}", modes.count),
      modes.count > static_cast<double>(listed)
          ? (listed == 0 ? ", too large to be looked at one by one"
                         : fmt::format(", of which the first {} are looked at", listed))
          : "",
      modes.is_linearised ? ", linearised at the start" : "", model.run.h, model.run.scheme);
  if (listed == 0) return text;
  TextTable table({"#", "mode", "DAE in this mode", "|C_i B|", "step matrix"});
  for (std::size_t k = 0; k < listed; ++k) {
    std::vector<std::string> row = described(modes.list[k]);
    row.insert(row.begin(), {fmt::format("{}", k + 1), describe_briefly(laws, modes.list[k].mode)});
    table.add(std::move(row));
  }
  return text + table.text("  ");
}

std::string steps_text(const Model& model, const ModelSteps& steps) {
  if (model.laws().empty()) return {};
  const std::string heading = "one step     ";
  if (model.run.h <= steps.longest_monotone)
    return heading + fmt::format("at most one x+ for {}, whatever the state, b and q (certificate by energy)\n",
                                 steps.longest_monotone == inf ? "every h" : "h <= " + at_most(steps.longest_monotone));
  if (!steps.is_affine)
    return heading + "number of solutions not decided: the steps are not affine\n";
  const std::string trouble = warning(model, steps.found.at_h);
  if (!steps.judges_shorter)
    return heading +
           (trouble.empty() ? every_state(model, steps.found.at_h) : "warning: " + trouble + "\n");
  const std::string at_h = trouble.empty()
                               ? every_state(model, steps.found.at_h)
                               : fmt::format("warning: for h = {:g}: {}\n", model.run.h, trouble);
  return heading + at_h + shorter_text(model, steps.found);
}

}  // namespace perp::io
