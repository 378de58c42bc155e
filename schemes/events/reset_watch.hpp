#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/core/trajectory.hpp>

namespace perp {

/// The resets of a Dcs and on which side of its surface c = 0 each condition is: its sign or, where
/// it is 0, that of its first non-zero derivative. A reset fires once where its condition passes to
/// the other side in its direction; it fires again only after it has been on the first side since.
class ResetWatch {
 public:
  ResetWatch(const Dcs& system, DcsEvaluator& evaluator);

  [[nodiscard]] bool empty() const { return resets_.empty(); }
  [[nodiscard]] int count() const { return static_cast<int>(resets_.size()); }
  [[nodiscard]] const Reset& reset(int k) const { return resets_[at(k)]; }
  /// The names of some resets, for messages.
  [[nodiscard]] std::string names(const std::vector<int>& list) const;

  /// How far the numbers of a state may be from those that its equations determine.
  struct Errors {
    double t = 0;
    Vector x, lambda;
    void transfer(Archive& archive) { archive(t, x, lambda); }
  };
  /// The sides, and how far the start of the next way is known.
  void transfer(Archive& archive) { archive(sides_, start_errors_, gathered_); }
  /// Rounding of the last update of states of these sizes.
  static Errors rounding(const Step& a, const Step& b);
  /// Of the moment at which reset k fires on the way from a to b, in this state: the rounding of all steps so far, and how far
  /// things move while its condition is within that. Other conditions that are 0 up to these pass at the same moment.
  Errors of_moment(int k, const Step& a, const Step& b, const Step& state);
  /// Of a state that a run starts from: written at a moment that a double holds up to some ulps, so
  /// that what moves at these rates may be where it is at another moment in between.
  static Errors at_moment(const Step& state, const Vector& rates);
  static Errors larger(const Errors& a, const Errors& b);

  /// c at a state.
  double condition(int k, const Step& state);
  /// A bound of the error of c at a state that is known up to `errors`; infinite: none.
  double error(int k, const Step& state, const Errors& errors);
  /// How far the rounding of a state moves c; 0, not told, where c jumps.
  double moved_by_rounding(int k, const Step& state, const Errors& errors);
  /// The sign of c; 0 where the errors, and as much again as `more`, do not let it see.
  int sign(int k, const Step& state, const Errors& errors, double more = 0);

  /// The side to which c leaves its surface as the state begins to move by d, up to `d_error`, in the time h: the sign of
  /// ∂c/∂t h + ∂c/∂x d, in which the state does not cancel. 0: not told, or c jumps or holds multipliers.
  int side_of_motion(int k, const Step& state, double h, const Vector& d, const Vector& d_error);

  /// -1, 1; 0: on the surface, and not known where it goes.
  [[nodiscard]] int side(int k) const { return sides_[at(k)].side; }
  void set_side(int k, int side) { sides_[at(k)] = {side, false, sides_[at(k)].rest}; }
  /// c is 0 now, up to an error, and the motion leaves the surface to this side.
  void leave_to(int k, int side, double error = 0) { sides_[at(k)] = {side, true, error}; }
  /// Would reset k fire if its condition came to this side?
  [[nodiscard]] bool fires(int k, int to) const { return fires_between(k, side(k), to); }
  /// Has reset k fired where its condition is behind the surface on its present side?
  [[nodiscard]] bool is_behind(int k) const { return side(k) != 0 && fires_between(k, -side(k), side(k)); }
  /// Would it fire if its condition passed the surface now?
  [[nodiscard]] bool is_armed(int k) const { return fires(k, -side(k)); }

  /// A reset whose condition is on the side from which it fires, or on its surface and has not passed it: its value there
  /// and the error of that.
  struct Approach {
    int reset = -1;
    double value = 0, error = 0;
    void transfer(Archive& archive) { archive(reset, value, error); }
  };
  /// Those of a state in which others than the `fired` ones have yet to pass.
  std::vector<Approach> approaching(const Step& state, const Errors& errors, const std::vector<int>& fired);
  /// Is reset k among these, and its condition where it was, as far as errors let see? What other
  /// resets did then has not moved it: it has yet to pass its surface.
  bool still_approaches(int k, const std::vector<Approach>& list, const Step& after,
                        const Errors& errors);

  /// Resets that fire at one moment, on the way from one state to another.
  struct Firing {
    std::vector<int> resets;  ///< in their order
    double s = 1;             ///< share of the way
    /// c was 0 at the beginning, left for its side and is on the other one at the end: when it came
    /// back a straight way does not tell.
    bool is_unresolved = false;
  };
  /// a begins the next way, known up to `errors` only.
  void begin(const Errors& errors) {
    start_errors_ = errors;
    forget_steps();
  }
  /// A run begins: no steps have been rounded.
  void start() {
    gathered_ = {};
    forget_steps();
  }
  /// The first firing between states a and b, everything moving linearly from one to the other; the
  /// sides become those at that moment before it. Without one they become those at b; c = 0 there
  /// leaves them as they are.
  std::optional<Firing> first(const Step& a, const Step& b);

  /// The resets that fire where multipliers and algebraic variables jump, from a to b at one moment. Where none does the
  /// sides become those at b.
  std::vector<int> at_jump(const Step& a, const Step& b);

  /// x after these resets: every value is computed from the state before, later resets win.
  /// `errors`: of the state before, then of the one after; infinite where a value is no number as far
  /// as these errors let see (1/x at x = 0).
  Vector values(const std::vector<int>& list, const Step& before, Errors& errors);

 private:
  [[nodiscard]] bool fires_between(int k, int from, int to) const {
    const int direction = resets_[at(k)].direction;
    return to != 0 && from == -to && (direction == 0 || direction == to);
  }
  /// Of the states between these; the start may be known less well.
  [[nodiscard]] Errors errors_between(const Step& a, const Step& b) const;
  /// How often c is looked at.
  [[nodiscard]] int samples_along_way(int k) const;
  void load(const Step& state);
  void load(const Step& state, const Errors& errors);
  void gather(const Step& a, const Step& b);
  /// No steps have moved a condition that rests.
  void forget_steps() {
    for (Side& side : sides_) side.rest = 0;
  }
  struct Side {
    int side = 0;
    bool leaves = false;  // see leave_to
    double rest = 0;      // rounding of the steps since c was first not told from 0
  };
  std::optional<Firing> scan(int k, const Step& a, const Step& b, const Errors& errors, double end,
                             Side& side);
  Firing firing_at_start(int k, const Step& a, const Step& b, double high, const Side& side);
  void find_together(const Step& a, const Step& b, const Errors& errors, const std::vector<int>& candidates, Firing& first);
  double pass(int k, const Step& a, const Step& b, double low, double high, int to);

  DcsEvaluator& evaluator_;
  std::vector<Reset> resets_;
  std::vector<char> is_affine_;  // c in (t, x, λ), by its form
  std::vector<char> jumps_;      // at a sign in c
  struct Gradient {
    std::vector<int> inputs{};  // with which c moves; empty: not told
    BoundedTape derivatives{};
  };
  [[nodiscard]] Gradient gradient(const Dcs& system, int k) const;
  std::vector<Gradient> gradients_;
  std::vector<Side> sides_;
  std::optional<Errors> start_errors_;
  Vector gathered_;  // rounding of x by all steps so far, where there are several resets
  std::vector<BoundedTape> values_;
  std::vector<double> z_, z_error_;
};

/// The state at the share s of the way from a to b, in the mode of a.
Step between(const Step& a, const Step& b, double s);

}  // namespace perp
