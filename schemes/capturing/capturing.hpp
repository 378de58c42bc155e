#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <perp/lcp/parametric/mode_cache.hpp>
#include <perp/lcp/search_account.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/schemes/backward_euler.hpp>
#include <perp/schemes/capturing/fresh_states.hpp>
#include <perp/schemes/capturing/start_state.hpp>
#include <perp/schemes/scheme.hpp>
#include <perp/schemes/step/grid/grid_step.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/schemes/step/point/point_step.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// The event-capturing θ-method for an Lcs: one Mlcp per step, the present mode tried first, every
/// mode solved once per step length and kept. An accepted step in a known mode allocates nothing. Of lengths
/// other than the user's, and of laws with many modes until one is met often, no maps are made: see `PointStep`.
/// With θ < 1 a step reads rates of the state before it: where these are not those of its own mode, or
/// nothing but the step itself determines algebraic variables (index 2), it is one of backward Euler;
/// so is every step in a mode of index 3 or more, see `most_theta_index`.
class Capturing final : public ModewiseScheme {
 public:
  /// Throws InvalidInput.
  Capturing(const Lcs& lcs, const Theta& options);
  Capturing(SparseLcs lcs, const Theta& options);

  Attempt start(double t, const Vector& x0, double h, std::vector<Event>& events) override;
  Attempt attempt(double t_next, double h) override;
  Attempt attempt_end(double t_next, double h) override;
  Stay stay(const UniformSteps& steps, IntegrateOptions::StepsInMode* states) override;
  Attempt attempt_in(const Mode& mode, const Vector& x, const Vector& lambda, double t_next,
                     double h) override;
  bool ends_surely_in(const Mode& mode, double t_next, double h) override;
  [[nodiscard]] const std::string& message() const override { return message_; }
  void accept() override;
  [[nodiscard]] bool has_resets() const override { return false; }
  [[nodiscard]] double attempted_norm() const override;
  [[nodiscard]] const Vector& attempted() const override { return completed(trial()).x; }
  [[nodiscard]] bool moves_with_length(double h) override;
  [[nodiscard]] Vector motion(const Vector& a, const Vector& b) const override;
  [[nodiscard]] bool is_algebraic(int j) const override { return has_rate_[static_cast<std::size_t>(j)] == 0; }
  [[nodiscard]] bool argument_jumps(int i) const override;
  [[nodiscard]] Vector motion_terms(const Vector& a, const Vector& b) const override;
  [[nodiscard]] Vector rate_terms(const Step& state) const override;
  [[nodiscard]] Vector rate_terms_between(const Step& a, const Step& b) const override;
  [[nodiscard]] Vector motion_rounding(const Vector& a, const Vector& b) const override;
  [[nodiscard]] Vector drift(const Vector& sizes, long steps) const override;
  [[nodiscard]] Vector rounding() override;
  [[nodiscard]] FirstOrder first_order() const override { return first_order_; }

  [[nodiscard]] double t() const override { return current().t; }
  [[nodiscard]] const Vector& x() const override { return completed(current()).x; }
  const Vector& lambda() override;
  const Vector& w() override;
  [[nodiscard]] const Mode& mode() const override { return *current().mode; }
  void restore(const Step& state) override;
  void interpolate(double s, Vector& x) const override;
  std::vector<Departure> departures() override;
  bool leaves_at_end() override;
  std::vector<Departure> approaches() override;
  std::vector<int> laws_beyond_end() override;
  std::vector<std::pair<Mode, double>> violations(double h) override;
  void count(Counts& counts) const override;
  [[nodiscard]] bool is_kept() const override { return true; }
  void transfer(Archive& archive) override;

  /// Steps in the present mode as those of one map of the numbers that they read, see ModeMap::repeat.
  struct Repeated {
    const ModeMap* map = nullptr;
    const std::vector<int>* which = nullptr;  ///< the variables that are these numbers
  };
  /// The last ones before others, which are made one by one: what looks at a state looks at the one before it.
  static constexpr long kept_of_repeated = 2;
  /// How steps of length h go on in the present mode beyond doubt; nothing: that is to be looked at step by step.
  [[nodiscard]] std::optional<Repeated> repeated(double h);
  /// Number j of those that the next step reads.
  [[nodiscard]] double number_read(int j) const { return current().x[equations_.state()[static_cast<std::size_t>(j)]]; }
  /// `made` of these steps were made; their last numbers, and those before.
  void end_repeated(const UniformSteps& steps, long made, const double* before, const double* after);

  [[nodiscard]] StepEquations& equations() { return equations_; }
  /// The maps of steps of length h, kept for the last few lengths.
  ModeCache& cache(double h) {
    return h == h_ && cache_equations_ == active_ && cache_->storage() <= most_storage
               ? *cache_
               : other_cache(h);
  }

 private:
  struct State {
    double t = 0;
    mutable Vector x;               // the variables that no step reads only where `x_known`
    mutable bool x_known = true;
    Vector lambda, w;
    const Mode* mode = nullptr;     // one of modes_
    ModeCache* cache = nullptr;     // where `map` lives
    int map = -1;                   // -1: λ and w are explicit
    std::vector<double> parameter;  // of the step that led here
    bool outputs_known = false;     // λ and w are computed
    bool is_fresh = false;          // θ < 1: the next step is one of backward Euler
    bool is_point = false;          // a PointStep found it, then also:
    std::vector<PointStep::Margin> ends;  // of the mode before, at the end of the step
    Vector rounding;                // of x
  };

  /// What is made of the equations of a scheme when steps are asked for once.
  struct Once {
    std::unique_ptr<GridStep> grid;   // where there is one, no other is made but for steps that it does not solve
    std::unique_ptr<PointStep> step;
    std::optional<std::unique_ptr<GridStep>> line;  // of the nodes of a string, once it was asked for; null: it is none
    [[nodiscard]] bool is_usable() const { return step && step->is_usable(); }
    double longest_monotone = 0;
  };

  /// To a step of length h from a mode, and a state that the parameter of `state` holds.
  struct Answer {
    const StepEquations* equations = nullptr;
    double h = nan;
    const Mode* present = nullptr;
    Attempt attempt{};
    State state{};
  };

  struct Entry {
    double h;
    const StepEquations* equations;
    std::unique_ptr<ModeCache> cache;
  };

  [[nodiscard]] const State& current() const { return states_[static_cast<std::size_t>(now_)]; }
  [[nodiscard]] State& current() { return states_[static_cast<std::size_t>(now_)]; }
  [[nodiscard]] State& trial() { return states_[static_cast<std::size_t>(trial_)]; }
  [[nodiscard]] const State& trial() const { return states_[static_cast<std::size_t>(trial_)]; }

  static constexpr int most_maps = 64;  // unknowns of a system whose modes get maps at once
  /// Do full matrices cost more than the entries of a step?
  [[nodiscard]] bool is_large() const { return equations_.n() + equations_.m() > most_maps; }

  static constexpr int most_enumerated = 512;  // unknowns of a step whose solutions are counted without a certificate
  [[nodiscard]] bool is_too_large() const { return equations_.n() + equations_.m() > most_enumerated; }

  static constexpr long most_storage = 30'000'000;  // numbers kept for the maps of one step length

  void transfer_caches(Archive& archive);
  void transfer(Archive& archive, State& state);
  void transfer_points(Archive& archive);
  void transfer(Archive& archive, Answer& answer);
  void renew_caches(const std::vector<std::pair<double, bool>>& lengths);
  ModeCache& other_cache(double h);
  const Mode* closest(const std::vector<Mode>& modes, const Mode& to);
  ModeCache& new_cache(double h);
  void retire(std::list<Entry>::iterator entry);
  const State& completed(const State& state) const;
  void put_in_mode(ModeCache& maps, int present, bool is_whole);
  void put_state(const ModeMap& map, long k, IntegrateOptions::StepsInMode& states) const;
  void compute_outputs(State& state) const;
  void detach(State& state) const;
  void forget_modes();
  double margin_before(const ModeMap& map, int i);
  void add_laws_beyond_end(const ModeMap& map, std::vector<int>& list) const;
  double margin_before(const PointStep::Margin& margin, const Mode& mode);
  double slack_before(const ModeMap::Margin& margin, int branch);
  std::string why_no_method();
  Attempt attempt_by(StepEquations& equations, double t_next, double h);
  Attempt if_finite(const Attempt& attempt);
  Attempt attempt_by_maps(double h, bool was_asked_once);
  std::optional<Attempt> attempt_at_one(ModeCache& maps, int present, bool stays, bool was_asked_once);
  Attempt attempt_first(ModeCache& maps);
  int present_map(ModeCache& maps);
  bool stays_in(ModeCache& maps, int present);
  long repeat(const ModeMap& map, const UniformSteps& steps, long k);
  ModeCache* maps_to_stay(double h);
  bool stay_once(ModeCache& maps, double t_next, bool may_have_rivals, Stay& made, IntegrateOptions::StepsInMode* states);
  Attempt attempt_by_choice(ModeCache& maps, int present, bool stays);
  Attempt attempt_unique(ModeCache& maps, int present);
  // capturing_once.cpp
  Once& once(StepEquations& equations);
  Once& once() { return once(*active_); }
  PointStep& point_step(StepEquations& equations);
  bool is_asked_once(double h);
  // grid/capturing_grid.cpp
  bool make_grid(StepEquations& equations, Once& own);
  std::optional<Attempt> attempt_on_grid(double h);
  std::optional<Attempt> attempt_beside_grid(double h, const char* why);
  Attempt take_from_grid(double h, bool is_kept);
  bool end_surely_on_grid(const Mode& mode, double t_next, double h);
  // capturing_once.cpp
  [[nodiscard]] bool was_met_often(double h) const;
  bool has_one_solution(double h) { return h <= once().longest_monotone; }
  std::optional<Attempt> attempt_once(double h);
  std::optional<Attempt> attempt_one_found(double h);
  std::optional<Attempt> solve_once(double h, bool is_one, bool takes_any);
  [[nodiscard]] bool may_ask_once(bool is_one) const;
  const Answer* known_answer(double h);
  // points/all_modes.cpp
  struct Found {  // a solution at a point
    Mode mode;
    Vector x, lambda, w, rounding;
    int changes = 0;  // of laws against the present mode
    void be(const Mode& of_step, const PointStep& step);
  };
  struct Points {  // solutions; what stands behind them is room for the next ones
    std::vector<Found> list;
    std::size_t count = 0;
    [[nodiscard]] std::span<Found> points() { return {list.data(), count}; }
    Found& next() {
      if (count == list.size()) list.emplace_back();
      return list[count];
    }
  };
  bool may_ask_all(double h);
  std::optional<Attempt> attempt_of_all(double h);
  PointStep::Verdict verdict_of(PointStep& step, const Mode& mode, const Mode& present);
  bool find_all(PointStep& step, const Mode& present);
  void list_possible();
  static bool is_same_point(const Found& a, const Found& b);
  void add_found(const Mode& present);
  [[nodiscard]] int nearest_of(std::span<const Found> found) const;
  void put_point(Found& point, bool is_kept);
  [[nodiscard]] const std::vector<Mode>* modes_left(const ModeCache& maps) const;
  ModeCache::Choice nearest_of_all(ModeCache& maps, int present);
  // capturing_once.cpp
  void be_point(const Mode& mode, bool is_kept);
  bool begin_search();
  [[nodiscard]] bool is_end_enough(bool is_one) const;
  [[nodiscard]] bool is_asked_again(bool is_kept, bool is_one) const;
  bool finds_other(PointStep& step, PointStep::Verdict verdict, bool is_one, bool takes_any);
  bool find_mode(PointStep& step, Mode& mode, PointStep::Verdict verdict);
  PointStep::Verdict begin_near(PointStep& step, Mode& mode);
  void list_other_branches(const PointStep& step, const Mode& mode);
  void move_violated(std::size_t count, Mode& mode) const;
  PointStep::Verdict pass_singular(PointStep& step, std::size_t moved, Mode& mode, long& left);
  PointStep::Verdict pass_singular_by_pairs(PointStep& step, Mode& mode, long& left);
  void take(const PointStep& step, const Mode& mode, bool is_kept);
  Attempt take(const Answer& known);
  void remember(double h, const Mode& present, const Attempt& attempt);
  Attempt attempt_first_order(double t_next, double h);
  Attempt attempt_into_mode(double t_next, double h, bool leaves);
  bool begins_anew(const Mode& mode);
  std::optional<int> index(const Mode& mode);
  bool is_determined_at_once(const Mode& mode);
  bool exceeds_index(const Mode& mode);
  bool is_fresh_behind(const Mode& mode, bool changes);
  Attempt keep(ModeCache& cache, int map);
  Attempt take(ModeCache& cache, const ModeCache::Choice& choice);
  Attempt take(ModeCache& cache, Solution solution, int solutions, int ties);
  Attempt unsolved(Status status, std::string why);
  Attempt attempt_by_enumeration(ModeCache& cache);
  Attempt attempt_by_solver(ModeCache& cache, const char* name);
  Attempt probe(double h, int exponent);
  Attempt first_probe_possible(double h, int& exponent);
  Status judge_missing_start(double t, const Vector& x0, double h);
  [[nodiscard]] std::string without_start_text(double t, const Vector& x0) const;
  std::optional<std::pair<State, Vector>> short_step(const Vector& x0, double h, int exponent);
  bool give_limit(double t, const Vector& x0, double h, int exponent, std::vector<Event>& events);
  // start_modes.cpp
  /// A number and a bound of its error; nothing: not known.
  using Known = std::optional<std::pair<double, double>>;
  [[nodiscard]] Known argument_at(int law, const Vector& x0, const Vector& q, const std::vector<Known>& multipliers) const;
  [[nodiscard]] static Known multiplier_at(const Branch& branch, const std::pair<double, double>& argument);
  [[nodiscard]] bool holds_start(int law, int branch, const std::pair<double, double>& argument) const;
  [[nodiscard]] bool is_possible_start(const Mode& mode, const Vector& x0, const Vector& q) const;
  void shorten_into_possible_mode(const Vector& x0, double t, double h, ShortSteps<State>& steps);
  [[nodiscard]] Step without_impulses(Step state) const;
  [[nodiscard]] Vector terms_of_rates(const Step& part) const;
  void solve_constraints_at(double t, double h, Vector& x, State& limit);
  bool solve_constraints_at_point(double t, Vector& x, State& limit);
  void take_constraints(const PointStep& step, Vector& x, State& limit) const;
  [[nodiscard]] bool is_smooth() const;
  [[nodiscard]] bool knows_algebraic(const PointStep& step) const;
  bool is_consistent(const Vector& x0, double t) const;
  [[nodiscard]] bool starts_inside(const Vector& x0, double t) const;
  bool is_consistent_to_rounding(const Vector& x0, double h);
  [[nodiscard]] Vector with_rates_of(const Vector& x0, const Vector& other) const;
  [[nodiscard]] bool is_consistent_in(const State& limit, const Vector& x, double t, bool is_exact) const;
  bool starts_consistently(const State& limit, const Vector& x0, double t, double h);
  ConstraintsAt constraints(const Vector& x, double t) const;

  StepEquations equations_;
  std::vector<char> has_rate_;          // of each variable: does E hold it?
  std::optional<StepEquations> first_;  // backward Euler, for some steps where θ < 1
  StepEquations* active_ = nullptr;     // those of the attempted step
  bool has_many_modes_ = false;         // more than a table holds
  bool reads_algebraic_ = false;        // do steps read algebraic variables of the state before?
  std::map<Mode, std::optional<int>> indices_;  // of the modes met, where θ < 1; empty: not determined
  std::array<Once, 2> once_;  // of equations_ and first_
  std::optional<MonotoneSteps> monotone_;  // once it was asked for
  std::optional<bool> is_continuous_;  // where steps are monotone, whatever their θ; once it was asked for
  std::map<Mode, long> met_;     // steps at points of the user's length, by mode
  bool looks_for_end_ = false;   // see `attempt_end`
  bool is_refuted_ = false;      // has the present mode no solution at the point of the attempted step?
  Mode search_, from_, other_;   // room for `find_mode`
  std::vector<int> violated_;    // the same
  std::vector<double> ring_;     // and for `repeat`
  Points found_, doubtful_;      // room for `find_all`
  std::vector<char> may_hold_;   // of all modes in their order: may the point have a solution in it?
  std::optional<std::vector<Mode>> possible_;  // modes that the point of the attempted step leaves
  std::array<Answer, 8> answers_;  // the last ones, see `remember`
  std::size_t next_answer_ = 0;
  FirstOrder first_order_;
  FreshStates fresh_{has_rate_};
  Theta options_;
  Mode memory_;  // see memory_at_start
  std::string solver_;
  std::set<Mode> modes_;  // every mode met
  std::array<State, 3> states_;
  int previous_ = 0, now_ = 1, trial_ = 2;
  bool start_pending_ = false;  // during `start` no mode is present

  std::list<Entry> caches_;  // most recently used first
  double h_ = nan;
  ModeCache* cache_ = nullptr;
  const StepEquations* cache_equations_ = nullptr;
  Mlcp problem_;
  std::string message_;
  long enumerated_ = 0, not_enumerated_ = 0, solver_calls_ = 0, retired_factorisations_ = 0;
  SearchAccount account_;
  long beside_grid_ = 0;  // steps that the grid did not solve
  long retired_exact_signs_ = 0;
};

}  // namespace perp
