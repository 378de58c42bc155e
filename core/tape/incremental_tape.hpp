#pragma once

#include <span>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// Values of a tape while its inputs change one at a time: of the lines only those are computed again
/// that depend on the input, by their form. The values are those of `Tape::evaluate`, bit by bit.
class IncrementalTape {
 public:
  /// Lines that the outputs do not need have no value.
  IncrementalTape(Tape tape, std::span<const int> outputs);

  /// All lines at these inputs.
  void evaluate(std::span<const double> inputs);
  /// The same with another value of one input.
  void set(int input, double value);
  [[nodiscard]] double value(int line) const { return values_[static_cast<std::size_t>(line)]; }
  [[nodiscard]] const Tape& tape() const { return tape_; }

 private:
  struct Line {
    Operation operation = Operation::constant;
    int a = -1, b = -1, to = -1;
  };
  struct Followers {
    int line = -1;  ///< of the input, -1: none
    bool is_known = false;
    std::vector<Line> lines{};
  };
  const Followers& followers(int input);
  void run(const Line& line);

  Tape tape_;
  std::vector<int> needed_;
  std::vector<double> values_;
  std::vector<int> user_start_, users_;  // of each line, among the needed ones
  std::vector<Followers> followers_;     // of each input, made when it changes first
  std::vector<int> met_;                 // by the last input that was asked about
};

}  // namespace perp
