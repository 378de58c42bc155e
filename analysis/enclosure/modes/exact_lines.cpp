// Exact algebra on tapes; called where modes of a system become differential equations.
#include <algorithm>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/interval/interval.hpp>

namespace perp::enclosure {
namespace {

/// The operation on two numbers, where it is one.
Interval exact(Operation operation, double a, double b) {
  return apply_operation(operation, Interval(a), Interval(b));
}

}  // namespace

int ExactLines::negate(int a) {
  if (is_number(a)) return number(-tape_[a].value);
  if (tape_[a].operation == Operation::negate) return tape_[a].a;
  return tape_.apply(Operation::negate, a);
}

/// b − a of a sum b = a + c, or of b = a; −1: it is another line.
int ExactLines::left_of(int b, int a) {
  if (a == b) return number(0);
  const Instruction y = tape_[b];
  if (y.operation != Operation::add) return -1;
  return y.a == a ? y.b : y.b == a ? y.a : -1;
}

/// The operation on two numbers whose result is a double; −1: it is none.
int ExactLines::folded(Operation operation, int a, int b) {
  if (!is_number(a) || !is_number(b)) return -1;
  const Interval result = exact(operation, tape_[a].value, tape_[b].value);
  return result.is_point() ? number(result.lo) : -1;
}

/// What is left of a + b where one of them takes the other away, as in b + (a − b) = a; −1: nothing cancels.
int ExactLines::cancelled_sum(int a, int b) {
  const Instruction x = tape_[a], y = tape_[b];
  if (y.operation == Operation::subtract && y.b == a) return y.a;
  if (x.operation == Operation::subtract && x.b == b) return x.a;
  return x.operation == Operation::negate ? left_of(b, x.a) : -1;
}

// b + (a − b) = a: what a condition does not choose is not evaluated.
int ExactLines::add(int a, int b) {
  if (is_number(a, 0)) return b;
  if (is_number(b, 0)) return a;
  if (const int sum = folded(Operation::add, a, b); sum >= 0) return sum;
  if (const int rest = cancelled_sum(a, b); rest >= 0) return rest;
  if (tape_[b].operation == Operation::negate) return subtract(a, tape_[b].a);
  return tape_.apply(Operation::add, a, b);
}

/// What is left of a − b where a is a sum with b or b a difference from a; −1: nothing cancels.
int ExactLines::cancelled_difference(int a, int b) {
  const Instruction x = tape_[a], y = tape_[b];
  if (x.operation == Operation::add && x.a == b) return x.b;
  if (x.operation == Operation::add && x.b == b) return x.a;
  return y.operation == Operation::subtract && y.a == a ? y.b : -1;  // a − (a − c)
}

int ExactLines::subtract(int a, int b) {
  if (is_number(b, 0)) return a;
  if (is_number(a, 0)) return negate(b);
  if (a == b) return number(0);
  if (const int difference = folded(Operation::subtract, a, b); difference >= 0) return difference;
  if (const int rest = cancelled_difference(a, b); rest >= 0) return rest;
  if (tape_[b].operation == Operation::negate) return add(a, tape_[b].a);
  return tape_.apply(Operation::subtract, a, b);
}

/// n of a line 1/n, where n is a number that is not 0; −1: the line is another one.
int ExactLines::reciprocal_of(int line) const {
  const Instruction here = tape_[line];
  const bool is_one = here.operation == Operation::divide && is_number(here.a, 1);
  return is_one && is_number(here.b) && tape_[here.b].value != 0 ? here.b : -1;
}

/// The product where a factor is the number 0, 1 or −1; −1: none is.
int ExactLines::times_unit(int a, int b) {
  if (is_number(a, 0) || is_number(b, 0)) return number(0);
  if (is_number(a, 1)) return b;
  if (is_number(b, 1)) return a;
  if (is_number(a, -1)) return negate(b);
  return is_number(b, -1) ? negate(a) : -1;
}

/// a of a line a/n; −1: the line is another one, or n may be 0.
int ExactLines::dividend_over(int line, int n) const {
  const Instruction& here = tape_[line];
  return here.operation == Operation::divide && here.b == n && is_nonzero(n) ? here.a : -1;
}

// a (1/n) = a/n, and (a/n) n = a
int ExactLines::multiply(int a, int b) {
  if (const int line = times_unit(a, b); line >= 0) return line;
  if (const int product = folded(Operation::multiply, a, b); product >= 0) return product;
  if (const int n = reciprocal_of(b); n >= 0) return divide(a, n);
  if (const int n = reciprocal_of(a); n >= 0) return divide(b, n);
  if (const int dividend = dividend_over(a, b); dividend >= 0) return dividend;
  if (const int dividend = dividend_over(b, a); dividend >= 0) return dividend;
  return tape_.apply(Operation::multiply, a, b);
}

bool ExactLines::is_nonzero(int line) const {
  const Instruction& here = tape_[line];
  switch (here.operation) {
    case Operation::constant: return here.value != 0;
    case Operation::input: return nonzero_.contains(here.a);
    case Operation::negate: return is_nonzero(here.a);
    case Operation::multiply:
    case Operation::divide: return is_nonzero(here.a) && is_nonzero(here.b);
    default: return false;
  }
}

ExactLines::Signed ExactLines::without_sign(int line) const {
  if (tape_[line].operation == Operation::negate) return {tape_[line].a, -1};
  return {line, 1};
}

/// c of a product c n, with n the divisor or its negative; −1: it is none.
ExactLines::Signed ExactLines::factor_beside(int product, const Signed& divisor) const {
  const Signed of = without_sign(product);
  const Instruction here = tape_[of.line];
  if (here.operation != Operation::multiply) return {};
  for (const auto& [factor, other] : {std::pair(here.a, here.b), std::pair(here.b, here.a)}) {
    const Signed found = without_sign(factor);
    if (found.line == divisor.line) return {other, of.sign * found.sign * divisor.sign};
    if (is_number(divisor.line) && is_number(factor, -tape_[divisor.line].value))
      return {other, -of.sign * divisor.sign};
  }
  return {};
}

/// 0/n = 0, (a n)/n = a, and (a/n)/(b/n) = a/b; −1: nothing cancels.
int ExactLines::cancelled(int a, int b) {
  const Signed divisor = without_sign(b);
  if (!is_nonzero(divisor.line)) return -1;
  if (is_number(a, 0)) return number(0);
  const Signed dividend = without_sign(a);
  const Instruction x = tape_[dividend.line], y = tape_[divisor.line];
  if (x.operation == Operation::divide && y.operation == Operation::divide && x.b == y.b) {
    const int quotient = divide(x.a, y.a);
    return dividend.sign == divisor.sign ? quotient : negate(quotient);
  }
  const Signed found = factor_beside(a, divisor);
  return found.line < 0 || found.sign > 0 ? found.line : negate(found.line);
}

int ExactLines::divide(int a, int b) {
  if (is_number(b, 1)) return a;
  if (is_number(b, -1)) return negate(a);
  if (const int line = cancelled(a, b); line >= 0) return line;
  if (is_number(a) && is_number(b)) {
    const Interval quotient = exact(Operation::divide, tape_[a].value, tape_[b].value);
    if (quotient.is_point()) return number(quotient.lo);
  }
  if (const int n = reciprocal_of(b); n >= 0) return multiply(a, n);  // a/(1/n)
  return tape_.apply(Operation::divide, a, b);
}

int ExactLines::apply(Operation operation, int a, int b) {
  switch (operation) {
    case Operation::negate: return negate(a);
    case Operation::add: return add(a, b);
    case Operation::subtract: return subtract(a, b);
    case Operation::multiply: return multiply(a, b);
    case Operation::divide: return divide(a, b);
    default: return tape_.apply(operation, a, b);
  }
}

/// Is a line on these operands the line that it is, and no number?
bool ExactLines::is_kept(const Instruction& line, int a, int b) const {
  const bool is_of_numbers = a >= 0 && is_number(a) && (b < 0 || is_number(b));
  return a == line.a && b == line.b && !is_of_numbers;
}

// Lines that do not hold a replaced input stay the lines they are, or become numbers.
void ExactLines::substitute(std::span<int> roots, const std::map<int, int>& lines) {
  const std::vector<bool> needed = needed_lines(tape_, roots);
  std::vector<int> renamed(needed.size(), -1);
  const auto at = [&](int old) { return old < 0 ? -1 : renamed[static_cast<std::size_t>(old)]; };
  for (std::size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k]) continue;
    const int old = static_cast<int>(k);
    const Instruction line = tape_[old];  // a copy: the tape grows
    const auto place = line.operation == Operation::input ? lines.find(line.a) : lines.end();
    if (place != lines.end())
      renamed[k] = place->second;
    else if (line.operation == Operation::input || is_kept(line, at(line.a), at(line.b)))
      renamed[k] = old;
    else
      renamed[k] = apply(line.operation, at(line.a), at(line.b));
  }
  for (int& root : roots) root = at(root);
}

std::vector<int> ExactLines::inputs_of(int line) const {
  const std::vector<bool> needed = needed_lines(tape_, std::span(&line, 1));
  std::vector<int> inputs;
  for (std::size_t k = 0; k < needed.size(); ++k) {
    const Instruction& here = tape_[static_cast<int>(k)];
    if (needed[k] && here.operation == Operation::input) inputs.push_back(here.a);
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

bool ExactLines::depends(int line, int input) const {
  const std::vector<int> inputs = inputs_of(line);
  return std::binary_search(inputs.begin(), inputs.end(), input);
}

int ExactLines::derivative(int line, int input) {
  for (const Derivative& derivative :
       perp::differentiate(tape_, std::span(&line, 1), input, input + 1))
    return derivative.line;
  return number(0);
}

}  // namespace perp::enclosure
