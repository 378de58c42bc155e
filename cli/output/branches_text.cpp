#include <fmt/format.h>

#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/branches_text.hpp>
#include <perp/cli/output/summary.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>

namespace perp::cli {

std::string branches_text(const Model& model) {
  IntegrateOptions options;
  options.keep = false;
  options.bounds = model.bounds();
  Located located = located_options(model);
  located.output_step = 0;
  const Dcs system = model.equations ? *model.equations : as_dcs(model.lcs());
  const SolutionBranches found =
      solution_branches(system, model.x0(), model.run.span, located, options);
  std::string text =
      fmt::format("solutions   {}{}\n", found.list.size(), found.complete ? "" : " and more");
  for (std::size_t k = 0; k < found.list.size(); ++k) {
    const auto& [run, choices] = found.list[k];
    text += fmt::format("  {:<2} {}: t = {:.8g}, {}\n", k + 1, to_string(run.status), run.t.back(),
                        named_values(variable_names(model), run.x.back()));
    for (const SolutionBranch::Choice& choice : choices)
      text += fmt::format(
          "     at t = {:.8g} [{}], {} of {} continuations\n", choice.t,
          describe(model.laws(), choice.mode),
          choice.taken == 0 ? "the one of least norm" : fmt::format("number {}", choice.taken + 1),
          choice.of);
  }
  return text;
}

}  // namespace perp::cli
