#include <doctest/doctest.h>
#include <cmath>

#include <perp/schemes/step/step_solutions.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>

using namespace perp;

namespace {

/// x' = -x beside a root of several folds, y = 0.
struct MultipleRoot {
  int kind;
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    using std::cos;
    const auto& y = x[1];
    r[0] = xdot[0] + x[0];
    if (kind == 0)
      r[1] = y * y;
    else if (kind == 1)
      r[1] = y * y * y;
    else if (kind == 2)
      r[1] = 1.0 - cos(y);
    else
      r[1] = y * y * y * y * (y - 1.0);
  }
  void output(const auto&, const auto&, const auto&, auto&) const {}
};

/// x' = -x³ beside 0 = y + z, 0 = 2 y + 2 z, which leave a line.
struct OpenLine {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + x[0] * x[0] * x[0];
    r[1] = x[1] + x[2];
    r[2] = 2.0 * x[1] + 2.0 * x[2];
  }
  void output(const auto&, const auto&, const auto&, auto&) const {}
};

}  // namespace

TEST_SUITE("schemes/multiple_roots") {
  TEST_CASE(
      "a multiple root is no continuum; one is shown where equations are linear in what they leave "
      "open") {
    for (const int kind : {0, 1, 2, 3}) {
      CAPTURE(kind);
      const StepSolutions found =
          solutions(make_dcs(MultipleRoot{kind}, 2, {}), Vector{{0, 0}}, 0, 0.1);
      REQUIRE(!found.list.empty());
      CHECK(found.count_different_x() > 0);
      for (const StepSolution& solution : found.list)
        if (solution.x[1] == 0) {
          CHECK(solution.isolated);
          CHECK_FALSE(solution.simple);
        }
    }
    const StepSolutions line = solutions(make_dcs(OpenLine{}, 3, {}), Vector{{1, 2, -2}}, 0, 0.1);
    REQUIRE(line.list.size() == 1);
    CHECK_FALSE(line.list[0].isolated);
    CHECK(line.count_different_x() == -1);
  }
}
