#pragma once

#include <map>
#include <string>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/status.hpp>
#include <perp/core/types.hpp>

namespace perp {

enum class EventKind {
  mode_change,         ///< one or more laws change their branch
  kink,                ///< a law with a continuous graph passes a corner
  crossing,            ///< a relay-like law goes from one side to the other
  sliding_entry,       ///< a relay-like law enters its inner branch
  sliding_exit,        ///< and leaves it
  jump,                ///< the differential variables jump
  inconsistent_start,  ///< x0 violates the constraints by `size`
  accumulation,        ///< infinitely many events end here (Zeno)
  no_solution          ///< the solution ends here
};

/// The word of the event log, e.g. "sliding_entry".
const char* to_string(EventKind kind);

/// Something that happened at time t. Capturing schemes know t up to a step: it is interpolated
/// linearly, between `t_before` and `t_after`.
struct Event {
  EventKind kind = EventKind::mode_change;
  double t = 0;
  double t_before = 0;
  double t_after = 0;
  int law = -1;     ///< index of the law, -1: not of one law
  int from = -1;    ///< branch before
  int to = -1;      ///< branch after
  Vector x_before;  ///< state before the event
  Vector x_after;   ///< state after it; differs from x_before at jumps
  double size = 0;  ///< ‖E (x_after - x_before)‖ of a jump, residual of an inconsistent start
  std::string note{};  ///< one sentence for people
  /// How many continuous continuations start after it, 0: not counted; and is the one taken weak,
  /// with a margin that stays zero as far as its derivatives tell (grazing)?
  int continuations = 0;
  bool is_weak = false;
  /// Where sensitivities are computed: dt/dq (q entries); 1/|d gap/dt|, which tells how it is
  /// conditioned; and where laws switch at one moment and the order in which q makes them matters,
  /// the one-sided ∂x/∂q after the event for each order (n×q each).
  Vector dt_dq{};
  double condition = 0;
  std::vector<Matrix> pieces{};
};

/// One accepted step (or the start): everything known at time t.
struct Step {
  double t = 0;
  Vector x;
  Vector lambda;
  Vector w;
  Mode mode;
  Matrix dx_dq{};       ///< n×q, where sensitivities are computed
  Matrix dlambda_dq{};  ///< m×q
};

/// Counts of a run, by name ("steps", "unique", "chosen", "refined", "factorisations", ...);
/// printed in this order.
using Counts = std::map<std::string, long>;

/// The result of `integrate`: accepted steps, modes, events, status, message, provenance.
struct Trajectory {
  std::vector<double> t;
  std::vector<Vector> x;
  std::vector<Vector> lambda;
  std::vector<Vector> w;
  std::vector<Mode> mode;
  std::vector<Matrix> dx_dq;       ///< one per state where sensitivities are computed, else empty
  std::vector<Matrix> dlambda_dq;  ///< the same
  std::vector<Event> events;
  Status status = Status::never_run;
  std::string message;  ///< one sentence with t and step number
  Counts counts;
  std::map<std::string, std::string> provenance;  ///< version, scheme, selector, norm, options

  [[nodiscard]] std::size_t size() const { return t.size(); }
  void append(const Step& step);
};

}  // namespace perp
