#include <fmt/format.h>
#include <algorithm>
#include <variant>

#include <perp/analysis/counts.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/solutions/merged_tree_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

/// Writes the lines of a tree, depth first.
class Lines {
 public:
  Lines(const Model& model, const MergedTree& tree)
      : model_(model),
        tree_(tree),
        names_(variable_names(model)),
        shown_(tree.nodes.size(), false) {}

  std::string operator()(long most_lines) {
    text_ = fmt::format("0  t = {:.10g}  {}{}\n", tree_.nodes[0].t, state(tree_.nodes[0].x),
                        ending(tree_.nodes[0]));
    push_children(0, "");
    for (long line = 1; !open_.empty(); ++line) {
      if (line >= most_lines) {
        text_ += fmt::format("... {} more solutions of steps, see --json\n",
                             static_cast<long>(tree_.edges.size()) - line + 1);
        break;
      }
      const Open next = std::move(open_.back());
      open_.pop_back();
      write(next);
    }
    return std::move(text_);
  }

 private:
  struct Open {
    int edge;
    std::string prefix;
    bool is_branch, is_last;
  };

  void push_children(std::size_t node, const std::string& prefix) {
    const std::vector<int>& out = tree_.nodes[node].out;
    for (std::size_t k = out.size(); k-- > 0;)
      open_.push_back({out[k], prefix, out.size() > 1, k + 1 == out.size()});
  }

  void write(const Open& open) {
    const MergedEdge& edge = tree_.edges[static_cast<std::size_t>(open.edge)];
    const auto to = static_cast<std::size_t>(edge.to);
    const MergedNode& node = tree_.nodes[to];
    const bool again = shown_[to];
    text_ += fmt::format(
        "{}{}{}  t = {:.10g}  {}{}  norm {}{}{}\n", open.prefix, open.is_branch ? "+- " : "",
        edge.to, node.t, state(edge.choice.state.x),
        model_.laws().empty() ? "" : "  " + describe(model_.laws(), edge.choice.state.mode),
        short_number(edge.choice.norm),
        edge.choice.isolated ? "" : ", of a continuum its nearest point",
        again ? met_text(node) : ending(node));
    if (again) return;
    shown_[to] = true;
    push_children(to, open.prefix + (open.is_branch ? open.is_last ? "   " : "|  " : ""));
  }

  [[nodiscard]] std::string state(const Vector& x) const { return named_values(names_, x); }
  /// Of a node that is shown above.
  static std::string met_text(const MergedNode& node) {
    return node.out.empty() ? "  met above" : "  met above, goes on as there";
  }
  static std::string ending(const MergedNode& node) {
    if (node.status == Status::no_solution) return "  dies: the next step has no solution";
    if (node.status == Status::not_solved) return "  ends: no next state was found";
    if (node.status == Status::not_enumerated)
      return node.out.empty() ? "  not followed" : "  perhaps not to all its solutions";
    return {};
  }

  const Model& model_;
  const MergedTree& tree_;
  std::vector<std::string> names_;
  std::vector<bool> shown_;
  std::vector<Open> open_;
  std::string text_;
};

}  // namespace

std::string describe_counts(const MergedTree& tree, int steps) {
  const auto ways = [](const Integer& number, const char* verb) {
    return fmt::format("{} way{}{}", short_count(number), number == 1 ? "" : "s", verb);
  };
  std::string text =
      ways(tree.paths, fmt::format(" of {} step{}", steps, steps == 1 ? "" : "s").c_str());
  text += fmt::format(" to {} state{}", tree.ends, tree.ends == 1 ? "" : "s");
  if (tree.dying > 0) text += ", " + ways(tree.dying, tree.dying == 1 ? " dies" : " die");
  return text + fmt::format("; {} node{}", tree.nodes.size(), tree.nodes.size() == 1 ? "" : "s");
}

std::string merged_tree_text(const Model& model, const MergedTree& tree, long most_lines) {
  return Lines(model, tree)(most_lines);
}

Json to_json(const Model& model, const MergedTree& tree) {
  Json nodes = Json::array(), edges = Json::array();
  for (const MergedNode& node : tree.nodes)
    nodes.push_back({{"level", node.level},
                     {"t", node.t},
                     {"x", to_json(node.x)},
                     {"status", to_string(node.status)},
                     {"survives", node.survives},
                     {"ways", count_to_json(node.paths)}});
  for (const MergedEdge& edge : tree.edges)
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"mode", describe(model.laws(), edge.choice.state.mode)},
                     {"x", to_json(edge.choice.state.x)},
                     {"lambda", to_json(edge.choice.state.lambda)},
                     {"norm", to_json(edge.choice.norm)},
                     {"isolated", edge.choice.isolated}});
  return {{"version", PERP_VERSION},
          {"model", {{"name", model.name}, {"file", model.file}, {"hash", model.hash}}},
          {"h", model.run.h},
          {"scheme", model.run.scheme},
          {"complete", tree.complete},
          {"message", tree.message},
          {"ways", count_to_json(tree.paths)},
          {"ways_that_die", count_to_json(tree.dying)},
          {"end_states", tree.ends},
          {"nodes", nodes},
          {"edges", edges}};
}

}  // namespace perp::io
