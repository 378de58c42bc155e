#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/models/language/lowering/forms.hpp>

namespace perp::lowering {
namespace {

/// Is a = k b, of constant lines; a = -1: 0?
bool is_multiple(Algebra& algebra, int a, int k, int b) {
  if (algebra.is_exact()) return a >= 0 && algebra.is_multiple(a, k, b);
  const double wanted = algebra.value(k) * algebra.value(b);
  const double is = a < 0 ? 0 : algebra.value(a);
  return is_rounding(is - wanted, std::abs(is) + std::abs(wanted));
}

/// a - b = k w + c, with lines k, c of constants.
struct Multiple {
  int k = -1;
  int c = -1;
};

/// The coefficient of a line in a form; -1: the form does not hold it.
int coefficient_of(const AffineForm& form, int line) {
  const auto found = form.find(line);
  return found == form.end() ? -1 : found->second;
}

/// The line of the constant of a form.
int constant_of(Algebra& algebra, const AffineForm& form) {
  const int line = coefficient_of(form, one);
  return line < 0 ? algebra.number(0) : line;
}

/// Is the difference k w, constants aside?
bool is_multiple_but_constant(Algebra& algebra, const AffineForm& difference, int k, const AffineForm& w) {
  for (const auto& [line, of_difference] : difference)
    if (line != one && coefficient_of(w, line) < 0) return false;
  for (const auto& [line, of_w] : w)
    if (line != one && !is_multiple(algebra, coefficient_of(difference, line), k, of_w)) return false;
  return true;
}

std::optional<Multiple> multiple_of(Algebra& algebra, const AffineForm& difference,
                                    const AffineForm& w) {
  if (w.empty() || w.rbegin()->first == one) return std::nullopt;  // `one` is the first key
  const auto last = std::prev(w.end());
  const int first = coefficient_of(difference, last->first);
  if (first < 0) return std::nullopt;
  const int k = algebra.divide(first, last->second);
  if (!is_multiple_but_constant(algebra, difference, k, w)) return std::nullopt;
  const int of_difference = constant_of(algebra, difference);
  const int of_w = algebra.multiply(k, constant_of(algebra, w));
  const double size = std::abs(algebra.value(of_difference)) + std::abs(algebra.value(of_w));
  int c = algebra.subtract(of_difference, of_w);
  const bool vanishes = algebra.is_exact() ? algebra.is_multiple(c, c, algebra.number(0))
                                           : is_rounding(algebra.value(c), size);
  if (vanishes) c = algebra.number(0);
  return Multiple{k, c};
}

}  // namespace

/// a where w > 0, b where w < 0. With a - b = k w + c:  b + k max(0, w) + c θ.
int FormLowering::choice_of_one(const Switches::Argument& w, int a, int b) {
  if (w.known_sign != 0) return w.known_sign > 0 ? a : b;
  if (w.index < 0)  // single-valued
    return algebra_.add(b, algebra_.multiply(switches_.step(w), algebra_.subtract(a, b)));
  const Switch& owner = switches_.list()[static_cast<std::size_t>(w.index)];
  const Switches::Argument above{.line = owner.argument, .index = w.index};
  if (w.orientation < 0) std::swap(a, b);
  const int difference = algebra_.subtract(a, b);
  if (const auto found = multiple_of(algebra_, aliases_.form(difference), owner.form)) {
    const int kink = algebra_.multiply(found->k, switches_.positive_part(above));
    if (algebra_.is_number(found->c, 0)) return algebra_.add(b, kink);
    const int jump = algebra_.multiply(found->c, switches_.step(above));
    return algebra_.add(b, algebra_.add(kink, jump));
  }
  if (algebra_.is_number(difference, 0)) return a;
  return algebra_.add(b, algebra_.multiply(switches_.step(above), difference));
}

namespace {

/// The graph of a piecewise linear function as a law, one branch per piece.
Law graph(const std::vector<double>& x, const std::vector<double>& y) {
  Law law;
  const std::size_t pieces = x.size() - 1;
  for (std::size_t k = 0; k < pieces; ++k) {
    const double slope = (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
    const Range range{k == 0 ? -inf : x[k], k + 1 == pieces ? inf : x[k + 1]};
    law.branches.push_back(
        {-slope, 1, y[k] - slope * x[k], range, {}, fmt::format("piece {}", k + 1)});
  }
  return law;
}

}  // namespace

void FormLowering::check_point(const Form& form, std::size_t k, FormPlace place) {
  const int x = operand(form, 1 + 2 * k);
  const int y = operand(form, 2 + 2 * k);
  if (!algebra_.is_known(x) || !algebra_.is_known(y))
    throw FormError(fmt::format("point {} of piecewise is not constant; expected numbers and "
                                "parameters",
                                k + 1),
                    place);
  if (!std::isfinite(algebra_.value(x)) || !std::isfinite(algebra_.value(y)))
    throw FormError(fmt::format("point {} of piecewise is not finite", k + 1), place);
  if (k > 0 && !algebra_.is_less(operand(form, 2 * k - 1), x))
    throw FormError(fmt::format("point {} of piecewise is at {}, the one before it at {}; "
                                "expected increasing points",
                                k + 1, algebra_.value(x), algebra_.value(operand(form, 2 * k - 1))),
                    place);
}

/// y1 + m1 (w - x1) + Σ (m_k - m_(k-1)) max(0, w - x_k)
int FormLowering::sum_of_kinks(const Form& form, std::size_t count, int w, const std::string& text) {
  const auto slope = [&](std::size_t k) {
    return algebra_.divide(algebra_.subtract(operand(form, 4 + 2 * k), operand(form, 2 + 2 * k)),
                           algebra_.subtract(operand(form, 3 + 2 * k), operand(form, 1 + 2 * k)));
  };
  const auto beyond = [&](std::size_t k) { return algebra_.subtract(w, operand(form, 1 + 2 * k)); };
  int result = algebra_.add(operand(form, 2), algebra_.multiply(slope(0), beyond(0)));
  for (std::size_t k = 1; k + 1 < count; ++k) {
    const int bend = algebra_.subtract(slope(k), slope(k - 1));
    const int part = maximum(beyond(k), algebra_.number(0), {text});
    result = algebra_.add(result, algebra_.multiply(bend, part));
  }
  return result;
}

int FormLowering::piecewise(const Form& form, const std::string& text, FormPlace place) {
  const int w = operand(form, 0);
  const std::size_t count = (form.operands.size() - 1) / 2;
  std::vector<double> x(count), y(count);
  bool numbers = true;
  for (std::size_t k = 0; k < count; ++k) {
    check_point(form, k, place);
    const int xk = operand(form, 1 + 2 * k);
    const int yk = operand(form, 2 + 2 * k);
    x[k] = algebra_.value(xk);
    y[k] = algebra_.value(yk);
    numbers = numbers && are_numbers(xk, yk);
  }
  // The slopes of a law's pieces are rounded: where numbers are exact it is a sum.
  if (creates_ && numbers && count > 2 && !algebra_.is_known(w) && !algebra_.is_exact())
    return own_law(graph(x, y), w, text);
  return sum_of_kinks(form, count, w, text);
}

}  // namespace perp::lowering
