#include <doctest/doctest.h>
#include <cmath>

#include <perp/perp.hpp>
#include <perp/schemes/mechanical/mechanical_system.hpp>
#include <perp/tests/schemes/mechanical_models.hpp>

using namespace perp;
using namespace perp::test;

namespace {

/// A struct with residual and output from two lambdas.
template <class R, class W>
struct Written {
  R r;
  W w;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda,
                auto& result) const {
    r(t, xdot, x, lambda, result);
  }
  void output(const auto& t, const auto& x, const auto& lambda, auto& result) const {
    w(t, x, lambda, result);
  }
};

/// Why a system of two variables with one contact is refused at x; empty if it is not.
template <class R, class W>
std::string refusal(const R& r, const W& w, const Vector& x = Vector{{0.3, 0.1}},
                    const Law& law = complementarity()) {
  Law named = law;
  named.name = "floor";
  try {
    MechanicalSystem system(make_dcs(Written<R, W>{r, w}, static_cast<int>(x.size()), {named}));
    return system.objection(0, x).value_or("");
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

constexpr auto height = [](const auto&, const auto& x, const auto&, auto& w) { w[0] = 1.0 * x[0]; };
constexpr auto falling = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                            auto& r) {
  r[0] = xdot[0] - x[1];
  r[1] = xdot[1] + 9.81 - lambda[0];
};

bool contains(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("schemes/mechanical_system") {
  TEST_CASE("order and factors of the equations do not change a trajectory") {
    const Vector x0{{0.2, 1, -1, 0.5}};
    const MoreauJean scheme{.h = 1e-3, .restitution = {0.7}};
    const auto run = [&](const CartWithPendulum& model) {
      return integrate(make_dcs(model, 4, contacts({"wall"})), x0, {0, 3}, scheme);
    };
    const Trajectory plain = run({});
    REQUIRE(plain.status == Status::solved);
    CHECK(plain.counts.at("impacts") > 1);
    for (const auto& model : {CartWithPendulum{.first = -3, .second = 0.5, .swapped = true},
                              CartWithPendulum{.first = 1e-3, .second = -1e3}}) {
      const Trajectory other = run(model);
      REQUIRE(other.status == Status::solved);
      CHECK((other.x.back() - plain.x.back()).norm() < 1e-8);
    }
  }

  TEST_CASE("a first-order equation may stand beside the mechanical ones") {
    // An electromagnet: its current follows a voltage and lifts the ball.
    const auto magnet = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                           auto& r) {
      r[0] = xdot[0] - x[1];
      r[1] = 2.0 * xdot[1] + 2.0 * 9.81 - 3.0 * x[2] * x[2] - lambda[0];
      r[2] = 0.1 * xdot[2] + x[2] - 1.0;
    };
    Written<decltype(magnet), decltype(height)> model{magnet, height};
    const Trajectory run = integrate(make_dcs(model, 3, contacts({"floor"})), Vector{{0, 0, 0}},
                                     {0, 3}, MoreauJean{.h = 1e-3});
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.back()[0] == doctest::Approx(0));
    CHECK(run.x.back()[2] == doctest::Approx(1));
    CHECK(run.lambda.back()[0] == doctest::Approx(2 * 9.81 - 3));
  }

  TEST_CASE("a row v1' = v2 of a gyroscope is no position's row") {
    const MechanicalSystem system(make_dcs(Gyroscope{}, 4, contacts({"wall"})));
    CHECK(system.positions() == std::vector<int>{0, 1});
    CHECK(system.velocities() == std::vector<int>{2, 3});
    CHECK(system.velocity_of() == std::vector<int>{0, 1});
    CHECK(system.is_affine());
  }

  TEST_CASE("the unit of a velocity is free: the same bounces by time stepping") {
    const auto fall = [](double unit) {  // q' = v / unit
      const auto ball = [unit](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                               auto& r) {
        r[0] = unit * xdot[0] - x[1];
        r[1] = xdot[1] + unit * 9.75 - lambda[0];
      };
      const Dcs system =
          make_dcs(Written<decltype(ball), decltype(height)>{ball, height}, 2, contacts({"floor"}));
      return integrate(system, Vector{{1, 0.5 * unit}}, {0, 1.5},
                       MoreauJean{.h = 0.01, .restitution = {0.5}});
    };
    const Trajectory base = fall(1);
    REQUIRE_MESSAGE(base.status == Status::solved, base.message);
    CHECK(!base.events.empty());
    for (const double unit : {0x1p10, 0x1p-10}) {
      const Trajectory run = fall(unit);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.events.size() == base.events.size());
      CHECK(run.x.back()[0] == base.x.back()[0]);
      CHECK(run.x.back()[1] == unit * base.x.back()[1]);
    }
  }

  TEST_CASE("a contact may be written as a normal cone of -g: the same bounces, to the bit") {
    const auto depth = [](const auto&, const auto& x, const auto&, auto& w) { w[0] = -1.0 * x[0]; };
    const auto run = [](const auto& output, const Law& law, const auto& scheme) {
      return integrate(make_dcs(Written<decltype(falling), std::decay_t<decltype(output)>>{falling, output}, 2, {law}),
                       Vector{{0.3, 0.1}}, {0, 1.2}, scheme);
    };
    const auto compare = [&](const auto& scheme) {
      const Trajectory contact = run(height, complementarity(), scheme), cone = run(depth, normal_cone(0, inf), scheme);
      REQUIRE(contact.status == Status::solved);
      REQUIRE(cone.status == Status::solved);
      CHECK(contact.counts.at("impacts") > 1);
      CHECK(cone.counts.at("impacts") == contact.counts.at("impacts"));
      CHECK(cone.t == contact.t);
      CHECK(cone.x == contact.x);
    };
    compare(MoreauJean{.h = 1e-3, .restitution = {0.7}});
    compare(Located{.restitution = {0.7}});
    CHECK(contains(refusal(falling, depth), "the multiplier of law 'floor' pulls"));
    CHECK(contains(refusal(falling, height, Vector{{0.3, 0.1}}, normal_cone(0, inf)), "the multiplier of law 'floor' pulls"));
  }

  TEST_CASE("the unit of a multiplier is free, its direction is not") {
    CHECK(refusal(falling, height).empty());
    const auto scaled = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                           auto& r) {
      r[0] = xdot[0] - x[1];
      r[1] = xdot[1] + 9.81 - 7.0 * lambda[0];
    };
    CHECK(refusal(scaled, height).empty());
    const auto pulling = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                            auto& r) {
      r[0] = xdot[0] - x[1];
      r[1] = xdot[1] + 9.81 + lambda[0];
    };
    CHECK(contains(refusal(pulling, height), "the multiplier of law 'floor' pulls"));
    const auto oblique = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                            auto& r) {
      r[0] = xdot[0] - x[2];
      r[1] = xdot[1] - x[3];
      r[2] = xdot[2] - lambda[0];
      r[3] = xdot[3] - 0.5 * lambda[0];
    };
    CHECK(contains(refusal(oblique, height, Vector{{1, 1, 0, 0}}),
                   "equation 4 has it with the factor 0.5, the gap's derivative along that "
                   "velocity is 0"));
  }

  TEST_CASE("what is no mechanical system with contacts is refused with the reason") {
    CHECK(contains(refusal(falling, height, Vector{{0.3, 0.1}}, sign()),
                   "law 'floor' is not of the form 0 <= g perp lambda >= 0"));
    CHECK(contains(refusal(falling, [](const auto&, const auto& x, const auto&,
                                       auto& w) { w[0] = x[0] + x[1]; }),
                   "the gap of law 'floor' depends on variable 2, whose derivative is not one "
                   "velocity"));
    CHECK(contains(refusal(falling, [](const auto&, const auto& x, const auto& lambda,
                                       auto& w) { w[0] = x[0] + lambda[0]; }),
                   "the gap of law 'floor' depends on more than positions and time"));
    const auto algebraic = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                              auto& r) {
      r[0] = xdot[0] - x[1];
      r[1] = xdot[1] - x[2] - lambda[0];
      r[2] = x[2] + 9.81;
    };
    CHECK(contains(refusal(algebraic, height, Vector{{1, 0, 0}}), "variable 3 is algebraic"));
    const auto sliding_mass = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                                 auto& r) {
      r[0] = xdot[0] - x[1];
      r[1] = (1.0 + x[1] * x[1]) * xdot[1] - lambda[0];
    };
    CHECK(contains(refusal(sliding_mass, height),
                   "the factor of a derivative of a velocity in equation 2 depends on more than "
                   "positions and time"));
    const auto squared = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                            auto& r) {
      r[0] = xdot[0] - x[1];
      r[1] = xdot[1] - lambda[0] * lambda[0];
    };
    CHECK(contains(refusal(squared, height), "the factor of a multiplier in equation 2"));
    const auto two_speeds = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                               auto& r) {
      r[0] = xdot[0] - x[1] - x[0];
      r[1] = xdot[1] - lambda[0];
    };
    CHECK(contains(refusal(two_speeds, height), "write der(q) = v as an equation of its own"));
    const auto chain = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                          auto& r) {
      r[0] = xdot[0] - x[1];
      r[1] = xdot[1] - x[2];
      r[2] = xdot[2] - lambda[0];
    };
    CHECK(contains(
        refusal(
            chain, [](const auto&, const auto& x, const auto&, auto& w) { w[0] = x[0] + x[1]; },
            Vector{{1, 0, 0}}),
        "a gap depends on variable 2, which is a velocity"));
    CHECK(contains(refusal(chain, height, Vector{{1, 0, 0}}),
                   "the multiplier of law 'floor' does not act along the gradient of its gap"));
    const auto asymmetric = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                               auto& r) {
      r[0] = xdot[0] - x[2];
      r[1] = xdot[1] - x[3];
      r[2] = xdot[2] + 0.5 * xdot[3] - lambda[0];
      r[3] = xdot[3] + 1.0;
    };
    CHECK(contains(refusal(asymmetric, height, Vector{{1, 1, 0, 0}}),
                   "the mass matrix is not symmetric"));
    const auto massless = [](const auto&, const auto& xdot, const auto& x, const auto& lambda,
                             auto& r) {
      r[0] = xdot[0] - x[2];
      r[1] = xdot[1] - x[3];
      r[2] = xdot[2] + xdot[3] - lambda[0];
      r[3] = xdot[2] + xdot[3];
    };
    CHECK(contains(refusal(massless, height, Vector{{1, 1, 0, 0}}),
                   "the mass matrix is not positive definite"));
    Dcs reset = make_dcs(Written<decltype(falling), decltype(height)>{falling, height}, 2,
                         contacts({"floor"}));
    reset.resets.push_back({"bounce", reset.G[0], -1, {1}, {reset.G[0]}});
    CHECK_THROWS_WITH_AS(MechanicalSystem{reset},
                         "moreau_jean needs a mechanical system with unilateral contacts: "
                         "'bounce' is a reset; restitution replaces it",
                         InvalidInput);
  }
}
