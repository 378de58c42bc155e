#pragma once

#include <optional>
#include <vector>

#include <perp/schemes/end_of_mode.hpp>
#include <perp/schemes/events/event_log.hpp>
#include <perp/schemes/events/time_switches.hpp>
#include <perp/schemes/poles/pole_watch.hpp>
#include <perp/schemes/run/recorder.hpp>
#include <perp/schemes/safeguard.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// How a change of mode within a step is passed, see BackwardEuler.
struct ModeChanges {
  int refinements = 40;
  bool split = true;
  PoleWatch* poles = nullptr;  ///< of the formulas, asked after each step; null: there are none
  TimeSwitches* switches = nullptr;  ///< of time alone, at which steps end; null: there are none
};

/// The passage of steps that do not end in their mode: split at the end of the mode, taken as they are, or
/// made again in short steps that tell a jump from an artefact of a long step and from the end of the
/// solution. What happened goes to the log.
class ModePassage {
 public:
  /// A step of length h that cannot be made: the scheme stands where it ended.
  struct Failure {
    Refinement refinement;
    double h;
  };

  ModePassage(Scheme& scheme, const std::vector<Law>& laws, const ModeChanges& changes, EventLog& events,
              Recorder& record)
      : scheme_(scheme), laws_(laws), changes_(changes), events_(events), record_(record) {}

  /// A run in steps of length h begins in the scheme's state.
  void begin(double h) {
    h_ = h;
    sizes_ = scheme_.x().cwiseAbs();
  }
  /// A step of the user's length begins at t.
  void begin_step(double t) { from_ = t, splits_ = 0; }
  /// Pieces of it follow, of this length together: all of it, or what lies between two switches of functions of time.
  void begin_pieces(double length) { length_ = length; }
  /// Functions of time switched at t, where the step that comes next begins.
  void pass_switch(double t) { switched_ = t; }
  /// Where data jump at that moment the next step begins with their new values, and the log says so. Do they?
  bool pass_data(double moment);
  /// To t_next, or to an end of a mode before it, where the attempt at that step of length h is not one
  /// in the present mode; `steps` were made so far. A failure: nothing goes on.
  std::optional<Failure> pass(const Attempt& attempt, double t_next, double h, long steps);
  /// What it knows between two steps.
  void transfer(Archive& archive) { archive(h_, switched_, steps_, sizes_); }
  /// The short steps of the last passage, where it was made in such ones.
  [[nodiscard]] const std::vector<Step>& path() const { return path_; }

 private:
  std::optional<Failure> take_as_it_is(const Attempt& attempt, double h);
  std::optional<Failure> change_mode(const Attempt& found, double t_next, double h);
  [[nodiscard]] bool changes_too_many(const Step& before);
  bool enters_seen_mode(double t_next);
  bool passes_brief_mode(const ModeEnd& end, const Step& before, const Vector& whole, double h);
  bool ends_piece(const Step& before, const Vector& whole, double t_next, double h);
  bool takes_unrefined(const Refinement& refinement, const Step& before, const Vector& whole, double t_next, double h);
  [[nodiscard]] bool ends_with(const Step& before, double t_next);
  [[nodiscard]] bool is_done_at_once(const Step& before, const std::vector<int>& rows, double t_next, double h);
  [[nodiscard]] bool agrees_with(const Refinement& refinement, const Step& before, const Vector& whole,
                                 const std::vector<int>& rows, double t_next, double h);
  void shorten_to_change(const Step& before);
  std::optional<Failure> refine_change(const Step& before, const Vector& whole, double t_next, double h);
  [[nodiscard]] std::vector<int> rows_that_may_jump(const Step& before, const Vector& whole, double h);
  std::optional<Failure> go_in_short_steps(double t_next, double h, const Vector& whole);
  void log_step(const Step& before);
  void log_changes(const Refinement& refinement, double h, const Vector& whole);
  [[nodiscard]] double nearest_switch(double t, double from);
  void log(std::vector<Event> events, bool is_at_start = false);
  [[nodiscard]] bool may_split() const;
  [[nodiscard]] bool has_jump(const Refinement& refinement, double h, const Vector& whole) const;
  /// Up to where a motion may be what the rounding of all steps to the present one has left, and the last ones, which may
  /// be far shorter, have made of theirs.
  [[nodiscard]] Vector rounding() const { return drift_.cwiseMax(scheme_.drift(sizes_, 1)); }

  Scheme& scheme_;
  const std::vector<Law>& laws_;
  const ModeChanges& changes_;
  EventLog& events_;
  Recorder& record_;
  double h_ = 0;      // of the run
  double from_ = 0;   // where the present step of the user's length began
  double length_ = 0;  // of the pieces of it that are made
  double switched_ = -inf;  // the last moment at which functions of time did
  int splits_ = 0;    // and its number of pieces so far
  bool is_whole_ = false;  // does the step that is made change more laws than it is split at?
  long steps_ = 0;    // of the run so far
  std::vector<Step> path_;
  Vector sizes_;      // largest |x_j| at the start and where modes changed
  Vector drift_;      // what the rounding of all steps has left where the present step began
};

}  // namespace perp
