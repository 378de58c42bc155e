#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/core/dcs.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>

using namespace perp;

namespace {

/// ẋ = 2 x − λ, 0 ≤ 3 − x ⊥ λ ≥ 0. From x = 1 a step has x⁺ = 1/(1 − 2 h), which is 3 at h = 1/3
/// and runs to infinity at 1/2; beyond, the same formula is negative and satisfies the constraint
/// again.
Lcs growth_to_a_wall() {
  return {.E = Matrix{{1}},
          .A = Matrix{{2}},
          .B = Matrix{{-1}},
          .b = Vector{{0}},
          .C = Matrix{{-1}},
          .D = Matrix{{0}},
          .q = Vector{{3}},
          .laws = {complementarity()}};
}

/// y' = k (x − y) − λ, x' = −k x, 0 ≤ 1/5 − y ⊥ λ ≥ 0. From (x, y) = (1, 0): y⁺ = h k/(1 + h k)²,
/// above 1/5 between h k = (3 ∓ √5)/2.
Lcs brief_overshoot(double k) {
  return {.E = Matrix::Identity(2, 2),
          .A = Matrix{{-k, 0}, {k, -k}},
          .B = Matrix{{0}, {-1}},
          .b = Vector{{0, 0}},
          .C = Matrix{{0, -1}},
          .D = Matrix{{0}},
          .q = Vector{{0.2}},
          .laws = {complementarity()}};
}

Step free_at(const Vector& x, double w) {
  return {0, x, Vector::Zero(1), Vector::Constant(1, w), {0}};
}

/// The path of a system and that of the same one solved by Newton's method.
std::vector<StepPath> paths(const Lcs& lcs, const Step& from, double h) {
  return {follow(lcs, from, h), follow(as_dcs(lcs), from, h)};
}

}  // namespace

TEST_SUITE("schemes/continuation/pole_limit") {
  TEST_CASE("a constraint that is met before a pole stops the path however long the step is") {
    std::mt19937 random(4);
    std::uniform_real_distribution<double> exponent(-0.45, 4);
    for (int k = 0; k < 100; ++k) {
      const double h = std::pow(10.0, exponent(random));
      CAPTURE(h);
      for (const StepPath& path : paths(growth_to_a_wall(), free_at(Vector{{1}}, 2), h)) {
        REQUIRE(path.status == Status::solved);
        REQUIRE(path.breaks.size() == 1);
        CHECK(path.breaks[0].h == doctest::Approx(1.0 / 3).epsilon(1e-10));
        CHECK(path.breaks[0].jump == 0);
        CHECK(path.end.x[0] == doctest::Approx(3).epsilon(1e-10));
        CHECK(path.end.lambda[0] == doctest::Approx(6 - 2 / h).epsilon(1e-8));
      }
    }
  }

  TEST_CASE("a visit to a constraint much shorter than the step is seen") {
    for (const double k : {1.0, 30.0, 1e3, 1e5})
      for (const StepPath& path : paths(brief_overshoot(k), free_at(Vector{{1, 0}}, 0.2), 10)) {
        CAPTURE(k);
        REQUIRE(path.status == Status::solved);
        REQUIRE(path.breaks.size() == 2);
        CHECK(path.breaks[0].h * k == doctest::Approx((3 - std::sqrt(5.0)) / 2).epsilon(1e-9));
        CHECK(path.breaks[1].h * k == doctest::Approx((3 + std::sqrt(5.0)) / 2).epsilon(1e-9));
        CHECK(path.breaks[1].after == Mode{0});
        CHECK(path.end.x[1] == doctest::Approx(10 * k / ((1 + 10 * k) * (1 + 10 * k))));
      }
  }

  TEST_CASE("a pole that the state does not excite is passed, one that it does is not") {
    const Lcs lcs{.E = Matrix::Identity(2, 2), .A = Matrix{{2, 0}, {0, -1}}, .b = Vector{{0, 0}}};
    for (const double h : {0.49, 0.51, 1.0, 1e3, 1e6}) {
      CAPTURE(h);
      const StepPath rests = follow(lcs, {0, Vector{{0, 1}}, {}, {}, {}}, h);
      REQUIRE(rests.status == Status::solved);
      CHECK(rests.breaks.empty());
      CHECK(rests.end.x[0] == 0);
      CHECK(rests.end.x[1] == doctest::Approx(1 / (1 + h)));
      for (const double x : {1.0, -1e-3}) {
        const StepPath grows = follow(lcs, {0, Vector{{x, 1}}, {}, {}, {}}, h);
        CHECK((grows.status == Status::solved) == (h < 0.5));
        if (h > 0.5) CHECK(grows.message.find("runs to infinity") != std::string::npos);
      }
    }
  }
}
