#pragma once

#include <span>
#include <string>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// Taylor coefficients of the lines of a tape, one order after the other: coefficient k of a line from
/// the coefficients 0..k of its operands. Which lines are computed when is said from outside, so that
/// unknowns of implicit equations may be found between them.
class SeriesTape {
 public:
  /// Why a tape has no series here, by the name of its operation; empty: it has.
  static std::string obstacle(const Tape& tape, std::span<const int> outputs);

  /// `steady`: inputs that are constant in time, all others may move. `orders` coefficients are kept.
  SeriesTape(const Tape& tape, int orders, const std::vector<char>& steady);

  [[nodiscard]] int orders() const { return orders_; }
  /// The coefficients of a line.
  ///@{
  double* operator[](int line) { return &coefficients_[place(line)]; }
  const double* operator[](int line) const { return &coefficients_[place(line)]; }
  ///@}
  /// Does it depend on constants and steady inputs alone? Its coefficients above 0 are 0 then.
  [[nodiscard]] bool is_steady(int line) const { return steady_[static_cast<std::size_t>(line)] != 0; }

  /// Coefficient k of these lines, which are no inputs and in the order of the tape.
  void compute(std::span<const int> lines, int k);

  /// Bounds of the errors of coefficient k of a line, from those of the inputs and of the coefficients before it, and
  /// from all rounding; infinite where there is none. For k < bounded_orders. Errors of inputs are set from outside.
  ///@{
  static constexpr int bounded_orders = 4;
  double* error(int line) { return &errors_[static_cast<std::size_t>(line) * bounded_orders]; }
  [[nodiscard]] const double* error(int line) const {
    return &errors_[static_cast<std::size_t>(line) * bounded_orders];
  }
  void bound_errors(std::span<const int> lines, int k);
  ///@}

  /// The coefficients; errors are to be bounded again.
  void transfer(Archive& archive) { archive(coefficients_); }

 private:
  [[nodiscard]] std::size_t place(int line) const {
    return static_cast<std::size_t>(line) * static_cast<std::size_t>(orders_);
  }
  double coefficient(int line, int k);
  [[nodiscard]] double of_product(const Instruction& here, int k) const;
  static double of_power(const double* a, double p, const double* y, int k);
  [[nodiscard]] double of_function(const Instruction& here, const double* y, int k) const;
  void sine(const Instruction& here, int line, int k);
  [[nodiscard]] double first_error(const Instruction& here) const;
  [[nodiscard]] double next_error(const Instruction& here, int line, int k) const;
  [[nodiscard]] double function_error(const Instruction& here, int line, int k) const;
  [[nodiscard]] double of_quotient(int line, int divisor, double of_terms, double scale, int k) const;
  void bound_sine(const Instruction& here, int line, int k);

  const Tape& tape_;
  int orders_;
  std::vector<char> steady_;      // of each line
  std::vector<int> companion_;    // of sin and cos: where the other one is kept
  std::vector<double> coefficients_, errors_;
};

}  // namespace perp
