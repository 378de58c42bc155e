#pragma once

#include <limits>
#include <map>
#include <optional>
#include <vector>

#include <perp/analysis/enclosure/dependent_starts.hpp>
#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/inclusion/inclusion.hpp>
#include <perp/analysis/enclosure/modes/event_window.hpp>
#include <perp/analysis/enclosure/pieces/stops.hpp>
#include <perp/analysis/enclosure/pieces/widths.hpp>

namespace perp::enclosure {

/// What is asked of every piece.
struct PieceTask {
  const Dcs& system;
  const StateSpace& space;
  const EncloseOptions& options;
  Span span{};
  std::vector<double> times{};  ///< of the rows
  double grid = 0;              ///< differences of its multiples are exact
  Box start{};                  ///< of the variables, algebraic ones too
  /// At each row, by state, then by computed variable: what the width of the whole set is like there; empty: it is not known.
  std::vector<std::vector<double>> reach{};
  std::vector<double> widest{};  ///< the same at any time, by state
  ExactStart exact{};  ///< where the start is known beyond its intervals
  DependentStarts dependent{};  ///< what is not any number of its interval
  int most_smooth_steps = std::numeric_limits<int>::max();  ///< of one branch, from event to event

  /// That of a part of the set, as inputs of the system's tape.
  [[nodiscard]] ExactNumbersOrNone exact_inputs(const Box& part) const;
};

/// What became of one piece of the start.
struct PieceResult {
  Enclosure enclosure{};
  int split = -1;            ///< the state whose bisection would help most, by its linear share
  double excess = 0;         ///< of its widest row over the linear image of the start, as a share
  std::optional<Successor> elsewhere{};  ///< it holds no consistent start: why not, of one mode
  bool is_given_up = false;  ///< it was not followed to the end: its rows hold nothing
  /// Where it was lost: from when on some branch has no rows, and no tube.
  ///@{
  double rows_until = directed::infinity;
  double tube_until = directed::infinity;
  ///@}
};

/// How a piece is followed that turns out to be too wide.
enum class Effort {
  until_wide,  ///< only until that is known: it is bisected
  whole,       ///< to the end, or to where it is lost
  last         ///< it is not bisected: what cannot be decided is followed by all that may be
};

/// Is there a double between the ends of this interval? Of none: no.
inline bool can_bisect(const Box& start, int state) {
  if (state < 0) return false;
  const Interval& side = start[static_cast<std::size_t>(state)];
  return side.lo < middle(side) && middle(side) < side.hi;
}

/// Encloses all solutions that start in a box of the states: steps, events, rows, branch by branch.
class Piece {
 public:
  Piece(const PieceTask& task, const Box& start, Effort effort);

  PieceResult run();

 private:
  /// Where all members are in one mode, past their events: what was found later can be taken back.
  struct Certain {
    double t = 0;
    Doubleton set;
    Mode mode{};
    int root = 0;
    KnownRoot implicit{};
    std::vector<Monitor> monitors{};
    Flag flag = Flag::unique;
    How how = How::modes;
    std::size_t row = 0, rows = 0, tube = 0, events = 0, open = 0;
    double tube_from = 0;
  };
  /// While members pass an event, each at its own time: values of those that have it ahead.
  struct Ahead {
    double from = 0, until = 0;
    Box tube{};                   ///< from `from` to `until`
    std::map<double, Box> rows{};  ///< by the time of the row
    std::vector<Mode> modes{};
  };
  struct Branch {
    double t = 0;
    Doubleton set;
    Mode mode{};
    int root = 0;  ///< of its equations
    KnownRoot implicit{};  ///< of those that are implicit
    std::vector<Monitor> monitors{};
    int number = 0;
    Flag flag = Flag::unique;
    std::size_t row = 0;   ///< next of the times
    double tube_from = 0;  ///< where the tube goes on
    int events = 0;
    int steps = 0;  ///< since the last one
    ShortSteps short_steps{};
    How how = How::modes;
    double settled = -directed::infinity;  ///< when the last event is over for all members
    bool notes_settled = false;  ///< a step ends where that is, so that it is noted as certain
    double open_length = 0;                ///< of the last step with open laws, and its end
    double open_until = -directed::infinity;
    std::optional<Certain> certain{};
    std::vector<EnclosureRow> waiting{};  ///< rows of times at which an event may have been
    std::vector<TubeRow> waiting_tube{};
    std::optional<Ahead> ahead{};  ///< of an event that is passed while laws are open

    /// Goes on in this mode.
    void take_mode(const Successor& next) {
      mode = next.mode;
      root = next.root;
      implicit = next.implicit;
      monitors = next.monitors;
    }
  };
  enum class Outcome { moved, lost };
  /// What an event is passed from while laws are open: the reference solutions in their mode.
  struct OpenEvent {
    Branch& branch;
    Inclusion& phase;
    const OpenLaws& references;
    ModeFlow& from;
    std::vector<Monitor> monitors{};
    int gap = -1;  ///< of `from`, which falls to 0
  };
  enum class OpenPassage { passed, refused, too_short };

  void start();
  void begin(Branch one, const Successor& next);
  [[nodiscard]] Doubleton set_of(const Box& start) const;
  void follow(Branch& branch);
  [[nodiscard]] bool goes_on(const Branch& branch) const;
  Outcome advance(Branch& branch);
  [[nodiscard]] double end_of_steps(const Branch& branch) const;
  /// Its mode, with the root of implicit equations that the branch is on. False: that ends.
  bool prepare(Branch& branch, ModeFlow& flow);
  bool prepare_step(Branch& branch, ModeFlow& flow, double end);
  Outcome lose_step(const Branch& branch, const ModeFlow& flow);
  Outcome lose_undecided(const Branch& branch, const ModeFlow& flow, int monitor);
  Outcome step_to(Branch& branch, ModeFlow& flow, double end, int reached);
  bool add_row(Branch& branch, ModeFlow& flow, double time);
  Outcome pass_event(Branch& branch, ModeFlow& flow, int reached);
  bool enter(Branch& branch, ModeFlow& from, EventWindow& window, const Monitor& reached,
             const std::vector<Successor>& list);
  [[nodiscard]] bool take_number(Branch& one, bool is_first);
  bool settle(Branch branch, const std::vector<Successor>& list, const std::vector<bool>& reached,
              bool& is_many);
  /// Is the law a continuous function where this gap is 0?
  [[nodiscard]] bool ends_continuously(const ModeFlow& flow, int gap) const;
  Outcome lose(const Branch& branch, const std::string& reason, const Interval& t, int gap);
  /// Of what was observed; the others observe it first.
  void fill_row(const ModeFlow& flow, const Interval& t, const Box& states, EnclosureRow& row);
  [[nodiscard]] bool make_row(ModeFlow& flow, const Interval& t, const Box& states,
                              EnclosureRow& row);
  [[nodiscard]] bool make_row(ModeFlow& flow, const Interval& t, const Doubleton& set,
                              const TaylorStep::Image& image, EnclosureRow& row,
                              const Box* part = nullptr);
  std::map<double, TaylorStep::Image> late_states(const Branch& branch, ModeFlow& to,
                                                  const Interval& time);
  bool add_tube(Branch& branch, ModeFlow& flow, double end, bool may_switch);
  /// The states of those members, moved to t, that are in the mode, by one of its gaps.
  static Box on_side(ModeFlow& flow, const Monitor& monitor, const Interval& t,
                     const Doubleton& set, const TaylorStep::Image& image, const Box& states);
  static Box on_all_sides(const Branch& branch, ModeFlow& to, double t,
                          const TaylorStep::Image& image);
  bool note_early_states(Branch& branch, ModeFlow& from, const Monitor& reached,
                         const Interval& time);
  bool join_passing(Branch& branch, ModeFlow& to, const Interval& time) {
    return join_tube(branch, to, time) && join_rows(branch, to, time);
  }
  bool join_rows(Branch& branch, ModeFlow& to, const Interval& time);
  bool join_tube(Branch& branch, ModeFlow& to, const Interval& time);
  void flush(Branch& branch);
  void note_unfinished(const Branch& branch);
  void note_event(const Branch& branch, const Monitor& reached, const ModeFlow& from,
                  const ModeFlow& to, const EventWindow& window);
  void note_width(const Branch& branch, ModeFlow& flow);
  void note_open_width(const Inclusion& phase, std::size_t row);
  void note_split(const Branch& branch, const std::vector<bool>& states);
  std::vector<bool> acting_states(const Branch& branch, const Interval& t, int gap);
  std::vector<bool> undecided_states(const Branch& branch, const Interval& t, int gap);
  std::vector<bool> deciding_states(const std::vector<Successor>& list,
                                    const std::vector<bool>& reached);
  [[nodiscard]] bool is_given_up() const;

  void note_certain(Branch& branch, const ModeFlow& flow);
  bool take_back(Branch& branch);
  void approach(Branch& branch);
  bool follow_open(Branch& branch, const std::vector<int>& laws);
  bool open_all(Branch& branch, Inclusion& phase, const std::vector<int>& laws);
  Inclusion::Step step_open(Branch& branch, Inclusion& phase);
  Inclusion::Step note_open_step(Branch& branch, Inclusion& phase, double from);
  void lose_open(Branch& branch, const Inclusion& phase, const std::string& reason, int law);
  [[nodiscard]] bool is_over(const Branch& branch, const Inclusion& phase) const;
  [[nodiscard]] bool goes_again(const Branch& branch) const;
  bool open_after_loss(Branch& branch);
  void keep_reason(const Lost& first, int split);
  void open_at_start(const Branch& branch, const std::vector<Successor>& list);
  void start_disturbed(Branch branch, std::vector<Successor> list);
  [[nodiscard]] bool is_disturbed() const { return !task_.space.disturbances.empty(); }
  bool leave_open(Branch& branch, Inclusion& phase);
  bool add_open_rows(Branch& branch, Inclusion& phase, double from);
  bool add_open_row(const Branch& branch, Inclusion& phase);
  bool add_open_tube(Branch& branch, Inclusion& phase, double from);
  [[nodiscard]] bool may_pass_event(const Branch& branch, const Inclusion& phase) const;
  bool pass_open_event(Branch& branch, Inclusion& phase);
  static bool find_gap(OpenEvent& event, double& last);
  OpenPassage pass_within(OpenEvent& event, double length);
  bool enter_after(OpenEvent& event, EventWindow& window, const Box& E, const OpenLaws& Lambda);
  bool look_ahead(const Branch& branch, Inclusion& phase, ModeFlow& from, const Box& E,
                  const OpenLaws& Lambda, Ahead& ahead);
  int gap_of(const Branch& branch, int law);
  bool note_open_crossing(const Branch& branch, const OpenLaw& open, double until);
  void note_open_events(const Branch& branch, const std::vector<OpenLaw>& laws, double until);

  const PieceTask& task_;
  Box start_;
  Effort effort_;
  ModeFlows flows_;
  OpenFlows open_flows_;
  std::vector<Branch> open_;
  int numbers_ = 0;
  Widths widths_;
  std::vector<int> computed_;  // variables that are no states
  PieceResult result_;
  ProofLog proof_;  // empty where it is not asked for
};

}  // namespace perp::enclosure
