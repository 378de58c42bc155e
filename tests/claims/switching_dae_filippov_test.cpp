#include <perp/core/pencil/pencil.hpp>
#include <perp/tests/claims/switching_dae_exact.hpp>

using namespace claims;
using perp::BackwardEuler;
using perp::EventKind;
using perp::Status;
using perp::Trajectory;

namespace {

/// The ODE that is left of eq. (9) on the two sides after index reduction, [RAB] eqs. (15), (16),
/// with Filippov's convex hull between them:
///     ẋ = (f⁺ + f⁻)/2 + λ (f⁺ - f⁻)/2,   λ ∈ sign(x1)
Lcs reduced(const B& b) {
  const Vector minus = rates(b, left).x, plus = rates(b, right).x;
  return {.A = Matrix::Zero(2, 2),
          .B = (plus - minus) / 2,
          .b = Vector((plus + minus) / 2),
          .C = Matrix{{1, 0}},
          .laws = {perp::sign()}};
}

/// Branches of sign(x1) on which solutions of the reduced system start: 0, 1 (sliding), 2.
std::vector<int> starts(const Lcs& lcs, const Vector& x) {
  std::vector<int> list;
  const auto found = perp::consistent_jumps(lcs, x, 0);
  REQUIRE(found.starts_continuously());
  for (const auto& continuation : found.jumps.front().continuations)
    list.push_back(continuation.mode[0]);
  std::sort(list.begin(), list.end());
  return list;
}

/// ẋ = -sign(x), y = |x|: the state is x, y is an output with its own law.
const Lcs decay_and_its_size{.E = Matrix{{1, 0}, {0, 0}},
                             .A = Matrix{{0, 0}, {0, -1}},
                             .B = Matrix{{-1, 0}, {0, 1}},
                             .C = Matrix{{1, 0}, {1, 0}},
                             .laws = {perp::sign(), perp::absolute()}};

/// Its two sides as one field, convexified: (ẋ, ẏ) = (-1, -1) for x > 0, (1, -1) for x < 0.
const Lcs decay_reduced{.A = Matrix::Zero(2, 2),
                        .B = Matrix{{-1}, {0}},
                        .b = Vector{{0, -1}},
                        .C = Matrix{{1, 0}},
                        .laws = {perp::sign()}};

/// The other relaxation, component by component: ẏ ∈ sign(x) ẋ, with the same selection λ of the
/// sign.
struct DecayWithSelections {
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] + lambda[0];
    r[1] = xdot[1] + lambda[0] * lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

}  // namespace

TEST_SUITE("claims/switching_dae_filippov") {
  TEST_CASE("[RAB] (15), (16): the reduced system has the rates of modes 1 and 2, and z' = 0") {
    Draw draw(321);
    for (int k = 0; k < 60; ++k) {
      const B b = draw.B_with([](const B& v) { return std::abs(v.B1) != std::abs(v.B2); });
      for (const Branch branch : {left, right}) {
        const Vector x0 = draw.point(branch);
        const Motion piece{0, x0, branch, rates(b, branch)};
        const double end = std::min(1.0, 0.9 * piece.end());
        const auto dae =
            perp::integrate(b.law(), with_z(x0), {0, end}, BackwardEuler{.h = end / 4});
        const auto ode = perp::integrate(reduced(b), x0, {0, end}, BackwardEuler{.h = end / 4});
        CHECK((dae.x.back().head(2) - ode.x.back()).norm() < 1e-11 * (1 + x0.norm()));
        for (std::size_t step = 2; step < dae.size(); ++step)
          CHECK(dae.x[step][2] == doctest::Approx(dae.x[1][2]).epsilon(1e-9));
      }
    }
  }

  TEST_CASE("[RAB] 3.2: in the repulsive cones Filippov's sliding mode is mode 3: x2' = -B2/B1") {
    Draw draw(322);
    for (int k = 0; k < 80; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_repulsive(); });
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      const Vector x0{{0, draw.number(-8, 8)}};
      CHECK(rates(b, left).x[0] < 0);
      CHECK(rates(b, right).x[0] > 0);
      CHECK(starts(reduced(b), x0) == std::vector<int>{0, 1, 2});
      const auto found = perp::consistent_jumps(reduced(b), x0, 0);
      for (const auto& continuation : found.jumps.front().continuations)
        if (continuation.mode[0] == 1) {
          const Lcs lcs = reduced(b);
          const Vector rate = lcs.B * continuation.lambda + lcs.b(0);
          CHECK(std::abs(rate[0]) < 1e-12);
          CHECK(rate[1] == doctest::Approx(-b.B2 / b.B1));
        }
    }
  }

  TEST_CASE("[RAB] 3.2: in the crossing cones the reduced system has no sliding mode") {
    Draw draw(323);
    for (int k = 0; k < 80; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_crossing(); });
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CHECK(rates(b, left).x[0] > 0);  // both fields point to the right: no hull meets x1 = 0
      CHECK(rates(b, right).x[0] > 0);
      CHECK(starts(reduced(b), Vector{{0, draw.number(-8, 8)}}) == std::vector<int>{2});
    }
  }

  TEST_CASE("[RAB] 3.2: in the crossing cones the reduced system leaves the constraint, by 2") {
    Draw draw(324);
    for (int k = 0; k < 40; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_crossing(); });
      const Vector x0 = draw.point(left);
      const Solution exact = continuous_solution(b, x0);
      REQUIRE(exact.pieces.size() == 3);
      const double end = exact.pieces[2].t0 + 1;
      const auto ode = perp::integrate(reduced(b), x0, {0, end}, BackwardEuler{.h = end / 16});
      REQUIRE(ode.status == Status::solved);
      REQUIRE(ode.events.size() == 1);
      CHECK(ode.events[0].kind == EventKind::crossing);
      CHECK((ode.events[0].x_after - A_minus()).norm() < 1e-9);
      const Vector last = ode.x.back();
      CHECK(last[0] > 0);
      CHECK(last[1] - last[0] == doctest::Approx(-1));  // the constraint is x2 - x1 = 1
      // the relaxed constraint slides instead, and ends elsewhere
      const auto dae = perp::integrate(b.law(), with_z(x0), {0, end}, BackwardEuler{.h = end / 16});
      CHECK((dae.x.back().head(2) - exact.at(end).at(end)).norm() < 1e-10 * (1 + last.norm()));
      CHECK((dae.x.back().head(2) - last).norm() > 0.1);
    }
  }

  TEST_CASE("[RAB] Figure 3: B = (-1, 0.5) slides alike in both, B = (-0.5, 1) does not") {
    const auto sliding_rate = [](const B& b) {
      const auto run =
          perp::integrate(b.law(), Vector{{0, 0, 0}}, {0, 0.25}, BackwardEuler{.h = 0.125});
      return run.x.back()[1] / 0.25;
    };
    CHECK(sliding_rate({-1, 0.5}) == doctest::Approx(0.5));
    CHECK(sliding_rate({-0.5, 1}) == doctest::Approx(2));
    const auto states = [](const B& b) {
      std::vector<Vector> list;
      const auto set = perp::enumerate(perp::step_problem(reduced(b), Vector{{0, 0}}, 0, 0.25));
      for (const perp::Piece& piece : perp::pieces(set, 10))
        list.push_back(piece.vertices.col(0).head(2));
      return list;
    };
    const double third = 0.25 / 3;
    CHECK(same_points(states({-1, 0.5}),
                      {Vector{{-0.25, 0.25}}, Vector{{0, 0.125}}, Vector{{third, third}}}));
    CHECK(same_points(states({-0.5, 1}), {Vector{{2 * third, 2 * third}}}));
  }

  TEST_CASE("[RAB] 3.2: x' = -sign(x), y = |x| rests at y = 0 from t = x(0) on") {
    for (const double x0 : {1.0, -1.0, 0.375, -2.5}) {
      const Trajectory run = perp::integrate(decay_and_its_size, Vector{{x0, std::abs(x0)}}, {0, 4},
                                             BackwardEuler{.h = 0.3});
      REQUIRE(run.status == Status::solved);
      for (std::size_t k = 0; k < run.size(); ++k) {
        const double size = std::max(0.0, std::abs(x0) - run.t[k]);
        CHECK(std::abs(run.x[k][0]) == doctest::Approx(size));
        CHECK(run.x[k][1] == doctest::Approx(size));
      }
    }
    for (const Mode& mode : {Mode{0, 0}, Mode{2, 1}}) {  // x < 0 and x > 0
      const perp::ModeDae dae = perp::mode_dae(decay_and_its_size, mode);
      CHECK(perp::index_of(dae.E, dae.A) == 1);
    }
  }

  TEST_CASE("[RAB] 3.2: the hull of the reduced fields loses that solution: y' = -1 goes on") {
    const Trajectory run =
        perp::integrate(decay_reduced, Vector{{1, 1}}, {0, 4}, BackwardEuler{.h = 0.25});
    REQUIRE(run.status == Status::solved);
    CHECK(std::abs(run.x.back()[0]) < 1e-12);
    CHECK(run.x.back()[1] == doctest::Approx(-3));  // not |x|
  }

  TEST_CASE("[RAB] 3.2: selections by component, y' = -λ² in [-1, 0], keep it: y(t >= 1) = 0") {
    const auto system = perp::make_dcs(DecayWithSelections{}, 2, {perp::sign()});
    const Trajectory run =
        perp::integrate(system, Vector{{1, 1}}, {0, 4}, BackwardEuler{.h = 0.25});
    REQUIRE(run.status == Status::solved);
    for (std::size_t k = 0; k < run.size(); ++k)
      CHECK(std::abs(run.x[k][1] - std::max(0.0, 1 - run.t[k])) < 1e-9);
  }
}
