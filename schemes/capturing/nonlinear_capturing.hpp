#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/capturing/fresh_states.hpp>
#include <perp/schemes/capturing/roots/root_path.hpp>
#include <perp/schemes/capturing/start_state.hpp>
#include <perp/schemes/events/reset_watch.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/scheme.hpp>
#include <perp/schemes/step/implicit_step.hpp>
#include <perp/schemes/step/step_search.hpp>

namespace perp {

/// Event-capturing backward Euler, or θ-method, for a Dcs: Newton's method in the present mode
/// first, the other modes where it does not stay admissible (or where the selector compares).
/// Within a mode it stays on the branch that short steps from the present state begin. An accepted
/// step that keeps its mode allocates nothing. With θ < 1 a step reads rates of the state before it: from
/// a start, a reset or a change of mode, and into another mode, it is one of backward Euler; so is every step
/// in a mode of index 3 or more, see `most_theta_index`.
class NonlinearCapturing final : public ModewiseScheme {
 public:
  /// Throws InvalidInput.
  NonlinearCapturing(const Dcs& system, const BackwardEuler& options, double theta = 1);

  Attempt start(double t, const Vector& x0, double h, std::vector<Event>& events) override;
  /// The mode before the next start, which goes on from there by a jump or another scheme: laws
  /// with memory stay in its branches where they can, and of equal solutions its own is taken.
  void remember(const Mode& mode) { before_ = mode; }
  /// The sides on which the conditions of resets were before the start (0: not known), and how far
  /// its state may be from an exact one: what the state is beyond then has yet to fire.
  void remember_sides(std::vector<int> sides, ResetWatch::Errors errors) {
    sides_before_ = std::move(sides);
    resets_.begin(errors);
  }
  /// How far x0 of the next start may be from the exact one, and t0: nothing closer to the end of a
  /// branch decides a law. Without it x0 is known to rounding, t0 exactly.
  void set_start_errors(const Vector& x, double t) {
    start_x_error_ = x;
    start_t_error_ = t;
  }
  Attempt attempt(double t_next, double h) override;
  Attempt attempt_end(double t_next, double h) override;
  Attempt attempt_in(const Mode& mode, const Vector& x, const Vector& lambda, double t_next,
                     double h) override;
  [[nodiscard]] const std::string& message() const override { return message_; }
  void accept() override;
  [[nodiscard]] bool has_resets() const override { return !resets_.empty(); }
  ResetOutcome reset(std::vector<Event>& events, long steps) override;
  [[nodiscard]] Step seen() override;
  [[nodiscard]] double attempted_norm() const override;
  [[nodiscard]] const Vector& attempted() const override { return trial().x; }
  [[nodiscard]] Vector motion(const Vector& a, const Vector& b) const override;
  [[nodiscard]] bool is_algebraic(int j) const override { return differential_[static_cast<std::size_t>(j)] == 0; }
  [[nodiscard]] bool argument_jumps(int i) const override;
  [[nodiscard]] Vector motion_terms(const Vector& a, const Vector& b) const override;
  [[nodiscard]] Vector rate_terms(const Step& state) const override;
  [[nodiscard]] Vector drift(const Vector& sizes, long steps) const override;
  [[nodiscard]] std::vector<int> lost_variables() const override;
  [[nodiscard]] double residual() const override { return residual_; }
  [[nodiscard]] Vector rounding() override;
  [[nodiscard]] FirstOrder first_order() const override { return first_order_; }

  [[nodiscard]] double t() const override { return current().t; }
  [[nodiscard]] const Vector& x() const override { return current().x; }
  const Vector& lambda() override { return current().lambda; }
  const Vector& w() override { return current().w; }
  [[nodiscard]] const Mode& mode() const override { return *current().mode; }
  void restore(const Step& state) override;
  void interpolate(double s, Vector& x) const override;
  std::vector<Departure> departures() override;
  std::vector<Departure> approaches() override;
  void renew_allowance() override { allowed_until_ = -inf; }
  [[nodiscard]] bool is_short_of_work() const override;
  std::vector<std::pair<Mode, double>> violations(double h) override;
  void count(Counts& counts) const override;
  [[nodiscard]] bool is_kept() const override { return true; }
  void transfer(Archive& archive) override;

 private:
  friend struct eight::LaneAccess;
  struct State {
    double t = 0;
    Vector x, lambda, w;
    Vector d;                    // x minus the x before
    double h = 0;                // length of the step that led here, 0: unknown
    const Mode* mode = nullptr;  // one of modes_
    bool fresh = false;          // after a start or a reset: algebraic variables are guesses
    bool begins = false;         // θ < 1: the next step is one of backward Euler
    bool entered = false;        // by a change of mode: algebraic variables may be impulses
    bool is_first_order = false;  // so was the one that led here
    bool weak = false;           // on the bound of a branch as far as rounding lets see
    double residual = 0;         // largest |F_i| / e_i
    Vector d_error;              // bounds of the error of d where a search found the state
    bool is_alone = false;       // a search found no other solution
    bool knows_end = false;      // of the mode before, beyond its ranges, where the step left it:
    Vector end_d, end_lambda, end_w;

    /// Is it that state, however it was reached?
    [[nodiscard]] bool is_at(const State& other) const {
      return t == other.t && mode == other.mode && fresh == other.fresh && begins == other.begins && entered == other.entered &&
             x == other.x && lambda == other.lambda && w == other.w;
    }
  };
  /// A step that left its mode, which the passage of its end asks for more than once.
  struct Answer {
    State from, to;
    Attempt attempt;
  };

  /// What the step in the equations of the present mode is: not solved (or beyond a pole), beyond the end of a branch, or
  /// admissible.
  enum class Present { not_solved, left, kept };

  [[nodiscard]] const State& current() const { return states_[static_cast<std::size_t>(now_)]; }
  [[nodiscard]] State& current() { return states_[static_cast<std::size_t>(now_)]; }
  [[nodiscard]] State& trial() { return states_[static_cast<std::size_t>(trial_)]; }
  [[nodiscard]] const State& trial() const { return states_[static_cast<std::size_t>(trial_)]; }
  [[nodiscard]] const State& previous() const {
    return states_[static_cast<std::size_t>(previous_)];
  }

  void transfer(Archive& archive, State& state);
  // nonlinear_index.cpp
  Attempt judged(Attempt found);
  [[nodiscard]] bool returns_to_left_branch() const;
  void judge_index();
  void allow_work();
  Attempt step_into_mode(double t_next, double h);
  bool begins_by_index();
  std::optional<ModeDae> linearized_mode();
  void tell_first_order();

  // nonlinear_motion.cpp
  std::optional<Attempt> known_attempt(double t_next, double h);
  void remember(const Attempt& attempt);
  void keep_end();
  void set_step(double t_next, double h) const;
  void begin_here();
  Attempt step_to(double t_next, double h);
  Attempt step_once(double t_next, double h);
  [[nodiscard]] std::vector<int> far_unknowns() const;
  std::vector<int> coarse_of(std::vector<int> far);
  bool holds_as_written();
  int solve_from_here(std::vector<int> coarse);
  [[nodiscard]] bool moved_as_far_before(const std::vector<int>& variables) const;
  [[nodiscard]] bool moves_alike(const Vector& a, const Vector& b) const;
  template <class Rows>
  Vector larger_motion(const Vector& a, const Vector& b, const Rows& rows) const;
  [[nodiscard]] std::vector<Departure> branch_ends(const State& before, const Vector& lambda,
                                                   const Vector& w, bool beyond) const;
  void linearise_trial() const;
  void predict(double h, Vector& d) const;
  void keep_rate(const State& state);
  bool solve_mode(double h);
  Present solve_present(double h);
  [[nodiscard]] bool is_left_enough() const;
  [[nodiscard]] bool tells_only_that_it_left(const Attempt& found) const;
  Attempt take_present(bool keeps);
  bool passes_pole(double h);
  // nonlinear_poles.cpp
  bool is_rounding(int variable);
  std::optional<Vector> errors_of(const State& state);
  bool has_pole(int variable, const Vector& d, const Vector& lambda, double h);
  bool is_on_branch(double h);
  bool has_orientation(int orientation, double h);
  void learn_orientation(double h);
  bool follow_branch(double h);
  int count_in_mode();
  Vector with_values(const Vector& x0, double t);
  std::string nothing_starts(const Vector& x0, double t);
  std::string without_value(const Vector& x0, double t);
  FoundSolutions find_solutions(double h, const Mode& present, const Vector& d, const ModeSolution* own);
  FoundSolutions search_all(const Mode& present, const Vector& d, const ModeSolution* own, FoundSolutions leap);
  bool leaps(double h, const FoundSolutions& found, const Vector& d);
  Attempt attempt_all_modes(double h, const ModeSolution* own);
  [[nodiscard]] bool knows_mode() const { return !start_pending_ && mode().size() == step_.laws().size(); }
  [[nodiscard]] Mode present_or_before() const;
  void keep_own_branch(const ModeSolution* own, FoundSolutions& found);
  // roots/nonlinear_roots.cpp
  std::size_t choose(double h, const Mode& present, FoundSolutions& found, int& solutions, int& ties);
  bool asks_for_root(const ModeSolution& solution);
  bool keep_root(double h, const ModeSolution& best, FoundSolutions& found);
  std::optional<ModeSolution> connected_root(double h, const ModeSolution& best);
  void keep_in_mode(const ModeSolution& root, FoundSolutions& found);
  bool leave_root(double h, const ModeSolution& chosen, const std::optional<ModeSolution>& connected, FoundSolutions& found);
  bool keep_nearest_root(double h, const ModeSolution& best, FoundSolutions& found);
  // roots/consistent_roots.cpp
  void write(ModeSolution& solution);
  /// Of a solution: is it on the root of the algebraic variables that the present state is on?
  enum class Root { own, other, unknown };
  Root root_of(double h, const ModeSolution& solution, std::optional<RootPath::Point>& end);
  std::optional<ModeSolution> solution_from(double h, const RootPath::Point& end, const ModeSolution& other);
  std::vector<char> laws_of_roots(const std::vector<int>& variables);
  const std::vector<int>& rooted_variables(const Mode& mode);
  [[nodiscard]] bool may_leave_root(const Vector& d) const;
  bool stays_on_root(double h);
  bool solve_on_branches(double h);
  bool is_reached_straight(double h, const ModeSolution& solution);
  bool begins_as(double h, const ModeSolution& solution);
  bool begins_here(double h, const ModeSolution& solution);
  [[nodiscard]] double way_of(const std::vector<int>& variables, const Vector& d) const;
  void put_first(const ModeSolution& own, FoundSolutions& found);
  void search_from_last_rate(double h, const Mode& present, const ModeSolution* own, FoundSolutions& found);
  Attempt none_found(const FoundSolutions& found);
  Attempt take(const ModeSolution& solution, int solutions, int ties);
  [[nodiscard]] std::vector<char> known_arguments() const;
  std::vector<std::vector<int>> possible_branches(const Vector& x0, double t);
  /// Where x0 is known up to an error, that alone tells in which modes much shorter steps would end.
  [[nodiscard]] int shortest_probe() const { return start_x_error_.size() > 0 ? first_probe : last_probe; }
  Attempt start_among_allowed(double t, const Vector& x0, double h, std::vector<Event>& events);
  Attempt probe(double h, int exponent);
  FoundSolutions consistent_states(const Vector& x0, double t);
  bool is_consistent(const Vector& x0, double t);
  ConstraintsAt constraints(const Vector& x, double t);
  std::optional<std::pair<State, Vector>> short_step(const Vector& x0, double h, int exponent);
  [[nodiscard]] Vector explaining(const Vector& motions) const;
  struct StartVerdict {
    bool jumps, consistent;
  };
  [[nodiscard]] Vector with_algebraic(Vector x0, const Vector& x) const;
  [[nodiscard]] Matrix factors_of_rates(const std::vector<int>& variables, const Vector& x) const;
  [[nodiscard]] Vector with_given(const Vector& x0, const Vector& x) const;
  std::vector<double> rows_at(double t, const Vector& x, const Vector& lambda);
  std::optional<State> continuous_start(const Vector& x0, double t, const State& limit);
  std::optional<Vector> jump_from_here();
  [[nodiscard]] bool is_smooth() const;
  bool keeps_jump(double t, const Vector& x0, double h, const Vector& rounding, const ShortSteps<State>& steps);
  StartVerdict judge_start(double t, const Vector& x0, double h, const Vector& rounding, ShortSteps<State>& steps);
  bool give_limit(double t, const Vector& x0, double h, int exponent, std::vector<Event>& events);

  // nonlinear_resets.cpp
  /// Where a condition goes from its surface is seen at the end of a short step of h·2^k, the first of these k that
  /// shows it.
  static constexpr std::array<int, 7> looks{-40, -34, -28, -22, -16, -10, -4};
  void follow_path();
  void start_resets();
  void add_errors_of_constraints(ResetWatch::Errors& errors);
  ResetOutcome reset_on_path(const std::vector<Step>& path, long steps, std::vector<Event>& events);
  ResetOutcome reset_at_end(const Step& a, const Step& b, long steps, std::vector<Event>& events);
  std::vector<int> on_their_surface(const std::vector<int>& others, const Step& state, const ResetWatch::Errors& errors);
  std::vector<int> passing(const std::vector<int>& others, const Step& state,
                           const ResetWatch::Errors& errors);
  std::vector<int> at_one_moment(const std::vector<int>& found, const Step& state,
                                 const ResetWatch::Errors& errors);
  ResetOutcome fire(const Step& a, const Step& b, const ResetWatch::Firing& firing,
                    std::vector<Event>& events);
  void fire_together(const std::vector<int>& found, Step before, std::pair<const Step*, const Step*> way,
                     ResetWatch::Errors errors, ResetOutcome& outcome, std::vector<Event>& events);
  void tell_memory(const Step& before, const Step& after, std::pair<double, double> step, std::vector<Event>& events);
  void apply(const std::vector<int>& fired, Step before, std::pair<double, double> step, ResetWatch::Errors errors,
             ResetOutcome& outcome, std::vector<Event>& events);
  // nonlinear_changes.cpp
  void put_on_constraints(Step& state);
  std::vector<Departure> changes_within(const Step& a, const Step& b);
  Step behind_change(const Step& before, const Step& b, const std::vector<int>& staying);
  std::vector<Step> way_of_change(const Step& a, const Step& b);
  [[nodiscard]] Step at_old_values(const Step& a, const Step& b) const;
  std::vector<int> armed_on_surface(const Step& state, const Step& behind);
  std::vector<int> passing_in_old_mode(const Step& state, const Step& behind);
  std::optional<Step> step_in_old_mode(double h);
  std::optional<Step> step_ahead(int exponent);
  bool goes_on_without_jump();
  std::vector<int> not_turned_by_laws(std::vector<int> open, const Step& state);
  std::vector<int> memory_at_end(const Step& state, const ResetWatch::Errors& errors);
  Mode mode_at_resets(const Step& state, const ResetWatch::Errors& errors);
  int side_ahead(int k, const Step& state, const Step& ahead);
  std::optional<ResetOutcome> fire_at_change(const Step& before, const Step& after, const Step& end,
                                             std::vector<int> jumping, std::vector<Event>& events);
  std::optional<ResetOutcome> reset_on_change(const Step& a, const Step& b, bool is_last, std::vector<Event>& events);
  // nonlinear_resets.cpp
  std::optional<Step> step_to_surface(const Step& a, const Step& b,
                                      const ResetWatch::Firing& firing);
  std::optional<Step> state_in_mode(const Step& a, double length);
  bool lasts_until(int law, const Step& a, const Step& b, double t);
  std::vector<int> laws_still_on(const Step& a, const Step& b, const ResetWatch::Errors& errors);
  void extend_branches(Step& state);
  bool settle_algebraic_part(Step& seen, ResetWatch::Errors& errors, bool& stays);
  bool settle_by_steps(double h, Step& seen, ResetWatch::Errors& errors);
  std::pair<Vector, Vector> bounded_w(const Step& state, const Vector& rate, const ResetWatch::Errors& errors);
  StepSearch::Arguments arguments_before();
  bool is_on_branches(const Step& state, const ResetWatch::Errors& errors);
  Step settle_sides(ResetWatch::Errors errors,
                    const std::vector<ResetWatch::Approach>& approaching);
  void look_ahead(const std::vector<int>& open);
  void arm_turned_back(std::vector<int> open);

  BackwardEuler options_;
  double theta_;
  bool is_first_order_ = true;  // is the attempted step one of backward Euler?
  std::map<Mode, int> of_high_index_;  // modes met in which every step is
  FirstOrder first_order_;
  FreshStates begins_{differential_};  // of State::begins
  FreshStates entered_{differential_};
  mutable ImplicitStep step_;
  ModeNewton newton_;
  StepSearch search_;
  ResetWatch resets_;
  std::vector<Step> path_;  // accepted since the resets were looked at; kept where there are resets
  std::optional<Step> settled_;  // after the last reset, in the mode that its laws were in then
  std::vector<char> differential_;
  std::set<Mode> modes_;  // every mode met
  std::array<State, 3> states_;
  std::array<Answer, 2> answers_;  // the last ones
  std::size_t next_answer_ = 0;
  int previous_ = 0, now_ = 1, trial_ = 2;
  bool start_pending_ = false;  // during `start` no mode is present but the one before it, if any
  Mode before_;
  std::vector<int> sides_before_;
  std::vector<int> rooted_;  // room for `rooted_variables`
  Vector nothing_;    // zeros
  Vector guess_;      // of d, from which the step in the present mode was solved
  Vector last_rate_;  // d/h of the last step: a guess where d = 0 leads nowhere
  Vector start_x_error_;
  double start_t_error_ = 0;
  // Sign of the determinant of short steps in a mode, 0: not known.
  const Mode* oriented_mode_ = nullptr;
  int orientation_ = 0;
  bool looks_for_end_ = false;  // see `attempt_end`
  bool old_mode_lasts_ = true;  // its equations were solved where departures were looked for last
  bool left_branch_ = false;  // solutions on other branches of the present mode were found
  double residual_ = 0;  // largest of the accepted steps
  double allowed_until_ = -inf;  // until then steps share the work that Newton's method may do
  int leaps_ = 0;                // within that, see `leaps`
  std::string message_;
  long passed_at_start_ = 0;  // conditions that begin on their surface and leave it as if they passed
  long searches_ = 0, not_enumerated_ = 0, undetermined_ = 0, weak_ = 0, followed_ = 0;
};

}  // namespace perp
