// Lines of a tape as quotients of polynomials: which arguments of laws are multiples of each other.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/fraction/fraction.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

constexpr std::size_t most_terms = 256;
constexpr int most_power = 16;

ExactPolynomial constant(const Rational& value) {
  if (value == 0) return {};
  return {{{}, value}};
}

Fraction atom(int number) { return {{{{number}, 1}}, constant(1)}; }

ExactPolynomial sum(ExactPolynomial a, const ExactPolynomial& b) {
  for (const auto& [atoms, c] : b) {
    const auto [place, is_new] = a.try_emplace(atoms, c);
    if (is_new) continue;
    place->second += c;
    if (place->second == 0) a.erase(place);
  }
  return a;
}

ExactPolynomial negated(ExactPolynomial a) {
  for (auto& [atoms, c] : a) c = -c;
  return a;
}

/// None where it may have too many terms.
std::optional<ExactPolynomial> product(const ExactPolynomial& a, const ExactPolynomial& b) {
  if (a.size() * b.size() > most_terms) return std::nullopt;
  ExactPolynomial result;
  for (const auto& [left, c] : a)
    for (const auto& [right, d] : b) {
      std::vector<int> atoms;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(atoms));
      result = sum(std::move(result), {{atoms, c * d}});
    }
  return result;
}

std::optional<Fraction> product(const Fraction& a, const Fraction& b) {
  std::optional<ExactPolynomial> above = product(a.above, b.above);
  std::optional<ExactPolynomial> below = product(a.below, b.below);
  if (!above || !below) return std::nullopt;
  return Fraction{std::move(*above), std::move(*below)};
}

std::optional<Fraction> sum(const Fraction& a, const Fraction& b) {
  if (a.below == b.below) return Fraction{sum(a.above, b.above), a.below};
  const auto left = product(a.above, b.below), right = product(b.above, a.below);
  std::optional<ExactPolynomial> below = product(a.below, b.below);
  if (!left || !right || !below) return std::nullopt;
  return Fraction{sum(*left, *right), std::move(*below)};
}

/// The number that a polynomial is.
std::optional<Rational> number_of(const ExactPolynomial& a) {
  if (a.empty()) return Rational(0);
  if (a.size() > 1 || !a.begin()->first.empty()) return std::nullopt;
  return a.begin()->second;
}

/// Of a fraction that is a natural number of this size at most; −1: it is none.
int small_natural(const Fraction& a) {
  const auto above = number_of(a.above), below = number_of(a.below);
  if (!above || !below) return -1;
  const double value = to_double(*above / *below);
  const bool is_natural = value >= 0 && value <= most_power && value == std::floor(value) &&
                          Rational(value) * *below == *above;
  return is_natural ? static_cast<int>(value) : -1;
}

}  // namespace

bool are_equal(const Fraction& a, const Fraction& b) {
  const auto left = product(a.above, b.below), right = product(b.above, a.below);
  return left && right && *left == *right;
}

std::optional<Fraction> FractionReader::read(int line) {
  if (const auto place = known_.find(line); place != known_.end()) return place->second;
  for (const int k : lines_below(tape_, line))
    if (!known_.contains(k)) known_[k] = of_line(k);
  return known_.at(line);
}

std::optional<Fraction> FractionReader::of_line(int line) const {
  const Instruction& here = tape_[line];
  if (here.a < 0 || here.operation == Operation::input) return leaf(line);
  const std::optional<Fraction>& a = known_.at(here.a);
  const std::optional<Fraction>& b = here.b < 0 ? a : known_.at(here.b);
  if (!a || !b) return std::nullopt;
  return apply(line, *a, *b);
}

std::optional<Fraction> FractionReader::leaf(int line) const {
  const Instruction& here = tape_[line];
  if (here.operation == Operation::constant)
    return std::isfinite(here.value) ? std::optional(Fraction{constant(here.value), constant(1)})
                                     : std::nullopt;
  if (here.operation != Operation::input) return atom(-1 - line);  // π
  const bool is_given = here.a < static_cast<int>(inputs_.size()) && inputs_[at(here.a)];
  return is_given ? Fraction{constant(*inputs_[at(here.a)]), constant(1)} : atom(here.a);
}

std::optional<Fraction> FractionReader::apply(int line, const Fraction& a,
                                              const Fraction& b) const {
  switch (tape_[line].operation) {
    case Operation::negate: return Fraction{negated(a.above), a.below};
    case Operation::add: return sum(a, b);
    case Operation::subtract: return sum(a, {negated(b.above), b.below});
    case Operation::multiply: return product(a, b);
    case Operation::divide:
      if (b.above.empty()) return std::nullopt;
      return product(a, {b.below, b.above});
    case Operation::power: return power(line, a, b);
    default: return atom(-1 - line);
  }
}

std::optional<Fraction> FractionReader::power(int line, const Fraction& base,
                                              const Fraction& exponent) const {
  const int times = small_natural(exponent);
  if (times < 0) return atom(-1 - line);
  std::optional<Fraction> result = Fraction{constant(1), constant(1)};
  for (int k = 0; k < times && result; ++k) result = product(*result, base);
  return result;
}

}  // namespace perp
