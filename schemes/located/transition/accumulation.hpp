#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>

namespace perp {

/// Recognises an accumulation of events: cycles of events that repeat in ever shorter time, by a
/// constant ratio (Zeno).
class AccumulationWatch {
 public:
  struct Limit {
    double t = 0;           ///< accumulation point, by geometric extrapolation
    Vector x;               ///< the state there, the cycles' mean motion continued
    std::vector<int> laws;  ///< whose events accumulate; none where resets do, with laws or alone
    Matrix dx;              ///< of dx*/dq, and of dt*/dq, where they were given
    Vector dt;
  };

  /// An event of kind `signature` (equal for events that repeat each other) of these laws; of resets: none.
  /// Optional: the derivatives of x and t.
  void add(double t, const Vector& x, int signature, std::vector<int> laws, Matrix dx = {},
           Vector dt = {});
  void forget() { events_.clear(); }
  void transfer(Archive& archive) { archive(events_, count_, thousands_); }
  /// Do the last thousand events take less than `shortest`, and is every thousand shorter than the
  /// thousands before it in the way of 1/count or faster? Then there is no hope to pass them all.
  [[nodiscard]] bool is_crowding(double shortest) const;
  /// The limit, if the remaining time is below `shortest` and the last cycles agree about it.
  [[nodiscard]] std::optional<Limit> limit(double shortest) const;

 private:
  struct Event {
    double t;
    Vector x;
    int signature;
    std::vector<int> laws;
    Matrix dx;
    Vector dt;

    void transfer(Archive& archive) { archive(t, x, signature, laws, dx, dt); }
  };
  /// The event that is so many before the last one.
  [[nodiscard]] const Event& event(std::size_t back) const { return events_[events_.size() - 1 - back]; }
  /// Are the last three cycles of so many events of the same kinds?
  [[nodiscard]] bool repeats(std::size_t period) const;
  [[nodiscard]] std::optional<Limit> limit(std::size_t period, double shortest) const;

  std::vector<Event> events_;      // the last ones
  long count_ = 0;                 // of all
  std::vector<double> thousands_;  // times of every thousandth
};

}  // namespace perp
