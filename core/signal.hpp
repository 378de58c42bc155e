#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// A vector that is constant or a function of time: the b and q of an Lcs.
class Signal {
 public:
  /// Overwrites the varying entries of `value` with those at time t.
  using Function = std::function<void(double t, Vector& value)>;

  Signal() = default;
  /// A constant.
  Signal(Vector constant) : value_(std::move(constant)) {}  // NOLINT: implicit on purpose
  /// `value` gives the size and the entries that never change; `function` overwrites the entries
  /// listed in `varying` (increasing indices) and no others.
  Signal(Vector value, std::vector<int> varying, Function function)
      : value_(std::move(value)), varying_(std::move(varying)), function_(std::move(function)) {}

  /// The same with expressions of t: the varying entry k is line lines[k] of a tape whose only
  /// input is t. Such a signal can be differentiated.
  Signal(Vector value, std::vector<int> varying, std::shared_ptr<const Tape> tape,
         std::vector<int> lines)
      : value_(std::move(value)),
        varying_(std::move(varying)),
        tape_(std::move(tape)),
        lines_(std::move(lines)) {}

  /// Number of entries.
  [[nodiscard]] Eigen::Index size() const { return value_.size(); }
  /// Does no entry change with time?
  [[nodiscard]] bool is_constant() const { return varying_.empty(); }
  /// Indices of the entries that change, increasing.
  [[nodiscard]] const std::vector<int>& varying() const { return varying_; }
  /// Constant entries; the varying ones hold what the signal was made with.
  [[nodiscard]] const Vector& constant() const { return value_; }

  /// The expressions, null where there are none; and their lines, one for each of `varying()`.
  [[nodiscard]] const Tape* tape() const { return tape_.get(); }
  /// Lines of the tape, one for each of `varying()`.
  [[nodiscard]] const std::vector<int>& lines() const { return lines_; }

  /// Writes the value at time t; `value` must have the signal's size. Does not allocate by itself.
  void evaluate(double t, Vector& value) const {
    value = value_;
    if (function_) function_(t, value);
    if (tape_) run_tape(t, value);
  }
  /// The value at time t.
  [[nodiscard]] Vector operator()(double t) const {
    Vector value = value_;
    evaluate(t, value);
    return value;
  }

 private:
  /// Without state, so that several threads may share a signal; allocates for long tapes only.
  void run_tape(double t, Vector& value) const {
    constexpr std::size_t small = 256;
    std::array<double, small> buffer;  // NOLINT: written before it is read
    std::vector<double> large;
    std::span<double> lines = buffer;
    if (const auto size = static_cast<std::size_t>(tape_->size()); size > small) {
      large.resize(size);
      lines = large;
    }
    tape_->evaluate(std::span<const double>(&t, 1), lines);
    for (std::size_t k = 0; k < varying_.size(); ++k)
      value[varying_[k]] = lines[static_cast<std::size_t>(lines_[k])];
  }

  Vector value_;
  std::vector<int> varying_;
  Function function_;
  std::shared_ptr<const Tape> tape_;
  std::vector<int> lines_;
};

}  // namespace perp
