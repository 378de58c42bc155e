#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/jumps/merged_tree.hpp>

namespace perp {
namespace {

constexpr double same_value = 1e-9;   ///< relative difference that is rounding

/// When two states are the same, in the units of each variable.
class Sameness {
 public:
  explicit Sameness(const Vector& x0) : largest_(x0.cwiseAbs()) {}
  void include(const Vector& x) { largest_ = largest_.cwiseMax(x.cwiseAbs()); }
  [[nodiscard]] bool same(const Vector& a, const Vector& b, const std::vector<int>& entries) const {
    return std::all_of(entries.begin(), entries.end(), [&](int j) {
      return std::abs(a[j] - b[j]) <= same_value * largest_[j];
    });
  }

 private:
  Vector largest_;
};

class MergedGrower {
 public:
  MergedGrower(const std::function<StepChoices(const Vector&, double, double)>& list,
               const Vector& x0, double start, const MergedTreeOptions& options)
      : list_(list), start_(start), options_(options), sameness_(x0), state_(options.state) {
    for (int j = 0; j < x0.size(); ++j) all_.push_back(j);
    if (state_.empty()) state_ = all_;
    tree_.nodes.push_back({.level = 0, .t = start, .x = x0, .paths = 1});
  }

  MergedTree operator()() {
    std::size_t next = 0;
    while (next < tree_.nodes.size() && tree_.nodes[next].level < options_.steps && !full_) {
      const int level = tree_.nodes[next].level;
      level_begin_ = tree_.nodes.size();
      for (; next < level_begin_ && !full_; ++next) follow(next, level);
    }
    if (full_) give_up_open();
    count();
    return std::move(tree_);
  }

 private:
  /// Nodes that the budget leaves.
  void give_up_open() {
    for (MergedNode& node : tree_.nodes)
      if (node.status == Status::never_run) node.status = Status::not_enumerated;
  }

  /// What is known of a node that goes on, or is `dead`, as its step says, all solutions of which are known or not.
  [[nodiscard]] Status status_of(bool dead, bool complete) const {
    if (full_) return Status::not_enumerated;
    if (complete) return dead ? Status::no_solution : Status::solved;
    return dead ? Status::not_solved : Status::not_enumerated;
  }

  void follow(std::size_t index, int level) {
    const double t = tree_.nodes[index].t;
    StepChoices choices = list_(tree_.nodes[index].x, t, options_.h);
    if (!choices.complete && tree_.complete) {
      tree_.complete = false;
      tree_.message = fmt::format("a step from t = {:.10g}: {}", t, choices.note);
    }
    for (const Choice& choice : choices.list) sameness_.include(choice.state.x);
    std::vector<int> taken;
    for (Choice& choice : choices.list) {
      const bool known = std::any_of(taken.begin(), taken.end(), [&](int edge) {
        const Vector& other = tree_.edges[static_cast<std::size_t>(edge)].choice.state.x;
        return sameness_.same(other, choice.state.x, all_);
      });
      if (known) continue;  // solutions that differ in multipliers only go on alike
      const int to = node_of(choice.state.x, level + 1);
      if (to < 0) break;
      taken.push_back(static_cast<int>(tree_.edges.size()));
      tree_.nodes[static_cast<std::size_t>(to)].in.push_back(taken.back());
      tree_.edges.push_back({static_cast<int>(index), to, std::move(choice)});
    }
    MergedNode& node = tree_.nodes[index];
    node.out = std::move(taken);
    node.status = status_of(node.out.empty(), choices.complete);
  }

  /// The node of a state on the level that is growing, a new one where no way has come by. -1: the
  /// budget does not allow a new one.
  int node_of(const Vector& x, int level) {
    for (std::size_t k = level_begin_; k < tree_.nodes.size(); ++k)
      if (sameness_.same(tree_.nodes[k].x, x, state_)) return static_cast<int>(k);
    if (static_cast<long>(tree_.nodes.size()) >= options_.max_nodes) {
      full_ = true;
      tree_.complete = false;
      tree_.message = fmt::format("the limit of {} nodes was reached in step {} of {}",
                                  options_.max_nodes, level, options_.steps);
      return -1;
    }
    tree_.nodes.push_back({.level = level, .t = start_ + level * options_.h, .x = x});
    return static_cast<int>(tree_.nodes.size()) - 1;
  }

  void count() {
    for (MergedNode& node : tree_.nodes) {
      if (node.level == options_.steps) {
        node.status = Status::solved;
        node.survives = true;
        ++tree_.ends;
        tree_.paths += node.paths;
      }
      if (node.status == Status::no_solution) tree_.dying += node.paths;
      for (const int edge : node.out)
        tree_.nodes[static_cast<std::size_t>(tree_.edges[static_cast<std::size_t>(edge)].to)]
            .paths += node.paths;
    }
    for (std::size_t k = tree_.edges.size(); k-- > 0;) {
      const auto [from, to] = std::pair(tree_.edges[k].from, tree_.edges[k].to);
      if (tree_.nodes[static_cast<std::size_t>(to)].survives)
        tree_.nodes[static_cast<std::size_t>(from)].survives = true;
    }
  }

  const std::function<StepChoices(const Vector&, double, double)>& list_;
  double start_;
  const MergedTreeOptions& options_;
  Sameness sameness_;
  std::vector<int> all_, state_;
  MergedTree tree_;
  std::size_t level_begin_ = 0;
  bool full_ = false;
};

}  // namespace

MergedTree merged_tree(const std::function<StepChoices(const Vector& x, double t, double h)>& list,
                       const Vector& x0, double start, const MergedTreeOptions& options) {
  check_h(options.h);
  if (options.steps < 1)
    throw InvalidInput(fmt::format("steps must be positive but is {}", options.steps));
  if (options.max_nodes < 1)
    throw InvalidInput(fmt::format("max_nodes must be positive but is {}", options.max_nodes));
  for (const int j : options.state)
    if (j < 0 || j >= x0.size())
      throw InvalidInput(
          fmt::format("state must hold indices of x, which has {} entries, but {}", x0.size(), j));
  return MergedGrower(list, x0, start, options)();
}

}  // namespace perp
