#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/system_runs.hpp>
#include <perp/schemes/step/grid/grid_step.hpp>
#include <perp/tests/schemes/step/grid/membrane.hpp>

using namespace perp;
using perp::test::membrane;
using perp::test::membrane_start;

namespace {

/// A step of length h from x in `mode`, and to the mode of its solution.
struct MembraneStep {
  MembraneStep(StepEquations& equations, const Vector& before, double h) : grid(GridStep::of(equations)), parameter(at(equations.parameters())) {
    equations.parameter(before, 0, h, parameter.data());
    REQUIRE(grid != nullptr);
    REQUIRE(grid->set(h, parameter.data()));
  }
  GridStep::Outcome solve(Mode& mode) {
    GridStep::Outcome outcome = grid->solve(mode);
    if (outcome == GridStep::Outcome::moves && grid->find(mode)) outcome = GridStep::Outcome::rests;
    grid->write(x, lambda, w, rounding);
    return outcome;
  }
  std::unique_ptr<GridStep> grid;
  std::vector<double> parameter;
  Vector x = Vector::Zero(static_cast<Eigen::Index>(parameter.size())), lambda = x, w = x, rounding{};
};

}  // namespace

TEST_SUITE("schemes/step/grid/grid_step") {
  TEST_CASE("steps of a membrane on its grid solve their rows and laws, and are those by factors where these decide") {
    constexpr int N = 32;
    constexpr double h = 1e-3;
    StepEquations equations(membrane(N), 1);
    PointStep point(equations, h);
    REQUIRE(point.is_usable());
    Vector x = membrane_start(N);
    Mode mode(at(N * N), 0);
    int decided = 0;
    for (int step = 0; step < 16; ++step) {
      CAPTURE(step);
      MembraneStep made(equations, x, h);
      REQUIRE(made.solve(mode) == GridStep::Outcome::rests);
      const Vector rest = made.x - x - h * (equations.system().A.times(made.x) + made.lambda + Vector::Constant(N * N, -8));
      const Vector sizes = made.x.cwiseAbs() + x.cwiseAbs() + h * (equations.system().A.sizes_times(made.x.cwiseAbs()) + made.lambda);
      for (int j = 0; j < N * N; ++j) {
        CHECK(std::abs(rest[j]) <= 1e-14 * (sizes[j] + 8 * h));
        CHECK(std::min(made.w[j], made.lambda[j]) == 0);
        CHECK(std::abs(made.x[j] + 0.05 - made.w[j]) <= 1e-16);
        CHECK(made.rounding[j] <= 1e-12);
      }
      x = made.x;
      point.set(h, made.parameter.data());
      if (point.solve(mode) != PointStep::Verdict::inside) continue;
      ++decided;
      for (int j = 0; j < N * N; ++j) CHECK(std::abs(made.x[j] - point.x()[j]) <= made.rounding[j] + 1e-15);
    }
    CHECK(decided > 10);
    CHECK(std::ranges::count(mode, 1) > 300);
  }

  TEST_CASE("a run of a membrane on its grid ends where that by maps does, and counts its sets") {
    constexpr int N = 32;
    Capturing run(membrane(N), Theta{.h = 1e-3, .theta = 1});
    std::vector<Event> events;
    REQUIRE(run.start(0, membrane_start(N), 1e-3, events).status == Status::solved);
    for (int k = 1; k <= 14; ++k) {
      const Attempt attempt = run.attempt(1e-3 * k, 1e-3);
      REQUIRE(attempt.status == Status::solved);
      CHECK(attempt.solutions == (attempt.kept_mode ? 0 : 1));
      run.accept();
    }
    Counts counts;
    run.count(counts);
    CHECK(counts["active_sets"] > 14);
    CHECK(counts["active_sets"] < 120);
    CHECK(counts["coarse_active_sets"] > 0);
    CHECK(counts["grid_iterations"] > counts["active_sets"]);
    CHECK(counts["factorisations"] == 0);
    CHECK(counts.count("not_enumerated") == 0);
  }

  TEST_CASE("a step whose rows the grid does not solve to rounding is made by factors, and counted") {
    constexpr int N = 40;
    constexpr double h = 1e8;  // rows have a rate beside 1e12 times their unknowns
    const SparseLcs system = membrane(N);
    Capturing run(system, Theta{.h = h, .theta = 1});
    std::vector<Event> events;
    REQUIRE(run.start(0, Vector::Zero(N * N), h, events).status == Status::solved);
    REQUIRE(run.attempt(h, h).status == Status::solved);
    run.accept();
    Counts counts;
    run.count(counts);
    CHECK(counts["beside_grid"] > 0);
    CHECK(counts["factorisations"] > 0);
    // 0 = Δu - 8 + r, 0 <= u + 0.05 perp r >= 0
    const Vector rest = system.A.times(run.x()) + run.lambda() - Vector::Constant(N * N, 8);
    const Vector sizes = system.A.sizes_times(run.x().cwiseAbs()) + run.lambda() + Vector::Constant(N * N, 8);
    for (int j = 0; j < N * N; ++j) {
      CHECK(std::abs(rest[j]) <= 1e-7 * sizes[j]);
      CHECK(run.x()[j] >= -0.05 * (1 + 1e-12));
      CHECK(std::min(run.x()[j] + 0.05, run.lambda()[j]) <= 1e-12);
    }
    CHECK(std::ranges::count_if(run.lambda(), [](double r) { return r > 0; }) > 100);
  }

  TEST_CASE("equations of another form are not those of a grid") {
    const auto has_grid = [](const SparseLcs& lcs) { return GridStep::of(StepEquations(lcs, 1)) != nullptr; };
    const SparseLcs good = membrane(32);
    StepEquations equations(good, 1);
    CHECK(GridStep::of(equations) != nullptr);
    CHECK_FALSE(has_grid(membrane(10)));  // few unknowns are factored
    const auto changed = [&](const auto& change) {
      SparseLcs lcs = good;
      change(lcs);
      return lcs;
    };
    CHECK_FALSE(has_grid(changed([](SparseLcs& lcs) { lcs.laws.changed(7) = sign(); })));
    CHECK_FALSE(has_grid(changed([](SparseLcs& lcs) { lcs.A.entries()[1].value *= 2; })));   // not symmetric
    CHECK_FALSE(has_grid(changed([](SparseLcs& lcs) { lcs.B.entries()[5].value = -1; })));   // pulls down
    CHECK_FALSE(has_grid(changed([](SparseLcs& lcs) { lcs.C.entries()[5].column = 6; })));   // bounds another variable
    CHECK_FALSE(GridStep::of(StepEquations(good, 0.5)) != nullptr);
  }

  TEST_CASE("steps that are no M-matrix's are not certified, longer ones than certified are not taken") {
    constexpr int N = 32;
    SparseLcs lcs = membrane(N);
    for (auto& entry : lcs.A.entries())
      if (entry.value < 0) entry.value += 50;  // u' = Δu + 50 u
    StepEquations equations(lcs, 1);
    const std::unique_ptr<GridStep> grid = GridStep::of(equations);
    REQUIRE(grid != nullptr);
    CHECK(grid->is_certified(1e-3));
    CHECK(grid->is_certified(1.0 / 32));  // by the Laplacian, though E - h A 1 < 0
    CHECK_FALSE(grid->is_certified(0.1));
    CHECK_FALSE(grid->is_certified(0));
  }

  TEST_CASE("the solver newton_min makes the certified steps of a grid on it where it is taken by name, too") {
    constexpr int N = 36;
    const auto run_by = [](Selector selector) {
      return integrate_affine(membrane(N), membrane_start(N), {0, 0.02}, Theta{.h = 1e-3, .theta = 1, .selector = selector, .solver = "newton_min"}, {});
    };
    const Trajectory kept = run_by(Selector::keep_mode), first = run_by(Selector::first);
    REQUIRE(first.status == Status::solved);
    CHECK(first.counts.at("active_sets") > 0);
    CHECK(first.x == kept.x);
  }
}
