#pragma once

#include <random>
#include <string>
#include <vector>

#include <perp/core/expression/expression.hpp>

namespace perp::test {

/// The names that random texts use.
inline Scope random_scope() { return {{"a", "b", "x1", "t"}, {{"time", 3}}}; }

/// A random text of the language; every shape that the grammar has turns up.
class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  std::string make(int depth) {
    switch (depth <= 0 ? pick(3) : pick(12)) {
      case 0: return number();
      case 1: return names_[pick(names_.size())];
      case 2: return "pi";
      case 3: return "(" + make(depth - 1) + ")";
      case 4: return "-" + make(depth - 1);
      case 5: return pair(depth, "", "^");
      case 6: return pair(depth, "", " + ");
      case 7: return pair(depth, "", "-");
      case 8: return pair(depth, "", " *");
      case 9: return pair(depth, "", "/ ");
      case 10: {
        const std::string argument = make(depth - 1);
        return functions_[pick(functions_.size())] + "(" + argument + ")";
      }
      default: {
        const std::string arguments = pair(depth, "(", ", ");
        return pairs_[pick(pairs_.size())] + arguments + ")";
      }
    }
  }

 private:
  /// The right one is drawn first, whatever the compiler's order of operands.
  std::string pair(int depth, const std::string& before, const char* between) {
    const std::string right = make(depth - 1);
    return before + make(depth - 1) + between + right;
  }
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  std::string number() {
    const std::vector<std::string> forms{"0",    "1",    "2.5", ".5",
                                         "1e-6", "3.E2", "0.1", "12345678901234567890"};
    return forms[pick(forms.size())];
  }

  std::mt19937 random_;
  std::vector<std::string> names_{"a", "b", "x1", "t", "time"};
  std::vector<std::string> functions_{"sin",  "cos", "tan", "asin",  "acos", "atan", "sinh", "cosh",
                                      "tanh", "exp", "log", "log10", "sqrt", "abs",  "sign"};
  std::vector<std::string> pairs_{"pow", "atan2", "min", "max"};
};

}  // namespace perp::test
