#pragma once

#include <cstdint>
#include <vector>

#include <perp/analysis/hybrid/values/explicit_rows.hpp>

namespace perp {

/// ExplicitRows in an order for a search that gives values to some binaries one after the other: each line of it has
/// the level of the last of them that it holds. Sums and products are put together from those of low levels to those of
/// high ones, so that little depends on the last binary.
class ValueProgram {
 public:
  /// Which rows and states it is about.
  struct Part {
    std::vector<int> constraints, variables;
  };

  /// `binaries` in the order in which they are declared.
  ValueProgram(const HybridModel& model, const ExplicitRows& rows, std::vector<int> binaries, const Part& part);

  /// False: something other than sums, products and quotients holds one of the binaries.
  [[nodiscard]] bool exists() const { return exists_; }
  [[nodiscard]] const Tape& tape() const { return tape_; }
  [[nodiscard]] int levels() const { return static_cast<int>(binary_of_.size()); }
  /// Of the binaries that it was made with the one of level 1, 2, ..
  [[nodiscard]] int binary_of(int level) const { return binary_of_[static_cast<std::size_t>(level - 1)]; }
  [[nodiscard]] const std::vector<int>& binaries() const { return binaries_; }
  /// The line of the binary of a level, -1: nothing holds it.
  [[nodiscard]] int line_of(int level) const { return line_of_[static_cast<std::size_t>(level - 1)]; }
  /// 0: of a line that holds none of the binaries.
  [[nodiscard]] int level(int line) const { return levels_[static_cast<std::size_t>(line)]; }
  /// Does it hold nothing but numbers and binaries?
  [[nodiscard]] bool is_pure(int line) const { return is_pure_[static_cast<std::size_t>(line)] != 0; }

  /// Is it 0 or 1, whatever the binaries are?
  [[nodiscard]] bool is_bit(int line) const { return is_bit_[static_cast<std::size_t>(line)] != 0; }

  /// The binaries that a line holds, of number k bit k.
  [[nodiscard]] std::uint64_t held_by(int line) const { return held_[static_cast<std::size_t>(line)]; }

  /// Of each constraint of the part, its number and lines; the rate norm's line.
  ///@{
  struct Row {
    int constraint, value, slope;
    bool has_unknowns;  ///< ẋ or algebraic variables, whose places are taken by what gives them
  };
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] int norm() const { return norm_; }
  ///@}
  /// What must not be 0, and the unknowns, whose values must be finite where no binary is in them.
  ///@{
  [[nodiscard]] const std::vector<int>& denominators() const { return denominators_; }
  [[nodiscard]] const std::vector<int>& unknowns() const { return unknowns_; }
  ///@}

 private:
  struct Term {
    int line;
    bool is_negative;
  };
  void order_binaries(const std::vector<int>& roots);
  void find_levels(const std::vector<int>& roots);
  void find_level(int k);
  void include(int k, int operand);
  [[nodiscard]] bool is_binary(int input) const { return input >= first_binary_ && input < end_of_binaries_; }
  void put_norm(std::vector<int> terms);
  void put_denominators(const std::vector<int>& lines);
  int put_leaf(int line);
  [[nodiscard]] int folded(Operation operation, int a, int b) const;
  [[nodiscard]] bool is_of(int line, bool is_sum) const;
  [[nodiscard]] std::vector<Term> terms_of(int line, bool is_sum) const;
  int put(int line);
  int put_sum(int line);
  int put_product(int line);
  int apply(Operation operation, int a, int b = -1);
  int keep(int line, int level, bool is_pure);
  [[nodiscard]] bool makes_bit(int line) const;
  [[nodiscard]] std::uint64_t holds(int line) const;
  [[nodiscard]] bool is_number(int line, double value) const;

  const Tape& from_;
  std::vector<int> binaries_;
  int first_binary_ = 0, end_of_binaries_ = 0;  // inputs
  bool exists_ = true;
  std::vector<int> level_of_binary_;  // of all
  std::vector<int> from_level_, uses_, put_;  // of lines of from_
  std::vector<char> from_pure_;
  Tape tape_;
  std::vector<int> levels_, binary_of_, line_of_;
  std::vector<char> is_pure_, is_bit_;
  std::vector<std::uint64_t> held_;
  std::vector<Row> rows_;
  int norm_ = -1;
  std::vector<int> denominators_, unknowns_;
};

}  // namespace perp
