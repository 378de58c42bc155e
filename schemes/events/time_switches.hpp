#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/system/sparse_lcs.hpp>
#include <perp/schemes/events/time_zeros.hpp>

namespace perp {

/// The moments at which functions of time alone within a system are not smooth: where the argument
/// of a sign or an abs, or the difference of the arguments of a min or a max, changes its sign and
/// depends on t only; and where the argument of a law, if it is a function of t, passes an end of a
/// branch. A multiplier of a law with such an argument is a function of t where it is one of its argument. A step of high order ends there, the next one begins behind it.
class TimeSwitches {
 public:
  /// Which of them count.
  enum class Of {
    kinks,  ///< all
    jumps   ///< those of a sign or a law, where the right-hand side may jump
  };
  explicit TimeSwitches(const Dcs& system, Of which = Of::kinks);
  /// Those of jumps, of the entries of b and q that are formulas.
  explicit TimeSwitches(const SparseLcs& lcs);

  using Switch = TimeZeros::Zero;
  /// The first one in (t, end), see TimeZeros; data jump or have a kink at their own times.
  [[nodiscard]] std::optional<Switch> next(double t, double end);
  /// Are there no functions that may switch?
  [[nodiscard]] bool empty() const { return zeros_.count() == 0 && tables_.empty(); }
  /// See TimeZeros.
  [[nodiscard]] double decided_before(const Switch& at, double since);
  /// Do data jump or have a kink at this moment?
  [[nodiscard]] bool is_of_data(double t) const;
  /// The tables of data that jump at a moment, to their new value: "T_out: 3 -> 4".
  [[nodiscard]] std::vector<std::string> jumps_at(double t) const;
  /// Is the argument of this law a function of t (and parameters) alone?
  [[nodiscard]] bool is_of_time(int law) const { return laws_[static_cast<std::size_t>(law)] != 0; }

 private:
  struct Copies {             // of the lines of a system in tape_
    std::vector<int> line;    // -1: none
    std::vector<char> moves;  // does it depend on a parameter?

    [[nodiscard]] int of(int operand) const { return operand < 0 ? -1 : line[static_cast<std::size_t>(operand)]; }
    [[nodiscard]] bool lacks(int operand) const { return operand >= 0 && of(operand) < 0; }
    [[nodiscard]] bool moves_with(int operand) const {
      return operand >= 0 && moves[static_cast<std::size_t>(operand)] != 0;
    }
  };

  std::vector<int> copy_functions_of_time(const Dcs& system);
  void copy_line(const Dcs& system, int k, Copies& copies);
  void copy_operation(const Instruction& line, std::size_t at, Copies& copies);
  void add_tables();
  void add_laws(const Dcs& system, const std::vector<int>& lines, Of which);
  std::vector<int> inner_kinks();
  [[nodiscard]] std::optional<Switch> next_of_formulas(double t, double end);

  TimeZeros zeros_;
  TimeZeros kinks_;  // within the arguments that count, which are smooth between them; where kinks do not count
  Of which_;
  std::vector<const DataTable*> tables_;  // of t itself
  Tape tape_;                   // of t alone, and the lines
  std::vector<int> arguments_;  // whose changes of sign count, until zeros_ has them
  std::vector<char> laws_;      // with an argument of time
};

}  // namespace perp
