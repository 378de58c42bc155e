#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/linear/rank_elimination.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/events/bound_watch.hpp>
#include <perp/schemes/events/reset_watch.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/jets/mode_selection.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>
#include <perp/schemes/located/located.hpp>
#include <perp/schemes/located/radau/gaps.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/schemes/located/radau/radau.hpp>
#include <perp/schemes/located/transition/accumulation.hpp>
#include <perp/schemes/located/transition/impact.hpp>
#include <perp/schemes/located/transition/sensitivity.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>
#include <perp/schemes/events/time_switches.hpp>
#include <perp/schemes/poles/pole_watch.hpp>

namespace perp {

inline constexpr double resting = 1e-8;  ///< of its size within the time scale: a gap that stays

/// One event-located run: the loop over steps and events, with the record. See Located.
class LocatedRun {
 public:
  /// Throws InvalidInput.
  LocatedRun(const Dcs& system, const Located& options, const IntegrateOptions& output);

  /// A moment at which several continuations start: their modes, the one of the policy first.
  struct Branching {
    double t = 0;
    std::vector<Mode> modes;
  };

  /// `choices[k]`: which continuation is taken at the k-th branching, 0 (also beyond the end of the
  /// list) is the one of the policy.
  Trajectory operator()(const Vector& x0, Span span, std::vector<std::size_t> choices = {});
  /// Those that the run met.
  [[nodiscard]] const std::vector<Branching>& branchings() const { return branchings_; }
  /// Where it was seen first that other solutions leave a sliding mode, from then on at any moment.
  [[nodiscard]] const std::optional<SolutionBranch::Repulsion>& repulsion() const { return repulsion_; }

 private:
  // located_run.cpp: steps and record
  void check_steps() const;
  void set_scales(const Vector& x0);
  void cover();
  void advance();
  void take_step(double h);
  bool attempt(double h);
  bool has_value_at_end(double h);
  bool accept(double h, double t_next);
  void report_between(double h);
  [[nodiscard]] double next_output(double after) const;
  [[nodiscard]] bool is_asked(double t) const;
  [[nodiscard]] double to_output(double h) const;
  [[nodiscard]] double end_of(double h) const;
  void record(bool requested);
  void record_also(const Step& before);
  Step state_at_attempt(double t);
  Matrix differentiate_attempt(Step& state);
  void finish(Status status, std::string message);
  /// "t = .. (step .., mode [..])", without a mode where there are no laws.
  [[nodiscard]] std::string place(const Step& state) const;
  /// Where no step may pass: the end of the span, or a moment at which the right-hand side jumps.
  [[nodiscard]] double limit() const { return switch_ ? switch_->before : span_.end; }
  [[nodiscard]] double longest_step() const;
  [[nodiscard]] double shortest_step() const;

  // located_continuity.cpp: algebraic variables and multipliers
  [[nodiscard]] bool algebraic_part_goes_on();
  [[nodiscard]] bool is_root_of_attempt(const Jet& jet);
  std::vector<Eigen::Index> factorise_algebraic_part(double t, const Vector& rates,
                                                     double tolerance,
                                                     RankElimination& elimination);
  void watch_algebraic_part(const Jet& jet);
  [[nodiscard]] std::string name_of(Eigen::Index unknown) const;
  std::string end_of_algebraic_part();
  void shorten(double h, const std::string& why);

  // located_poles.cpp
  SolutionPath path_of_attempt(double from, double to, double h);
  std::optional<PoleWatch::Pole> first_pole(double h, double end);
  void take_step_on_branch(double h);
  void go_nearer(const PoleWatch::Pole& pole);

  // located_start.cpp: the first mode
  void begin(const Vector& x0);
  void enter(const Continuation& continuation);
  void keep_rates();
  /// How the equations of a mode are integrated.
  struct Structure {
    std::vector<char> velocity_level;  // see ModeFlow::set_mode
    bool is_high_index = false;        // > 2: not by Radau IIA
  };
  const Structure& structure(const Jet& jet);
  [[nodiscard]] double first_step(const Jet& jet) const;
  void make_gaps();
  void add_resting_gaps();

  // located_events.cpp: falls of gaps
  std::optional<GapWatch::Fall> first_fall(double h);
  bool samples_resolved();
  Step sample(double s, double h);
  double gap_value(const Gap& gap, const Step& state);
  [[nodiscard]] double gap_size(const Gap& gap) const;
  std::optional<double> locate(const GapWatch::Fall& fall, double h);
  [[nodiscard]] bool fires_again(const GapWatch::Fall& fall) const;
  void pass_event(const GapWatch::Fall& fall, double h);
  std::optional<TimeSwitches::Switch> next_switch(double t);
  void pass_time_switch();
  void end_before_switch();
  std::vector<int> pass_laws_of_time(const Step& before, double after);
  /// The end of a mode: its jet there, the gaps that are 0, and dt*/dq of the first.
  struct Passage {
    Jet before;
    std::vector<Gap> gaps;
    Vector dt;
    double condition = 0;
    std::vector<Matrix> pieces{};
    bool rests = false;  // no gap moves: the time of the event is no smooth function of q
  };
  void pass_at_corner(const Gap& gap, const Step& state);
  [[nodiscard]] bool switch_together(const std::vector<Gap>& gaps) const;
  void differentiate_passage(const Step& before, const Jet& after);
  bool passes_rough_end(const Mode& before, const Mode& after);
  void end_sensitivities(const char* why);
  Matrix without_sensitivities();
  void leave_event(const Step& before, const Jet& after, bool x_jumped);
  [[nodiscard]] std::vector<int> laws_hit() const;
  [[nodiscard]] std::vector<int> undecided_laws(const Step& before,
                                                const std::vector<int>& hit) const;

  // located_edges.cpp: where no Taylor series starts
  void hold_ends(const std::vector<int>& hit);
  void release_ends();
  [[nodiscard]] bool holds_ends() const;
  [[nodiscard]] std::optional<double> end_at(int law, double w, bool is_hit) const;
  std::optional<Gap> gap_at_end();
  bool is_lost_in_rounding(const Gap& gap);
  bool pass_lost_gap();
  std::optional<double> time_to_end(const Gap& gap);
  void move_to_edge(const Gap& gap);
  void pass_edge(const Gap& gap);
  std::optional<Continuation> continuation_by_rates(const Mode& mode, const std::vector<int>& open);
  std::vector<Continuation> continuations_by_rates(const std::vector<int>& open);

  // located_resets.cpp
  [[nodiscard]] double same_moment(const Step& state) const;
  [[nodiscard]] ResetWatch::Errors errors_at_event(const Step& state) const;
  [[nodiscard]] ResetWatch::Errors errors_at_start();
  double condition(int reset, const Step& state);
  double condition_noise(int reset);
  [[nodiscard]] ResetWatch::Errors rounding(const Step& a, const Step& b) const;
  [[nodiscard]] ResetWatch::Errors errors_now() const;
  void follow_sides(double h);
  void settle_sides();
  void watch_resets();
  std::vector<int> resets_met(const Step& state, const ResetWatch::Errors& errors);
  std::vector<int> resets_passing(const std::vector<int>& met, const Step& state);
  bool pass_resets(const Gap& fell, const Step& before);
  void pass_resets_at_end();
  void apply_resets(const std::vector<int>& list, const Step& before);

  // located_bounds.cpp
  void add_bound_gaps();
  GapWatch::Fall pass_or_touch(const GapWatch::Fall& bound, double h);
  [[nodiscard]] double bound_size(const BoundWatch::Surface& surface) const;
  void pass_bound(const Gap& gap);
  void pass_bounds_by_jump();
  void log_bound(int surface, bool at_start, const Vector& dt_dq, double condition);

  // located_choice.cpp: the mode after an event
  /// What makes x jump where a mode begins: the event of contacts tells their laws' changes too.
  enum class JumpOfX { none, by_reset, by_contacts };
  void go_on(const Step& before, const std::vector<int>& undecided, std::vector<int> hit,
             JumpOfX jump_of_x);
  /// Is the end of a mode the end of the run?
  [[nodiscard]] bool ends_with_mode(bool at_start) const {
    return options_.ends_with_mode && !at_start;
  }
  bool ends_otherwise(const Step& before, const Step& from, bool first);
  void end_with_mode(const std::vector<int>& hit);
  std::size_t choose(const Selection& selection, const Step& before, const std::vector<int>& hit);
  void watch_repulsion();
  [[nodiscard]] std::size_t by_policy(const Selection& selection, const Step& before,
                                      const std::vector<int>& hit);
  std::string cross_check(const Step& before, const Mode& chosen, bool alone);
  /// ‖∂F/∂ẋ ẋ‖ of a continuation, and the norm that rates of the size 1 in their units have.
  struct Speed {
    double norm = 0;
    double unit = 0;
  };
  Speed speed(const Continuation& continuation);
  bool impact(const Step& before);
  bool jump(const Step& before, const Selection& before_jump);
  [[nodiscard]] bool is_within(const Vector& errors, const Vector& change,
                               const std::vector<Event>& events) const;
  std::string polish_jump(const Vector& x_before);
  [[nodiscard]] double captured_h() const;
  [[nodiscard]] bool is_proved_end(const Step& state) const;
  void end_here(const Step& state, const Selection& selection);
  void log_change(const Step& before, const Selection& selection, std::size_t chosen,
                  JumpOfX jump_of_x);
  void close_accumulation();
  Vector state_at_limit(const AccumulationWatch::Limit& limit);

  // located_fallback.cpp: where Radau IIA cannot go on
  void capture_the_rest(const Step& state, const char* why);
  [[nodiscard]] bool is_within_tolerance(const Vector& change) const;
  void log_fall_back(const Step& last, const Trajectory& rest);
  std::vector<int> sides_at(const Step& state);
  Trajectory captured_from(const Step& state, const BackwardEuler& scheme);

  Dcs system_;
  Located options_;
  const IntegrateOptions& output_;
  int stages_;
  ModeFlow flow_;
  Radau radau_;
  ConsistentJets jets_;
  ConsistentJets first_jets_;  // of one level: what they determine is of index 2 at most
  DcsEvaluator evaluator_;
  GapWatch watch_;
  TimeSwitches switches_;
  Sensitivities sensitivities_;
  Passage passage_;
  Vector jump_;                  // of x by impulses since the mode before, empty: none
  Matrix sensitivities_before_;  // S at the end of the last mode
  AccumulationWatch accumulation_;
  std::optional<Impact> impact_;          // of a mechanical system
  std::map<Mode, Structure> structures_;  // of the modes met
  bool is_high_index_ = false;            // the present one

  Span span_{};
  ModelScales scales_;
  Step now_;                 // the present state, in the present mode
  double h_ = 0;             // of the next attempt
  double smooth_h_ = 0;      // the last length that the error alone asked for
  BranchForms::Ends ends_;   // of branches, at which the present event is: held by its jets
  std::string no_sensitivities_;  // since when and why there are none any more
  bool rests_ = false;       // at these ends, by their equations
  bool is_at_edge_ = false;  // of the domain of the equations: jets may not exist
  bool needs_jets_ = false;  // some unknown has no derivative: stage values are not its order
  std::vector<Eigen::Index> watched_;  // unknowns that rows without derivatives determine
  Vector units_of_mode_;  // of its unknowns
  std::vector<Gap> gaps_;
  ResetWatch resets_;
  BoundWatch bounds_;
  PoleWatch poles_;
  std::optional<PoleWatch::Pole> pole_;  // the one that is ahead in this mode
  Mode pole_mode_;
  std::optional<ResetWatch::Errors> unsettled_;  // the state jumped, up to these: see settle_sides
  std::optional<ResetWatch::Errors> event_errors_;  // of the present state, where it is an event
  double event_end_ = 0;  // steps up to here are of the moment of the event still
  std::vector<int> fired_here_;                  // resets at this moment
  Vector largest_;                               // |x| so far
  Vector rates_before_;  // ẋ at the end of the last step, where the equations are not affine in it
  Step moved_from_;                              // the start of the last accepted step
  Vector law_sizes_;             // of the terms of each w
  std::vector<int> all_laws_;    // 0..m-1
  int impacts_at_once_ = 0;
  int zero_steps_ = 0;  // events since time moved last
  std::optional<TimeSwitches::Switch> switch_;  // the next one
  std::vector<std::size_t> choices_;
  std::vector<Branching> branchings_;
  std::optional<SolutionBranch::Repulsion> repulsion_;
  Trajectory result_;
  long steps_ = 0, rejected_ = 0;

  // workspace
  Radau::Attempt whole_step_;
  Matrix samples_;
  Vector depth_, noise_, rise_, y_, ydot_, w_;
  std::vector<char> inside_;
};

}  // namespace perp
