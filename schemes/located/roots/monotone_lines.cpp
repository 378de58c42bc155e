// Functions that only rise or only fall have no two roots apart: characteristics of diodes, flows
// q|q|, odd powers.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <perp/core/base/index.hpp>
#include <perp/schemes/located/roots/monotone_lines.hpp>

namespace perp {
namespace {

Way turned(Way a) { return a == Way::up ? Way::down : a == Way::down ? Way::up : a; }

/// Of a sum, or of the greater or less of two.
Way both(Way a, Way b) {
  if (a == Way::none || a == b) return b;
  return b == Way::none ? a : Way::unknown;
}

/// Times a number of this sign; NaN: of any.
Way scaled(Way a, double sign) {
  if (a == Way::none) return Way::none;
  return sign > 0 ? a : sign < 0 ? turned(a) : Way::unknown;
}

bool is_one_of(Operation operation, std::initializer_list<Operation> list) { return std::ranges::find(list, operation) != list.end(); }

bool is_rising(Operation function) {
  using enum Operation;
  return is_one_of(function, {exp, log, log10, sqrt, sinh, tanh, asin, atan});
}

/// Lines one after the other: their ways, and their values where they are known, else NaN.
struct Lines {
  const Tape& tape;
  std::vector<Way> way;
  std::vector<double> value;

  [[nodiscard]] bool is_odd_number(int line) const {
    return std::abs(std::fmod(value[at(line)], 2)) == 1;
  }

  [[nodiscard]] Way product(const Instruction& line) const {
    const Way a = way[at(line.a)], b = way[at(line.b)];
    if (b == Way::none) return scaled(a, value[at(line.b)]);
    if (a == Way::none) return scaled(b, value[at(line.a)]);
    const auto is_size_of = [&](int size, int of) {
      return tape[size].operation == Operation::abs && tape[size].a == of;
    };
    if (is_size_of(line.b, line.a)) return a;  // u |u|
    return is_size_of(line.a, line.b) ? b : Way::unknown;
  }

  [[nodiscard]] Way way_of(const Instruction& line) const {
    const Way a = way[at(line.a)], b = line.b < 0 ? Way::none : way[at(line.b)];
    if (a == Way::none && b == Way::none) return Way::none;
    if (is_rising(line.operation)) return a;
    if (line.operation == Operation::subtract) return both(a, turned(b));
    if (is_one_of(line.operation, {Operation::negate, Operation::acos})) return turned(a);
    if (is_one_of(line.operation, {Operation::add, Operation::min, Operation::max})) return both(a, b);
    return line.operation == Operation::multiply ? product(line) : quotient_or_power(line);
  }

  [[nodiscard]] Way quotient_or_power(const Instruction& line) const {
    if (line.b < 0 || way[at(line.b)] != Way::none) return Way::unknown;
    if (line.operation == Operation::divide) return scaled(way[at(line.a)], value[at(line.b)]);
    const bool is_odd_power = line.operation == Operation::power && is_odd_number(line.b) && value[at(line.b)] > 0;
    return is_odd_power ? way[at(line.a)] : Way::unknown;
  }

  [[nodiscard]] double value_of(const Instruction& line) const {
    const double a = value[at(line.a)], b = line.b < 0 ? 0 : value[at(line.b)];
    switch (line.operation) {
      case Operation::negate: return -a;
      case Operation::add: return a + b;
      case Operation::subtract: return a - b;
      case Operation::multiply: return a * b;
      case Operation::divide: return a / b;
      case Operation::power: return std::pow(a, b);
      default: return std::numeric_limits<double>::quiet_NaN();
    }
  }
};

}  // namespace

std::vector<Way> ways_with(const Tape& tape, int input, const std::vector<double>& values) {
  Lines lines{.tape = tape,
              .way = std::vector<Way>(at(tape.size()), Way::none),
              .value = std::vector<double>(at(tape.size()))};
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    if (line.operation == Operation::input) {
      lines.value[at(k)] = values[at(line.a)];
      lines.way[at(k)] = line.a == input ? Way::up : Way::none;
    } else if (line.a < 0) {
      lines.value[at(k)] = line.operation == Operation::pi ? std::acos(-1.0) : line.value;
    } else {
      lines.value[at(k)] = lines.value_of(line);
      lines.way[at(k)] = lines.way_of(line);
    }
  }
  return lines.way;
}

}  // namespace perp
