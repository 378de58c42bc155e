#pragma once

#include <functional>
#include <string>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/schemes/jumps/solution_tree.hpp>

namespace perp {

/// The solutions of one step as a list, nearest first.
struct StepChoices {
  std::vector<Choice> list{};  ///< nearest first
  bool complete = true;  ///< proved: there is no other solution
  std::string note{};    ///< how sure the list is, where it is not complete
};

/// A state that discrete solutions pass, after `level` steps. Node 0 is the start.
struct MergedNode {
  int level = 0;           ///< number of steps from the start
  double t = 0;            ///< time
  Vector x;                ///< as the first way that led here has it
  std::vector<int> in{};   ///< edges that end here; more than one: ways meet
  std::vector<int> out{};  ///< edges that start here, nearest first
  /// solved: followed, or the last level; no_solution: the way dies here; not_solved: no next state
  /// was found, without a proof; not_enumerated: not followed, or perhaps not to all its solutions
  Status status = Status::never_run;
  bool survives = false;  ///< a way leads from here to the last level
  Integer paths = 0;      ///< number of ways from the start
};

/// One solution of one step.
struct MergedEdge {
  int from = 0;          ///< node where it starts
  int to = 0;            ///< node where it ends
  Choice choice;         ///< its state holds all of x⁺, λ and the mode
};

/// What a merged tree is made of.
struct MergedTreeOptions {
  double h = 0;   ///< step, > 0
  int steps = 1;  ///< N, > 0
  long max_nodes = 10'000;  ///< a larger tree is cut and not `complete`
  /// Entries of x on which the next step depends: states that agree in them are one node. Empty:
  /// all. For backward Euler the differential variables.
  std::vector<int> state{};
};

/// All discrete solutions of N steps.
struct MergedTree {
  std::vector<MergedNode> nodes;  ///< by level
  std::vector<MergedEdge> edges;  ///< by the node they start from
  bool complete = true;           ///< proved: there is no further solution of N steps
  std::string message{};          ///< why it is not complete
  Integer paths = 0;              ///< ways of N steps
  Integer dying = 0;              ///< ways that end before
  int ends = 0;                   ///< nodes of the last level
};

/// The tree of all discrete solutions over N steps of one length: every solution of every step is
/// followed. Ways that meet again are one node, so that the "tree" is a graph by levels: from there
/// they go on alike. States count as met where they agree to 1e-9 of the largest value that the
/// variable has had in the tree.
/// The memory of a law is not used: every branch that its graph allows is a solution. `list` lists
/// the solutions of a step of length h from x at t; of a continuum the choice stands for all its
/// points (see Choice::isolated). Throws InvalidInput where an option is out of its range.
MergedTree merged_tree(const std::function<StepChoices(const Vector& x, double t, double h)>& list,
                       const Vector& x0, double start, const MergedTreeOptions& options);

}  // namespace perp
