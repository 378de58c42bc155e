#include <doctest/doctest.h>
#include <cmath>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/events/firings.hpp>
#include <perp/tests/run_by_name.hpp>

using namespace perp;

namespace {

/// Do firings at t0 + length·ratio^k, k = 0, 1, ..., `count` of them, and twice at the last moment accumulate?
bool accumulates(double start, double limit, double ratio, int count) {
  Firings firings(start);
  double rest = limit - start;
  for (int k = 0; k < count; ++k) {
    rest *= ratio;
    if (firings.accumulate_at(limit - rest)) return true;
  }
  return firings.accumulate_at(limit - rest);
}

}  // namespace

TEST_SUITE("schemes/events/firings") {
  TEST_CASE("firings accumulate where the time between them shrinks to the last digits of t, not before") {
    for (const double limit : {1.0 / 6, 3e5, -7.0}) {
      for (const double ratio : {0.3, 4.0 / 7, 0.8}) CHECK(accumulates(limit - 0.01, limit, ratio, 99));
      // A moment at which two fire ends no row of others.
      for (const double ratio : {0.3, 4.0 / 7, 0.8}) CHECK_FALSE(accumulates(limit - 0.01, limit, ratio, 12));
    }
    Firings chain(0);
    for (int k = 0; k < 99; ++k) CHECK_FALSE(chain.accumulate_at(0.5));
    CHECK(chain.accumulate_at(0.5));
  }

  // (x, y) goes to (0, 0) in the time 1/6: each time that y = 0 they change places.
  TEST_CASE("a run whose resets accumulate at a state that lasts ends there in every scheme") {
    const Model model = read_model_text(R"toml(
[variables]
x = 0.25
y = -0.5
n = 0
[model]
equations = ["der(x) = -2", "der(y) = 3.5", "der(n) = 0"]
when = [{ condition = "y", direction = 0, set = { x = "y", y = "x", n = "n + 1" } }]
[run]
t = [0, 4]
)toml",
                                        "places.toml");
    for (const char* scheme : {"backward_euler", "theta", "located"})
      for (const double h : {0.01, 0.1, 0.5}) {
        CAPTURE(scheme);
        CAPTURE(h);
        const Trajectory run = test::run_by_name(model, scheme, h);
        CHECK(run.status == Status::not_solved);
        REQUIRE(!run.events.empty());
        CHECK(run.events.back().kind == EventKind::accumulation);
        CHECK(run.events.back().t == doctest::Approx(1.0 / 6).epsilon(1e-9));
      }
  }
}
