#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/laws/settled_laws.hpp>
#include <perp/analysis/enclosure/modes/mode_flow.hpp>
#include <perp/analysis/enclosure/modes/monitor.hpp>

namespace perp::enclosure {

/// What is shown of a mode as the next one, over a whole set.
enum class Verdict {
  proved,   ///< it continues every member
  refuted,  ///< it continues none
  open
};

/// A mode that may follow.
struct Successor {
  Mode mode{};
  int root = 0;  ///< of its equations
  Verdict verdict = Verdict::open;
  std::vector<Monitor> monitors{};
  bool same_rates = false;  ///< x' is continuous at the event
  /// Laws on a vertical branch that a solution may leave without reaching its end, if another
  /// branch continues as well.
  std::vector<int> held{};
  KnownRoot implicit{};         ///< of its implicit equations, over the set
  bool keeps_implicit = false;  ///< their unknowns have the values that they had before
  std::string reason{};         ///< why it is refuted or open
  /// Gaps whose deciding signs are not known, if it is open for nothing else.
  std::vector<int> open_gaps{};
  /// At a start: refuted since no point of the set is in this mode.
  bool is_elsewhere = false;
  bool forbids_starts = false;  ///< at a start: its constraints depend on intervals of it, and fewer points fulfil them
  int equation = -1;    ///< the equation without derivatives that they miss
  Interval residual{};  ///< and by how much
};

/// The argument on a vertical branch.
inline Interval vertical_w(const Branch& branch) { return Interval(branch.c) / Interval(branch.a); }

/// Are there two branches for one w, apart from their ends? A law without memory may then take
/// either at any time.
bool is_ambiguous(const Law& law);

/// May one of the proved modes be left at any time, into another one that is proved? Then there are
/// more solutions than modes: a surface that repels lets go at every moment.
bool is_funnel(const std::vector<Successor>& list);

/// At a start: does every mode that may follow demand something of its intervals, or is no point of it in any?
bool forbids_starts(const std::vector<Successor>& list);

/// Where a law is at an event: the end of its branch that was reached.
struct Corner {
  Interval w{};
  Interval lambda{};
};

/// Judges the modes that may follow where the states are in `box` at times of `t`: of every law
/// those branches that can hold its w. What is 0 for a reason (the surface just reached, a start on
/// a surface) is told by its derivatives.
class Successors {
 public:
  /// The λ of `open` laws may have any of their values, at every time anew.
  Successors(ModeFlows& flows, const Interval& t, const Box& box, const OpenLaws& open = {})
      : flows_(flows), t_(t), box_(box), open_(open) {}

  /// At a start, or after resets that fired in mode `before` (laws with memory stay where they
  /// can).
  /// The start holds a value of each variable: where the equations of a mode have several roots,
  /// those of algebraic variables tell which is meant.
  std::vector<Successor> at_start(ModeFlow* before, const std::vector<int>& resets,
                                  const Box* start = nullptr);
  /// Of one mode, which the states are known to be in; open where it has several roots.
  Successor in_mode(const Mode& mode);
  /// After a gap of `from` has fallen to 0.
  std::vector<Successor> after(ModeFlow& from, const Monitor& reached);

 private:
  using Options = std::vector<std::vector<int>>;

  [[nodiscard]] bool is_direct(int law) const;
  [[nodiscard]] bool has_w_in(const Branch& branch, const Interval& w) const;
  [[nodiscard]] std::vector<int> other_branches(int law, int present, const Interval& w) const;
  [[nodiscard]] std::vector<int> branches_at_corner(int present) const;
  [[nodiscard]] std::vector<int> branches_beside(const ModeFlow& from, int law) const;
  [[nodiscard]] Verdict holds_corner(const Branch& branch) const;
  [[nodiscard]] Verdict keeps_constraints(const ModeFlow& flow) const;
  [[nodiscard]] Verdict keeps_constraint(const ModeFlow& flow, const ModeConstraint& constraint) const;
  [[nodiscard]] Verdict keeps_equation(const ModeFlow& flow, int equation) const;
  [[nodiscard]] bool is_held_by_argument(const ModeFlow& flow, int input) const;
  [[nodiscard]] bool keeps_rates(const ModeFlow& flow) const;
  [[nodiscard]] bool changes_reached_law_only(const ModeFlow& flow) const;
  [[nodiscard]] bool is_kept_at_start(const ModeFlow& flow, const Gap& gap,
                                      const Interval& value) const;
  [[nodiscard]] int contact_of_reached(const Gap& gap, bool is_of_states, bool same_rates) const;
  [[nodiscard]] int contact(const ModeFlow& flow, const Gap& gap, const Interval& value,
                            bool same_rates) const;
  [[nodiscard]] Interval gap_derivative(const ModeFlow& flow, int gap, int order) const;
  [[nodiscard]] Interval residual_of(const ModeFlow& flow, int constraint) const;
  [[nodiscard]] const ExactNumbersOrNone& exact_inputs() const {
    static const ExactNumbersOrNone none;
    return is_start_of_run_ ? flows_.start_inputs() : none;
  }
  std::vector<Successor> assess_all(const Options& options, const Box* start = nullptr);
  std::vector<Successor> assess(const Mode& mode);
  Successor assess_root(const Mode& mode, int root);
  /// Where a mode has several roots, those that go on.
  ///@{
  void choose_roots(std::vector<Successor>& list, const Box* start);
  [[nodiscard]] bool keeps_algebraic(const std::vector<Successor>& list, const Box* start,
                                     Box& before);
  [[nodiscard]] bool jumps(ModeFlow& flow, const Box& before);
  [[nodiscard]] bool goes_on(const ModeFlow& flow) const;
  [[nodiscard]] std::vector<int> algebraic() const;
  ///@}
  /// Where solutions are unique, whatever the branches of laws are that stay where they are or
  /// leave.
  ///@{
  [[nodiscard]] bool is_only_solution(const Mode& mode, std::vector<int> laws);
  [[nodiscard]] bool is_decoupled(const Mode& mode);
  [[nodiscard]] bool continues_all(const Successor& proved);
  [[nodiscard]] bool has_unique_multipliers(const Mode& mode);
  [[nodiscard]] std::vector<int> vertical_laws(const Mode& mode) const;
  [[nodiscard]] bool are_acted_on_by_held(const std::vector<int>& laws, const ModeFlow& flow,
                                          const Mode& mode, const IntervalMatrix& D) const;
  void refute_same_solutions(std::vector<Successor>& list);
  void refute_others(std::vector<Successor>& list);
  ///@}
  void judge(ModeFlow& flow, Successor& successor);
  /// The root of implicit equations that goes on.
  ///@{
  void find_implicit(ModeFlow& flow, Successor& successor);
  [[nodiscard]] bool is_same_implicit(const ModeFlow& flow) const;
  [[nodiscard]] Interval multiplier_guess(const Mode& mode, int law) const;
  [[nodiscard]] Interval implicit_value(const Mode& mode, int input, bool is_known);
  [[nodiscard]] Box implicit_values(const ModeFlow& flow);
  [[nodiscard]] const char* follow_implicit(ModeFlow& flow, bool& keeps);
  bool find_root(ModeFlow& flow, bool is_to_be_only);
  [[nodiscard]] bool is_only_root(ModeFlow& flow);
  ///@}
  [[nodiscard]] ModeFlow& flow_of(const Successor& one) {
    return flows_.get(one.mode, t_, box_, open_, one.root);
  }
  void set_before(ModeFlow* before);
  [[nodiscard]] int held_surfaces(const ModeFlow& flow) const;
  void judge_uniqueness(const ModeFlow& flow, Successor& successor);
  void judge_constraints(ModeFlow& flow, Successor& successor);
  void judge_start(ModeFlow& flow, Successor& successor);
  [[nodiscard]] Box residuals(const ModeFlow& flow) const;
  [[nodiscard]] bool leaves(const Mode& mode, int law, const Interval& lambda);
  [[nodiscard]] bool must_leave(const Mode& mode, int law, const Interval& values);
  void judge_gap(ModeFlow& flow, int k, Successor& successor) const;
  void judge_gaps(ModeFlow& flow, Successor& successor) const;
  [[nodiscard]] bool is_on_surface(const ModeFlow& flow, int k) const;
  [[nodiscard]] std::vector<int> set_variables() const;
  [[nodiscard]] bool is_untouched(int line) const;
  [[nodiscard]] bool was_on_surface(const ModeFlow& before, const ModeFlow& flow,
                                    const Gap& gap) const;
  bool decide_reset(const ModeFlow& flow, int k, Successor& successor) const;
  [[nodiscard]] bool is_left(const Mode& mode);
  [[nodiscard]] const Branch& branch(const Mode& mode, int law) const;
  /// What multipliers tell of arguments that hold them; nothing where some λ are open.
  ///@{
  [[nodiscard]] const SettledLaws& settled() const;
  [[nodiscard]] bool has_argument_of_states(const ModeFlow& flow, int law) const;
  [[nodiscard]] Interval argument(int law) const;
  [[nodiscard]] bool is_function_in(const ModeFlow& flow, int law) const;
  ///@}

  ModeFlows& flows_;
  Interval t_;
  Box box_;
  OpenLaws open_;
  ModeFlow* from_ = nullptr;    // at an event
  ModeFlow* before_ = nullptr;  // at an event or a reset
  KnownRoot before_root_{};     // of its implicit equations
  const Box* start_ = nullptr;
  bool is_start_of_run_ = false;
  int law_ = -1;    // that has reached its corner
  int reset_ = -1;  // whose condition is 0
  std::vector<int> fired_{};
  bool of_multiplier_ = false;
  Corner corner_{};
  std::map<Mode, bool> unique_multipliers_;
  mutable std::optional<SettledLaws> settled_;  // made when it is asked for
};

}  // namespace perp::enclosure
