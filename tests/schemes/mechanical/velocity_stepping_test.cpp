#include <doctest/doctest.h>
#include <algorithm>

#include <perp/perp.hpp>
#include <perp/schemes/mechanical/velocity_stepping.hpp>
#include <perp/tests/allocations.hpp>
#include <perp/tests/schemes/mechanical_models.hpp>

using namespace perp;
using namespace perp::test;

namespace {

Dcs ball() { return make_dcs(BallOnTable{}, 2, contacts({"floor"})); }

}  // namespace

TEST_SUITE("schemes/velocity_stepping") {
  TEST_CASE("a body that is squeezed by approaching walls has no solution") {
    const Trajectory run = integrate(make_dcs(Squeezed{}, 2, contacts({"piston", "wall"})),
                                     Vector{{0.2, 0}}, {0, 1}, MoreauJean{.h = 1e-3});
    CHECK(run.status == Status::no_solution);
    CHECK(run.t.back() == doctest::Approx(0.5).epsilon(0.01));
    CHECK(run.message.find("'piston', 'wall'") != std::string::npos);
  }

  TEST_CASE("a start behind an obstacle is refused with its gap") {
    const Trajectory run = integrate(ball(), Vector{{-0.25, 0}}, {0, 1}, MoreauJean{.h = 1e-3});
    CHECK(run.status == Status::no_solution);
    CHECK(run.message.find("its gap is -0.25") != std::string::npos);
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == EventKind::inconsistent_start);
    CHECK(run.events[0].size == 0.25);
  }

  TEST_CASE("a step without contact allocates nothing") {
    const auto run = [](const Dcs& system, const Vector& x0) {
      VelocityStepping stepping(system, MoreauJean{.h = 1e-3});
      std::vector<Event> events;
      REQUIRE(stepping.start(0, x0, 1e-3, events).status == Status::solved);
      long before = 0;
      for (int k = 1; k <= 100; ++k) {
        if (k == 3) before = allocations();
        stepping.attempt(1e-3 * k, 1e-3);
        stepping.accept();
      }
      CHECK(allocations() == before);
    };
    run(ball(), Vector{{10, 0}});
    run(make_dcs(CartWithPendulum{}, 4, contacts({"wall"})), Vector{{5, 1, 0.3, -0.2}});
  }

  TEST_CASE("a short step to a requested time makes no impact of a closed contact") {
    IntegrateOptions options;
    options.times = {0.5, 0.5 + 1e-9, 0.7 + 1e-7};
    const Trajectory run = integrate(make_dcs(Bowl{}, 4, contacts({"bowl"})), Vector{{1, 0, 0, -1}},
                                     {0, 1}, MoreauJean{.h = 1e-3, .restitution = {0.8}}, options);
    REQUIRE(run.status == Status::solved);
    CHECK(std::none_of(run.events.begin(), run.events.end(),
                       [](const Event& event) { return event.kind == EventKind::jump; }));
  }

  TEST_CASE("requested times are hit and the observer sees every step") {
    IntegrateOptions options;
    options.times = {0.1234, 0.5};
    long seen = 0;
    options.observer = [&](const Step&) { return ++seen < 800; };
    const Trajectory run =
        integrate(ball(), Vector{{1, 0}}, {0, 1}, MoreauJean{.h = 1e-3}, options);
    CHECK(run.status == Status::interrupted);
    CHECK(seen == 800);
    CHECK(std::count(run.t.begin(), run.t.end(), 0.1234) == 1);
  }

  TEST_CASE("wrong options are refused") {
    const auto run = [](const MoreauJean& scheme) {
      return integrate(ball(), Vector{{1, 0}}, {0, 1}, scheme);
    };
    CHECK_THROWS_WITH_AS(run({.h = 0}), "h must be positive but is 0", InvalidInput);
    CHECK_THROWS_WITH_AS(run({.theta = 0.4}), "theta must be in [0.5, 1] but is 0.4", InvalidInput);
    CHECK_THROWS_WITH_AS(run({.restitution = {1.5}}), "restitution must be in [0, 1] but has 1.5",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(run({.restitution = {1, 1}}),
                         "restitution must have one entry for each of the 1 laws but has 2",
                         InvalidInput);
  }
}
