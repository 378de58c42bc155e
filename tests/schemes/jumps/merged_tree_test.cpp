#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/jumps/merged_tree.hpp>
#include <perp/schemes/step/step_equations.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;

namespace {

/// ẋ = λ ∈ sign(x): from 0 the solution may wait and leave at any time.
Lcs unstable_sign() {
  return {.E = Matrix{{1}},
          .A = Matrix{{0}},
          .B = Matrix{{1}},
          .b = Vector{{0}},
          .C = Matrix{{1}},
          .D = Matrix{{0}},
          .q = Vector{{0}},
          .laws = {sign()}};
}

MergedTree tree(const Lcs& lcs, const Vector& x0, const MergedTreeOptions& options) {
  StepEquations equations(lcs, 1);
  const auto list = [&](const Vector& x, double t, double h) {
    const ParametricMlcp family = equations.family(h);
    std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
    equations.parameter(x, t, t + h, parameter.data());
    Mlcp problem = family.base;
    instantiate(family, parameter.data(), problem);
    const SolutionSet set = enumerate(problem);
    StepChoices choices{{}, set.complete, set.certificate};
    for (const Piece& piece : pieces(set, 1000)) {
      REQUIRE(piece.dimension == 0);
      const Vector next = piece.vertices.col(0).head(x.size());
      const Vector lambda = piece.vertices.col(0).tail(lcs.m());
      choices.list.push_back({{t + h, next, lambda, output(problem, next, lambda), piece.modes[0]},
                              (lcs.E * (next - x)).norm()});
    }
    return choices;
  };
  return merged_tree(list, x0, 0, options);
}

/// Every edge is a step, every way is counted once.
void check_consistent(const MergedTree& made, const MergedTreeOptions& options) {
  std::vector<Integer> ways(made.nodes.size(), 0);
  ways[0] = 1;
  for (std::size_t k = 0; k < made.edges.size(); ++k) {
    const auto from = static_cast<std::size_t>(made.edges[k].from);
    const auto to = static_cast<std::size_t>(made.edges[k].to);
    CHECK(made.nodes[to].level == made.nodes[from].level + 1);
    CHECK(made.nodes[to].t == doctest::Approx(made.nodes[to].level * options.h));
    ways[to] += ways[from];
    const auto& in = made.nodes[to].in;
    CHECK(std::find(in.begin(), in.end(), static_cast<int>(k)) != in.end());
  }
  for (std::size_t k = 0; k < made.nodes.size(); ++k) CHECK((made.nodes[k].paths == ways[k]));
}

}  // namespace

TEST_SUITE("schemes/merged_tree") {
  TEST_CASE("x' in sign(x) from 0: (N+1)^2 states, the ways follow their recursion") {
    for (const double h : {0.25, 1e-9}) {
      CAPTURE(h);
      for (int steps = 1; steps <= 8; ++steps) {
        // From 0 to -h, 0, h; from ±h back to 0 (λ = ∓1) or on; from ±k h, k > 1, on.
        std::vector<Integer> ways(static_cast<std::size_t>(2 * steps + 3), 0);
        const auto at = [&](int k) -> Integer& {
          return ways[static_cast<std::size_t>(k + steps + 1)];
        };
        at(0) = 1;
        for (int level = 0; level < steps; ++level) {
          std::vector<Integer> next(ways.size(), 0);
          for (int k = -level; k <= level; ++k)
            for (int to = -steps; to <= steps; ++to) {
              const bool on = to != 0 && to - k == (to > 0 ? 1 : -1);
              const bool zero = to == 0 && std::abs(k) <= 1;
              if (on || zero) next[static_cast<std::size_t>(to + steps + 1)] += at(k);
            }
          ways = next;
        }
        Integer total = 0;
        for (const Integer& number : ways) total += number;
        const MergedTreeOptions options{.h = h, .steps = steps};
        const MergedTree made = tree(unstable_sign(), Vector{{0}}, options);
        CAPTURE(steps);
        CHECK(made.complete);
        CHECK(made.nodes.size() == static_cast<std::size_t>((steps + 1) * (steps + 1)));
        CHECK(made.ends == 2 * steps + 1);
        CHECK((made.paths == total));
        CHECK((made.dying == 0));
        check_consistent(made, options);
      }
    }
  }

  // [RAB] eq. (9): z moves x along B, so that y = B2 x1 - B1 x2 is the same on every way and grows
  // by h B2: the states after k steps are the points of x2 in |x1| + sign(x1) with that y, whatever
  // the way. All of them are reached from all, hence the number of ways.

  TEST_CASE("the repulsive case of [RAB]: 2 states after every step, 2^N ways") {
    // B = (-1, 1/2), y = x1/2 + x2 = -1 + t/2: the left branch (x1 = -2 (y + 1)) and sliding.
    const MergedTreeOptions options{.h = 0.1, .steps = 12, .state = {0, 1}};
    const MergedTree made = tree(switching_dae::own_law(-1, 0.5), Vector{{0, -1, 0}}, options);
    CHECK(made.complete);
    CHECK(made.nodes.size() == 25);
    CHECK(made.ends == 2);
    CHECK((made.paths == 4096));
    check_consistent(made, options);
    for (std::size_t k = 1; k < made.nodes.size(); ++k) {
      const MergedNode& node = made.nodes[k];
      const double y = -1 + node.t / 2;
      const bool slides = std::abs(node.x[0]) < 1e-12;
      CHECK(node.survives);
      CHECK(node.x[0] == doctest::Approx(slides ? 0 : -2 * (y + 1)));
      CHECK(node.x[1] == doctest::Approx(slides ? y : 2 * (y + 1) - 1));
    }
  }

  TEST_CASE("the 2^130 ways of 130 steps of it are counted exactly") {
    const MergedTreeOptions options{.h = 0.1, .steps = 130, .state = {0, 1}};
    const MergedTree made = tree(switching_dae::own_law(-1, 0.5), Vector{{0, -1, 0}}, options);
    CHECK(made.complete);
    CHECK(made.paths.str() == "1361129467683753853853498429727072845824");  // 2^130
  }

  TEST_CASE("B = (2, 1): 2^35 ways meet in (0, -1) and die there") {
    // y = x1 - 2 x2 = -7 + t: two points of the graph for y < 2, one for y = 2, none above.
    const MergedTreeOptions options{.h = 0.25, .steps = 40, .state = {0, 1}};
    const MergedTree made = tree(switching_dae::own_law(2, 1), Vector{{-3, 2, 0}}, options);
    CHECK(made.complete);
    CHECK(made.ends == 0);
    CHECK((made.paths == 0));
    CHECK(made.dying.str() == "34359738368");  // 2^35
    CHECK(made.nodes.size() == 1 + 2 * 35 + 1);
    int dead = 0;
    for (const MergedNode& node : made.nodes) {
      CHECK_FALSE(node.survives);
      dead += node.status == Status::no_solution ? 1 : 0;
    }
    CHECK(dead == 1);
    const MergedNode& last = made.nodes.back();
    CHECK(last.status == Status::no_solution);
    CHECK(last.t == doctest::Approx(9));
    CHECK(std::abs(last.x[0]) < 1e-12);
    CHECK(last.x[1] == doctest::Approx(-1));
    check_consistent(made, options);
  }

  TEST_CASE("states that agree in what the next step depends on are one node") {
    // Two solutions that differ in an algebraic variable: y in {-1, 1}, ẋ = 0.
    const auto list = [](const Vector& x, double t, double h) {
      StepChoices choices;
      for (const double y : {-1.0, 1.0})
        choices.list.push_back({{t + h, Vector{{x[0], y}}, Vector(), Vector(), Mode()}, 0});
      return choices;
    };
    const MergedTree by_state =
        merged_tree(list, Vector{{3, 0}}, 0, {.h = 1, .steps = 4, .state = {0}});
    CHECK(by_state.nodes.size() == 5);
    CHECK(by_state.edges.size() == 8);
    CHECK((by_state.paths == 16));
    const MergedTree by_all = merged_tree(list, Vector{{3, 0}}, 0, {.h = 1, .steps = 4});
    CHECK(by_all.nodes.size() == 9);
    CHECK((by_all.paths == 16));
  }

  TEST_CASE("a budget ends the tree and what was not followed is marked") {
    const MergedTreeOptions options{.h = 0.25, .steps = 6, .max_nodes = 20};
    const MergedTree made = tree(unstable_sign(), Vector{{0}}, options);
    CHECK_FALSE(made.complete);
    CHECK(made.message.find("20 nodes") != std::string::npos);
    CHECK(made.nodes.size() == 20);
    int open = 0;
    for (const MergedNode& node : made.nodes) {
      CHECK(node.status != Status::never_run);
      CHECK(node.status != Status::no_solution);
      open += node.status == Status::not_enumerated ? 1 : 0;
    }
    CHECK(open > 0);
    check_consistent(made, options);
  }

  TEST_CASE("a list that is not proved complete makes the tree incomplete, and nothing dies") {
    const auto list = [](const Vector&, double, double) {
      return StepChoices{{}, false, "the search gave up"};
    };
    const MergedTree made = merged_tree(list, Vector{{0}}, 0, {.h = 1, .steps = 2});
    CHECK_FALSE(made.complete);
    CHECK(made.message.find("gave up") != std::string::npos);
    CHECK((made.dying == 0));
    CHECK(made.nodes[0].status == Status::not_solved);
  }

  TEST_CASE("options out of their range are named") {
    const auto list = [](const Vector&, double, double) { return StepChoices{}; };
    const Vector x0{{0}};
    CHECK_THROWS_AS(merged_tree(list, x0, 0, {.h = 0, .steps = 1}), InvalidInput);
    CHECK_THROWS_AS(merged_tree(list, x0, 0, {.h = 1, .steps = 0}), InvalidInput);
    CHECK_THROWS_AS(merged_tree(list, x0, 0, {.h = 1, .steps = 1, .max_nodes = 0}), InvalidInput);
    CHECK_THROWS_AS(merged_tree(list, x0, 0, {.h = 1, .steps = 1, .state = {1}}), InvalidInput);
  }
}
