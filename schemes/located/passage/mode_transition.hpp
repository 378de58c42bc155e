#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/schemes/located/passage/located_parts.hpp>
#include <perp/schemes/located/transition/accumulation.hpp>
#include <perp/schemes/located/transition/impact.hpp>

namespace perp {

/// How x has come to the present state in no time.
struct JumpHere {
  Vector x_before;
  Event event;                                  ///< of the short step
  std::string note;                             ///< what is told of it
  Mode mode;                                    ///< of the jump equations, or of the short step
  std::optional<std::vector<int>> carriers{};   ///< laws with an impulse, see Jump; empty: not known
};

/// From the end of a mode to the start of the next one: consistent values, resets, impacts, jumps and
/// accumulations, with their events. Afterwards the state stands in a mode that goes on, or the run has ended.
class ModeTransition {
 public:
  /// `run` must outlive this.
  explicit ModeTransition(LocatedParts& run)
      : run_(run), at_(run.at), record_(run.record), impact_(Impact::of(at_.system, at_.options.restitution, at_.options.names)) {}

  /// What makes x jump where a mode begins: the event of contacts tells their laws' changes too.
  enum class JumpOfX { none, by_reset, by_contacts };

  /// Finds the mode in which the solution starts from x0 at the start of the span; an inconsistent x0 goes to
  /// the limit of short implicit steps first.
  void begin(const Vector& x0);
  /// The present event: the gaps that are 0 now, the one that fell and those of the same moment.
  void at_corner(const Gap& fell, const Step& state);
  /// The present event is at a moment that depends on nothing.
  void at_fixed_time(const Step& state);
  /// Data jump there from now to t_after.
  void watch_data(const Step& state, double t_after);
  /// The laws that may change their branch at an event, and those that go on whatever their margins are: no equation connects
  /// them with what happens.
  struct Asked {
    std::vector<int> undecided;
    std::vector<int> going_on{};
  };
  /// Those of an event at which the laws of `hit` leave their branches; of others those of `undecided` may follow.
  [[nodiscard]] Asked asked(const std::vector<int>& hit, const std::vector<int>& undecided) const;
  /// Chooses the mode in which the solution goes on from the present state (t, x, the modes of the laws that are
  /// decided) and enters it. `before`: the state before the event; `hit`: laws whose branch ended.
  void go_on(const Step& before, const Asked& asked, std::vector<int> hit, JumpOfX jump_of_x);
  /// As above, where no Taylor series may start.
  void go_on_from_edge(const Step& before);
  /// Applies the resets that pass their surface with the event at `before`, at which gap `fell` fell:
  /// laws change first, and what does not pass then does not fire. False: none does.
  bool pass_resets(const Gap& fell, const Step& before);
  /// A condition that is 0 at the end of the span passes there if the motion would go on so. What is 0
  /// is what a run that starts there would take for it: the passage is of one of the two.
  void pass_resets_at_end();
  /// What events lately were.
  void transfer(Archive& archive) { archive(accumulation_, impacts_at_once_, is_at_edge_); }
  /// A step has moved the state.
  void has_moved() { impacts_at_once_ = 0; }

 private:
  [[nodiscard]] Asked reached(const std::vector<int>& undecided, const std::vector<char>& touched) const;
  [[nodiscard]] Asked asked_by_jump(const Vector& x_before) const;
  [[nodiscard]] std::vector<Gap> gaps_of_moment(const Gap& fell, const Step& state) const;
  void begin_mode(bool keeps_x);
  bool fire_where_conditions_jump();
  void enter(const Continuation& continuation);
  [[nodiscard]] Selection selection_of(const Step& before, const Asked& asked, const std::vector<int>& hit);
  void take(const Selection& selection, const Step& before, const std::vector<int>& hit, JumpOfX jump_of_x);
  [[nodiscard]] bool ends_with_mode() const {
    return at_.options.ends_with_mode && !record_.is_at_start();
  }
  bool ends_otherwise(const Step& before, const Step& from);
  bool goes_on_otherwise(const Step& before, const Step& from, const Selection& selection);
  void end_with_mode(const std::vector<int>& hit);
  void end_here(const Step& state, const Selection& selection);
  [[nodiscard]] std::vector<int> resets_met(const Gap& fell, const Step& before);
  [[nodiscard]] Mode with_changed_memory(Mode before, const Mode& after) const;
  void tell_memory(const Step& before, const Mode& after);
  void pass_by_resets(const std::vector<int>& list, const Step& before);
  void apply_resets(const std::vector<int>& list, const Step& before);
  Event impact_of(int law, const Step& before, const Vector& x_before);
  bool impact(const Step& before);
  std::optional<std::vector<Event>> step_of_moment(const Step& before);
  bool jump(const Step& before, const Selection& before_jump);
  bool capture(const Step& from, const Selection& selection, bool jumped);
  void land(const Step& before, const Selection& selection);
  void land(const Step& before, const Selection& selection, JumpHere jump);
  void log_change(const Step& before, const Selection& selection, std::size_t chosen, JumpOfX jump_of_x);
  [[nodiscard]] std::string note_of(const Step& before, const Selection& selection, std::size_t chosen);
  Event change_of(int law, const Step& before, const Continuation& next, JumpOfX jump_of_x) const;
  double size_of_jump(const Vector& x_before);
  Event event_here(EventKind kind, double t, const Vector& x_before);
  void accumulate(double t, int signature, std::vector<int> laws);
  Event accumulation_at(AccumulationWatch::Limit limit);
  void close_accumulation();
  bool close(AccumulationWatch::Limit limit);
  [[nodiscard]] bool meets_by_size(const Step& state, const Selection& selection, const std::vector<int>& hit) const;
  bool close_before_rest();
  bool close_at_corner(const Step& state, const Selection& selection, const std::vector<int>& hit);
  [[nodiscard]] double time_unknown(const Gap& gap) const;
  [[nodiscard]] std::optional<Step> on_end(const Gap& gap, const Step& state) const;
  [[nodiscard]] bool is_proved_end_near(const Step& state) const;
  Vector state_at_limit(const AccumulationWatch::Limit& limit);
  [[nodiscard]] bool are_contacts(const std::vector<int>& laws) const;

  LocatedParts& run_;
  LocatedState& at_;
  LocatedRecord& record_;
  std::optional<Impact> impact_;  // of a mechanical system
  AccumulationWatch accumulation_;
  int impacts_at_once_ = 0;
  std::vector<int> contacts_told_;  // whose changes of branch an impact or an accumulation tells
  bool is_at_edge_ = false;  // of the domain of the equations: jets may not exist
};

/// Is it proved that no continuous solution starts here, nor after a jump? Of affine systems alone, by the
/// limits of all implicit steps or, from a state that is rounded, by steps of length h that are enumerated; of
/// others Newton's method has found nothing. What overflows where it is squared decides nothing either.
bool is_proved_end(const LocatedState& at, const Step& state, double h);

/// The short step knows where a jump leads up to its own length: the jump equations of the modes
/// know it to rounding, how many jumps there are, and which laws have an impulse. Moves the present state there. False: they
/// do not have it.
bool polish_jump(LocatedState& at, ModeJets& jets, JumpHere& jump);

}  // namespace perp
