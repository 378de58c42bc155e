#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/interval/interval.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

namespace pole_distance {
constexpr double beyond = 1 + 0x1p-10;  ///< of the path: a zero so near behind its end is at its end
constexpr double of_end = 8;  ///< roundings by which a state at the end of a mode may be short of it
}  // namespace pole_distance

/// Rounding of a state, of its size.
constexpr double state_rounding = 8 * std::numeric_limits<double>::epsilon();

/// A step between two states of one mode, on which nothing happened.
struct StraightStep {
  double from_t, to_t;
  const Vector &from_x, &to_x, &from_lambda, &to_lambda;
};

/// A box of (t, x, λ) over which divisors are proved to keep their signs, so that there PoleWatch need not look for
/// their zeros: its running errors are below what tells a sign, and no parabola through three values comes near 0.
/// Made around a step, as far ahead as may be; the steps after it ask for the box alone.
class CalmBox {
 public:
  CalmBox() = default;
  /// Of these lines of a tape with the inputs t | ẋ | x | λ, n variables.
  CalmBox(const Tape& tape, const std::vector<int>& lines, int n);

  /// Does no divisor come near 0 on the way of the step, nor next behind it?
  bool holds(const StraightStep& step) { return (is_there_ && contains(step)) || reaches(step); }

  /// Is there one?
  [[nodiscard]] bool is_there() const { return is_there_; }
  /// The inputs that count, with the ends of the box of each.
  struct Side {
    int input;
    double low, high;
  };
  [[nodiscard]] const std::vector<Side>& sides() const { return sides_; }

  /// Makes it anew around a step, as far ahead as may be, whatever it was. False: there is none.
  bool reaches(const StraightStep& step);

 private:
  struct Line {
    Operation operation;
    int a, b, to;
  };
  /// What a line is at all points of the box: values in doubles, and the largest running error.
  struct Spread {
    enclosure::Interval value;
    double error = 0;
  };

  void add_side(int input, int line);
  [[nodiscard]] bool contains(const StraightStep& step) const;
  bool is_proved_ahead(const StraightStep& step);
  [[nodiscard]] Spread ahead(std::size_t k) const;
  [[nodiscard]] bool is_calm(int line) const;
  static Spread result_of(const Line& line, const Spread& a, const Spread& b);
  static double error_of_arithmetic(Operation operation, const enclosure::Interval& value, const Spread& a, const Spread& b);
  static Spread guarded(const Spread& weight, const Spread& a);
  static Spread function_of(Operation operation, const Spread& a, const Spread& b);

  int n_ = 0;
  bool may_hold_ = false, is_there_ = false;
  double reach_ = 16;  // lengths of a step
  int boxes_since_less_ = 8;  // than `reach_` was proved; as after many to begin with
  std::vector<int> lines_;
  std::vector<int> inputs_of_sides_;  // lines of the tape
  std::vector<Line> changing_;
  std::vector<Spread> values_;
  std::vector<Side> sides_;
};

}  // namespace perp
