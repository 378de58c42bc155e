#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <perp/core/tape/machine_code.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// Single outputs of a tape, each from the inputs through the lines below it alone. What an output
/// needs is found when it is asked for first; outputs of one form, which differ in their inputs and
/// numbers alone, share their operations.
class ConeTape {
 public:
  /// `outputs`: lines.
  ConeTape(Tape tape, std::vector<int> outputs);

  /// Output k at these inputs, bit by bit that of `Tape::evaluate`.
  [[nodiscard]] double value(int k, const std::vector<double>& inputs);

  /// An input and what an output is multiplied by there.
  struct Slope {
    int input = 0;
    double value = 0;
  };
  /// The derivatives of output k by the inputs number `first` to `behind` - 1, increasing, without those
  /// that are 0. False: one of them is not told as a number.
  bool slopes(int k, int first, int behind, std::vector<Slope>& slopes);

 private:
  /// Operations on leaves: the inputs of the form, then its numbers, in the order of their lines.
  struct Form {
    std::vector<Instruction> lines;  ///< operands are places behind the leaves, or leaves
    std::size_t inputs = 0, leaves = 0;
    std::size_t numbers = 0;  ///< those of its first cone: many others have the same
    int users = 0;
    std::vector<double> values{};         ///< of its last cone: leaves, then lines
    std::uint32_t read_numbers = unread;  ///< whose numbers stand there, as numbers of a cone
    std::unique_ptr<MachineCode> code{};  ///< of a form with many users
  };
  static constexpr std::uint32_t unread = UINT32_MAX;
  struct Cone {
    Form* form = nullptr;  ///< null: not asked for yet
    std::uint32_t inputs = 0, numbers = 0;  ///< the first ones, in inputs_ and numbers_
  };
  using Forms = std::map<std::vector<int>, Form>;  // by operations and operands
  void find_lines_below(int output);
  Form& form_of(Cone& cone);
  void find_key(std::size_t inputs, std::size_t leaves);
  Forms::value_type& form_of_key(std::size_t inputs, std::size_t leaves, std::size_t numbers);
  void share_numbers(const Form& form, Cone& cone);
  void find(int k);
  static void compile(Form& form);
  static double read(Form& form);
  using Gradient = std::vector<std::pair<std::size_t, double>>;  ///< by leaves, increasing; absent: 0
  [[nodiscard]] const Gradient& gradient(const Form& form, int place) const;
  [[nodiscard]] std::optional<double> number(const Cone& cone, int place) const;
  [[nodiscard]] std::optional<std::pair<double, double>> factors(const Cone& cone, const Instruction& line) const;
  static void combine(double factor_a, const Gradient& a, double factor_b, const Gradient& b, Gradient& to);
  void begin_gradients(const Cone& cone, int first, int behind);
  bool pass(const Cone& cone, const Instruction& line, Gradient& to) const;

  Tape tape_;
  std::vector<int> outputs_;
  std::vector<Cone> cones_;
  Forms forms_;
  Forms::value_type* last_form_ = nullptr;  // most cones have it again
  std::vector<int> inputs_;                 // of all cones
  std::vector<double> numbers_;             // of all cones
  std::vector<int> lines_, key_;  // of the cone that is made
  std::vector<int> place_;      // of a line in the cone that is made, -1: none
  std::vector<Gradient> gradients_;  // of the lines of the present one, its inputs first
};

}  // namespace perp
