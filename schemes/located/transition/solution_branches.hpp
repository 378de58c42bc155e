#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// One solution of an initial value problem with several.
struct SolutionBranch {
  Trajectory run;
  /// What it took at the moments where several continuations start, in their order: 0 is the one of
  /// the policy.
  struct Choice {
    double t = 0;
    Mode mode;
    std::size_t of = 0;  ///< how many there were
    std::size_t taken = 0;

    void transfer(Archive& archive) { archive(t, mode, of, taken); }
  };
  std::vector<Choice> choices;
  /// A sliding mode of the run in which other continuations start too: solutions leave it at any moment.
  struct Repulsion {
    double since = 0;  ///< it begins to repel behind this time,
    double t = 0;      ///< where it was seen first
    Mode mode;

    void transfer(Archive& archive) { archive(since, t, mode); }
  };
  std::optional<Repulsion> repulsion{};
};

struct SolutionBranches {
  std::vector<SolutionBranch> list;  ///< the solution of the policy first, then by their choices
  bool complete = true;  ///< false: there are more than asked for, or some leave a mode at any moment
};

/// The tree of solutions from x0: every continuation of every moment where several start, by runs
/// of the located scheme that take each in turn, at most `most` of them. Solutions that leave a
/// mode at a moment of their own choosing (from the inside of a repulsive sliding mode) are no
/// branches of a moment and not among them: the list is not complete then, and `repulsion` tells. Throws
/// InvalidInput.
SolutionBranches solution_branches(const Dcs& system, const Vector& x0, Span span,
                                   const Located& scheme, const IntegrateOptions& options = {},
                                   std::size_t most = 64);

}  // namespace perp
