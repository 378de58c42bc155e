#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/accumulation.hpp>
#include <perp/schemes/located/gaps.hpp>
#include <perp/schemes/located/impact.hpp>
#include <perp/schemes/located/located.hpp>
#include <perp/schemes/located/mode_flow.hpp>
#include <perp/schemes/located/mode_selection.hpp>
#include <perp/schemes/located/radau.hpp>
#include <perp/schemes/located/sensitivity.hpp>
#include <perp/schemes/located/time_switches.hpp>

namespace perp {

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

 private:
  // located_run.cpp: steps and record
  void cover();
  void advance();
  void take_step(double h);
  bool attempt(double h);
  void accept(double h, double t_next);
  void report_between(double h);
  [[nodiscard]] double next_output(double after) const;
  [[nodiscard]] bool is_asked(double t) const;
  void record(bool requested);
  void record_also(const Step& before);
  Step state_at_attempt(double t);
  Matrix differentiate_attempt(Step& state);
  void finish(Status status, std::string message);
  /// Where no step may pass: the end of the span, or a moment at which the right-hand side jumps.
  [[nodiscard]] double limit() const { return switch_ ? switch_->before : span_.end; }
  [[nodiscard]] double longest_step() const;
  [[nodiscard]] double shortest_step() const;

  // located_start.cpp: the first mode
  void begin(const Vector& x0);
  void enter(const Continuation& continuation);
  /// How the equations of a mode are integrated.
  struct Structure {
    std::vector<char> velocity_level;  // see ModeFlow::set_mode
    bool is_high_index = false;        // > 2: not by Radau IIA
  };
  const Structure& structure(const Jet& jet);
  [[nodiscard]] double first_step(const Jet& jet) const;
  void make_gaps();

  // located_events.cpp: falls of gaps
  std::optional<GapWatch::Fall> first_fall(double h);
  bool samples_resolved();
  [[nodiscard]] double gap_value(const Gap& gap, const Step& state) const;
  std::optional<double> locate(const GapWatch::Fall& fall, double h);
  void pass_event(const GapWatch::Fall& fall, double h);
  void pass_time_switch();
  /// The end of a mode: its jet there, the gaps that are 0, and dt*/dq of the first.
  struct Passage {
    Jet before;
    std::vector<Gap> gaps;
    Vector dt;
    double condition = 0;
    std::vector<Matrix> pieces{};
  };
  void pass_at_corner(const Gap& gap, const Step& state);
  [[nodiscard]] bool switch_together(const std::vector<Gap>& gaps) const;
  void differentiate_passage(const Step& before, const Jet& after);
  void leave_event(const Step& before, const Jet& after, bool x_jumped);
  void apply_reset(int reset, const Step& before);
  void watch_resets();
  double condition(int reset, const Step& state);
  [[nodiscard]] std::vector<double> inputs(const Step& state) const;

  // located_choice.cpp: the mode after an event
  void go_on(const Step& before, const std::vector<int>& undecided, std::vector<int> hit,
             bool x_jumped);
  std::size_t choose(const Selection& selection, const Step& before, const std::vector<int>& hit);
  [[nodiscard]] std::size_t by_policy(const Selection& selection, const Step& before,
                                      const std::vector<int>& hit);
  std::string cross_check(const Step& before, const Mode& chosen, bool alone);
  double speed(const Continuation& continuation);
  bool impact(const Step& before);
  bool jump(const Step& before);
  std::string polish_jump(const Vector& x_before);
  void end_here(const Step& state, const Selection& selection);
  void capture_the_rest(const Step& state, const char* why);
  void log_change(const Step& before, const Selection& selection, std::size_t chosen,
                  bool x_jumped);
  void close_accumulation();

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
  Step now_;                 // the present state, in the present mode
  double h_ = 0;             // of the next attempt
  double smooth_h_ = 0;      // the last length that the error alone asked for
  bool needs_jets_ = false;  // some unknown has no derivative: stage values are not its order
  std::vector<Gap> gaps_;
  std::vector<int> reset_side_;  // of each condition: −1, 0 (unknown), 1
  Vector law_sizes_;             // of the terms of each w
  std::vector<int> all_laws_;    // 0..m-1
  int impacts_at_once_ = 0;
  int zero_steps_ = 0;  // events since time moved last
  std::optional<TimeSwitches::Switch> switch_;  // the next one
  std::vector<std::size_t> choices_;
  std::vector<Branching> branchings_;
  Trajectory result_;
  long steps_ = 0, rejected_ = 0;

  // workspace
  Matrix samples_;
  Vector depth_, noise_, y_, ydot_, w_;
  std::vector<char> inside_;
};

}  // namespace perp
