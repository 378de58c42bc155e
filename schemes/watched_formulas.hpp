#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/running_error.hpp>
#include <perp/core/signal.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/schemes/time_zeros.hpp>

namespace perp {

/// Rows of a system and the denominators in their formulas, on the straight way from a to b.
class WatchedFormulas {
 public:
  virtual ~WatchedFormulas() = default;

  /// The denominators at the share s of the way.
  virtual void denominators(const Step& a, const Step& b, double s,
                            std::vector<RunningError>& values) = 0;
  /// The rows there, with bounds of their errors; not finite: there is no value. `at_rest`: with ẋ = 0.
  virtual void rows(const Step& a, const Step& b, double s, bool at_rest, Vector& values,
                    Vector& errors) = 0;

  /// Those denominators that are functions of time alone.
  TimeZeros& time_zeros() { return time_zeros_; }
  /// What is known of each: no zero up to `until`, then this one, if there is one.
  struct Search {
    double until = -inf;
    std::optional<TimeZeros::Zero> zero{};
  };
  std::vector<Search>& searches() { return searches_; }
  /// Is function k of time not told from 0 somewhere in between?
  bool is_zero_between(std::size_t k, double low, double high);

 protected:
  virtual void denominators_of_time(double t, std::vector<RunningError>& values) = 0;
  void set_time_zeros(TimeZeros zeros) {
    time_zeros_ = std::move(zeros);
    searches_.resize(time_zeros_.count());
  }

 private:
  TimeZeros time_zeros_;
  std::vector<Search> searches_;
};

/// Adds the formulas of (F, G), if they have denominators.
void watch_system(const Dcs& system, std::vector<std::unique_ptr<WatchedFormulas>>& list);
/// Adds those of a signal; of one that is a function without formulas the reciprocals.
void watch_signal(const Signal& signal, std::vector<std::unique_ptr<WatchedFormulas>>& list);

}  // namespace perp
