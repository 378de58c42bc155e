#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/trajectory.hpp>

namespace perp {

/// Steps of one length h on a grid, step k to from + k h: first, first + 1, ..., last.
struct UniformSteps {
  double from, h;
  long first, last;

  [[nodiscard]] double end(long k) const { return from + static_cast<double>(k) * h; }
};

/// Steps of length h through the span, shorter only to land on a requested time or the end; counted
/// anew from each of these.
class StepGrid {
 public:
  StepGrid(Span span, double h, const std::vector<double>& times) : h_(h), from_(span.start) {
    for (const double t : times)
      if (t > span.start && t < span.end) targets_.push_back(t);
    targets_.push_back(span.end);
    count();
  }

  struct Step {
    double from, to;
    double length;  ///< h, where it is that but for rounding of t
    bool is_asked;  ///< to a requested time or the end
  };
  /// The present one; not behind the last.
  [[nodiscard]] Step step() const {
    const double to = targets_[next_], last = from_ + static_cast<double>(count_ - 1) * h_;
    const double start = from_ + static_cast<double>(k_ - 1) * h_;
    if (k_ < count_) return {start, from_ + static_cast<double>(k_) * h_, h_, false};
    const bool is_whole = std::abs(to - last - h_) <= 16 * std::numeric_limits<double>::epsilon() *
                                                          (std::abs(from_) + std::abs(to));
    return {start, to, is_whole ? h_ : to - last, true};
  }
  [[nodiscard]] bool is_done() const { return next_ == targets_.size(); }
  void advance() {
    if (k_++ < count_) return;
    from_ = targets_[next_++];
    if (!is_done()) count();
  }
  /// The steps before the one that is asked for, from the present one on.
  [[nodiscard]] UniformSteps before_asked() const { return {from_, h_, k_, count_ - 1}; }
  /// Where it stands; span, h and times are those that it was made with.
  void transfer(Archive& archive) { archive(from_, next_, k_, count_); }
  /// Goes on behind so many of them.
  void leap(long steps) { k_ += steps; }

 private:
  void count() {
    const double exact = (targets_[next_] - from_) / h_;
    count_ = std::max(1L, static_cast<long>(std::ceil(exact * (1 - 1e-14) - 1e-9)));
    k_ = 1;
  }

  double h_, from_;
  std::vector<double> targets_;
  std::size_t next_ = 0;    // target
  long k_ = 1, count_ = 1;  // step on the way to it, and how many there are
};

/// Up to here times of a span are one by the rounding of a grid of them.
inline double rounding_of_grid(Span span) {
  return 4 * std::numeric_limits<double>::epsilon() *
         std::max(std::abs(span.start), std::abs(span.end));
}

/// The first time start + k d behind t; the end of the span, where it is that but for rounding.
inline double next_on_grid(Span span, double d, double t) {
  double k =
      std::floor((t - span.start) / d * (1 + 4 * std::numeric_limits<double>::epsilon())) + 1;
  while (span.start + k * d <= t) ++k;
  const double time = span.start + k * d;
  return t < span.end && std::abs(time - span.end) <= rounding_of_grid(span) ? span.end : time;
}

}  // namespace perp
