#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/schemes/jumps/solution_tree.hpp>
#include <perp/schemes/run/run.hpp>

namespace perp {
namespace {

constexpr double same_step = 1e-9;  ///< relative difference of step lengths that is rounding
constexpr double same_state = 1e-7;

class Grower {
 public:
  Grower(const std::function<std::unique_ptr<Scheme>()>& make,
         const std::function<std::vector<Choice>(const Vector&, double, double)>& list,
         const std::vector<Law>& laws, const TreeOptions& options)
      : make_(make), list_(list), laws_(laws), options_(options) {}

  std::vector<TreeNode> operator()(const Vector& x0, double start) {
    nodes_.emplace_back();
    nodes_.back().t_before = start;
    ends_ = 1;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {  // breadth first; nodes_ grows
      if (k > 0 && nodes_[k].status == Status::not_enumerated) continue;
      follow(k, x0, start);
    }
    return std::move(nodes_);
  }

 private:
  /// What was seen of the run from a node.
  struct Watch {
    std::size_t node;
    bool several;       // had the last step several solutions?
    bool first = true;  // is nothing seen yet?
    Step before{};      // the last state
  };

  /// The next state of the run. False: the step that leads there splits, and the run ends.
  bool observe(Watch& watch, const Step& now) {
    if (watch.first) {
      watch.first = false;
      if (watch.node == 0) nodes_[0].from = now;
      watch.before = now;
      return true;
    }
    double h = now.t - watch.before.t;
    if (std::abs(h - options_.h) <= same_step * h) h = options_.h;
    const std::vector<Choice> choices = distinct(list_(watch.before.x, watch.before.t, h));
    const bool splits = choices.size() > 1 && !watch.several && ends_ < options_.most_ends;
    watch.several = choices.size() > 1;
    if (splits) return add_children(watch.node, watch.before, now, choices);
    watch.before = now;
    return true;
  }

  /// Runs on from a node until its solution splits or ends.
  void follow(std::size_t node, const Vector& x0, double start) {
    const std::unique_ptr<Scheme> scheme = make_();
    Watch watch{node, node > 0};
    IntegrateOptions observed;
    observed.keep = false;
    observed.observer = [&](const Step& now) { return observe(watch, now); };
    const ModeChanges whole{options_.refinements, false};  // as the steps that are listed
    Trajectory run;
    if (node == 0)
      run = perp::run(*scheme, laws_, x0, {start, options_.end}, options_.h, whole,
                      observed);
    else if (options_.end - nodes_[node].from.t > same_step * options_.h)
      run = resume(*scheme, laws_, nodes_[node].from, options_.end, options_.h, whole,
                   observed);
    else
      run.status = Status::solved;
    nodes_[node].end = watch.first ? nodes_[node].from : watch.before;
    if (nodes_[node].children.empty()) {
      nodes_[node].status = run.status;
      nodes_[node].message = run.message;
    }
  }

  /// False, since the run ends here.
  bool add_children(std::size_t node, const Step& before, const Step& now,
                    const std::vector<Choice>& choices) {
    for (const Choice& choice : choices) {
      TreeNode child;
      child.parent = static_cast<int>(node);
      child.t_before = before.t;
      child.from = choice.state;
      child.from.t = now.t;
      child.end = child.from;
      child.norm = choice.norm;
      child.chosen = close(choice.state.x, now.x);
      if (ends_ >= options_.most_ends && !child.chosen) child.status = Status::not_enumerated;
      nodes_[node].children.push_back(static_cast<int>(nodes_.size()));
      nodes_.push_back(std::move(child));
      ++ends_;
    }
    --ends_;
    return false;
  }

  static bool close(const Vector& a, const Vector& b) {
    // each variable in its own unit
    return ((a - b).cwiseAbs().array() <=
            same_state * a.cwiseAbs().cwiseMax(b.cwiseAbs()).array())
        .all();
  }

  /// Solutions that differ in multipliers only go on alike.
  static std::vector<Choice> distinct(std::vector<Choice> choices) {
    std::vector<Choice> result;
    for (Choice& choice : choices)
      if (std::none_of(result.begin(), result.end(), [&](const Choice& known) {
            return close(known.state.x, choice.state.x);
          }))
        result.push_back(std::move(choice));
    return result;
  }

  const std::function<std::unique_ptr<Scheme>()>& make_;
  const std::function<std::vector<Choice>(const Vector&, double, double)>& list_;
  const std::vector<Law>& laws_;
  TreeOptions options_;
  std::vector<TreeNode> nodes_;
  int ends_ = 0;
};

}  // namespace

std::vector<TreeNode> solution_tree(
    const std::function<std::unique_ptr<Scheme>()>& make,
    const std::function<std::vector<Choice>(const Vector& x, double t, double h)>& list,
    const std::vector<Law>& laws, const Vector& x0, double start, const TreeOptions& options) {
  return Grower(make, list, laws, options)(x0, start);
}

}  // namespace perp
