#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::is_captured;
using perp::test::run_located;

namespace {

/// ẋ_i = −a sign(x_i) + b sign(x_{i−1}) for i = 1..n, sign(x_0) = 0 or, where they are a ring, sign(x_n); x_i(0) = i·start.
std::string relays(int n, double a, double b, bool ring, double start, double end) {
  std::string variables = "[variables]\n", equations;
  for (int i = 1; i <= n; ++i) {
    variables += fmt::format("x{} = {}\n", i, i * start);
    const int before = i > 1 ? i - 1 : n;
    equations += fmt::format("\"der(x{0}) = -{1}*sign(x{0})", i, a);
    equations += i > 1 || ring ? fmt::format(" + {}*sign(x{})\", ", b, before) : "\", ";
  }
  return fmt::format("{}[model]\nequations = [{}]\n[run]\nt = [0, {}]\n", variables, equations, end);
}

}  // namespace

TEST_SUITE("schemes/located/passage/many_laws") {
  TEST_CASE("relays that begin to slide one after the other do so at their own times, however many slide already") {
    // x_i is 0 where 0.1 i = 0.9 t_{i−1} + (t_i − t_{i−1}): a relay that slides has a multiplier of 0, as all before it.
    constexpr int n = 14;  // 3^14 modes
    const Trajectory run = run_located(relays(n, 1, 0.1, false, 0.1, 2.5), 1e-10);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK_FALSE(is_captured(run));
    REQUIRE(run.events.size() == n);
    double t = 0;
    for (int i = 0; i < n; ++i) {
      t = 0.1 * (i + 1) + 0.1 * t;
      const Event& event = run.events[static_cast<std::size_t>(i)];
      CAPTURE(i);
      CHECK(event.kind == EventKind::sliding_entry);
      CHECK(event.t == doctest::Approx(t).epsilon(1e-11));
      CHECK(std::abs(run.x.back()[i]) < 1e-12);
    }
    CHECK(run.counts.at("choices_not_complete") > 0);  // and it is said that not all modes were tried
  }

  TEST_CASE("a ring of relays that starts on all of its surfaces slides on them") {
    const Trajectory run = run_located(relays(12, 2, 0.5, true, 0, 1), 1e-10);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK_FALSE(is_captured(run));
    CHECK(run.events.empty());
    CHECK(run.x.back().norm() < 1e-12);
  }
}
