#include <doctest/doctest.h>
#include <cmath>

#include <perp/core/recorder.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/jumps/solution_tree.hpp>
#include <perp/schemes/step/step_solutions.hpp>

using namespace perp;

namespace {

/// ẋ = y - 3,  0 = y where x < 0, 0 = x where x > 0: from x = 0 every step may stay or leave.
struct TwoBranches {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (x[1] - 3);
    r[1] = lambda[0] * x[1] + (1 - lambda[0]) * x[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = -x[0]; }
};

/// ẋ = -x.
struct Decay {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + x[0];
  }
};

std::vector<TreeNode> tree(const Dcs& system, const Vector& x0, TreeOptions options) {
  const BackwardEuler scheme{.h = options.h};
  const auto make = [&] { return std::make_unique<NonlinearCapturing>(system, scheme); };
  const auto list = [&](const Vector& x, double t, double h) {
    std::vector<Choice> choices;
    for (const StepSolution& solution : solutions(system, x, t, h).list)
      choices.push_back(
          {{t + h, solution.x, solution.lambda, solution.w, solution.mode}, solution.norm});
    return choices;
  };
  return solution_tree(make, list, system.laws, x0, 0, options);
}

}  // namespace

TEST_SUITE("schemes/solution_tree") {
  TEST_CASE("two ways from one point: both are followed to the end, the selector's is marked") {
    const auto nodes = tree(make_dcs(TwoBranches{}, 2, {step()}), Vector{{0, 3}},
                            {.end = 1, .h = 0.1});
    REQUIRE(nodes.size() == 3);
    REQUIRE(nodes[0].children == std::vector{1, 2});
    double stays = perp::nan, leaves = perp::nan;
    for (const int child : nodes[0].children) {
      const TreeNode& node = nodes[static_cast<std::size_t>(child)];
      CHECK(node.status == Status::solved);
      CHECK(node.end.t == doctest::Approx(1));
      (node.chosen ? stays : leaves) = node.end.x[0];
      CHECK(node.norm == doctest::Approx(node.chosen ? 0 : 0.3));
    }
    CHECK(std::abs(stays) < 1e-12);
    CHECK(leaves == doctest::Approx(-3));
  }

  TEST_CASE("a unique solution is a tree of one node") {
    const auto nodes = tree(make_dcs(Decay{}, 1), Vector{{1}}, {.end = 1, .h = 0.25});
    REQUIRE(nodes.size() == 1);
    CHECK(nodes[0].status == Status::solved);
    CHECK(nodes[0].end.x[0] == doctest::Approx(std::pow(0.8, 4)));
  }
}
