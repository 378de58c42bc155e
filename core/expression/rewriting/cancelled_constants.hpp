#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// Takes constants out of sums in which they cancel, however they are bracketed: I*(exp(a) - 1) - I*(exp(b) - 1) is
/// I*exp(a) - I*exp(b), whose value is right where both exponentials are below the rounding of 1. What depends on
/// parameters alone, whatever their values, is a constant. Other sums stay as they are.
class CancelledConstants {
 public:
  /// On this tape, whose inputs from `first_parameter` on are parameters.
  CancelledConstants(Tape& tape, int first_parameter) : tape_(tape), first_parameter_(first_parameter) {}

  /// A line of the same value.
  int operator()(int line);

 private:
  /// Lines that a term is multiplied by and divided by, increasing.
  struct Factors {
    std::vector<int> above, below;

    friend auto operator<=>(const Factors&, const Factors&) = default;
  };
  using Counts = std::map<Factors, long>;  ///< how often something is in a sum, negative: subtracted
  /// Σ ± terms, times a constant factor or by a divisor; -1: none.
  struct Linear {
    std::vector<std::pair<int, int>> terms{};  ///< lines and signs
    int factor = -1, divisor = -1;
  };

  bool is_constant(int line);
  int scaled(const Instruction& at);
  bool open(const Instruction& at);
  bool has_two(int root);
  Linear linear(int line);
  void add(int line, const Counts& counts);
  void collect(int root);
  int with_factors(int sum, const Linear& parts);
  int rest(int root);
  int of_constants();
  int product(const Factors& factors);
  int combined(Operation operation, int a, int b);

  Tape& tape_;
  int first_parameter_;
  std::vector<char> constant_;     // of the lines looked at so far
  Counts net_;                     // constants of the present sum
  std::set<int> sums_;             // and its lines that are linear in their terms
  std::vector<int> open_;          // lines that has_two has still to look at
  bool cancels_ = false;           // is one in it with both signs?
};

}  // namespace perp
