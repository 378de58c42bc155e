#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/inclusion/open_flow.hpp>

namespace perp::enclosure {

/// A law that is open: λ may be whatever its graph holds over the present w.
struct OpenLaw {
  int law = -1;
  double reference = 0;          ///< λ of the reference solutions
  Interval w{};                  ///< of all members now
  Interval reached{};            ///< w over the last step
  LawGraph graph{};              ///< over that
  Interval rate{};               ///< w' over the last step, of all solutions
  Interval first{};              ///< w when it was opened
  int way = 0;                   ///< the sign of w' in all steps; 0: in some it has none
  std::optional<int> pressed{};  ///< the vertical branch towards which both sides went in it
  double since = 0;
  std::set<int> met{};  ///< branches on which members may have been since
};

/// All solutions while the branches of some laws are not known, or under disturbances, functions of
/// time that are known by their bounds: those of the inclusion
///     x' ∈ f(t, x, Λ),    Λ: what the open laws allow over the w of the tube, and the bounds
/// hold them all. Beside the reference solution y of λ = c from the same start,
///     e = x − y,   e' ∈ A e + B (Λ − c),   A = ∂f/∂x, B = ∂f/∂λ between both,
///     e(s) ∈ s D,   D = B (Λ − c) + A E,   e(s) ∈ E for s ≤ h
/// give e(h), see `deviation`.
/// At a vertical branch w = c of an open law a side that goes back bounds w: (w − c)⁺ grows by at
/// most the largest w' of points with w > c, and (w − c)⁻ likewise. That narrows the tube, so that
/// x_i(h) − x_i(0) ∈ h f_i(t, x, Λ) may be less than e_i(h) beside the reference.
///
/// Events of other laws need not open these where all that is open is a function: with D as long as
/// they are ahead, a member meets its event where a reference solution does that starts in X + E,
/// E ⊃ [−D, D] (B (Λ − c) + A E). So the set is widened by E and passed by the window of reference
/// solutions; from its common time on `enter` goes on in the next mode, in which nothing is said of
/// a member before its own event.
class Inclusion {
 public:
  Inclusion(OpenFlows& flows, double t, const Doubleton& set, const Mode& mode, double grid,
            double length);

  enum class Step {
    made,
    blocked,  ///< the branch of `needed` may end: its event is passed, or it is opened
    failed    ///< see `reason`
  };

  /// Opens a law from now on. False: its w has no value, or some members have still to enter.
  bool open(int law);
  /// One proved step, at most to `end`.
  Step step(double end);
  [[nodiscard]] int needed() const { return needed_; }
  /// Closes the laws whose branch is known for all members.
  void close();

  /// E and Λ for times within `times` of 0, beside reference solutions in the box `reference`;
  /// false: none was found, an open law is no function there, or when events are depends on open λ.
  bool disturb(const Interval& times, const Box& reference, Box& E, OpenLaws& Lambda);
  /// λ of the reference solutions.
  [[nodiscard]] OpenLaws references() const;
  /// Do the other gaps stay positive, and does this one fall, for all of `box` and Λ?
  bool falls_alone(const Interval& t, const Box& box, const OpenLaws& Lambda, int gap);
  /// Goes on in `mode`: members come in until `settled`, `rising` are gaps that are 0 then.
  bool enter(const Mode& mode, const Doubleton& set, const std::vector<Gap>& rising,
             double settled);
  /// Have all members come in?
  [[nodiscard]] bool is_settled() const { return t_ >= settled_ && rising_.empty(); }

  [[nodiscard]] double t() const { return t_; }
  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] const Doubleton& set() const { return set_; }
  [[nodiscard]] const Mode& mode() const { return mode_; }
  [[nodiscard]] const std::vector<OpenLaw>& laws() const { return laws_; }
  /// Laws that were closed, since `step` was called last.
  [[nodiscard]] const std::vector<OpenLaw>& closed() const { return closed_; }
  /// Were the λ of open laws continuous functions of w in all steps?
  [[nodiscard]] bool is_function() const { return is_function_; }
  /// Has every start exactly one solution until now?
  [[nodiscard]] bool is_unique() const { return is_unique_; }
  /// Did laws that jump have to bring solutions together for that?
  [[nodiscard]] bool is_contracting() const { return is_unique_ && is_contracting_; }
  /// Modes in which members may be now.
  [[nodiscard]] std::vector<Mode> modes() const;
  /// Variables, then multipliers: now, and over the last step. False: one has no value.
  ///@{
  bool observe(Box& values);
  bool observe_tube(Box& values);
  bool observe(const Interval& t, const Box& x, const OpenLaws& Lambda, Box& values);
  ///@}
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  enum class Proof { made, too_long, needs_law };
  /// How far members may be beyond a corner on one side of it: in the step, and at its end.
  struct Beyond {
    double during = directed::infinity, after = directed::infinity;
    bool returns = false;  ///< rates are shown to lead back
  };
  struct ArgumentBounds {
    Interval during{-directed::infinity, directed::infinity};
    Interval after{-directed::infinity, directed::infinity};
    std::optional<int> pressed{};
  };

  OpenFlow* flow();
  OpenFlow* flow_without_nesting();
  std::optional<Box> allowed_values(OpenFlow& equations, const OpenLaws& Lambda, bool& inside) const;
  [[nodiscard]] Box members_beside(OpenFlow& equations, const Interval& times, const Box& values,
                                   const Box& E) const;
  bool find_arguments(OpenFlow& flow, int added);
  [[nodiscard]] Box lambda_now() const;
  void add_disturbances(Box& given) const;
  [[nodiscard]] double first_length(OpenFlow& flow, double end);
  Proof prove(OpenFlow& flow, double to);
  bool find_tube(OpenFlow& flow, const Interval& times);
  Box picard_image(const OpenFlow& flow, const Interval& times, const Box& Z, bool& inside) const;
  std::optional<Box> widened(const OpenFlow& flow, const Box& Lambda, bool& inside);
  [[nodiscard]] Box lambda_of_tube() const;
  [[nodiscard]] bool is_rising(const Gap& gap) const;
  [[nodiscard]] Interval allowed(const OpenLaw& open) const;
  int ending_law(OpenFlow& flow);
  bool find_deviation(OpenFlow& flow);
  void note_rates(const OpenFlow& flow);
  void note_reached(const OpenFlow& flow);
  [[nodiscard]] std::vector<std::vector<bool>> acting_on_arguments(const OpenFlow& flow) const;
  void note_acting(const OpenFlow& flow, const IntervalMatrix& A, const IntervalMatrix& B);
  double outward_rate(OpenFlow& flow, std::size_t a, double corner, int side, const Interval& w);
  Beyond beyond(OpenFlow& flow, std::size_t a, const Interval& corner, int side);
  ArgumentBounds argument_bounds(OpenFlow& flow, std::size_t a);
  void bound_arguments(OpenFlow& flow);
  void narrow_tube(OpenFlow& flow);
  void contract(OpenFlow& flow, const Interval& t, std::size_t a, Interval& w, Box& box);
  void judge_step(OpenFlow& flow);
  void judge_jumps(OpenFlow& flow);
  void move(OpenFlow& flow);
  void settle(OpenFlow& flow);

  OpenFlows* flows_;
  double t_, grid_, length_;
  Doubleton set_;
  Mode mode_;
  std::vector<OpenLaw> laws_, closed_;
  std::vector<Gap> rising_;
  double settled_ = -directed::infinity;
  bool is_function_ = true, is_unique_ = true;
  bool is_contracting_ = false;
  double to_ = 0;
  int needed_ = -1;                        // law
  Interval times_{};                       // of the step, from 0
  Interval span_{};                        // of the last step
  Box tube_, lambda_;                      // Z, Λ with the bounds of disturbances
  Box rates_, added_;                      // f over them; e(h)
  std::vector<std::vector<bool>> acting_;  // by state: those that act on it, by λ of open laws too
  std::string reason_;
};

}  // namespace perp::enclosure
