// Single steps and windows of low order over wide sets, where remainders count, beside solutions in
// 50 digits.
#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include <perp/analysis/enclosure/taylor_step.hpp>
#include <perp/tests/analysis/enclosure/flow_oracle.hpp>
#include <perp/tests/analysis/enclosure/flows.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::Doubleton;
using enclosure::Interval;
using enclosure::IntervalMatrix;
using enclosure::TaylorStep;
using test::Digits50;
using test::FlowOracle;
using test::Point50;

namespace {

constexpr double start = 0.5;

bool holds(const Box& box, const Point50& x) {
  return test::holds(box[0], x[0]) && test::holds(box[1], x[1]);
}

/// Corners, a point of an edge, and one inside.
std::vector<Point50> members(const Box& box) {
  std::vector<Point50> list;
  for (const auto& [u, v] : std::vector<std::pair<double, double>>{
           {0, 0}, {0, 1}, {1, 0}, {1, 1}, {0.25, 1}, {0.625, 0.375}}) {
    const auto at = [](const Interval& a, double share) {
      return Digits50(a.lo) + (Digits50(a.hi) - Digits50(a.lo)) * Digits50(share);
    };
    list.push_back({at(box[0], u), at(box[1], v)});
  }
  return list;
}

Box random_box(test::RandomFields& random) {
  const double radius = std::pow(10, random.in(-3, -0.9)), thin = radius * random.in(0, 1);
  const double x = random.in(-0.5, 0.5), y = random.in(-0.5, 0.5);
  return {Interval(x - radius, x + radius), Interval(y - thin, y + thin)};
}

}  // namespace

TEST_SUITE("analysis/enclosure/step_oracle") {
  TEST_CASE("members lie in the sets, boxes and tubes of steps of every low order") {
    test::RandomFields random(1);
    int proved = 0;
    for (int trial = 0; trial < 60 / test::stride_of_cases(10); ++trial) {
      const std::vector<std::string> texts{random.text(3), random.text(3)};
      CAPTURE(texts[0]);
      CAPTURE(texts[1]);
      const auto flow = test::make_flow({"x", "y"}, texts);
      const FlowOracle oracle(flow);
      const Box box = random_box(random);
      const int order = 2 + trial % 4;
      CAPTURE(order);
      TaylorStep step(flow, {.order = order, .share = 1, .longest = 0.25,
                             .excess = directed::infinity});
      Doubleton set(box);
      std::vector<Point50> points = members(box);
      double t = start;
      for (int k = 0; k < 3 && step.prepare(set, t, start + 0.5, 0x1p-50) && step.end() > t; ++k) {
        ++proved;
        const double end = step.end(), middle = t + 0x1p-50 * std::floor((end - t) * 0x1p49);
        const Box at_middle = step.image_at(set, middle).states, tube = step.between(t, end);
        step.move(set);
        for (Point50& point : points) {
          const Point50 half = oracle.flow(t, point, Digits50(middle) - t);
          CHECK(holds(at_middle, half));
          CHECK(holds(tube, half));
          CHECK(holds(step.tube_box(), half));
          point = oracle.flow(middle, half, Digits50(end) - middle);
          CHECK(holds(set.box(), point));
        }
        t = end;
      }
    }
    CHECK(proved > 60 / test::stride_of_cases(10));
  }

  // Windows are what events are passed by: both directions of time, and the derivative of the flow.
  TEST_CASE("differences of members lie in the derivatives of windows, before and after") {
    test::RandomFields random(2);
    int proved = 0;
    for (int trial = 0; trial < 60 / test::stride_of_cases(10); ++trial) {
      const std::vector<std::string> texts{random.text(3), random.text(3)};
      CAPTURE(texts[0]);
      CAPTURE(texts[1]);
      const auto flow = test::make_flow({"x", "y"}, texts);
      const FlowOracle oracle(flow);
      const Box box = random_box(random), center = enclosure::points(enclosure::middle(box));
      TaylorStep step(flow, {.order = 1 + trial % 3});
      const double radius = 0.125;
      if (!step.prepare_window(Interval(start), box, Interval(start), center, radius)) continue;
      ++proved;
      std::vector<Point50> points = members(box);
      points.push_back({Digits50(center[0].lo), Digits50(center[1].lo)});
      for (const double tau : {-radius, -0.0625, 0.03125, radius}) {
        const Box image = step.box_at(Interval(tau));
        const IntervalMatrix J = step.flow_jacobian(Interval(tau));
        std::vector<Point50> moved;
        for (const Point50& point : points) {
          moved.push_back(oracle.flow(start, point, tau));
          CHECK(holds(image, moved.back()));
        }
        CHECK(holds(step.centre_at(Interval(tau)), moved.back()));
        for (std::size_t a = 0; a < points.size(); ++a) {
          const std::size_t b = (a + 1) % points.size();
          for (int i = 0; i < 2; ++i) {
            const auto row = static_cast<std::size_t>(i);
            Digits50 least = 0, most = 0;  // of J (p − q)
            for (int j = 0; j < 2; ++j) {
              const auto column = static_cast<std::size_t>(j);
              const Digits50 d = points[a][column] - points[b][column];
              const Digits50 low = d * Digits50(J(i, j).lo), high = d * Digits50(J(i, j).hi);
              least += low < high ? low : high;
              most += low < high ? high : low;
            }
            const Digits50 difference = moved[a][row] - moved[b][row];
            CHECK(least <= difference);
            CHECK(difference <= most);
          }
        }
      }
    }
    CHECK(proved > 30 / test::stride_of_cases(10));
  }
}
