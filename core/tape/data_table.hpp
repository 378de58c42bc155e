#pragma once

#include <string>
#include <vector>

namespace perp {

/// Measured data as a function of time: values at increasing times, held or joined by straight
/// lines. It is immutable; a tape refers to it by a number.
class DataTable {
 public:
  enum class Between {
    linear,  ///< a straight line from each value to the next one
    hold     ///< each value holds until the next one's time, where it jumps
  };

  /// `name` stands in messages and events. Throws InvalidInput for fewer than two times, times that
  /// do not increase, and numbers that are not finite.
  DataTable(std::string name, std::vector<double> times, std::vector<double> values,
            Between between);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Between between() const { return between_; }
  [[nodiscard]] const std::vector<double>& times() const { return times_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] double start() const { return times_.front(); }
  [[nodiscard]] double end() const { return times_.back(); }

  /// The piece [t_k, t_k+1) with t; outside of the times the first or the last one. Equal distances
  /// are found at once, others by bisection.
  [[nodiscard]] int piece(double t) const;

  /// The function at x, which lies in the piece of `t`, in any arithmetic.
  template <class T>
  [[nodiscard]] T value(const T& x, double t) const;

  /// Times at which the values jump, and those at which the slope does.
  ///@{
  [[nodiscard]] const std::vector<double>& jumps() const { return jumps_; }
  [[nodiscard]] const std::vector<double>& kinks() const { return kinks_; }
  ///@}

  /// The slopes of the pieces, held.
  [[nodiscard]] DataTable slopes() const;

  /// The number under which a tape refers to this table, as the second operand of Operation::table:
  /// equal tables have one number. Tables are kept as long as the program runs.
  static double number_of(DataTable table);
  /// The table of a number. Lock-free; `number` is one that `number_of` returned.
  static const DataTable& of(double number);
  /// f(t) of the table with this number.
  static double value_of(double number, double t);
  /// Throws InvalidInput: this arithmetic knows no tables of data.
  [[noreturn]] static void refuse();

  friend bool operator==(const DataTable& a, const DataTable& b) {
    return a.between_ == b.between_ && a.name_ == b.name_ && a.times_ == b.times_ &&
           a.values_ == b.values_;
  }

 private:
  std::string name_;
  std::vector<double> times_, values_;
  Between between_;
  double pieces_per_time_;  // of equal distances
  std::vector<double> jumps_, kinks_;
};

template <class T>
T DataTable::value(const T& x, double t) const {
  const auto k = static_cast<std::size_t>(piece(t));
  if (between_ == Between::hold) return T(t < end() ? values_[k] : values_.back());
  const T low(values_[k]);
  return low + (T(values_[k + 1]) - low) * ((x - T(times_[k])) / (T(times_[k + 1]) - T(times_[k])));
}

}  // namespace perp
