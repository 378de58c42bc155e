#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/schemes/located/mode_integrator.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>

namespace perp {

/// Which of several continuations is taken, and which others there were.
class ContinuationChoice {
 public:
  /// All must outlive this.
  ContinuationChoice(const LocatedState& at, ModeJets& jets, ModeIntegrator& integrator)
      : at_(at), jets_(jets), integrator_(integrator) {}

  /// A moment at which several continuations start: their modes, the one of the policy first.
  struct Branching {
    double t = 0;
    std::vector<Mode> modes;

    void transfer(Archive& archive) { archive(t, modes); }
  };

  /// `choices[k]`: which continuation is taken at the k-th branching, 0 (also beyond the end of the
  /// list) is the one of the policy.
  void start(std::vector<std::size_t> choices) { choices_ = std::move(choices); }
  /// What was met so far.
  void transfer(Archive& archive) { archive(choices_, branchings_, repulsion_, misses_some_); }
  /// Index of the continuation that is followed: what the tree of solutions asks for, or what the
  /// policy says. `hit`: laws whose branch ended.
  std::size_t choose(const Selection& selection, const Step& before, const std::vector<int>& hit);
  /// The one of the policy.
  [[nodiscard]] std::size_t by_policy(const Selection& selection, const Step& before,
                                      const std::vector<int>& hit);
  /// Of least norm: does a mode that no series tells of move less than all continuations, by short steps of the selector of
  /// first order? Of a tree of solutions it is not asked.
  [[nodiscard]] bool is_least_open(const Selection& selection, const Step& before);
  /// Do continuations start at the present state besides the one in its mode, in which a law slides, or others in this mode?
  void watch_repulsion();

  /// Those that the run met.
  [[nodiscard]] const std::vector<Branching>& branchings() const { return branchings_; }
  /// Where it was seen first that other solutions leave a sliding mode, from then on at any moment.
  [[nodiscard]] const std::optional<SolutionBranch::Repulsion>& repulsion() const { return repulsion_; }
  /// Are continuations besides those that were found not excluded at some moment?
  [[nodiscard]] bool misses_some() const { return misses_some_; }

 private:
  [[nodiscard]] bool may_miss_some(const Selection& selection) const;
  void watch_singular_points();
  [[nodiscard]] std::optional<std::size_t> by_steps(const std::vector<Continuation>& found,
                                                    const Step& before) const;
  [[nodiscard]] std::vector<std::size_t> least_changing(const std::vector<Continuation>& found, const Step& before,
                                                        const std::vector<int>& hit) const;
  [[nodiscard]] std::size_t least_norm(const std::vector<Continuation>& found,
                                       const std::vector<std::size_t>& left, const Mode& present);

  const LocatedState& at_;
  ModeJets& jets_;
  ModeIntegrator& integrator_;
  std::vector<std::size_t> choices_;
  std::vector<Branching> branchings_;
  std::optional<SolutionBranch::Repulsion> repulsion_;
  bool misses_some_ = false;
};

/// The mode in which an implicit Euler step of length h from the present x ends; `before`: the state in whose mode
/// that x was reached. Empty: no step is solved.
std::optional<Mode> mode_of_step(const LocatedState& at, const Step& before, double h, Selector selector);
/// The state at its end.
std::optional<Step> short_step(const LocatedState& at, const Step& before, double h, Selector selector);

/// The modes in which short steps of this kind end, of several lengths and of the selector of the policy.
std::vector<Mode> modes_of_steps(const LocatedState& at, const Step& before);

/// How many continuations there are, their modes, and whether the search for them came to an end.
std::string continuations_note(const std::vector<Law>& laws, const Selection& selection, std::size_t chosen);

}  // namespace perp
