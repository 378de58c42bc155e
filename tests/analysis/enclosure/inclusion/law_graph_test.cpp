#include <doctest/doctest.h>
#include <random>
#include <vector>

#include <perp/analysis/enclosure/inclusion/law_graph.hpp>

using namespace perp;
using enclosure::graph_over;
using enclosure::Interval;
using enclosure::lambda_beside;

TEST_SUITE("analysis/enclosure/inclusion/law_graph") {
  TEST_CASE("the multipliers over an interval of w are those of the branches that hold one of it") {
    CHECK(graph_over(sign(), {-2, -1}).lambda == Interval(-1));
    CHECK(graph_over(sign(), {-2, 1}).lambda == Interval(-1, 1));
    CHECK(graph_over(sign(), {0, 1}).branches == std::vector<int>{0, 1, 2});
    CHECK(graph_over(absolute(), {-2, 1}).lambda == Interval(0, 2));
    CHECK(graph_over(saturation(-1, 1), {0.5, 3}).lambda == Interval(0.5, 1));
    CHECK(graph_over(dead_zone(-1, 1), {-3, 0}).lambda == Interval(-2, 0));
    CHECK_FALSE(graph_over(complementarity(), {0, 1}).lambda.has_value());
    CHECK(graph_over(complementarity(), {0.5, 1}).lambda == Interval(0));
  }

  TEST_CASE("only graphs without vertical parts, gaps and memory are functions") {
    CHECK(graph_over(absolute(), {-2, 1}).is_function);
    CHECK(graph_over(saturation(-1, 1), {-2, 3}).is_function);
    CHECK(graph_over(dead_zone(-1, 1), {-3, 3}).is_function);
    CHECK(graph_over(sign(), {0.5, 1}).is_function);
    CHECK_FALSE(graph_over(sign(), {-0.5, 1}).is_function);
    CHECK_FALSE(graph_over(abs_plus_sign(), {-0.5, 1}).is_function);
    CHECK_FALSE(graph_over(hysteresis(0, 1), {0.2, 0.3}).is_function);
    Law gap = absolute();
    gap.branches.changed(1).w.lower = 0.25;
    CHECK_FALSE(graph_over(gap, {-1, 1}).is_function);
    Law jump = absolute();
    jump.branches.changed(1).c += 1;
    CHECK_FALSE(graph_over(jump, {-1, 1}).is_function);
  }

  TEST_CASE("beside a corner only the points of one side count") {
    CHECK(lambda_beside(sign(), 0, 1, {-1, 1}) == Interval(1));
    CHECK(lambda_beside(sign(), 0, -1, {-1, 1}) == Interval(-1));
    CHECK_FALSE(lambda_beside(sign(), 0, 1, {-1, 0}).has_value());
    CHECK(lambda_beside(abs_plus_sign(), 0, 1, {-1, 2}) == Interval(1, 3));
    CHECK_FALSE(lambda_beside(complementarity(), -1, 1, {-1, 0}).has_value());
  }

  TEST_CASE("every point of a graph is in the hull over every interval that holds its w") {
    std::mt19937 generator(7);
    std::uniform_real_distribution<double> number(-3, 3);
    for (int k = 0; k < 2000; ++k) {
      const double lower = number(generator), upper = lower + std::abs(number(generator));
      const std::vector<Law> laws{
          sign(),          relay(lower, upper),     saturation(lower, upper), absolute(),
          abs_plus_sign(), dead_zone(lower, upper), hysteresis(lower, upper)};
      const Law& law = laws[static_cast<std::size_t>(k) % laws.size()];
      const double a = number(generator), b = a + std::abs(number(generator));
      const Interval lambda = graph_over(law, {a, b}).lambda;
      for (const Branch& branch : law.branches) {
        const double w = branch.b == 0 ? branch.c / branch.a : a + (b - a) * (k % 5) / 4;
        if (w < std::max(a, branch.w.lower) || w > std::min(b, branch.w.upper)) continue;
        for (const double end : {branch.lambda.lower, branch.lambda.upper}) {
          const double value = branch.b == 0 ? end : (branch.c - branch.a * w) / branch.b;
          CHECK(lambda.lo <= value + 1e-14);
          CHECK(value - 1e-14 <= lambda.hi);
        }
      }
    }
  }
}
