#pragma once

#include <optional>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/taylor.hpp>

namespace perp {

/// The moments at which functions of time alone within a system are not smooth: where the argument
/// of a sign or an abs, or the difference of the arguments of a min or a max, changes its sign and
/// depends on t only; and where the argument of a law, if it is a function of t, passes an end of a
/// branch. A step of high order ends there, the next one begins behind it.
class TimeSwitches {
 public:
  explicit TimeSwitches(const Dcs& system);

  struct Switch {
    double before = 0;  ///< the last time with the old sign
    double after = 0;   ///< the first one with the new sign, some units in the last place later
  };
  /// The first one in (t, end). Found by steps within which the Taylor series of an argument has no
  /// zero; an argument that touches zero, or crosses it twice within 1e-12 of the interval, is
  /// passed.
  [[nodiscard]] std::optional<Switch> next(double t, double end);
  /// Is the argument of this law a function of t (and parameters) alone?
  [[nodiscard]] bool is_of_time(int law) const { return laws_[static_cast<std::size_t>(law)] != 0; }

 private:
  std::vector<int> copy_functions_of_time(const Dcs& system);
  void add_laws(const Dcs& system, const std::vector<int>& lines);
  static constexpr int order = 8;
  using Series = Taylor<double, order>;

  /// The series of all arguments at t, and their values alone.
  void expand(double t);
  [[nodiscard]] double value(std::size_t argument, double t);
  [[nodiscard]] std::optional<Switch> next(std::size_t argument, double t, double end);
  [[nodiscard]] Switch between(std::size_t argument, double low, double high, bool positive);

  Tape tape_;                   // of t alone
  std::vector<int> arguments_;  // lines whose changes of sign count
  std::vector<char> laws_;      // with an argument of time
  std::vector<Series> series_;
  std::vector<double> values_;
};

}  // namespace perp
