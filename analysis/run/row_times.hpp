#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/schemes/step_grid.hpp>

namespace perp {

/// Which states of a run are rows: all, those of given times, or those of every k-th step of length h with the first and the
/// last one. It is asked for the states in the order of time.
class RowTimes {
 public:
  /// Of these times, which increase; of every state where there are none.
  explicit RowTimes(std::vector<double> times = {}) : times_(std::move(times)) {}
  /// Of start + i k h and the end of the span; of every state for k = 0.
  RowTimes(Span span, double h, long every) : span_(span), h_(h), every_(every) {}

  [[nodiscard]] bool is_every_state() const { return times_.empty() && every_ == 0; }
  /// Is the state of time t a row?
  [[nodiscard]] bool takes(double t) {
    if (every_ > 0) return takes_in_grid(t);
    if (times_.empty()) return true;
    while (next_ < times_.size() && times_[next_] < t) ++next_;
    return next_ < times_.size() && times_[next_] == t;
  }
  /// So many steps of length h from time t on at least end before the next row; 0 for rows that are no matter of steps.
  [[nodiscard]] long steps_before_next(double t) const {
    if (every_ == 0) return 0;
    const double to = grid_time(next_) > t + rounding_of_grid(span_) ? grid_time(next_) : grid_time(next_ + 1);
    return std::max(0L, static_cast<long>(std::floor((to - t) / h_)) - 1);
  }
  /// How far it has come.
  void transfer(Archive& archive) { archive(next_); }

 private:
  [[nodiscard]] double grid_time(std::size_t row) const {
    return span_.start + static_cast<double>(row) * static_cast<double>(every_) * h_;
  }
  [[nodiscard]] bool takes_in_grid(double t) {
    const double rounding = rounding_of_grid(span_);
    while (grid_time(next_) < t - rounding) ++next_;
    return grid_time(next_) <= t + rounding || t >= span_.end;
  }

  std::vector<double> times_;
  Span span_{};
  double h_ = 0;
  long every_ = 0;
  std::size_t next_ = 0;
};

}  // namespace perp
