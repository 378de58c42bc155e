#include <fmt/format.h>

#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/step_solutions.hpp>
#include <perp/cli/output/summary.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/cli/output/tree_text.hpp>
#include <perp/schemes/jumps/solution_tree.hpp>

namespace perp::cli {
namespace {

constexpr long most_branches = 64;  // solutions of one step

std::vector<TreeNode> tree_of(const Model& model) {
  StepLister lister(model);
  const auto list = [&](const Vector& x, double t, double h) {
    std::vector<Choice> choices;
    for (const ListedSolution& item : lister(x, t, h, most_branches).listed) {
      const Solution& point = item.nearest;
      choices.push_back({{t + h, point.u, point.lambda, point.w, point.mode}, item.norm});
    }
    return choices;
  };
  return solution_tree([&] { return capturing_scheme(model); }, list, model.laws(), model.x0(),
                       model.run.span.start, {.end = model.run.span.end, .h = model.run.h});
}

void write(const Model& model, const std::vector<TreeNode>& nodes, std::size_t node,
           const std::string& indent, std::string& text) {
  const TreeNode& here = nodes[node];
  const auto state = [&](const Step& step) {
    return named_values(variable_names(model), step.x);
  };
  if (here.children.empty()) {
    text += fmt::format("{}{} at t = {:.10g}: {}{}\n", indent,
                        here.status == Status::not_enumerated ? "not followed" : "ends",
                        here.end.t, state(here.end),
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

std::string tree_text(const Model& model) {
  const std::vector<TreeNode> nodes = tree_of(model);
  std::string text;
  if (nodes.size() > 1) write(model, nodes, 0, "  ", text);
  return text;
}

}  // namespace perp::cli
