#pragma once

#include <map>
#include <optional>

#include <perp/analysis/enclosure/pieces/piece.hpp>
#include <perp/analysis/enclosure/pieces/stops.hpp>

namespace perp::enclosure {

/// A task for sets that are followed from section to section: its system has a clock.
struct SectionTask {
  PieceTask task;  ///< of the system with the clock, as its starts are
  int clock = 0;   ///< the state that is time; those of parameters are behind it

  /// The box of a start with the clock.
  [[nodiscard]] Box with_clock(const Box& start) const;
  /// What the task of the system without it is measured with.
  void use_reach(const PieceTask& measured);
};

/// Encloses all solutions of a system with a clock that start in a box, from event to event in
/// section form: members meet a surface m = 0 at times of their own, and are there the set
///     S = { φ(δ(x), x) },    ∂S/∂x = (I − f ∇mᵀ/m') Φ(δ),
/// from which all start anew at once: their times are a coordinate of the set, the clock c.
/// Differences of time that have gathered do not widen what follows. At the time T of a row they
/// are
///     φ(T − c(x), x),    with derivative Φ − f ∇cᵀ,
/// and a row holds those of all modes in which members may be at T. None where an event is not
/// proved to be one, by one mode that goes on, or equations are implicit: the set is followed
/// otherwise then.
class SectionPiece {
 public:
  SectionPiece(const SectionTask& task, const Box& start, Effort effort);

  /// None: it was not followed to the end.
  std::optional<PieceResult> run();

 private:
  bool begin();
  bool advance();
  bool prepare_step(ModeFlow& flow);
  bool pass_event(ModeFlow& flow, int reached);
  bool add_rows(ModeFlow& flow, double until);
  /// The set at the time of a row, of all members as though they were in this mode.
  std::optional<Doubleton> set_at(ModeFlow& flow, const Doubleton& set, double t,
                                  std::size_t row) const;
  bool add_row(ModeFlow& flow, const Doubleton& set, double t, std::size_t row);
  /// What was observed of members in these states.
  bool note_row(const ModeFlow& flow, const Box& states, std::size_t row);
  /// When members have an event, t + δ(x), and where: φ(δ(x), x) with this derivative.
  struct Passing {
    Interval delta{}, center_delta{};
    IntervalMatrix jacobian;
    Box states{};
    bool is_ahead = false;  ///< they are in the mode until then; else since
  };
  static void narrow_by_ways(const ModeFlow& flow, const Passing& passing, const Box& there,
                             Box& states);
  bool add_part_of_row(ModeFlow& flow, const Passing& passing, std::size_t row);
  bool note_part(ModeFlow& flow, const Doubleton& set, const Box& states, std::size_t row);
  bool leave_out(std::size_t row);
  void join_rows();
  bool leave(ModeFlow& flow, const Passing& passing, const Interval& times);
  bool enter(ModeFlow& flow);
  void note_event(const ModeFlow& from, const ModeFlow& to, const Monitor& reached,
                  const EventWindow& window);
  [[nodiscard]] const Interval& clock() const {
    return set_.box()[static_cast<std::size_t>(of_.clock)];
  }
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool is_given_up() const;
  /// The time of computing at which the centre has the time of this row.
  [[nodiscard]] double time_of_row(std::size_t row) const;

  const SectionTask& of_;
  const PieceTask& task_;
  Box start_;
  Effort effort_;
  ModeFlows flows_;
  Widths widths_;
  std::vector<int> computed_;  // variables that are no states
  double t_ = 0;               // of computing
  Doubleton set_;
  Mode mode_{};
  int root_ = 0;
  std::vector<Monitor> monitors_{};
  Interval entered_{};                                  // times of the last event
  std::size_t row_ = 0;                                 // next one in the mode
  std::map<std::size_t, EnclosureRow> rows_, of_mode_;  // of_mode_: of the members in this mode
  int events_ = 0;
  int smooth_steps_ = 0;  // since the last event
  ShortSteps short_steps_;
  ProofLog proof_;
  PieceResult result_;
};

/// The task with a clock; none where tubes, proofs or disturbances are asked for, which are not
/// followed so. `system` and `space` are where its own are kept.
std::optional<SectionTask> section_task(const PieceTask& task, Dcs& system, StateSpace& space);

}  // namespace perp::enclosure
