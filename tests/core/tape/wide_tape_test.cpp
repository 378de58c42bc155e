#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/tape/wide_tape.hpp>

using namespace perp;

namespace {

/// f(x, y) in 113 bits.
WideNumber value(Operation operation, const WideNumber& x, const WideNumber& y) {
  Tape tape;
  const int a = tape.input(0), b = tape.input(1);
  const std::vector<int> outputs{tape.apply(operation, a, b)};
  WideTape wide(tape, outputs, 2, {});
  wide.run(std::vector<WideNumber>{x, y});
  return wide.output(0);
}

}  // namespace

TEST_SUITE("core/tape/wide_tape") {
  TEST_CASE("sums, products and quotients have 113 bits") {
    const WideNumber third = value(Operation::divide, {1, 0, 0}, {3, 0, 0});
    CHECK(third.high == 1.0 / 3);
    CHECK(third.low == std::fma(-3.0, third.high, 1.0) / 3);
    CHECK(third.error < 0x1p-107);
    CHECK(value(Operation::add, {1, 0, 0}, {0x1p-112, 0, 0}).low == 0x1p-112);
    CHECK(value(Operation::multiply, {1 + 0x1p-52, 0, 0}, {1 + 0x1p-52, 0, 0}).low == 0x1p-104);
    CHECK(value(Operation::subtract, {1, 0x1p-80, 0}, {1, 0, 0}).high == 0x1p-80);
  }

  TEST_CASE("functions have more than a hundred bits") {
    const WideNumber sine = value(Operation::sin, {1, 0, 0}, {0, 0, 0}), e = value(Operation::exp, {1, 0, 0}, {0, 0, 0});
    // sin 1 = 0.841470984807896506652502321630298999622563060798..., e = 2.71828182845904523536028747135266249775724709369995...
    CHECK(sine.high == 0x1.aed548f090ceep-1);
    CHECK(sine.low == doctest::Approx(1.7768450929355361e-18).epsilon(1e-14));
    CHECK(e.high == 0x1.5bf0a8b145769p+1);
    CHECK(e.low == doctest::Approx(1.4456468917292502e-16).epsilon(1e-14));
    CHECK(e.error < 0x1p-95);
    CHECK(value(Operation::power, {2, 0, 0}, {0.5, 0, 0}).low == doctest::Approx(-9.667293313452913e-17).epsilon(1e-14));
  }

  TEST_CASE("sums of two doubles lie as near to 113 bits as their bounds say") {
    std::mt19937 random(5);
    const auto number = [&] { return std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(random() % 24) - 44); };
    for (int run = 0; run < 200; ++run) {
      Tape tape;
      std::vector<int> lines;
      for (int k = 0; k < 4; ++k) lines.push_back(tape.input(k));
      constexpr std::array operations{Operation::add, Operation::subtract, Operation::multiply, Operation::divide};
      for (int k = 0; k < 20; ++k) lines.push_back(tape.apply(operations[random() % 4], lines[random() % lines.size()], lines[random() % lines.size()]));
      WideTape wide(tape, lines, 4, {});
      REQUIRE(wide.has_pairs());
      std::vector<WideNumber> z;
      for (int k = 0; k < 4; ++k) {
        const double high = number();
        z.push_back({high, high * 0x1p-60, run % 2 == 0 ? 0 : 1e-20});  // 92 bits
      }
      std::vector<WideNumber> found;
      wide.run_pairs(z);
      for (std::size_t k = 0; k < lines.size(); ++k) found.push_back(wide.output(k));
      wide.run(z);
      for (std::size_t k = 0; k < lines.size(); ++k) {
        const WideNumber exact = wide.output(k);
        if (!std::isfinite(found[k].error) || !std::isfinite(exact.error)) continue;
        const double apart = std::abs((found[k].high - exact.high) + (found[k].low - exact.low));
        CHECK(apart <= found[k].error + exact.error);
      }
    }
    CHECK_FALSE(std::isfinite(value(Operation::divide, {1, 0, 0}, {0, 0, 0}).error));
  }

  TEST_CASE("what no double holds has no bound") {
    CHECK(std::isinf(value(Operation::multiply, {1e200, 0, 0}, {1e200, 0, 0}).error));
    CHECK(std::isinf(value(Operation::multiply, {1e-200, 0, 0}, {1e-200, 0, 0}).error));
    CHECK(std::isinf(value(Operation::divide, {1, 0, 0}, {0, 0, 0}).error));
    CHECK(std::isinf(value(Operation::exp, {1000, 0, 0}, {0, 0, 0}).error));
  }
}
