#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <numbers>

#include <perp/core/base/index.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/system_runs.hpp>
#include <perp/tests/schemes/step/grid/string_over_obstacle.hpp>

// Steps of large systems in which many laws change.

using namespace perp;
using test::string_over_obstacle;
using test::string_start;

namespace {

Trajectory run_of(int n, double h, double end) {
  return integrate_affine(string_over_obstacle(n), string_start(n), {0, end}, Theta{.h = h, .theta = 1}, {});
}

/// The step of the problem with this obstacle by projected Gauss-Seidel sweeps with over-relaxation.
Vector swept_step(const Vector& x, double h) {
  const auto n = x.size();
  const double r = h * static_cast<double>((n + 1) * (n + 1));
  const double radius = 2 * r / (1 + 2 * r) * std::cos(std::numbers::pi / static_cast<double>(n + 1));
  const double omega = 2 / (1 + std::sqrt(1 - radius * radius));
  Vector y = x;
  for (int sweep = 0; sweep < 4000; ++sweep)
    for (Eigen::Index i = 0; i < n; ++i) {
      const double left = i > 0 ? y[i - 1] : 0, right = i + 1 < n ? y[i + 1] : 0;
      const double own = (x[i] - 8 * h + r * (left + right)) / (1 + 2 * r);
      y[i] = std::max(-0.05, y[i] + omega * (own - y[i]));
    }
  return y;
}

}  // namespace

TEST_SUITE("schemes/capturing/many changes") {
  TEST_CASE("a step in which hundreds of laws change is one solution of its equations, told at its end and not split at each") {
    const double h = 1e-3;
    const Trajectory run = run_of(1000, h, 0.02);
    REQUIRE(run.status == Status::solved);
    REQUIRE(run.counts.at("unsplit") > 0);
    CHECK(run.counts.at("factorisations") < 300);
    std::size_t in_one = 0;
    for (std::size_t k = 1; k < run.size(); ++k) {
      const auto of_step = [&](const Event& event) { return event.t == run.t[k] && event.t_before == run.t[k - 1]; };
      const auto count = static_cast<std::size_t>(std::ranges::count_if(run.events, of_step));
      in_one = std::max(in_one, count);
      if (count < 30) continue;
      CHECK((run.x[k] - swept_step(run.x[k - 1], h)).lpNorm<Eigen::Infinity>() < 1e-9);
    }
    CHECK(in_one > 100);
    for (const Event& event : run.events) CHECK(event.from != event.to);
  }

  TEST_CASE("steps whose entries are thousands of times the rest of a row are solved without shorter ones") {
    // h/dx² = 9000: factors with exchanges at each row have no bounds
    const Trajectory run = run_of(3000, 1e-3, 0.01);
    REQUIRE(run.status == Status::solved);
    CHECK(run.counts.at("factorisations") < 40);
    CHECK(!run.counts.contains("refined"));
  }

  TEST_CASE("the ends of contacts come from coarser strings: a step takes few modes however many nodes change") {
    const int n = 4000;
    const Trajectory run = run_of(n, 1e-3, 0.1);
    REQUIRE(run.status == Status::solved);
    CHECK(run.counts.at("coarse_active_sets") > 0);
    CHECK(run.counts.at("factorisations") < 60);  // 100 steps, 10 changes of mode; node by node: 600
    // At rest: parabolas of curvature 8 that leave the obstacle without a kink, at distance d from the ends.
    const double d = std::sqrt(0.05 / 4);
    for (int i = 0; i < n; ++i) {
      const double s = std::min(i + 1, n - i) / (n + 1.0), u = s < d ? 4 * s * s - 8 * d * s : -0.05;
      if (!(std::abs(run.x.back()[i] - u) < 1e-6)) FAIL_CHECK("node ", i, " is at ", run.x.back()[i], ", not at ", u);
    }
  }

  TEST_CASE("modes that a run has left are forgotten: what it keeps between two steps stays of one size") {
    const int n = 600;
    SparseLcs system = string_over_obstacle(n);
    Vector load(n);
    for (int i = 0; i < n; ++i) load[i] = -8 + i % 7;
    system.b = Signal(load);
    Capturing scheme(system, Theta{.h = 1e-3, .theta = 1});
    std::vector<Event> events;
    REQUIRE(scheme.start(0, Vector::Zero(n), 1e-3, events).status == Status::solved);
    const auto kept = [&scheme] {
      Archive archive;
      scheme.transfer(archive);
      return archive.bytes().size();
    };
    for (int k = 1; k <= 20; ++k) {
      REQUIRE(scheme.attempt(1e-3 * k, 1e-3).status == Status::solved);
      scheme.accept();
    }
    const std::size_t size = kept();
    for (int k = 21; k <= 60; ++k) {
      REQUIRE(scheme.attempt(1e-3 * k, 1e-3).status == Status::solved);
      scheme.accept();
    }
    CHECK(kept() <= size + 20 * n * sizeof(int));
  }
}
