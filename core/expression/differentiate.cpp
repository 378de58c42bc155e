#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include <perp/core/expression/differentiate.hpp>

namespace perp {
namespace {

/// The derivatives of one line: (input, line), by increasing input; absent: 0.
using Gradient = std::vector<std::pair<int, int>>;

/// Arithmetic on lines that leaves out what is 0 or 1 by its form.
class Lines {
 public:
  explicit Lines(Tape& tape) : tape_(tape) {}

  int number(double value) { return tape_.constant(value); }
  int apply(Operation operation, int a, int b = -1) { return tape_.apply(operation, a, b); }

  // Constants are put together only where that costs no rounding, which would be lost on scalars that
  // are more exact than a double.
  int times(int a, int b) {
    if (are_constant(a, b) && is_exact_product(tape_[a].value, tape_[b].value))
      return number(tape_[a].value * tape_[b].value);
    if (is(a, 0) || is(b, 0)) return number(0);
    if (is_unit(a)) return with_sign(a, b);
    if (is_unit(b)) return with_sign(b, a);
    return apply(Operation::multiply, a, b);
  }
  int plus(int a, int b) {
    if (are_constant(a, b) && is_exact_sum(tape_[a].value, tape_[b].value))
      return number(tape_[a].value + tape_[b].value);
    if (is(a, 0)) return b;
    if (is(b, 0)) return a;
    return apply(Operation::add, a, b);
  }
  int minus(int a, int b) {
    if (are_constant(a, b) && is_exact_sum(tape_[a].value, -tape_[b].value))
      return number(tape_[a].value - tape_[b].value);
    if (is(a, 0)) return negative(b);
    if (is(b, 0)) return a;
    return apply(Operation::subtract, a, b);
  }
  int over(int a, int b) {
    if (is(a, 0)) return a;
    if (are_constant(a, b)) {
      const double quotient = tape_[a].value / tape_[b].value;
      if (std::fma(quotient, tape_[b].value, -tape_[a].value) == 0) return number(quotient);
    }
    return is(b, 1) ? a : apply(Operation::divide, a, b);
  }
  int negative(int a) {
    if (is_constant(a)) return number(-tape_[a].value);
    if (tape_[a].operation == Operation::negate) return tape_[a].a;
    return apply(Operation::negate, a);
  }

  [[nodiscard]] bool is_constant(int a) const {
    return tape_[a].operation == Operation::constant;
  }
  [[nodiscard]] bool is(int a, double value) const {
    return is_constant(a) && tape_[a].value == value;
  }

 private:
  [[nodiscard]] bool are_constant(int a, int b) const { return is_constant(a) && is_constant(b); }
  /// 1 or -1.
  [[nodiscard]] bool is_unit(int a) const { return is(a, 1) || is(a, -1); }
  /// a times the unit.
  int with_sign(int unit, int a) { return is(unit, 1) ? a : negative(a); }

  static bool is_exact_product(double x, double y) { return std::fma(x, y, -(x * y)) == 0; }
  static bool is_exact_sum(double x, double y) {
    const double sum = x + y, rest = sum - x;
    return (x - (sum - rest)) + (y - rest) == 0;
  }

  Tape& tape_;
};

/// Merges two gradients; `both`, `left` and `right` make the line of an input that both or only one
/// has.
template <class Both, class Left, class Right>
Gradient merged(const Gradient& a, const Gradient& b, Both both, Left left, Right right) {
  Gradient result;
  result.reserve(a.size() + b.size());
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].first < b[j].first)) {
      result.emplace_back(a[i].first, left(a[i].second));
      ++i;
    } else if (i == a.size() || b[j].first < a[i].first) {
      result.emplace_back(b[j].first, right(b[j].second));
      ++j;
    } else {
      result.emplace_back(a[i].first, both(a[i].second, b[j].second));
      ++i;
      ++j;
    }
  }
  return result;
}

class Differentiator {
 public:
  Differentiator(Tape& tape, int first, int last)
      : tape_(tape), make_(tape), first_(first), last_(last) {}

  /// The gradients of all lines that the outputs need.
  std::vector<Gradient> gradients(std::span<const int> outputs) {
    const auto count = static_cast<std::size_t>(tape_.size());
    const std::vector<bool> needed = needed_lines(tape_, outputs);
    std::vector<Gradient> result(count);
    for (std::size_t k = 0; k < count; ++k)
      if (needed[k]) result[k] = of_line(static_cast<int>(k), result);
    return result;
  }

 private:
  /// The gradient of a line whose operands have theirs in `known`.
  Gradient of_line(int number, const std::vector<Gradient>& known) {
    const Instruction line = tape_[number];  // a copy: the tape grows
    if (line.operation == Operation::input) return of_input(line.a);
    if (line.a < 0) return {};
    const Gradient none;
    const Gradient& a = known[static_cast<std::size_t>(line.a)];
    const Gradient& b = line.b < 0 ? none : known[static_cast<std::size_t>(line.b)];
    if (a.empty() && b.empty()) return {};
    return derivative(line, number, a, b);
  }

  Gradient of_input(int input) {
    if (input < first_ || input >= last_) return {};
    return {{input, make_.number(1)}};
  }

  Gradient scaled(const Gradient& gradient, int factor) {
    Gradient result;
    for (const auto& [input, line] : gradient) result.emplace_back(input, make_.times(factor, line));
    return result;
  }

  /// factor_a da + factor_b db.
  Gradient combined(const Gradient& a, int factor_a, const Gradient& b, int factor_b) {
    const auto left = [&](int da) { return make_.times(factor_a, da); };
    const auto right = [&](int db) { return make_.times(factor_b, db); };
    return merged(
        a, b, [&](int da, int db) { return make_.plus(left(da), right(db)); }, left, right);
  }

  Gradient derivative(const Instruction& line, int value, const Gradient& a, const Gradient& b) {
    const int x = line.a, y = line.b;
    const auto same = [](int d) { return d; };
    switch (line.operation) {
      case Operation::add:
        return merged(a, b, [&](int da, int db) { return make_.plus(da, db); }, same, same);
      case Operation::subtract:
        return merged(
            a, b, [&](int da, int db) { return make_.minus(da, db); }, same,
            [&](int db) { return make_.negative(db); });
      case Operation::multiply: return combined(a, y, b, x);
      case Operation::divide: return quotient(a, b, y, value);
      case Operation::power: return power(a, b, x, y, value);
      case Operation::atan2: {
        // d atan2(x, y) = (y dx - x dy) / (x² + y²)
        const int square = make_.plus(make_.times(x, x), make_.times(y, y));
        return combined(a, make_.over(y, square), b, make_.over(make_.negative(x), square));
      }
      case Operation::min:
      case Operation::max: return chosen(a, b, x, y, line.operation == Operation::max);
      default: return of_function(line, value, a, b);
    }
  }

  Gradient of_function(const Instruction& line, int value, const Gradient& a, const Gradient& b) {
    if (line.operation == Operation::table) return scaled(a, slope_of_table(line.a, line.b));
    if (line.operation == Operation::guard)  // its weight is 0 or not: |sign|
      return scaled(b, make_.apply(Operation::abs, make_.apply(Operation::sign, line.a)));
    return scaled(a, slope(line, value));
  }

  /// d(x/y) = (dx - (x/y) dy) / y.
  Gradient quotient(const Gradient& a, const Gradient& b, int y, int value) {
    const auto divided = [&](int d) { return make_.over(d, y); };
    return merged(
        a, b,
        [&](int da, int db) { return divided(make_.minus(da, make_.times(value, db))); }, divided,
        [&](int db) { return divided(make_.negative(make_.times(value, db))); });
  }

  /// d(x^y) = y x^(y-1) dx + x^y log(x) dy.
  Gradient power(const Gradient& a, const Gradient& b, int x, int y, int value) {
    int by_base = -1, by_exponent = -1;
    if (!a.empty()) {
      if (make_.is(y, 2))
        by_base = make_.times(y, x);
      else
        by_base = make_.times(
            y, make_.apply(Operation::power, x, make_.minus(y, make_.number(1))));
    }
    if (!b.empty()) by_exponent = make_.times(value, make_.apply(Operation::log, x));
    return combined(a, by_base, b, by_exponent);
  }

  /// max(x, y): the derivative of the one that is taken; (1 ± sign(x - y)) / 2 are the weights.
  Gradient chosen(const Gradient& a, const Gradient& b, int x, int y, bool larger) {
    const int side = make_.apply(Operation::sign, make_.minus(x, y));
    const int half = make_.number(0.5), shift = make_.times(half, side);
    const int of_x = larger ? make_.plus(half, shift) : make_.minus(half, shift);
    const int of_y = larger ? make_.minus(half, shift) : make_.plus(half, shift);
    return combined(a, of_x, b, of_y);
  }

  /// The slopes of the data, which are data themselves.
  int slope_of_table(int x, int y) {
    const DataTable& table = DataTable::of(tape_[y].value);
    if (table.between() == DataTable::Between::hold) return make_.number(0);
    return make_.apply(Operation::table, x, make_.number(DataTable::number_of(table.slopes())));
  }

  /// f'(x) of the functions of one argument.
  int slope(const Instruction& line, int value) {
    const int x = line.a;
    const auto one = [&] { return make_.number(1); };
    const auto square = [&](int a) { return make_.times(a, a); };
    switch (line.operation) {
      case Operation::negate: return make_.number(-1);
      case Operation::sin: return make_.apply(Operation::cos, x);
      case Operation::cos: return make_.negative(make_.apply(Operation::sin, x));
      case Operation::tan: return make_.plus(one(), square(value));
      case Operation::asin:
        return make_.over(one(), make_.apply(Operation::sqrt, make_.minus(one(), square(x))));
      case Operation::acos:
        return make_.over(make_.number(-1),
                          make_.apply(Operation::sqrt, make_.minus(one(), square(x))));
      case Operation::atan: return make_.over(one(), make_.plus(one(), square(x)));
      case Operation::sinh: return make_.apply(Operation::cosh, x);
      case Operation::cosh: return make_.apply(Operation::sinh, x);
      case Operation::tanh: return make_.minus(one(), square(value));
      case Operation::exp: return value;
      case Operation::log: return make_.over(one(), x);
      case Operation::log10:
        return make_.over(one(), make_.times(x, make_.apply(Operation::log, make_.number(10))));
      case Operation::sqrt: return make_.over(make_.number(0.5), value);
      case Operation::abs: return make_.apply(Operation::sign, x);
      case Operation::sign: return make_.number(0);
      default: assert(false); return make_.number(0);
    }
  }

  Tape& tape_;
  Lines make_;
  int first_, last_;
};

}  // namespace

std::vector<Derivative> differentiate(Tape& tape, std::span<const int> outputs, int first,
                                      int last) {
  const std::vector<Gradient> gradients = Differentiator(tape, first, last).gradients(outputs);
  std::vector<Derivative> result;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (const auto& [input, line] : gradients[static_cast<std::size_t>(outputs[k])])
      if (!(tape[line].operation == Operation::constant && tape[line].value == 0))
        result.push_back({static_cast<int>(k), input, line});
  return result;
}

}  // namespace perp
