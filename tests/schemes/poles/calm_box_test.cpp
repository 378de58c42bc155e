#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/tape/bounded_tape.hpp>
#include <perp/schemes/poles/calm_box.hpp>

using namespace perp;

namespace {

/// Lines on t, ẋ, x (two of each) and λ, without the rates.
int random_line(Tape& tape, std::mt19937& random) {
  std::vector<int> lines{tape.input(0), tape.input(3), tape.input(4), tape.input(5)};
  for (const double c : {1.0, 3.0, -0.7, 1e-3}) lines.push_back(tape.constant(c));
  const auto any = [&] { return lines[random() % lines.size()]; };
  const Operation of_two[] = {Operation::add, Operation::subtract, Operation::multiply, Operation::divide,
                              Operation::min, Operation::max, Operation::guard};
  const Operation of_one[] = {Operation::negate, Operation::abs, Operation::sign, Operation::sqrt, Operation::exp,
                              Operation::sin, Operation::cos, Operation::tanh, Operation::atan, Operation::log};
  for (int k = 0; k < 8; ++k)
    lines.push_back(random() % 3 != 0 ? tape.apply(of_two[random() % 7], any(), any())
                                      : tape.apply(of_one[random() % 10], any()));
  return lines.back();
}

double uniform(std::mt19937& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
}

}  // namespace

TEST_SUITE("schemes/poles") {
  TEST_CASE("within the box of a step, and next behind it, running errors tell the sign of every divisor, which keeps its size") {
    std::mt19937 random(11);
    int boxes = 0;
    for (int trial = 0; trial < 4000; ++trial) {
      Tape tape;
      const std::vector<int> line{random_line(tape, random)};
      CalmBox box(tape, line, 2);
      const double t = uniform(random, 0, 10), h = std::exp(uniform(random, -9, 0));
      Vector x(2), y(2), lambda(1);
      x << uniform(random, -2, 2), uniform(random, -2, 2);
      y << x[0] + h * uniform(random, -1, 1), x[1] + h * uniform(random, -1, 1);
      lambda << uniform(random, -1, 1);
      if (!box.holds({t, t + h, x, y, lambda, lambda})) continue;
      ++boxes;
      BoundedTape bounded(tape, line, 6, {});
      int sign = 0;
      double least = inf, largest = 0;
      for (int point = 0; point < 50; ++point) {
        std::vector<double> z(6, 0.0), error(6, 0.0);
        z[0] = t, z[3] = x[0], z[4] = x[1], z[5] = lambda[0];
        for (const CalmBox::Side& side : box.sides()) {
          const double a = uniform(random, side.low, side.high), b = uniform(random, side.low, side.high);
          const double s = side.input == 5 ? 0 : uniform(random, 0, 1.126);
          z[static_cast<std::size_t>(side.input)] = (1 - s) * a + s * b;
          const double size = std::max({std::abs(a), std::abs(b), std::abs(z[static_cast<std::size_t>(side.input)])});
          error[static_cast<std::size_t>(side.input)] = side.input == 5 ? 0 : (side.input == 0 ? state_rounding / 8 : state_rounding) * size;
        }
        bounded.run(z.data(), error.data());
        const RunningError value = bounded.output(0);
        const int here = decided_sign(value, pole_distance::of_end);
        REQUIRE(here != 0);
        REQUIRE((sign == 0 || here == sign));
        sign = here;
        least = std::min(least, std::abs(value.value));
        largest = std::max(largest, std::abs(value.value));
      }
      CHECK(least >= 0.6 * largest);
    }
    CHECK(boxes > 500);
  }

  TEST_CASE("along a divisor that grows as exp(s), few more boxes are made than the least number of those in which it keeps its size") {
    Tape tape;
    const std::vector<int> line{tape.input(2)};
    // 0.6 of its largest value, 0.14 of the width of a box beyond it on both sides: from a to r a with 1 − 0.14 (r − 1) = 0.6 (r + 0.14 (r − 1))
    const double length = 20, ratio = (1 + 1.6 * 0.14) / (0.6 + 1.6 * 0.14), least = length / std::log(ratio);
    for (const double rate : {1e-2, 3e-3, 1e-3}) {
      CalmBox box(tape, line, 1);
      const Vector none;
      Vector x(1), y(1);
      double high = 0;
      int boxes = 0;
      for (int k = 0; k * rate < length; ++k) {
        x << std::exp(rate * k);
        y << std::exp(rate * (k + 1));
        REQUIRE(box.holds({k * rate, (k + 1) * rate, x, y, none, none}));
        const double end = box.sides().front().high;
        boxes += end != high ? 1 : 0;
        high = end;
      }
      CHECK(boxes >= least);
      CHECK(boxes <= 1.3 * least);
    }
  }

  TEST_CASE("there is no box where a divisor passes 0 on the step, and the box of the steps before it ends there") {
    Tape tape;
    const std::vector<int> line{tape.apply(Operation::subtract, tape.constant(1), tape.input(2))};
    CalmBox box(tape, line, 1);
    const Vector none;
    Vector x(1), y(1);
    int steps = 0;
    for (double at = 0; at < 0.9; at += 0.01) {
      x << at;
      y << at + 0.01;
      if (!box.holds({at, at + 0.01, x, y, none, none})) continue;
      ++steps;
      for (const CalmBox::Side& side : box.sides()) CHECK(side.high < 1);
    }
    CHECK(steps > 80);
    x << 0.99;
    y << 1.001;
    CHECK_FALSE(box.holds({0.99, 1.001, x, y, none, none}));
    CHECK_FALSE(box.is_there());
  }
}
