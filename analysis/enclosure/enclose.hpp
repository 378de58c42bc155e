#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_start.hpp>
#include <perp/analysis/enclosure/interval_matrix.hpp>
#include <perp/analysis/enclosure/proof/proof_log.hpp>
#include <perp/analysis/enclosure/taylor_step.hpp>
#include <perp/core/dcs.hpp>

namespace perp::enclosure {

/// What an enclosure is asked for.
struct EncloseOptions {
  StepOptions step{};           ///< order and lengths of steps
  std::vector<double> times{};  ///< of the rows, increasing, in the span; empty: its ends
  bool tube = false;            ///< also boxes that hold for whole intervals of time
  int most_steps = 1'000'000;   ///< of one piece
  int most_events = 10'000;     ///< of one piece: more of them are taken for an accumulation
  int pieces = 512;    ///< most pieces into which the set of starts and parameters is split
  int branches = 64;   ///< most branches that are followed at one time, and of independent parts together
  int threads = 1;     ///< pieces are independent; the result does not depend on it
  double share = 0.1;  ///< of a width: what a piece may be wider than its linear image
  bool paving = false;  ///< also the rows of each piece by itself: `Enclosure::paving`
  bool proof = false;  ///< also what is needed to re-check every step: `Enclosure::proof`
  /// What was computed of a system so far, piece by piece, as bytes for this program on this machine: an enclosure from the
  /// same start with the same options that goes on from them is that which was never stopped, bit for bit. Not with proofs.
  struct KeptState {
    std::function<bool()> due{};  ///< asked behind each piece; true: `keep` gets what is known. By one thread at a time
    std::function<void(const std::string& state)> keep{};
    std::string from{};  ///< to go on from; empty: from the start
  };
  KeptState state{};
};

/// What a row claims of every point of the start (starts and parameters).
enum class Flag {
  unique,  ///< it has exactly one solution until t, and that one lies in the box
  all      ///< each of its solutions that exist until t lies in a row of that time
};

/// How that was shown, until t; in this order, of several the last one counts.
enum class How {
  modes,       ///< by series in modes, and events between them
  inclusion,   ///< somewhere by all that laws may be whose branch was not known
  contraction  ///< and some of these jump, but bring solutions together: so they are unique
};

/// The words of tables: "unique", "all"; "modes", "inclusion", "contraction".
///@{
const char* to_string(Flag flag);
const char* to_string(How how);
///@}

/// Where the solutions are at the exact time t.
struct EnclosureRow {
  double t = 0;
  int branch = 0;
  Flag flag = Flag::unique;
  How how = How::modes;
  Box box{};          ///< of a system its n variables, of a flow its states
  Box multipliers{};  ///< m
  std::vector<Mode>
      modes{};  ///< those in which members may be at t; more than one: an event is near; empty: too many to list
  int root = 0;  ///< of the equations of the first of them
};

/// Every member of the branch has such an event within `t`: exactly one where `unique`.
struct EnclosureEvent {
  Interval t{};
  int branch = 0;
  std::string type{};  ///< as in the log of a run: to_string(EventKind)
  int law = -1;        ///< its law; -1: none
  int from = -1;       ///< branch of the law before
  int to = -1;         ///< branch of the law after
  int reset = -1;      ///< which state reset; -1: none
  int root = 0;        ///< of the equations after it
  bool unique = true;
  std::string note{};
};

/// Where the solutions are at every time from `from` to `to`.
struct TubeRow {
  double from = 0, to = 0;
  int branch = 0;
  Flag flag = Flag::unique;
  Box box{};
};

/// A part of the set of starts and parameters, with the rows of the solutions that start in it:
/// what they claim of every point holds of every point of this part. Branches have the numbers of
/// the whole, and rows end where those of the whole do.
struct EnclosurePiece {
  Box start{};  ///< of the variables; of algebraic ones it tells which of several roots is meant
  Box parameters{};                  ///< of all parameters
  std::vector<EnclosureRow> rows{};  ///< in the order of t and branch
};

/// From here on nothing is claimed.
struct Lost {
  Interval t{};          ///< within it the proof ends
  std::string reason{};  ///< what could not be shown
  std::string advice{};  ///< one thing to try
  int law = -1;          ///< whose branch was undecided; -1: of no law
  int reset = -1;        ///< whose condition was undecided; -1: of no reset
  Mode mode{};           ///< the last mode that was certain
};

/// Rows end where the enclosure was lost.
struct Enclosure {
  std::vector<EnclosureRow> rows{};      ///< in the order of t
  std::vector<EnclosureEvent> events{};  ///< in the order of t.lo
  std::vector<TubeRow> tube{};           ///< without gaps
  std::optional<Lost> lost{};
  int steps = 0;   ///< of all pieces
  int pieces = 1;  ///< that were followed
  /// Of a system in parts with more combinations of branches than the limit: how many branches of parts stand
  /// in rows together with others; 0: none.
  int joined = 0;
  /// Equations between states, or laws, forbid points of the start: of these nothing is claimed.
  bool forbids_starts = false;
  /// Where it was asked for: parts of the start that hold every point of it with a solution. The
  /// rows of a branch are the hulls of theirs.
  std::vector<EnclosurePiece> paving{};
  std::vector<PieceProof> proof{};  ///< of a system, where it was asked for: one for each piece
};

/// Encloses all solutions of x' = f(t, x) that start in `start` at span.start, until span.end.
/// Parameters that are intervals are states with the rate 0: they are constant in time. Throws
/// InvalidInput for wrong spans, times and sizes, std::runtime_error where the arithmetic is not
/// sound.
Enclosure enclose(const Flow& flow, const Box& start, const Span& span,
                  const EncloseOptions& options = {});

/// Encloses all solutions of a system with laws and resets that start in `start` (one interval for
/// each variable; of algebraic ones it tells which of several roots is meant) for all `parameters`
/// (one for each of the system, constant in time). The data of laws and what the tape holds are
/// taken as exact. Solutions are Filippov's where laws jump; modes of DAEs are those that are
/// consistent. Parameters whose numbers are in `disturbances` are functions of time: any that is
/// measurable and within its interval, and what is said of every point holds of every point with
/// every such function. `exact` are starts and parameters that are known beyond their intervals. Throws
/// InvalidInput for wrong sizes, spans and times, and where the start is not consistent.
Enclosure enclose(const Dcs& system, const Box& start, const Box& parameters, const Span& span,
                  const EncloseOptions& options = {}, const std::vector<int>& disturbances = {},
                  const ExactStart& exact = {});

}  // namespace perp::enclosure
