#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// One solution of a step, where several are possible.
struct Choice {
  Step state;        ///< at the end of the step
  double norm = 0;   ///< ‖E (x⁺ − x)‖
  bool isolated = true;  ///< false: the nearest point of a continuum of x⁺
};

/// Where the solution splits, or ends. Node 0 is the start.
struct TreeNode {
  int parent = -1;           ///< index of the node it continues, -1: the start
  double t_before = 0;       ///< beginning of the step that led here; node 0: the start
  Step from;                 ///< the state that this node continues
  double norm = 0;           ///< of the step that led here
  bool chosen = true;        ///< would the selector have gone this way?
  Step end;                  ///< the last state before the solution splits or ends
  std::vector<int> children{};  ///< nearest first; empty: it ends here
  Status status = Status::never_run;  ///< of an end
  std::string message{};              ///< of an end, one sentence
};

/// What a tree is made of.
struct TreeOptions {
  double end = 0;        ///< time
  double h = 0;          ///< step
  int refinements = 40;  ///< see BackwardEuler
  int most_ends = 32;    ///< further alternatives are not followed: their status is never_run
};

/// The tree of discrete solutions: wherever a step has several solutions and the step before had
/// one, each is followed by the scheme to the end, whose selector goes on choosing as long as the
/// steps have several; no step is split at an event. `make` makes a scheme; `list` lists the
/// solutions of a step of length h from a state at t, nearest first.
std::vector<TreeNode> solution_tree(
    const std::function<std::unique_ptr<Scheme>()>& make,
    const std::function<std::vector<Choice>(const Vector& x, double t, double h)>& list,
    const std::vector<Law>& laws, const Vector& x0, double start, const TreeOptions& options);

}  // namespace perp
