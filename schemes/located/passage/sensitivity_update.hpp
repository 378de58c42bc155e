#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/schemes/located/events/event_locator.hpp>
#include <perp/schemes/located/transition/moment_orders.hpp>
#include <perp/schemes/located/transition/sensitivity.hpp>

namespace perp {

/// A jump of x by impulses since the mode before.
struct JumpTaken {
  Vector change;  ///< of x; empty: there is none
  Mode mode;      ///< whose equations hold across it; empty, where there are laws: not known
};

/// What a run does with S = ∂x/∂q: along steps, at the end of a mode and behind it, in what order laws of one
/// moment switch, and where derivatives end. Without a request every call does nothing.
class SensitivityUpdate {
 public:
  /// All must outlive this.
  SensitivityUpdate(LocatedState& at, LocatedRecord& record, ModeJets& jets, ModeIntegrator& integrator,
                    const EventLocator& locator)
      : at_(at), record_(record), jets_(jets), integrator_(integrator), locator_(locator),
        maps_(at.system, at.options.sensitivities, integrator.flow(), jets.all()) {}

  [[nodiscard]] bool active() const { return maps_.active(); }
  /// S, or why there is none.
  void transfer(Archive& archive) { archive(maps_, before_, terms_, why_none_, touches_); }
  /// The maps of S by resets and impacts.
  [[nodiscard]] Sensitivities& maps() { return maps_; }
  /// Since when and why there are none any more; empty: there are, or none was asked for.
  [[nodiscard]] const std::string& why_none() const { return why_none_; }

  /// The error of the attempt, which was solved, in units of the tolerance: see Radau::error.
  double error_of_attempt();
  /// No step is short enough to know them to the tolerance: the run goes on without.
  void give_up() { end("they are not known to the tolerance, however short the step"); }

  /// ∂x/∂q at the end of the attempt, which is the present state; it gets it with its algebraic part. The
  /// run ends where it is singular.
  Matrix at_end_of_attempt();
  /// The same, as S of the step that is accepted.
  void step();
  /// The present event: dt*/dq by the gap that falls fastest in its unit.
  void at_corner(const Gap& fell);
  /// The present event is at a moment that depends on nothing.
  void at_fixed_time();
  /// Data jump there from now to t_after, when these gaps are 0.
  void watch_data(const std::vector<Gap>& gaps, double t_after);
  /// The conditions of these resets are 0 at the present event.
  void meet_resets(const std::vector<int>& resets);
  /// These fire from that state.
  void reset(const std::vector<int>& resets, const Step& before);
  /// These contacts collide at that x.
  void impact(Impact& impact, const Impact::Result& result, const Vector& x);
  /// The present state is the limit of events that accumulate.
  void at_limit(const Matrix& dx, const Vector& dt);
  /// The mode ends, and the run with it.
  void watch_end_of_mode();
  /// dt*/dq and 1/|dgap/dt| of a gap by the jet of the present state.
  Sensitivities::GapRate rate_now(const Gap& gap);
  /// The rate of a gap of the present event, where it tells the time of the event.
  std::optional<Sensitivities::GapRate> rate_at_event(int law) const;
  /// The solution may touch 0 of this gap, of w or of a reset, at t, without passing it: where a step ends there.
  void expect_touch(const Gap& gap, double t);
  /// Of its step: a touch within this share of its end is at its end.
  static constexpr double touch_share = 0x1p-10;
  /// This reset fires at the end of the span.
  void at_reset_of_end(int reset);
  /// After an event (or the start), in the mode just entered. `x_jumped`: x is another one than before;
  /// `jump`: by impulses since the mode before.
  void leave(const Step& before, const Jet& after, bool x_jumped, const JumpTaken& jump);

 private:
  /// Does the run begin?
  [[nodiscard]] bool is_start() const { return record_.steps == 0 && maps_.dx().size() == 0; }
  [[nodiscard]] bool passes_rough_end(const Mode& before, const Mode& after);
  void end(const std::string& why);
  void keep_rates();
  Matrix without();
  bool begin(const Step& before, const Jet& after, bool x_jumped, const JumpTaken& jump);
  [[nodiscard]] bool is_lost(const Step& before);
  bool enter(const Step& before, const Jet& after, bool x_jumped, const JumpTaken& jump);
  bool look_across(const Mode& mode);
  bool move_onto_constraints(const Jet& after, const JumpTaken& jump);
  void take_time_of(const std::vector<Gap>& gaps);
  bool switch_laws(const Step& before, const Jet& after);
  bool jump_of_x(const Jet& after, const JumpTaken& jump);
  void go_from_event(const Jet& after, bool x_jumped);
  [[nodiscard]] bool is_at_end(const Gap& gap) const;
  [[nodiscard]] bool moves_off(const Gap& gap, const Sensitivities::GapRate& rate) const;
  [[nodiscard]] int branch_beyond(const Gap& gap) const;
  [[nodiscard]] bool have_one_rate(const Gap& gap, const Jet& after, int beyond, double known);
  [[nodiscard]] bool jumps_beyond(const Gap& gap, const Jet& after);
  [[nodiscard]] bool starts_between(const Gap& gap, const Jet& start, int beyond);
  [[nodiscard]] int branch_across(const Gap& gap) const;
  [[nodiscard]] bool goes_on_alike(const Gap& gap, const Sensitivities::GapRate& rate);
  [[nodiscard]] bool holds_others(const Jet& jet, int law) const;
  [[nodiscard]] bool are_alike(const Matrix& one, const Matrix& other, const Vector& terms) const;
  [[nodiscard]] bool has_one_rate_beyond(const Gap& gap, const Jet& here);
  [[nodiscard]] bool rests(const Gap& gap, const Sensitivities::GapRate& rate) const;
  /// Is the present time the end of the span?
  [[nodiscard]] bool is_over() const { return !(at_.now.t < at_.span.end); }
  [[nodiscard]] bool may_have_two_sides(const Gap& gap, const Jet* start) const;
  [[nodiscard]] const char* two_sided(const Gap& gap, const Jet* start);
  [[nodiscard]] const char* two_sided_start(const Gap& gap, const Jet& start, int beyond);
  [[nodiscard]] const char* two_sided_end(const Gap& gap, const Sensitivities::GapRate& rate);
  void watch_ends(const Jet* start, const std::vector<Gap>& touched);
  [[nodiscard]] Mode mode_beside(const Gap& gap, const Mode& mode) const;
  /// A side of a law that a start is on: its mode there, and the rate of w.
  struct Beside {
    Gap gap;
    Jet jet;
    Sensitivities::GapRate rate;
  };
  [[nodiscard]] std::vector<Beside> besides(const Jet& start, const Matrix& given);
  [[nodiscard]] Vector alone(const Beside& side, const std::vector<Beside>& all) const;
  [[nodiscard]] bool differs(const Beside& side, const std::vector<Beside>& all, const Jet& start, const Matrix& given);
  void watch_start(const Jet& start, bool x_jumped);
  [[nodiscard]] std::vector<Gap> resets_at_start(const Jet& start);
  void begin_moment();
  void begin_moment_anew();
  [[nodiscard]] bool goes_on_with_moment() const;
  [[nodiscard]] bool was_at_end(const Gap& gap) const;
  void join_moment();
  void watch_repeats(const Mode& before, const Mode& after);
  [[nodiscard]] bool is_same_time(const MomentEvent& one, const MomentEvent& other, const Matrix& S) const;
  [[nodiscard]] MomentEvent event_of(const Gap& gap) const;
  void join(std::vector<MomentEvent>& events, MomentEvent event) const;
  [[nodiscard]] std::vector<MomentEvent> events_of_moment(const Mode& after) const;
  [[nodiscard]] bool join_pressed(std::vector<MomentEvent>& events) const;
  [[nodiscard]] std::string name_of(const MomentEvent& event) const;
  void end_between(const MomentEvent& one, const MomentEvent& other, const char* why);
  [[nodiscard]] bool has_orders(const std::vector<MomentEvent>& events) const;
  bool pass_in_orders(std::vector<MomentEvent> events, const Jet& after, const JumpTaken& jump);
  void take_pieces(std::vector<Matrix> pieces);
  void tell_time(Event& jump, const std::vector<MomentEvent>& events, const MomentOrders& orders) const;
  void tell_times(const std::vector<MomentEvent>& events, const MomentOrders& orders);
  void watch_moment(const Jet& after, bool x_jumped);
  void watch_landing(const std::vector<MomentEvent>& events, const Jet& after);
  [[nodiscard]] bool moves_off_at(const std::vector<Vector>& times, const Gap& gap, const Jet& after) const;
  [[nodiscard]] bool is_landed_on(const Gap& gap, const Jet& after) const;
  [[nodiscard]] std::vector<Gap> kept_gaps(const Jet& after) const;
  void watch_kept(const std::vector<MomentEvent>& events, const Jet& after);
  [[nodiscard]] bool have_same_rates(const Jet& one, const Jet& other) const;
  [[nodiscard]] std::vector<Gap> watch_touches();
  [[nodiscard]] bool ends_span_between(const Matrix& behind);
  void end_at(const Gap& gap, const char* does);
  [[nodiscard]] Vector sizes(const Matrix& S) const;
  [[nodiscard]] Vector terms_behind(const Jet& after, bool x_jumped) const;
  [[nodiscard]] std::vector<Gap> switching_gaps(const Mode& before, const Mode& after) const;

  LocatedState& at_;
  LocatedRecord& record_;
  ModeJets& jets_;
  ModeIntegrator& integrator_;
  const EventLocator& locator_;
  Sensitivities maps_;
  Moment moment_;
  bool is_passed_ = true;  // what happens now follows from what has been passed
  Impact* impact_ = nullptr;
  Matrix before_;         // S at the end of the last mode
  Vector terms_;          // of each column of S, the largest it was computed of, in units
  std::string why_none_;
  std::vector<std::pair<int, Sensitivities::GapRate>> rates_;  // of the laws whose gaps tell the time of the present event
  struct Touch {
    Gap gap;
    double t;
    void transfer(Archive& archive) { archive(gap, t); }
  };
  std::vector<Touch> touches_;  // that the next step may end at
};

}  // namespace perp
