#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/located/equilibria/equilibria.hpp>

using namespace perp;

namespace {

/// ẋ = y + a λ, ẏ = b + c λ with λ ∈ sign(x).
struct Fold {
  double a = 0, b = 1, c = 0;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (x[1] + a * lambda[0]);
    r[1] = xdot[1] - (b + c * lambda[0]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// The same in three dimensions, ż = z: the tangent points are lines.
struct Line {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (x[1] - 2 * lambda[0]);
    r[1] = xdot[1] - 1;
    r[2] = xdot[2] - x[2];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// ẋ = y - 2 λ, ẏ = 1 in units of 1e-9, ż = 0.
struct Small {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (x[1] - 2e-9 * lambda[0]);
    r[1] = xdot[1] - 1e-9;
    r[2] = xdot[2];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

}  // namespace

TEST_SUITE("schemes/located/tangent_points") {
  TEST_CASE("Example 3.1 of [BJ]: the sliding set ends at x2 = 1/3 and x2 = 5") {
    const Model model = read_model(find_model("filippov_dae"));
    const auto points = find_tangent_points(*model.equations, 0, model.x0());
    REQUIRE(points.size() == 2);
    CHECK(points[0].mode == Mode{0});
    CHECK(std::abs(points[0].x[0]) < 1e-12);
    CHECK(points[0].x[1] == doctest::Approx(5));
    CHECK(points[1].mode == Mode{2});
    CHECK(points[1].x[1] == doctest::Approx(1.0 / 3));
    for (const TangentPoint& point : points) {
      CHECK(point.isolated);
      CHECK(point.at_end);
      CHECK(std::abs(point.x[2]) < 1e-12);  // y
    }
    // F1 at (0, 5): x₂' = −5, so x₁'' = −x₁' − 3 x₂' + y' = 15 (y = x₁), away from x₁ < 0
    CHECK(points[0].curvature == doctest::Approx(-15));
    // F2 at (0, 1/3): x₂' = 1/3, x₁'' = 3 x₂' = 1 (y = −x₁, y' = 0), into x₁ > 0
    CHECK(points[1].curvature == doctest::Approx(1));
  }

  TEST_CASE("both flows touch where their speeds vanish, visibly or not") {
    // left: λ = −1: ẋ = y + 2, right: ẋ = y − 2; ẍ = 1 on both sides
    const auto points =
        find_tangent_points(make_dcs(Fold{-2, 1, 0}, 2, {sign()}), 0, Vector{{0.3, 0.4}});
    REQUIRE(points.size() == 2);
    CHECK(points[0].x[1] == doctest::Approx(-2));
    CHECK(points[0].curvature == doctest::Approx(-1));  // invisible from the left
    CHECK(points[1].x[1] == doctest::Approx(2));
    CHECK(points[1].curvature == doctest::Approx(1));
    for (const TangentPoint& point : points) CHECK(point.at_end);
  }

  TEST_CASE("in three dimensions the tangent points are a line, of which one is given") {
    const auto points =
        find_tangent_points(make_dcs(Line{}, 3, {sign()}), 0, Vector{{0.3, 0.4, 0.7}});
    REQUIRE(points.size() == 2);
    for (const TangentPoint& point : points) {
      CHECK_FALSE(point.isolated);
      CHECK(point.x[2] == doctest::Approx(0.7));
    }
  }

  TEST_CASE("a touch of a resting flow is an equilibrium and no tangent point") {
    // ẋ = y + λ, ẏ = −1 − λ: the left flow rests at (0, 1), the right one touches at (0, −1)
    const auto points =
        find_tangent_points(make_dcs(Fold{1, -1, -1}, 2, {sign()}), 0, Vector{{0.3, 0.4}});
    REQUIRE(points.size() == 1);
    CHECK(points[0].mode == Mode{2});
    CHECK(points[0].x[1] == doctest::Approx(-1));
    CHECK(points[0].curvature == doctest::Approx(-2));
  }

  TEST_CASE("laws without a sliding branch have no tangent points") {
    CHECK(find_tangent_points(make_dcs(Fold{}, 2, {absolute()}), 0, Vector{{0, 0}}).empty());
  }

  TEST_CASE("variables in small units beside others in large ones have their tangent points") {
    EquilibriumOptions options;
    options.scale = Vector{{1e-9, 1e-9, 1e9}};
    const auto points = find_tangent_points(make_dcs(Small{}, 3, {sign()}), 0,
                                            Vector{{0.3e-9, 0.4e-9, 1e9}}, options);
    REQUIRE(points.size() >= 2);
    for (const TangentPoint& point : points)
      CHECK(std::abs(point.x[1]) == doctest::Approx(2e-9).epsilon(1e-6));
  }
}
