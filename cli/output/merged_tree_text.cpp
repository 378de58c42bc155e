#include <fmt/format.h>
#include <algorithm>
#include <variant>

#include <perp/cli/input/model_options.hpp>
#include <perp/cli/output/counts.hpp>
#include <perp/cli/output/merged_tree_text.hpp>
#include <perp/cli/output/step_solutions.hpp>
#include <perp/cli/output/summary.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/core/base/error.hpp>

namespace perp::cli {
namespace {

constexpr long most_merged = 10'000;  // solutions of one step

/// Is the piece a continuum of x⁺, not of multipliers only?
bool has_one_x(const Piece& piece, Eigen::Index n) {
  if (piece.dimension == 0) return true;
  const Matrix x = piece.vertices.topRows(n);
  const double size = x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0;
  const double spread = x.cols() > 1 ? (x.colwise() - x.col(0)).cwiseAbs().maxCoeff() : 0;
  return spread <= solution_tolerance * size && piece.rays.topRows(n).isZero(0) &&
         piece.lines.topRows(n).isZero(0);
}

StepChoices choices_of(const StepSolutions& solutions, double t_next, Eigen::Index n) {
  StepChoices choices;
  choices.complete = solutions.set.complete && solutions.all_listed;
  if (!choices.complete)
    choices.note = solutions.all_listed ? solutions.set.certificate
                                        : fmt::format("more than {} solutions", most_merged);
  for (const ListedSolution& item : solutions.listed) {
    const Solution& point = item.nearest;
    if (point.u.size() != n) {
      choices.complete = false;
      choices.note = "a continuum whose nearest point was not found";
      continue;
    }
    choices.list.push_back({{t_next, point.u, point.lambda, point.w, point.mode},
                            item.norm,
                            has_one_x(item.piece, n)});
  }
  return choices;
}

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
        again ? node.out.empty() ? "  met above" : "  met above, goes on as there" : ending(node));
    if (again) return;
    shown_[to] = true;
    push_children(to, open.prefix + (open.is_branch ? open.is_last ? "   " : "|  " : ""));
  }

  [[nodiscard]] std::string state(const Vector& x) const { return named_values(names_, x); }
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

MergedTree merged_tree_of(const Model& model, const Vector& x, double t, int steps,
                          long max_nodes) {
  if (model.run.scheme != "backward_euler" && model.run.scheme != "theta")
    throw InvalidInput(
        fmt::format("--tree is of the steps of backward_euler or theta, but the scheme is {}: add "
                    "--scheme backward_euler",
                    model.run.scheme));
  const Dcs* dcs = std::get_if<Dcs>(&model.system);
  if (dcs != nullptr && !dcs->resets.empty())
    throw InvalidInput(fmt::format("--tree does not follow resets, but the model has '{}'",
                                   dcs->resets.front().name));
  StepLister lister(model);
  const auto list = [&](const Vector& from, double time, double h) {
    return choices_of(lister(from, time, h, most_merged), time + h, from.size());
  };
  MergedTreeOptions options{.h = model.run.h, .steps = steps, .max_nodes = max_nodes};
  // The θ-method's steps depend on all variables, backward Euler's on those with a derivative.
  if (model.run.scheme != "theta") options.state = model.differential_variables();
  return merged_tree(list, x, t, options);
}

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
  return {{"complete", tree.complete},
          {"message", tree.message},
          {"ways", count_to_json(tree.paths)},
          {"ways_that_die", count_to_json(tree.dying)},
          {"end_states", tree.ends},
          {"nodes", nodes},
          {"edges", edges}};
}

}  // namespace perp::cli
