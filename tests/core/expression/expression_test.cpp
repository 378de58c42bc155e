#include <doctest/doctest.h>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <perp/core/expression/expression.hpp>

#include <perp/tests/core/random_text.hpp>

namespace {

using perp::Expression;
using perp::ExpressionError;
using perp::Scope;
using perp::Tape;
using perp::test::RandomText;

const Scope scope{{"a", "b", "x1", "t"}, {{"time", 3}}, {{"z", std::make_shared<const std::string>("it is a variable")}}};
const std::vector<double> inputs{2, -3, 0.5, 1.25};

double value(const std::string& text) { return Expression(text, scope)(inputs); }

/// a + b ε with ε² = 0: the tape must not know that its scalar is a double.
struct Dual {
  double value = 0;
  double derivative = 0;
  Dual(double v) : value(v) {}  // NOLINT: implicit on purpose
  Dual(double v, double d) : value(v), derivative(d) {}
};
Dual operator-(const Dual& x) { return {-x.value, -x.derivative}; }
Dual operator+(const Dual& x, const Dual& y) {
  return {x.value + y.value, x.derivative + y.derivative};
}
Dual operator-(const Dual& x, const Dual& y) { return x + -y; }
Dual operator*(const Dual& x, const Dual& y) {
  return {x.value * y.value, x.derivative * y.value + x.value * y.derivative};
}
Dual operator/(const Dual& x, const Dual& y) {
  return {x.value / y.value,
          (x.derivative * y.value - x.value * y.derivative) / (y.value * y.value)};
}
bool operator<(const Dual& x, const Dual& y) { return x.value < y.value; }
Dual chain(const Dual& x, double f, double slope) { return {f, slope * x.derivative}; }
Dual sin(const Dual& x) { return chain(x, std::sin(x.value), std::cos(x.value)); }
Dual cos(const Dual& x) { return chain(x, std::cos(x.value), -std::sin(x.value)); }
Dual tan(const Dual& x) {
  return chain(x, std::tan(x.value), 1 + std::tan(x.value) * std::tan(x.value));
}
Dual asin(const Dual& x) {
  return chain(x, std::asin(x.value), 1 / std::sqrt(1 - x.value * x.value));
}
Dual acos(const Dual& x) {
  return chain(x, std::acos(x.value), -1 / std::sqrt(1 - x.value * x.value));
}
Dual atan(const Dual& x) { return chain(x, std::atan(x.value), 1 / (1 + x.value * x.value)); }
Dual sinh(const Dual& x) { return chain(x, std::sinh(x.value), std::cosh(x.value)); }
Dual cosh(const Dual& x) { return chain(x, std::cosh(x.value), std::sinh(x.value)); }
Dual tanh(const Dual& x) {
  return chain(x, std::tanh(x.value), 1 - std::tanh(x.value) * std::tanh(x.value));
}
Dual exp(const Dual& x) { return chain(x, std::exp(x.value), std::exp(x.value)); }
Dual log(const Dual& x) { return chain(x, std::log(x.value), 1 / x.value); }
Dual log10(const Dual& x) {
  return chain(x, std::log10(x.value), 1 / (x.value * std::numbers::ln10));
}
Dual sqrt(const Dual& x) { return chain(x, std::sqrt(x.value), 0.5 / std::sqrt(x.value)); }
Dual pow(const Dual& x, const Dual& y) {
  const double power = std::pow(x.value, y.value);
  const double slope = y.value * std::pow(x.value, y.value - 1) * x.derivative;
  return {power, slope + (y.derivative == 0 ? 0 : power * std::log(x.value) * y.derivative)};
}
Dual atan2(const Dual& y, const Dual& x) {
  const double square = x.value * x.value + y.value * y.value;
  return {std::atan2(y.value, x.value), (x.value * y.derivative - y.value * x.derivative) / square};
}

ExpressionError error_of(const std::string& text) {
  Tape tape;
  try {
    perp::parse_expression(text, scope, tape);
  } catch (const ExpressionError& error) {
    return error;
  }
  FAIL("no error for: " << text);
  return {"", 0, 0};
}

}  // namespace

TEST_SUITE("core/expression") {
  TEST_CASE("operators bind as on paper") {
    CHECK(value("1 + 2*3") == 7);
    CHECK(value("2 - 3 - 4") == -5);
    CHECK(value("24/4/2") == 3);
    CHECK(value("-2^2") == -4);
    CHECK(value("(-2)^2") == 4);
    CHECK(value("2^3^2") == 512);
    CHECK(value("2^-2") == 0.25);
    CHECK(value("2*-3") == -6);
    CHECK(value("--2") == 2);
    CHECK(value("-a - -b") == -5);
    CHECK(value("+a") == 2);
    CHECK(value(" ( ( a ) ) ") == 2);
    CHECK(value("-1/x1") == -2);
  }

  TEST_CASE("functions and constants are those of the mathematical library") {
    const double x = 0.5;
    const std::vector<std::pair<std::string, double>> cases{
        {"sin(x1)", std::sin(x)},
        {"cos(x1)", std::cos(x)},
        {"tan(x1)", std::tan(x)},
        {"asin(x1)", std::asin(x)},
        {"acos(x1)", std::acos(x)},
        {"atan(x1)", std::atan(x)},
        {"sinh(x1)", std::sinh(x)},
        {"cosh(x1)", std::cosh(x)},
        {"tanh(x1)", std::tanh(x)},
        {"exp(x1)", std::exp(x)},
        {"log(x1)", std::log(x)},
        {"log10(x1)", std::log10(x)},
        {"sqrt(x1)", std::sqrt(x)},
        {"pow(a, x1)", std::sqrt(2)},
        {"atan2(a, b)", std::atan2(2, -3)},
        {"abs(b)", 3},
        {"min(a, b, x1)", -3},
        {"max(b, x1, a, 1)", 2},
        {"sign(b)", -1},
        {"sign(a)", 1},
        {"sign(0)", 0},
        {"pi", std::numbers::pi},
        {"time", 1.25},
        {"t", 1.25},
        {"1e-6", 1e-6},
        {".5", 0.5},
        {"2.", 2},
        {"1E+2", 100},

    };
    REQUIRE(perp::function_names().size() == 19);
    for (const auto& [text, expected] : cases) {
      const auto& shown_text = text;
      CAPTURE(shown_text);
      CHECK(value(text) == doctest::Approx(expected).epsilon(1e-15));
    }
    CHECK(value("-inf") == -HUGE_VAL);
  }

  TEST_CASE("printing and parsing again gives the same tape") {
    for (unsigned seed = 1; seed <= 3000; ++seed) {
      const std::string text = RandomText(seed).make(5);
      CAPTURE(seed);
      CAPTURE(text);
      const Expression first(text, scope);
      const std::string printed = first.print();
      CAPTURE(printed);
      const Expression second(printed, scope);
      REQUIRE(second.tape() == first.tape());
      CHECK(second.line() == first.line());
      CHECK(second.print() == printed);
    }
  }

  TEST_CASE("printing uses no more brackets than the shape needs") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"((a))+(b*(x1))", "a + b*x1"},
        {"a-(b-x1)", "a - (b - x1)"},
        {"(a-b)-x1", "a - b - x1"},
        {"(a^b)^2", "(a^b)^2"},
        {"a^(b^2)", "a^b^2"},
        {"(-a)^2", "(-a)^2"},
        {"-(a^2)", "-a^2"},
        {"-(a*b)", "-(a*b)"},
        {"a/(b*x1)", "a/(b*x1)"},
        {"min(a,b,t)", "min(min(a, b), t)"},
        {"pow(a,b)", "a^b"},
        {"2 ^ (-a)", "2^-a"},
    };
    for (const auto& [text, printed] : cases) CHECK(Expression(text, scope).print() == printed);
  }

  TEST_CASE("equal subexpressions are computed once") {
    CHECK(Expression("sin(a*t) + sin(a*t)", scope).tape().size() == 5);  // a, t, a*t, sin, +
    CHECK(Expression("(a + b)*(a + b) - (b + a)", scope).tape().size() == 6);
    CHECK(Expression("0 + 0*(-0)", scope).tape().size() == 4);
  }

  TEST_CASE("the tape serves a scalar type it has never heard of") {
    int compared = 0;
    for (unsigned seed = 1; seed <= 400; ++seed) {
      const std::string text = RandomText(seed).make(3);
      CAPTURE(text);
      const Expression f(text, scope);
      std::vector<Dual> duals(inputs.begin(), inputs.end());
      duals[2].derivative = 1;
      const Dual dual = f.evaluate(std::span<const Dual>(duals));
      const double plain = f(inputs);
      if (!std::isfinite(plain)) continue;
      CHECK(dual.value == doctest::Approx(plain).epsilon(1e-14));
      // The same derivative from differences, where they are trustworthy.
      const auto at = [&](double x) {
        std::vector<double> moved = inputs;
        moved[2] = x;
        return f(moved);
      };
      const double h = 1e-4;
      const double coarse = (at(0.5 + 2 * h) - at(0.5 - 2 * h)) / (4 * h);
      const double fine = (at(0.5 + h) - at(0.5 - h)) / (2 * h);
      const double size = std::abs(fine) + std::abs(plain);
      // An infinite intermediate value (tanh(1/0)) has no derivative.
      if (!std::isfinite(fine) || !std::isfinite(dual.derivative) ||
          std::abs(coarse - fine) > 1e-6 * size || size > 1e6)
        continue;
      CHECK(std::abs(dual.derivative - fine) <= 1e-5 * (1 + size));
      ++compared;
    }
    CHECK(compared > 150);
  }

  TEST_CASE("binding known inputs leaves a tape of the others with the same values") {
    for (unsigned seed = 1; seed <= 500; ++seed) {
      const std::string text = RandomText(seed).make(5);
      CAPTURE(text);
      const Expression f(text, scope);
      int line = f.line();
      const Tape bound = bind_inputs(f.tape(), std::span(inputs).first(3), std::span(&line, 1));
      std::vector<double> lines(static_cast<std::size_t>(bound.size()));
      bound.evaluate(std::span(inputs).last(1), std::span(lines));
      const double expected = f(inputs);
      const double found = lines[static_cast<std::size_t>(line)];
      CHECK((found == expected || (std::isnan(found) && std::isnan(expected))));
      for (int k = 0; k < bound.size(); ++k)
        if (bound[k].operation == perp::Operation::input) CHECK(bound[k].a == 0);
      CHECK(bound.size() <= f.tape().size() + 1);
    }
  }

  TEST_CASE("an error names its place, what was found, what was expected and the nearest name") {
    struct Wrong {
      std::string text;
      std::size_t offset;
      std::string message;
    };
    const std::vector<Wrong> cases{
        {"", 0, "empty"},
        {"   ", 0, "empty"},
        {"a +", 3, "found the end; expected a number, a name, a function or '('"},
        {"a + * b", 4, "found '*'; expected a number"},
        {"2a", 1, "found 'a'; expected an operator"},
        {"a b", 2, "found 'b'; expected an operator"},
        {"(a + b", 6, "found the end; expected ')' or an operator"},
        {"a)", 1, "found ')'; expected an operator"},
        {"x2 + 1", 0, "unknown name 'x2'; expected one of a, b, x1, t; did you mean 'x1'?"},
        {"1 + X1", 4, "did you mean 'x1'?"},
        {"cso(a)", 0, "unknown function 'cso'"},
        {"cso(a)", 0, "did you mean 'cos'?"},
        {"a(2)", 1, "'a' is not a function"},
        {"sin", 3, "'sin' is a function: expected '(' after it but found the end"},
        {"sin a", 4, "expected '(' after it but found 'a'"},
        {"atan2(a)", 0, "atan2 takes 2 arguments but has 1"},
        {"sin(a, b)", 0, "sin takes 1 argument but has 2"},
        {"max(a)", 0, "max takes at least 2 arguments but has 1"},
        {"sin()", 4, "found ')'; expected a number"},
        {"1e999", 0, "outside the range of a double"},
        {"1e", 1, "found 'e'; expected an operator"},
        {"1.2.3", 3, "found '.3'; expected an operator"},
        {".", 0, "found '.'; expected a number"},
        {"a**2", 2, "write '^' for powers"},
        {"a \u2212 b", 2,
         "found '\u2212'; expected an operator (+ - * / ^) or the end; write '-' for minus"},
        {"a, b", 1, "found ','; expected an operator"},
        {"a = b", 2, "found '='; expected an operator"},
        {"z + 1", 0, "'z' cannot be used here: it is a variable"},
        {"der(a)", 0, "'der' belongs to equations"},
        {"\xCE\xBB", 0, "found '\u03BB'; expected a number"},
        {"nan", 0, "unknown name 'nan'"},
    };
    for (const Wrong& wrong : cases) {
      CAPTURE(wrong.text);
      const ExpressionError error = error_of(wrong.text);
      const std::string message = error.what();
      CAPTURE(message);
      CHECK(error.offset() == wrong.offset);
      CHECK(message.find(wrong.message) != std::string::npos);
      CHECK(error.offset() + error.length() <= wrong.text.size());
      CHECK(message.find('\n') == std::string::npos);
    }
  }

  TEST_CASE("nesting is refused before the stack ends, length is not") {
    const auto repeat = [](const std::string& text, int count) {
      std::string all;
      for (int i = 0; i < count; ++i) all += text;
      return all;
    };
    for (const std::string opening : {"(", "-", "sin(", "2^", "max(1,", "+"}) {
      CAPTURE(opening);
      const std::string message = error_of(repeat(opening, 1'000'000) + "1").what();
      CHECK(message.find("nested deeper than 200 levels") != std::string::npos);
    }
    CHECK(value(repeat("(", 190) + "a" + repeat(")", 190)) == 2);
    const Expression sum("0" + repeat(" + a*x1", 100'000), scope);
    CHECK(sum(inputs) == 100'000);
    CHECK(Expression(sum.print(), scope).tape() == sum.tape());
  }

  TEST_CASE("words of the language cannot be names") {
    for (const char* word : {"t", "time", "pi", "inf", "nan", "sin", "max", "der", "if", "step"})
      CHECK(perp::is_reserved_word(word));
    for (const char* name : {"B1", "x", "T", "Pi", "h", "sinus"})
      CHECK(!perp::is_reserved_word(name));
    for (const char* text : {"", "1a", "a b", "a-b", "\u03BB", "a.b"}) CHECK(!perp::is_name(text));
    for (const char* text : {"_", "a1", "B_2"}) CHECK(perp::is_name(text));
  }
}
