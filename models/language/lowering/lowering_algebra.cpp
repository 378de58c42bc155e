#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include <perp/models/language/lowering/algebra.hpp>

namespace perp::lowering {

bool Algebra::is_number(int line, double number) const {
  return tape_[line].operation == Operation::constant && tape_[line].value == number;
}

namespace {

/// Does the operation on these numbers round?
bool rounds(Operation operation, double a, double b) {
  using enclosure::Interval;
  if (std::isinf(a) || std::isinf(b)) return false;
  return !apply_operation(operation, Interval(a), Interval(b)).is_point();
}

}  // namespace

int Algebra::apply(Operation operation, int a, int b) {
  const bool first = tape_[a].operation == Operation::constant;
  if (first && (b < 0 || tape_[b].operation == Operation::constant)) {
    const double x = tape_[a].value;
    const double y = tape_[b < 0 ? a : b].value;
    if (!is_exact() || !rounds(operation, x, y)) return number(apply_operation(operation, x, y));
  }
  return tape_.apply(operation, a, b);
}

int Algebra::negate(int a) {
  if (tape_[a].operation == Operation::negate) return tape_[a].a;
  if (is_number(a, 0)) return number(0);
  return apply(Operation::negate, a, -1);
}

int Algebra::add(int a, int b) {
  if (is_number(a, 0)) return b;
  if (is_number(b, 0)) return a;
  if (tape_[b].operation == Operation::negate) return subtract(a, tape_[b].a);
  return apply(Operation::add, a, b);
}

int Algebra::subtract(int a, int b) {
  if (is_number(b, 0)) return a;
  if (is_number(a, 0)) return negate(b);
  if (a == b) return number(0);
  if (tape_[b].operation == Operation::negate) return add(a, tape_[b].a);
  return apply(Operation::subtract, a, b);
}

int Algebra::multiply(int a, int b) {
  if (is_number(a, 0) || is_number(b, 0)) return number(0);
  if (is_number(a, 1)) return b;
  if (is_number(b, 1)) return a;
  if (is_number(a, -1)) return negate(b);
  if (is_number(b, -1)) return negate(a);
  return apply(Operation::multiply, a, b);
}

int Algebra::divide(int a, int b) {
  if (is_number(b, 1)) return a;
  if (is_number(b, -1)) return negate(a);
  return apply(Operation::divide, a, b);
}

int Algebra::guard(int weight, int a) {
  if (tape_[weight].operation == Operation::constant) return is_number(weight, 0) ? number(Instruction::unweighted) : a;
  return tape_.apply(Operation::guard, weight, a);
}

Algebra::Knowledge Algebra::of_input(int input) const {
  const int k = input - first_parameter_;
  const bool is_parameter = k >= 0 && k < static_cast<int>(parameters_.size());
  if (!is_parameter) return {Dependence::unknowns, std::nan("")};
  return {Dependence::parameters, parameters_[static_cast<std::size_t>(k)]};
}

Algebra::Knowledge Algebra::of_operation(const Instruction& line) const {
  Knowledge result{Dependence::nothing, line.value};
  double x = 0;
  double y = 0;
  if (line.a >= 0) {
    result.dependence = dependence_[static_cast<std::size_t>(line.a)];
    x = y = value_[static_cast<std::size_t>(line.a)];
  }
  if (line.b >= 0) {
    result.dependence = std::max(result.dependence, dependence_[static_cast<std::size_t>(line.b)]);
    y = value_[static_cast<std::size_t>(line.b)];
  }
  if (result.dependence != Dependence::unknowns) result.value = apply_operation(line.operation, x, y);
  return result;
}

void Algebra::learn(int line) {
  while (static_cast<int>(value_.size()) <= line) {
    const Instruction& here = tape_[static_cast<int>(value_.size())];
    Knowledge known{Dependence::nothing, here.value};
    if (here.operation == Operation::input)
      known = of_input(here.a);
    else if (here.operation != Operation::constant)
      known = of_operation(here);
    dependence_.push_back(known.dependence);
    value_.push_back(known.value);
    if (is_exact()) learn_interval();
  }
}

/// The interval of the line that was learnt last. Numbers that are no doubles are like parameters.
void Algebra::learn_interval() {
  const std::size_t line = interval_.size();
  const Instruction& here = tape_[static_cast<int>(line)];
  enclosure::Interval value = enclosure::Interval::none();
  if (here.operation == Operation::constant) {
    value = {here.value, here.value};
  } else if (here.operation == Operation::input) {
    if (dependence_[line] == Dependence::parameters)
      value = exact_->intervals[static_cast<std::size_t>(here.a - first_parameter_)];
  } else if (dependence_[line] != Dependence::unknowns) {
    const enclosure::Interval x =
        here.a < 0 ? enclosure::Interval() : interval_[static_cast<std::size_t>(here.a)];
    value = apply_operation(here.operation, x,
                            here.b < 0 ? x : interval_[static_cast<std::size_t>(here.b)]);
    if (!value.is_point()) dependence_[line] = Dependence::parameters;
  }
  interval_.push_back(value);
}

enclosure::Interval Algebra::interval(int line) {
  learn(line);
  return interval_[static_cast<std::size_t>(line)];
}

std::optional<int> Algebra::sign(int line) {
  const double point = value(line);
  if (!is_exact())
    return std::isnan(point) ? std::nullopt : std::optional((point > 0) - (point < 0));
  const enclosure::Interval all = interval(line);
  if (all.is_zero()) return 0;
  const int certain = enclosure::certain_sign(all);
  return certain == 0 ? std::nullopt : std::optional(certain);
}

bool Algebra::is_less(int a, int b) {
  return is_exact() ? enclosure::certainly_less(interval(a), interval(b)) : value(a) < value(b);
}

Dependence Algebra::dependence(int line) {
  learn(line);
  return dependence_[static_cast<std::size_t>(line)];
}

double Algebra::value(int line) {
  learn(line);
  return value_[static_cast<std::size_t>(line)];
}

AffineForm Algebra::negated(const AffineForm& form) {
  AffineForm result;
  for (const auto& [line, coefficient] : form) result[line] = negate(coefficient);
  return result;
}

std::optional<int> Algebra::ratio(const AffineForm& a, const AffineForm& b) {
  const auto same_line = [](const auto& x, const auto& y) { return x.first == y.first; };
  if (a.empty() || a.rbegin()->first == one) return std::nullopt;
  if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same_line)) return std::nullopt;
  const int k = divide(a.rbegin()->second, b.rbegin()->second);
  if (sign(k).value_or(0) == 0) return std::nullopt;
  for (auto x = a.begin(), y = b.begin(); x != std::prev(a.end()); ++x, ++y)
    if (!is_multiple(x->second, k, y->second)) return std::nullopt;
  return k;
}

FractionReader& Algebra::fractions() {
  if (fractions_) return *fractions_;
  std::vector<std::optional<Rational>> inputs;
  if (is_exact()) {
    const auto first = static_cast<std::size_t>(first_parameter_);
    inputs.resize(first + exact_->intervals.size());
    std::copy(exact_->rationals.begin(), exact_->rationals.end(),
              inputs.begin() + first_parameter_);
    for (std::size_t k = 0; k < exact_->intervals.size(); ++k)
      if (exact_->intervals[k].is_point()) inputs[first + k] = exact_->intervals[k].lo;
  }
  return fractions_.emplace(tape_, std::move(inputs));
}

FractionReader& Algebra::fractions_here() {
  if (is_exact()) return fractions();
  if (fractions_here_) return *fractions_here_;
  std::vector<std::optional<Rational>> inputs(static_cast<std::size_t>(first_parameter_));
  for (const double value : parameters_)
    inputs.push_back(std::isfinite(value) ? std::optional(Rational(value)) : std::nullopt);
  return fractions_here_.emplace(tape_, std::move(inputs));
}

bool Algebra::vanishes(int coefficient) { return is_exact() ? interval(coefficient).is_zero() : value(coefficient) == 0; }

/// c + Σ |k_i| for c + Σ k_i x_i.
int Algebra::constant_of(int line) {
  if (is_known(line)) return line;
  int constant = number(0), moved = number(0);
  for (const auto& [of, coefficient] : affine(line)) {
    if (of != one && !vanishes(coefficient)) return -1;
    (of == one ? constant : moved) = of == one ? coefficient : add(moved, apply(Operation::abs, coefficient, -1));
  }
  // Values of doubles may have been rounded to 0, and sums of numbers too.
  const std::optional<Fraction> whole = fractions_here().read(line), rest = fractions_here().read(constant);
  return whole && rest && are_equal(*whole, *rest) ? add(constant, moved) : -1;
}

bool Algebra::is_multiple(int a, int k, int b) {
  // Written numbers need not be constants: -2 is the negative of one.
  const auto is_of_numbers = [this](int line) { return dependence(line) == Dependence::nothing; };
  if (!is_exact() && is_of_numbers(a) && is_of_numbers(k) && is_of_numbers(b)) {
    const double wanted = value(k) * value(b);
    return is_rounding(value(a) - wanted, std::abs(value(a)) + std::abs(wanted));
  }
  const std::optional<Fraction> left = fractions().read(a);
  const std::optional<Fraction> right = fractions().read(multiply(k, b));
  return left && right && are_equal(*left, *right);
}

void Algebra::collect(AffineForm& form, int line, int term) {
  const auto [place, is_new] = form.try_emplace(line, term);
  if (!is_new) place->second = add(place->second, term);
}

std::optional<std::pair<int, int>> Algebra::known_factor(const Instruction& line, int coefficient) {
  switch (line.operation) {
    case Operation::negate: return std::pair(line.a, negate(coefficient));
    case Operation::multiply:
      if (is_known(line.a)) return std::pair(line.b, multiply(coefficient, line.a));
      if (is_known(line.b)) return std::pair(line.a, multiply(coefficient, line.b));
      return std::nullopt;
    case Operation::divide:
      if (is_known(line.b)) return std::pair(line.a, divide(coefficient, line.b));
      return std::nullopt;
    default: return std::nullopt;
  }
}

int Algebra::without_known_factors(int line, int& coefficient) {
  for (;;) {
    const Instruction here = tape_[line];  // a copy: factors make lines
    const auto multiple = known_factor(here, coefficient);
    if (!multiple) return line;
    std::tie(line, coefficient) = *multiple;
  }
}

std::optional<std::pair<int, int>> Algebra::multiple_of_operand(const Instruction& line, int coefficient) {
  if (const auto multiple = known_factor(line, coefficient)) return multiple;
  if (line.operation != Operation::multiply) return std::nullopt;
  int rest = coefficient;
  int a = without_known_factors(line.a, rest), b = without_known_factors(line.b, rest);
  if (a > b) std::swap(a, b);
  if (a == line.a && b == line.b) return std::nullopt;
  return std::pair(tape_.apply(Operation::multiply, a, b), rest);
}

/// Adds coefficient · line to `form`, or its summands to what is pending.
void Algebra::spread(int line, int coefficient, AffineForm& pending, AffineForm& form) {
  const Instruction here = tape_[line];  // a copy: collecting makes lines
  if (is_known(line)) return collect(form, one, multiply(coefficient, line));
  if (here.operation == Operation::add || here.operation == Operation::subtract) {
    collect(pending, here.a, coefficient);
    return collect(pending, here.b,
                   here.operation == Operation::add ? coefficient : negate(coefficient));
  }
  if (const auto multiple = multiple_of_operand(here, coefficient))
    return collect(pending, multiple->first, multiple->second);
  collect(form, line, coefficient);
}

AffineForm Algebra::affine(int line) {
  AffineForm form;
  AffineForm pending{{line, number(1)}};
  while (!pending.empty()) {  // from the result down: every line is met once, with all that is due
    const auto last = std::prev(pending.end());
    const auto [next, coefficient] = *last;
    pending.erase(last);
    spread(next, coefficient, pending, form);
  }
  std::erase_if(form, [this](const auto& term) { return is_number(term.second, 0); });
  return form;
}

namespace {

int simplified(Algebra& algebra, Operation operation, int a, int b) {
  switch (operation) {
    case Operation::negate: return algebra.negate(a);
    case Operation::add: return algebra.add(a, b);
    case Operation::subtract: return algebra.subtract(a, b);
    case Operation::multiply: return algebra.multiply(a, b);
    case Operation::divide: return algebra.divide(a, b);
    case Operation::guard: return algebra.guard(a, b);
    default: return algebra.apply(operation, a, b);
  }
}

}  // namespace

void rewrite(const Tape& tape, std::span<int> roots, Algebra& algebra, const PlaceInput& place) {
  const std::vector<bool> needed = needed_lines(tape, roots);
  std::vector<int> renamed(needed.size(), -1);
  std::vector<bool> changed(needed.size());
  const auto at = [&](int old) { return old < 0 ? -1 : renamed[static_cast<std::size_t>(old)]; };
  const auto is_changed = [&](int old) {
    return old >= 0 && changed[static_cast<std::size_t>(old)];
  };
  for (std::size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k]) continue;
    const Instruction& line = tape[static_cast<int>(k)];
    if (line.operation == Operation::input) {
      renamed[k] = place(algebra, line.a, renamed);
      changed[k] = algebra.tape()[renamed[k]].operation != Operation::input;
    } else if (line.operation == Operation::constant) {
      renamed[k] = algebra.number(line.value);
    } else {
      changed[k] = is_changed(line.a) || is_changed(line.b);
      renamed[k] = changed[k] ? simplified(algebra, line.operation, at(line.a), at(line.b))
                              : algebra.tape().apply(line.operation, at(line.a), at(line.b));
    }
  }
  for (int& root : roots) root = at(root);
}

}  // namespace perp::lowering
