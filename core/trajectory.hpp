#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/status.hpp>
#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>

namespace perp {

/// What can happen during a run.
enum class EventKind {
  mode_change,         ///< one or more laws change their branch
  kink,                ///< a law with a continuous graph passes a corner
  crossing,            ///< a relay-like law goes from one side to the other
  sliding_entry,       ///< a relay-like law enters its inner branch
  sliding_exit,        ///< and leaves it
  jump,                ///< the differential variables jump
  inconsistent_start,  ///< x0 violates the constraints by `size`
  bound,               ///< a variable passes one of its bounds
  accumulation,        ///< infinitely many events end here (Zeno)
  no_solution,         ///< the solution ends here
  stopped              ///< the run ends here for another reason: see its note
};

/// The word of the event log, e.g. "sliding_entry".
const char* to_string(EventKind kind);

/// Something that happened at time t. Capturing schemes know t up to a step: it is interpolated
/// linearly, between `t_before` and `t_after`.
struct Event {
  EventKind kind = EventKind::mode_change;  ///< what happened
  double t = 0;                             ///< when
  double t_before = 0;                      ///< last time known to be before it
  double t_after = 0;                       ///< first time known to be after it
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
  /// See `continuations`.
  bool is_weak = false;
  /// Where sensitivities are computed: dt/dq (q entries); 1/|d gap/dt|, which tells how it is
  /// conditioned; and where laws switch at one moment and the order in which q makes them matters,
  /// the one-sided ∂x/∂q after the event for each order (n×q each).
  Vector dt_dq{};
  /// 1/|dw/dt| at the event, of dt_dq.
  double condition = 0;
  /// One-sided ∂x/∂q, see `dt_dq`.
  std::vector<Matrix> pieces{};
};

/// One accepted step (or the start): everything known at time t.
struct Step {
  double t = 0;         ///< time
  Vector x;             ///< n
  Vector lambda;        ///< m
  Vector w;             ///< m
  Mode mode;            ///< m
  Matrix dx_dq{};       ///< n×q, where sensitivities are computed
  Matrix dlambda_dq{};  ///< m×q
};

/// Counts of a run, by name ("steps", "unique", "chosen", "refined", "factorisations", ...);
/// printed in this order.
using Counts = std::map<std::string, long>;

/// The result of `integrate`: accepted steps, modes, events, status, message, provenance. A long one takes the room of its
/// numbers and a tenth at most.
struct Trajectory {
  /// A vector per time, in blocks that grow to 64 KiB.
  class Vectors {
   public:
    /// Goes through them, copy by copy.
    class Iterator {
     public:
      Iterator(const Vectors& all, std::size_t k) : all_(&all), k_(k) {}  ///< at number k
      /// The vector at which it is.
      Vector operator*() const { return (*all_)[k_]; }
      /// On to the next one.
      Iterator& operator++() {
        ++k_;
        return *this;
      }
      friend bool operator==(const Iterator&, const Iterator&) = default;

     private:
      const Vectors* all_;
      std::size_t k_;
    };
    [[nodiscard]] Iterator begin() const { return {*this, 0}; }          ///< at the first one
    [[nodiscard]] Iterator end() const { return {*this, size_}; }        ///< behind the last one
    [[nodiscard]] std::size_t size() const { return size_; }             ///< how many
    [[nodiscard]] bool empty() const { return size_ == 0; }              ///< are there none?
    /// A copy; k < size().
    [[nodiscard]] Vector operator[](std::size_t k) const;
    [[nodiscard]] Vector front() const { return (*this)[0]; }            ///< a copy of the first one
    [[nodiscard]] Vector back() const { return (*this)[size_ - 1]; }     ///< a copy of the last one
    /// Adds one at the end.
    void push_back(const Vector& values);
    /// Have they the same numbers?
    friend bool operator==(const Vectors& a, const Vectors& b);

   private:
    /// Vectors of one length, one behind the other.
    struct Block {
      std::size_t first = 0;  // of all
      Eigen::Index length = 0;
      std::size_t room = 0;  // so many vectors
      std::vector<double> values{};
    };
    [[nodiscard]] const Block& block_of(std::size_t k) const;
    void add_block(Eigen::Index length);

    std::vector<Block> blocks_;
    std::size_t size_ = 0;
  };

  /// A mode per time; those that follow each other unchanged are one.
  class Modes {
   public:
    [[nodiscard]] std::size_t size() const { return size_; }  ///< how many
    [[nodiscard]] bool empty() const { return size_ == 0; }   ///< are there none?
    /// k < size().
    [[nodiscard]] const Mode& operator[](std::size_t k) const;
    [[nodiscard]] const Mode& front() const { return spans_.front().second; }  ///< the first one
    [[nodiscard]] const Mode& back() const { return spans_.back().second; }    ///< the last one
    /// Adds one at the end.
    void push_back(const Mode& mode);
    friend bool operator==(const Modes&, const Modes&) = default;

   private:
    std::vector<std::pair<std::size_t, Mode>> spans_;  // by the first time of each
    std::size_t size_ = 0;
  };

  std::vector<double> t;           ///< times; two equal ones are the sides of an event
  Vectors x;                       ///< one per time
  Vectors lambda;                  ///< one per time
  Vectors w;                       ///< one per time
  Modes mode;                      ///< one per time
  std::vector<Matrix> dx_dq;       ///< one per state where sensitivities are computed, else empty
  std::vector<Matrix> dlambda_dq;  ///< the same
  std::vector<Event> events;       ///< in the order of time
  Status status = Status::never_run;  ///< how the run ended
  std::string message;  ///< one sentence with t and step number
  Counts counts;        ///< of steps, factorisations, ...
  std::map<std::string, std::string> provenance;  ///< version, scheme, selector, norm, options

  /// Number of states.
  [[nodiscard]] std::size_t size() const { return t.size(); }
  /// Adds one at the end.
  void append(const Step& step);
};

}  // namespace perp
