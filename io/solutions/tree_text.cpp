// The solutions of a run, where they split, as text.
#include <fmt/format.h>

#include <perp/analysis/run/columns.hpp>
#include <perp/io/solutions/tree_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

void write(const Model& model, const std::vector<TreeNode>& nodes, std::size_t node,
           const std::string& indent, std::string& text) {
  const TreeNode& here = nodes[node];
  const auto state = [&](const Step& step) { return named_values(variable_names(model), step.x); };
  if (here.children.empty()) {
    text += fmt::format("{}{} at t = {:.10g}: {}{}\n", indent,
                        here.status == Status::not_enumerated ? "not followed" : "ends", here.end.t,
                        state(here.end),
                        here.status == Status::no_solution ? ", no solution continues" : "");
    return;
  }
  const TreeNode& first = nodes[static_cast<std::size_t>(here.children.front())];
  text += fmt::format("{}the step from t = {:.10g} to {:.10g} has {} solutions\n", indent,
                      first.t_before, first.from.t, here.children.size());
  for (std::size_t k = 0; k < here.children.size(); ++k) {
    const auto child = static_cast<std::size_t>(here.children[k]);
    const TreeNode& next = nodes[child];
    text += fmt::format("{}{} {}  {}, {}, norm {}\n", indent, next.chosen ? '*' : ' ', k + 1,
                        state(next.from), describe(model.laws(), next.from.mode),
                        short_number(next.norm));
    write(model, nodes, child, indent + "     ", text);
  }
}

}  // namespace

std::string tree_text(const Model& model, const std::vector<TreeNode>& nodes) {
  std::string text;
  if (nodes.size() > 1) write(model, nodes, 0, "  ", text);
  return text;
}

std::string branches_text(const Model& model, const SolutionBranches& found) {
  std::string text =
      fmt::format("solutions   {}{}\n", found.list.size(), found.complete ? "" : " and more");
  for (std::size_t k = 0; k < found.list.size(); ++k) {
    const auto& [run, choices, repulsion] = found.list[k];
    text += fmt::format("  {:<2} {}: t = {:.8g}, {}\n", k + 1, to_string(run.status), run.t.back(),
                        named_values(variable_names(model), run.x.back()));
    for (const SolutionBranch::Choice& choice : choices)
      text += fmt::format(
          "     at t = {:.8g} [{}], {} of {} continuations\n", choice.t,
          describe(model.laws(), choice.mode),
          choice.taken > 0            ? fmt::format("number {}", choice.taken + 1)
          : model.hybrid == nullptr ? "the one of least norm"
                                    : "the one of nearest_mode",
          choice.of);
    if (repulsion)
      text += fmt::format("     [{}] repels from some t in [{:.6g}, {:.6g}] on: others leave it at any moment\n",
                          describe(model.laws(), repulsion->mode), repulsion->since, repulsion->t);
  }
  return text;
}

}  // namespace perp::io
