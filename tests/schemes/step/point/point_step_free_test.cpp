// Modes with a multiplier that no equation reads: the potential of a part of a circuit that its diodes cut off.
#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step/point/point_step.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;

namespace {

/// A bridge of four diodes between a resonant circuit and a capacitor with a resistor; λ2 is the potential between them.
Lcs bridge(double L, double C, double R, double Cp) {
  return validated(Lcs{.A = Matrix{{0, -1 / C, 0}, {1 / L, 0, 0}, {0, 0, -1 / (R * Cp)}},
                       .B = Matrix{{0, 0, -1 / C, 1 / C}, {0, 0, 0, 0}, {1 / Cp, 0, 1 / Cp, 0}},
                       .C = Matrix{{0, 0, 1}, {0, 0, 0}, {-1, 0, 1}, {1, 0, 0}},
                       .D = Matrix{{0, -1, 0, 0}, {1, 0, 1, -1}, {0, -1, 0, 0}, {0, 1, 0, 0}},
                       .laws = std::vector<perp::Law>(4, complementarity())});
}

const Mode cut_off{0, 1, 0, 0};

bool is_near(double a, double b, double rounding) { return std::abs(a - b) <= rounding + 8 * unit_roundoff * std::abs(b); }

}  // namespace

TEST_SUITE("schemes/step/point/point_step_free") {
  TEST_CASE("a mode with a multiplier that no equation reads gives at a point what its map gives: state, room and multiplier") {
    std::mt19937 random(31);
    std::uniform_real_distribution<double> size(0.2, 3), value(-2, 2);
    int inside = 0, outside = 0;
    for (int trial = 0; trial < 300; ++trial) {
      CAPTURE(trial);
      const Lcs lcs = bridge(size(random), size(random), size(random), size(random));
      StepEquations equations(lcs, trial % 2 == 0 ? 1 : 0.5);
      const double h = 0.01 * size(random);
      Vector x{{value(random), value(random), value(random)}};
      if (trial % 7 == 0) x[0] = 0;
      if (trial % 11 == 0) x[2] = x[0];
      std::vector<double> parameter(at(equations.parameters()));
      equations.parameter(x, 0, h, parameter.data());
      PointStep step(equations, 2 * h);
      step.set(h, parameter.data());
      const PointStep::Verdict verdict = step.solve(cut_off);
      const ParametricMlcp family = equations.family(h);
      const ModeMap map(family, cut_off);
      REQUIRE(map.kind() == ModeMap::Kind::regular);
      REQUIRE(verdict != PointStep::Verdict::undecided);
      CHECK((verdict == PointStep::Verdict::inside) == (map.verdict(parameter.data()) != ModeMap::Verdict::negative));
      for (int j = 0; j < 3; ++j) CHECK(is_near(step.x()[j], map.u(j, parameter.data()), map.u_rounding(j, parameter.data())));
      if (verdict != PointStep::Verdict::inside) {
        // The room that two ends leave the multiplier is the margin of the map, in units of the multiplier.
        double least = inf, of_map = inf;
        for (const PointStep::Margin& margin : step.margins()) least = std::min(least, margin.value);
        for (int i = 0; i < static_cast<int>(map.margins().size()); ++i) of_map = std::min(of_map, map.margin(i, parameter.data()));
        CHECK(least == doctest::Approx(of_map).epsilon(1e-12));
        ++outside;
        continue;
      }
      ++inside;
      Vector lambda(4), w(4);
      map.lambda(parameter.data(), lambda.data());
      map.w(parameter.data(), w.data());
      for (int i = 0; i < 4; ++i) {
        CHECK(is_near(step.lambda()[i], lambda[i], 2 * map.lambda_rounding(i, parameter.data()) + step.rounding().maxCoeff()));
        CHECK(is_near(step.w()[i], w[i], 2 * map.w_rounding(i, parameter.data()) + step.rounding().maxCoeff()));
        CHECK(step.lambda()[i] >= 0);
        CHECK(step.w()[i] >= 0);
        CHECK(step.lambda()[i] * step.w()[i] == 0);
      }
    }
    CHECK(inside > 50);
    CHECK(outside > 50);
  }

  TEST_CASE("one that is cut off and read by an equation, or whose law says something, is no free one") {
    Lcs lcs = bridge(1, 1, 1, 1);
    const auto verdict_of = [](const Lcs& other) {
      StepEquations equations(validated(other), 1);
      std::vector<double> parameter(at(equations.parameters()));
      equations.parameter(Vector{{1, 0, 2}}, 0, 0.01, parameter.data());
      PointStep step(equations, 0.01);
      step.set(0.01, parameter.data());
      return step.solve(cut_off);
    };
    CHECK(verdict_of(lcs) == PointStep::Verdict::inside);
    lcs.q = Vector{{0, 1e-30, 0, 0}};  // w = 1e-30 has no solution
    CHECK(verdict_of(lcs) == PointStep::Verdict::never);
    lcs.q = Vector(Vector::Zero(4));
    lcs.C(1, 0) = 1;  // w = x0 ties the state
    CHECK(verdict_of(lcs) == PointStep::Verdict::undecided);
    lcs.C(1, 0) = 0;
    lcs.B(1, 1) = 1;  // the multiplier drives the current
    CHECK(verdict_of(lcs) == PointStep::Verdict::undecided);
  }

  TEST_CASE("a mode whose law holds multipliers at what it contradicts has no solution at any point, and one that is singular only is undecided") {
    // [RAB] eq. (36): where the second multiplier is 0 the third law says 2 = 0.
    const Lcs index2 = switching_dae::lcp_form(-0.5, 1);
    StepEquations equations(validated(index2), 1);
    const double h = 0.25;
    std::vector<double> parameter(at(equations.parameters()));
    equations.parameter(Vector{{-5, 4, 0}}, 0, h, parameter.data());
    PointStep step(equations, h);
    step.set(h, parameter.data());
    const ParametricMlcp family = equations.family(h);
    int never = 0;
    Mode mode(3, 0);
    do {
      CAPTURE(mode[0]);
      CAPTURE(mode[1]);
      const PointStep::Verdict verdict = step.solve(mode);
      const ModeMap map(family, mode);
      CHECK((verdict == PointStep::Verdict::never) == (map.kind() != ModeMap::Kind::regular));
      if (verdict == PointStep::Verdict::never) {
        ++never;
        CHECK((map.kind() == ModeMap::Kind::never || map.inconsistency(parameter.data()) > 0.1));
      } else {
        CHECK((verdict == PointStep::Verdict::inside) == (map.verdict(parameter.data()) != ModeMap::Verdict::negative));
      }
    } while (next_mode(mode, index2.laws));
    CHECK(never == 2);
    Lcs loose = index2;
    loose.q = Vector(Vector::Zero(3));  // 0 = 0
    StepEquations others(validated(loose), 1);
    others.parameter(Vector{{-5, 4, 0}}, 0, h, parameter.data());
    PointStep other(others, h);
    other.set(h, parameter.data());
    CHECK(other.solve({0, 1, 1}) != PointStep::Verdict::never);
    CHECK(other.solve({0, 0, 1}) != PointStep::Verdict::never);
  }

  TEST_CASE("a step is split where the room of a multiplier that no equation reads ends") {
    const Lcs lcs = bridge(1, 1, 5, 2);
    const Trajectory run = integrate(lcs, Vector{{1, 0, 0.5}}, {0, 20}, BackwardEuler{.h = 0.01});
    REQUIRE(run.status == Status::solved);
    int ends = 0;
    for (std::size_t k = 1; k < run.events.size(); ++k) {
      const Event& event = run.events[k];
      const auto row = std::lower_bound(run.t.begin(), run.t.end(), event.t) - run.t.begin();
      if (event.kind != EventKind::mode_change || run.mode[static_cast<std::size_t>(row) - 1] != cut_off) continue;
      // |x0| reaches the voltage of the capacitor
      CHECK(std::abs(event.x_before[0]) == doctest::Approx(event.x_before[2]).epsilon(1e-12));
      ++ends;
    }
    CHECK(ends >= 6);
    CHECK(run.counts.at("split") >= ends / 2);
    CHECK_FALSE(run.counts.contains("refined"));
  }
}
