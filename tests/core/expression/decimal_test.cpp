#include <doctest/doctest.h>
#include <boost/multiprecision/cpp_int.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <perp/core/error.hpp>
#include <perp/core/expression/decimal.hpp>

using namespace perp;
using enclosure::enclose_decimal;
using enclosure::ExactLiterals;
using enclosure::Interval;
using Rational = boost::multiprecision::cpp_rational;

namespace {

/// digits · 10^power, exactly.
Rational exact(const std::string& digits, int power) {
  using boost::multiprecision::cpp_int;
  const cpp_int ten =
      boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(std::abs(power)));
  const Rational mantissa{cpp_int(digits)};
  return power < 0 ? Rational(mantissa / ten) : Rational(mantissa * ten);
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
      const Rational number = exact(digits, power);
      CHECK(Rational(found.lo) <= number);
      CHECK(number <= Rational(found.hi));
      CHECK((found.is_point() || found.hi == std::nextafter(found.lo, found.hi)));
      CHECK(found.is_point() == (Rational(found.lo) == number || Rational(found.hi) == number));
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

  TEST_CASE("literals that are no doubles become names, others stay") {
    ExactLiterals literals({"x1", "decimal_1"});
    CHECK(literals.replaced("0.1*x1 + 2.5 - 1e-3^2 + .1 + 0.1") ==
          "decimal_2*x1 + 2.5 - decimal_3^2 + decimal_4 + decimal_2");
    CHECK(literals.replaced("exp2(1)+x_0.5") == "exp2(1)+x_0.5");
    CHECK(literals.nearest()[0] == 0.1);
    CHECK(literals.values()[1] == enclose_decimal("1e-3"));
  }

  TEST_CASE("expressions of decimals are not rounded on the way") {
    // (0.1 + 0.2) − 0.3 = 0 in decimal numbers, 2^−54 in doubles
    const Interval zero = enclosure::enclose_expression("(0.1 + 0.2) - 0.3", {}, {});
    CHECK(zero.contains(0.0));
    CHECK(enclosure::width(zero) < 2e-16);
    const Interval beta = enclosure::enclose_expression("a/3", {"a"}, {Interval(8)});
    CHECK(Rational(beta.lo) < Rational(8, 3));
    CHECK(Rational(beta.hi) > Rational(8, 3));
    CHECK_THROWS_AS(enclosure::enclose_expression("0.1 +", {}, {}), ExpressionError);
  }
}
