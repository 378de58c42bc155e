#include <doctest/doctest.h>
#include <boost/multiprecision/cpp_int.hpp>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/core/interval/decimal.hpp>

using namespace perp;
using enclosure::enclose_decimal;
using enclosure::ExactLiterals;
using enclosure::Interval;
using BigRational = boost::multiprecision::cpp_rational;

namespace {

/// digits · 10^power, exactly.
BigRational exact(const std::string& digits, int power) {
  using boost::multiprecision::cpp_int;
  const cpp_int ten =
      boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(std::abs(power)));
  const BigRational mantissa{cpp_int(digits)};
  return power < 0 ? BigRational(mantissa / ten) : BigRational(mantissa * ten);
}

}  // namespace

TEST_SUITE("core/expression/decimal") {
  TEST_CASE("a decimal number that is a double is a point") {
    CHECK(enclose_decimal("0.5") == Interval(0.5));
    CHECK(enclose_decimal("-12.75e2") == Interval(-1275));
    CHECK(enclose_decimal("1_000") == Interval(1000));
    CHECK(enclose_decimal("0.000") == Interval(0));
    CHECK(enclose_decimal("+3.") == Interval(3));
    CHECK(enclose_decimal(".125") == Interval(0.125));
    CHECK(enclose_decimal("00012.50") == Interval(12.5));
    CHECK(enclose_decimal("9007199254740993") == Interval(9007199254740992, 9007199254740994));
  }

  TEST_CASE("0.1 lies between two doubles, of which the parser takes the upper one") {
    const Interval tenth = enclose_decimal("0.1");
    CHECK(tenth.hi == 0.1);
    CHECK(tenth.lo == std::nextafter(0.1, 0));
    CHECK(enclose_decimal("-0.1") == -tenth);
  }

  TEST_CASE("numbers beyond the doubles keep a finite bound") {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    CHECK(enclose_decimal("1e400") == Interval(std::numeric_limits<double>::max(), infinite));
    CHECK(enclose_decimal("-1e400").lo == -infinite);
    CHECK(enclose_decimal("1e-400") == Interval(0, std::numeric_limits<double>::denorm_min()));
    CHECK(enclose_decimal("0e400") == Interval(0));
    CHECK(enclose_decimal("1e99999999999").lo == std::numeric_limits<double>::max());
  }

  TEST_CASE("what is no number is refused") {
    for (const char* text : {"", "-", "x", "1.2.3", "1e", "inf", "nan", "0x10", "--1", "1 2"}) {
      CAPTURE(text);
      CHECK_THROWS_AS(enclose_decimal(text), InvalidInput);
    }
  }

  TEST_CASE("random decimals lie between their bounds, which are neighbours or equal") {
    std::mt19937_64 random(7);
    for (int k = 0; k < 4000; ++k) {
      std::string digits(1, static_cast<char>('1' + random() % 9));
      for (unsigned n = random() % 25; n > 0; --n) digits += static_cast<char>('0' + random() % 10);
      const int power = static_cast<int>(random() % 640) - 340;
      const Interval found = enclose_decimal(digits + "e" + std::to_string(power));
      CAPTURE(digits);
      CAPTURE(power);
      if (!found.is_bounded()) continue;
      const BigRational number = exact(digits, power);
      CHECK(BigRational(found.lo) <= number);
      CHECK(number <= BigRational(found.hi));
      CHECK((found.is_point() || found.hi == std::nextafter(found.lo, found.hi)));
      CHECK(found.is_point() == (BigRational(found.lo) == number || BigRational(found.hi) == number));
    }
  }

  TEST_CASE("halfway between two doubles the exact digits decide") {
    // 1 + 2^−53 = 1.00000000000000011102230246251565404236316680908203125
    CHECK(enclose_decimal("1.00000000000000011102230246251565404236316680908203125") ==
          Interval(1, 1 + 0x1p-52));
    CHECK(enclose_decimal("1.0000000000000002220446049250313080847263336181640625") ==
          Interval(1 + 0x1p-52));
    CHECK(enclose_decimal("1.00000000000000022204460492503130808472633361816406250001").lo ==
          1 + 0x1p-52);
    CHECK(enclose_decimal("1.00000000000000022204460492503130808472633361816406249999").hi ==
          1 + 0x1p-52);
  }

  TEST_CASE("literals that are no doubles become inputs, others stay numbers") {
    const std::string text = "0.1*x1 + 2.5 - 1e-3^2 + .1 + 0.1 + x_0.5";
    ExactLiterals literals;
    literals.add(text);
    CHECK(literals.texts() == std::vector<std::string>{"0.1", "1e-3", ".1"});
    CHECK(literals.nearest()[0] == 0.1);
    CHECK(literals.values()[1] == enclose_decimal("1e-3"));
    Scope scope{{"x1", "x_0"}};
    literals.extend(scope);
    Tape tape;
    const int line = parse_expression("0.1*x1 + 2.5 - 1e-3^2 + .1 + 0.1", scope, tape);
    CHECK(print_expression(tape, line, scope.names) == "0.1*x1 + 2.5 - 1e-3^2 + .1 + 0.1");
    for (int k = 0; k < tape.size(); ++k)
      if (tape[k].operation == Operation::constant)
        CHECK((tape[k].value == 2.5 || tape[k].value == 2));
  }

  TEST_CASE("literals are no names: messages do not offer them") {
    Scope scope{{"x1"}};
    ExactLiterals literals;
    literals.add("0.1");
    literals.extend(scope);
    Tape tape;
    try {
      parse_expression("0.1*x2", scope, tape);
      FAIL("x2 is unknown");
    } catch (const ExpressionError& error) {
      CHECK(std::string(error.what()) == "unknown name 'x2'; expected x1; did you mean 'x1'?");
    }
  }

  TEST_CASE("printed bounds are decimal numbers of 20 digits on their side of the double") {
    using enclosure::decimal_above, enclosure::decimal_below, enclosure::exact_decimal;
    CHECK(exact_decimal(0.1) ==
          "0.1000000000000000055511151231257827021181583404541015625");
    CHECK(exact_decimal(-47.5) == "-47.5");
    CHECK(exact_decimal(1e22) == "1e22");
    CHECK(decimal_below(0.1) == "0.10000000000000000555");
    CHECK(decimal_above(0.1) == "0.10000000000000000556");
    CHECK(decimal_below(-0.1) == "-0.10000000000000000556");
    CHECK(decimal_above(0.5) == "0.5");
    CHECK(decimal_above(0) == "0");
    std::mt19937_64 random(14);
    for (int k = 0; k < 20'000; ++k) {
      const double x = std::bit_cast<double>(random());
      if (!std::isfinite(x)) continue;
      for (const std::string& text : {decimal_below(x), decimal_above(x), exact_decimal(x)})
        CHECK(std::strtod(text.c_str(), nullptr) == x);
      CHECK(enclose_decimal(decimal_below(x)).lo <= x);
      CHECK(enclose_decimal(decimal_below(x)).hi <= x);
      CHECK(enclose_decimal(decimal_above(x)).lo >= x);
      CHECK(enclose_decimal(exact_decimal(x)) == Interval(x));
    }
  }

  TEST_CASE("expressions of decimals are not rounded on the way") {
    // (0.1 + 0.2) − 0.3 = 0 in decimal numbers, 2^−54 in doubles
    const Interval zero = enclosure::enclose_expression("(0.1 + 0.2) - 0.3", Scope{}, {});
    CHECK(zero.contains(0.0));
    CHECK(enclosure::width(zero) < 2e-16);
    const Interval beta = enclosure::enclose_expression("a/3", Scope{{"a"}}, {Interval(8)});
    CHECK(BigRational(beta.lo) < BigRational(8, 3));
    CHECK(BigRational(beta.hi) > BigRational(8, 3));
    CHECK_THROWS_AS(enclosure::enclose_expression("0.1 +", Scope{}, {}), ExpressionError);
  }

  TEST_CASE("expressions are rational numbers where they are finite and no function rounds") {
    CHECK(*enclosure::exact_expression("(0.1 + 0.2) - 0.3", Scope{}, {}) == Rational(0L));
    CHECK(*enclosure::exact_expression("a/3 + cos(0)", Scope{{"a"}}, {Rational(8L)}) == Rational(11, 3));
    for (const char* text : {"inf", "1/inf", "atan(inf)", "atan(10^400)", "1/(1 - 1)", "pi", "sin(1)"})
      CHECK_FALSE(enclosure::exact_expression(text, Scope{}, {}).has_value());
  }
}
