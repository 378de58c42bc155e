#include <doctest/doctest.h>
#include <array>
#include <cmath>
#include <random>

#include <perp/core/base/error.hpp>
#include <perp/core/dcs.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>

#include <perp/schemes/step_mlcp.hpp>
#include <perp/tests/schemes/continuation/pushed_block.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;
using switching_dae::own_law;

namespace {

Step at(const Vector& x, Mode mode) {
  const auto m = static_cast<Eigen::Index>(mode.size());
  return {0, x, Vector::Zero(m), Vector::Zero(m), std::move(mode)};
}

/// The exact solution of [RAB] (10) from (x1, −1 − x1) with x1 < 0, which crosses: B2/B1 < −1.
Vector crossing(double B1, double B2, double x1, double h) {
  const double enters = -x1 * (B1 + B2) / B2;  // proof of Proposition 2, case 1
  if (h <= enters) return Vector{{x1 + h * B2 / (B1 + B2), -1 - x1 - h * B2 / (B1 + B2)}};
  const double leaves = enters - 2 * B1 / B2;  // case 3
  if (h <= leaves) return Vector{{0, -1 - (h - enters) * B2 / B1}};
  const double rate = -B2 / (B1 - B2);  // case 2
  return Vector{{(h - leaves) * rate, 1 + (h - leaves) * rate}};
}

double difference(const Vector& x, const Vector& exact) {
  return (x.head(2) - exact).lpNorm<Eigen::Infinity>() / (1 + exact.lpNorm<Eigen::Infinity>());
}

Model model(const std::string& text) { return read_model_text(text, "m.toml"); }

}  // namespace

TEST_SUITE("schemes/continuation/step_path") {
  TEST_CASE(
      "[RAB] A = 0: the path is the exact solution, entry into and exit from sliding included, for "
      "any B that crosses and any h") {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> unit(0, 1);
    std::array<int, 3> breaks{};
    for (int k = 0; k < 200; ++k) {
      const double B1 = (unit(random) < 0.5 ? -1 : 1) * (0.1 + 2 * unit(random));
      const double B2 = -B1 * (1.1 + 3 * unit(random));
      const double x1 = -3 * unit(random) - 0.01;
      const double h = 0.01 + 8 * unit(random);
      const StepPath path = follow(own_law(B1, B2), at(Vector{{x1, -1 - x1, 0}}, {0}), h);
      REQUIRE(path.status == Status::solved);
      CHECK(difference(path.end.x, crossing(B1, B2, x1, h)) < 1e-10);
      REQUIRE(path.breaks.size() < 3);
      ++breaks[path.breaks.size()];
      const double enters = -x1 * (B1 + B2) / B2;
      if (!path.breaks.empty()) CHECK(path.breaks[0].h == doctest::Approx(enters).epsilon(1e-11));
      if (path.breaks.size() > 1)
        CHECK(path.breaks[1].h == doctest::Approx(enters - 2 * B1 / B2).epsilon(1e-11));
      for (const StepPath::Break& change : path.breaks) CHECK(change.jump == 0);
    }
    for (const int count : breaks) CHECK(count > 20);
  }

  TEST_CASE(
      "[RAB] 3.3.3, B2/B1 > 1: the path folds back at (0, -1) and goes on at the consistent jump") {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> unit(0, 1);
    for (int k = 0; k < 100; ++k) {
      const double B1 = (unit(random) < 0.5 ? -1 : 1) * (0.1 + 2 * unit(random));
      const double B2 = B1 * (1.2 + 3 * unit(random));
      const double x1 = -3 * unit(random) - 0.01;
      const double ends = -x1 * (B1 + B2) / B2;
      const Vector landing{{2 * B1 / (B2 - B1), (B1 + B2) / (B2 - B1)}};
      const Step from = at(Vector{{x1, -1 - x1, 0}}, {0});
      const double before = ends * unit(random);
      const StepPath stays = follow(own_law(B1, B2), from, before);
      REQUIRE(stays.status == Status::solved);
      CHECK(stays.breaks.empty());
      CHECK(difference(stays.end.x, crossing(B1, B2, x1, before)) < 1e-10);
      const double rest = 0.01 + unit(random);
      const StepPath jumps = follow(own_law(B1, B2), from, ends + rest);
      REQUIRE(jumps.status == Status::solved);
      REQUIRE(jumps.breaks.size() == 1);
      CHECK(jumps.breaks[0].h == doctest::Approx(ends).epsilon(1e-11));
      CHECK(jumps.breaks[0].after == Mode{2});
      CHECK(jumps.breaks[0].jump ==
            doctest::Approx((landing - Vector{{0, -1}}).norm()).epsilon(1e-4));
      const double rate = B2 / (B2 - B1);
      CHECK(difference(jumps.end.x, landing + Vector{{rest * rate, rest * rate}}) < 1e-10);
    }
  }

  TEST_CASE(
      "[RAB] 3.4.1, 0 < B2/B1 < 1: the path ends at (0, -1), although a longer step has "
      "solutions") {
    // x0 = (−5, 4), B = (2, 1): the source names the step h = 1 that has a solution at (10, 11).
    const Lcs lcs = own_law(2, 1);
    const StepPath first = follow(lcs, at(Vector{{-5, 4, 0}}, {0}), 1);
    REQUIRE(first.status == Status::solved);
    CHECK(difference(first.end.x, crossing(2, 1, -5, 1)) < 1e-12);
    const StepPath path = follow(lcs, at(Vector{{-5, 4, 0}}, {0}), 20);
    CHECK(path.status == Status::no_solution);
    CHECK(path.end.h == doctest::Approx(15).epsilon(1e-11));
    CHECK(difference(path.end.x, Vector{{0, -1}}) < 1e-10);
    CHECK(path.message.find("ends at a step of 15") != std::string::npos);
  }

  TEST_CASE("minimal_norm leaves the exact solution at a long step, the path does not") {
    const Lcs lcs = own_law(1, 2);
    const Vector x{{-1.5, 0.5, 0}};
    const Nearest nearest_solution = [&] {
      const Mlcp problem = step_problem(lcs, x, 0, 2);
      return nearest(problem, enumerate(problem), step_norm(lcs, x));
    }();
    const Vector exact = crossing(1, 2, -1.5, 2);
    CHECK(difference(nearest_solution.minimisers.front().u, exact) > 0.1);
    const StepPath path = follow(lcs, at(x, {0}), 2);
    REQUIRE(path.status == Status::solved);
    CHECK(difference(path.end.x, exact) < 1e-12);
  }

  TEST_CASE("the path of an Lcs and of the same system as a Dcs are the same") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> unit(-1, 1);
    int broken = 0;
    for (int k = 0; k < 40; ++k) {
      const Lcs lcs = own_law(unit(random), 2 * unit(random), unit(random), unit(random));
      const double x1 = -0.5 + 0.4 * unit(random);
      const Step from = at(Vector{{x1, -1 - x1, 0}}, {0});
      const double h = 1 + unit(random);
      const StepPath affine = follow(lcs, from, h);
      const StepPath newton = follow(as_dcs(lcs), from, h);
      REQUIRE(affine.status == newton.status);
      if (affine.status != Status::solved) continue;
      CHECK((affine.end.x.head(2) - newton.end.x.head(2)).norm() <
            1e-8 * (1 + affine.end.x.head(2).norm()));
      REQUIRE(affine.breaks.size() == newton.breaks.size());
      for (std::size_t b = 0; b < affine.breaks.size(); ++b) {
        CHECK(affine.breaks[b].h == doctest::Approx(newton.breaks[b].h).epsilon(1e-7));
        CHECK(affine.breaks[b].after == newton.breaks[b].after);
      }
      broken += !affine.breaks.empty();
    }
    CHECK(broken > 5);
  }

  TEST_CASE("index 1: where the characteristic folds, z jumps and y does not") {
    // y = z between the folds at z = ±1 and falls outside: ẏ = 1 reaches the upper one at y = 1.
    const Model fold = model(R"(
name = "fold"
[variables]
y = 0
z = 0
[model]
equations = ["der(y) = 1", "y = abs(z + 1) - abs(z - 1) - z"]
[run]
t = [0, 1]
h = 0.1
)");
    const auto laws = static_cast<Eigen::Index>(fold.laws().size());
    const auto path = [&](double h) {
      const Step from{0, Vector::Zero(2), Vector::Zero(laws), Vector::Zero(laws), Mode{1, 0}};
      return fold.system.affine() != nullptr ? follow(fold.lcs(), from, h)
                                             : follow(*fold.equations, from, h);
    };
    const StepPath rises = path(0.9);
    REQUIRE(rises.status == Status::solved);
    CHECK(rises.breaks.empty());
    CHECK(rises.end.x[1] == doctest::Approx(0.9));
    const StepPath folds = path(2);
    REQUIRE(folds.status == Status::solved);
    REQUIRE(folds.breaks.size() == 1);
    CHECK(folds.breaks[0].h == doctest::Approx(1).epsilon(1e-11));
    CHECK(folds.breaks[0].jump < 1e-3);
    CHECK(folds.end.x[0] == doctest::Approx(2));
    CHECK(folds.end.x[1] == doctest::Approx(-4));
  }

  TEST_CASE("a step beyond a pole of the implicit equations is called too long") {
    // ẋ = 2 x: x⁺ = x/(1 − 2 h) runs to infinity as h → 1/2 and is negative beyond.
    const Lcs lcs{.E = Matrix{{1}}, .A = Matrix{{2}}, .b = Vector{{0}}};
    const StepPath near = follow(lcs, at(Vector{{1}}, {}), 0.49);
    REQUIRE(near.status == Status::solved);
    CHECK(near.end.x[0] == doctest::Approx(50));
    const StepPath beyond = follow(lcs, at(Vector{{1}}, {}), 1);
    CHECK(beyond.status == Status::not_solved);
    CHECK(beyond.end.h == doctest::Approx(0.5).epsilon(1e-6));
    CHECK(beyond.message.find("runs to infinity") != std::string::npos);
  }

  TEST_CASE("a law with memory leaves its branch at the end of its band and not before") {
    // ẋ = 1 − 2 u, u = 1 from x = 2 on until x falls to 0
    const Lcs lcs{.E = Matrix{{1}},
                  .A = Matrix{{0}},
                  .B = Matrix{{-2}},
                  .b = Vector{{1}},
                  .C = Matrix{{1}},
                  .D = Matrix{{0}},
                  .q = Vector{{0}},
                  .laws = {hysteresis(0, 2)}};
    const StepPath below = follow(lcs, at(Vector{{1.5}}, {0}), 0.4);
    REQUIRE(below.status == Status::solved);
    CHECK(below.breaks.empty());
    CHECK(below.end.x[0] == doctest::Approx(1.9));
    const StepPath beyond = follow(lcs, at(Vector{{1.5}}, {0}), 0.6);
    REQUIRE(beyond.breaks.size() == 1);
    CHECK(beyond.breaks[0].h == doctest::Approx(0.5).epsilon(1e-11));
    CHECK(beyond.end.x[0] == doctest::Approx(0.9));  // the whole step with u = 1
  }

  TEST_CASE("where the path folds back it goes on at the nearest solution, whatever λ does there") {
    // ẋ = 1 + λ₁ from x = 0: x⁺ = h until the first branch ends at 1; of the solutions beyond, x =
    // 3 h is nearer than x = −2 h, although λ₂ = 100 max(λ₁, 0) leaps there.
    const Law pieces{
        "pieces", {{0, 1, 0, {-inf, 1}, {}}, {0, 1, 2, {2, inf}, {}}, {0, 1, -3, {-inf, -1}, {}}}};
    const Law positive{"positive", {{0, 1, 0, {-inf, 0}, {}}, {-100, 1, 0, {0, inf}, {}}}};
    const Lcs lcs{.E = Matrix{{1}},
                  .A = Matrix{{0}},
                  .B = Matrix{{1, 0}},
                  .b = Vector{{1}},
                  .C = Matrix{{1}, {0}},
                  .D = Matrix{{0, 0}, {1, 0}},
                  .q = Vector{{0, 0}},
                  .laws = {pieces, positive}};
    for (const StepPath& path : {follow(lcs, at(Vector{{0}}, {0, 0}), 1.5),
                                 follow(as_dcs(lcs), at(Vector{{0}}, {0, 0}), 1.5)}) {
      REQUIRE(path.status == Status::solved);
      REQUIRE(path.breaks.size() == 1);
      CHECK(path.breaks[0].h == doctest::Approx(1).epsilon(1e-11));
      CHECK(path.breaks[0].jump == doctest::Approx(2).epsilon(1e-4));
      CHECK(path.end.mode == Mode{1, 1});
      CHECK(path.end.x[0] == doctest::Approx(4.5));
    }
  }

  TEST_CASE("a contact on the level of positions, index 3, is followed from the fall into rest") {
    // ẏ = v, v̇ = λ − 1, 0 ≤ y ⊥ λ ≥ 0: y⁺ = y − h² until that is 0, then y⁺ = 0, λ⁺ = 1 − y/h².
    const Lcs lcs{.E = Matrix::Identity(2, 2),
                  .A = Matrix{{0, 1}, {0, 0}},
                  .B = Matrix{{0}, {1}},
                  .b = Vector{{0, -1}},
                  .C = Matrix{{1, 0}},
                  .D = Matrix{{0}},
                  .q = Vector{{0}},
                  .laws = {complementarity()}};
    for (const double h : {0.01, 1.0, 50.0})
      for (const bool newton : {false, true}) {
        CAPTURE(h);
        const auto path = [&](const Step& from) {
          return newton ? follow(as_dcs(lcs), from, h) : follow(lcs, from, h);
        };
        const Step rest{0, Vector{{0, 0}}, Vector{{1}}, Vector{{0}}, {1}};
        const StepPath rests = path(rest);
        REQUIRE(rests.status == Status::solved);
        CHECK(rests.breaks.empty());
        CHECK(rests.end.lambda[0] == doctest::Approx(1));
        const double y = 0.2 * h * h;
        const StepPath lands = path({0, Vector{{y, 0}}, Vector{{0}}, Vector{{y}}, {0}});
        REQUIRE(lands.status == Status::solved);
        REQUIRE(lands.breaks.size() == 1);
        CHECK(lands.breaks[0].h == doctest::Approx(std::sqrt(y)).epsilon(1e-9));
        CHECK(lands.end.lambda[0] == doctest::Approx(0.8));
      }
  }

  TEST_CASE("a mode of index 3 is followed although its equations are singular for h → 0") {
    // 0 = y, ẏ ∝ v, v̇ ∝ z − (2 cos t − 1), and a sign that watches z.
    const Model held = model(R"toml(
name = "held"
[variables]
y = 0
v = 0
z = 0
[system]
E = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
A = [[0, 1.95, 0], [0, 0, 0.16], [-0.054, 0, 0]]
B = [[0], [0], [0]]
b = [0, "-0.16*(2*cos(t) - 1)", 0]
C = [[0, 0, 1]]
laws = ["sign"]
[run]
t = [0, 1]
h = 1
)toml");
    for (const double h : {1e-3, 0.8, 2.5}) {
      CAPTURE(h);
      const StepPath path =
          follow(held.lcs(), {0, Vector{{0, 0, 1}}, Vector{{1}}, Vector{{1}}, {2}}, h);
      REQUIRE(path.status == Status::solved);
      CHECK(path.end.x[2] == doctest::Approx(2 * std::cos(h) - 1));
      CHECK(path.breaks.size() == (h > 1.1 ? 1 : 0));
      if (h > 1.1) CHECK(path.breaks[0].h == doctest::Approx(std::acos(0.5)).epsilon(1e-9));
    }
  }

  TEST_CASE(
      "a start of an unknown mode finds its own; one that is no state of the system is refused") {
    const Lcs falls{.E = Matrix{{1}},
                    .A = Matrix{{0}},
                    .B = Matrix{{1}},
                    .b = Vector{{-1}},
                    .C = Matrix{{1}},
                    .D = Matrix{{0}},
                    .q = Vector{{0}},
                    .laws = {complementarity()}};
    const Vector one{{1}};
    for (const bool newton : {false, true}) {
      const auto path = [&](const Step& from) {
        return newton ? follow(as_dcs(falls), from, 2) : follow(falls, from, 2);
      };
      const StepPath lands = path({0, one, {}, {}, {}});
      REQUIRE(lands.status == Status::solved);
      CHECK(lands.end.x[0] == 0);
      CHECK(lands.end.lambda[0] == doctest::Approx(0.5));
      const auto refused = [&](const Step& from, const char* message) {
        CHECK_THROWS_WITH_AS(path(from), message, InvalidInput);
      };
      refused({0, Vector{{1, 1}}, {}, {}, {}}, "x must have 1 entries but has 2");
      refused({0, Vector{{perp::nan}}, {}, {}, {}}, "t and x must be finite");
      refused({0, one, one, one, {0, 0}}, "mode must have 1 entries or none but has 2");
      refused({0, one, one, one, {7}}, "mode: law 1 has no branch 7");
      refused({0, one, Vector{{1, 1}}, {}, {0}}, "lambda must have 1 finite numbers or none");
    }
  }

  TEST_CASE("a force that jumps in time within the step does not end the path") {
    // v' = f(t) − λ, λ ∈ sign(v): at rest until f jumps from 1/2 to 3/2
    const StepPath path =
        follow(test::pushed_block("1 + 0.5*sign(t - 0.4)"), at(Vector{{0}}, {1}), 1);
    REQUIRE(path.status == Status::solved);
    REQUIRE(!path.breaks.empty());
    CHECK(path.breaks.front().h == doctest::Approx(0.4).epsilon(1e-6));
    CHECK(path.end.mode == Mode{2});
    CHECK(path.end.x[0] == doctest::Approx(0.5));  // one step with the force at its end
  }
}
