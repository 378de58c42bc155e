#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// Lines of a tape in rational numbers; functions whose value is no double are rounded, and `is_exact`
/// becomes false. Inputs are the values that are given, without their errors.
class RationalTape {
 public:
  static constexpr int most_power = 16;

  RationalTape(const Tape& tape, const std::vector<RunningError>& inputs);

  /// With other values of some inputs. None where it is not finite.
  std::optional<Rational> value(int line, const std::vector<int>& unknowns = {},
                                const std::vector<Rational>& at_unknowns = {});

  bool is_exact = true;

 private:
  bool apply(Operation operation, const Rational& a, const Rational& b, Rational& result);
  bool apply_rounded(Operation operation, const Rational& a, const Rational& b, Rational& result);
  bool apply(const Instruction& line, const std::vector<Rational>& values, Rational& result);

  const Tape& tape_;
  std::vector<double> inputs_;
};

/// The value of a line at inputs that are known without rounding. None where it is no rational number,
/// is none here, or needs another input.
std::optional<Rational> exact_value(const Tape& tape, int line,
                                    const std::vector<std::optional<Rational>>& inputs);

}  // namespace perp
