#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/step_mlcp.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

#include <doctest/doctest.h>
#include <cmath>

#include <perp/schemes/step/step_equations.hpp>

using namespace perp;
using namespace switching_dae;

namespace {

constexpr Selector both_rules[] = {Selector::keep_mode, Selector::minimal_norm};

Lcs form(bool own, double B1, double B2, double a12 = 0, double a21 = 0) {
  return own ? own_law(B1, B2, a12, a21) : lcp_form(B1, B2, a12, a21);
}

Vector with_z(const Vector& x, double z = 0) {
  Vector all(3);
  all << x, z;
  return all;
}

const Event* find(const Trajectory& run, EventKind kind) {
  for (const Event& event : run.events)
    if (event.kind == kind) return &event;
  return nullptr;
}

constexpr const char* piecewise_linear[] = {
    "s003_sliding_crossing", "s003_sliding_repulsive",     "s003_repulsive_nonunique",
    "s003_jump_B_1_2",       "s003_jump_B_1_2_b",          "s003_jump_B_1_2_from_Aplus",
    "s003_B1_equals_B2",     "s003_B1_plus_B2_zero",       "s003_B1_zero",
    "s003_nosolution_B_2_1", "s003_nosolution_B_0.5_0.25", "s003_nosolution_B_2_1_b"};

}  // namespace

TEST_SUITE("schemes/switching_dae") {
  TEST_CASE(
      "with A = 0 backward Euler is exact at the grid points, through entries, exits and jumps") {
    for (const char* name : piecewise_linear)
      for (const bool own : {true, false})
        for (const Selector selector : both_rules)
          for (const double h : {0.9, 0.3, 0.1, 0.01}) {
            CAPTURE(name);
            CAPTURE(own);
            CAPTURE(to_string(selector));
            CAPTURE(h);
            const Reference reference(name);
            const Trajectory run =
                integrate(form(own, reference.B1, reference.B2), with_z(reference.x0),
                          {0, reference.end}, BackwardEuler{.h = h, .selector = selector});
            const Event* end = find(run, EventKind::no_solution);
            if (end == nullptr) CHECK(run.t.back() == reference.end);
            double worst = 0;
            for (std::size_t k = 0; k < run.size(); ++k) {
              if (reference.at_jump(run.t[k])) continue;
              const Vector error = run.x[k].head(2) - reference.exact(run.t[k]);
              worst = std::max(worst, error.lpNorm<Eigen::Infinity>());
              CHECK(run.x[k].allFinite());
            }
            CHECK(worst < 1e-12);
          }
  }

  TEST_CASE("the log names the events of the reference at their times") {
    for (const char* name : piecewise_linear)
      for (const Selector selector : both_rules)
        for (const double h : {0.9, 0.1, 0.01}) {
          CAPTURE(name);
          CAPTURE(h);
          const Reference reference(name);
          double end = reference.end;
          for (const auto& event : reference.data["events"])
            if (event["type"] == "no_solution") end += 1;
          const Trajectory run =
              integrate(own_law(reference.B1, reference.B2), with_z(reference.x0), {0, end},
                        BackwardEuler{.h = h, .selector = selector});
          REQUIRE(run.events.size() == reference.data["events"].size());
          for (std::size_t i = 0; i < run.events.size(); ++i) {
            const auto& expected = reference.data["events"][i];
            CHECK(std::string(to_string(run.events[i].kind)) ==
                  expected["type"].get<std::string>());
            CHECK(run.events[i].t == doctest::Approx(expected["t"].get<double>()).epsilon(1e-9));
          }
        }
  }

  TEST_CASE("a mode that lasts to the end of a step but for rounding is left there by the first mode, too") {
    const Trajectory run = integrate(own_law(-1, 0.5), Vector::Zero(3), {0, 10}, BackwardEuler{.h = 0.1, .selector = Selector::first});
    REQUIRE(run.events.size() == 1);
    CHECK(run.events.front().kind == EventKind::sliding_exit);
    CHECK(run.events.front().t == doctest::Approx(2).epsilon(1e-12));
  }

  TEST_CASE("variant (37) converges with order 1 when the last step ends at T") {
    const double exact = 2 * (1 - std::exp(-(10 - 2 * std::log(2.0)) / 3));
    for (const bool own : {true, false})
      for (const Selector selector : both_rules) {
        double coarse = 0, h_coarse = 0;
        for (const double h : {1.29e-1, 1.29e-2, 1.29e-3, 1.29e-4}) {
          const double step = 10 / std::round(10 / h);
          const Trajectory run = integrate(form(own, -1, 0.5, 1, -1), Vector::Zero(3), {0, 10},
                                           BackwardEuler{.h = step, .selector = selector});
          REQUIRE(run.t.back() == 10);
          const double error = (run.x.back().head(2) - Vector{{exact, 1 + exact}}).norm();
          REQUIRE(error > 1e-9);
          if (coarse > 0)
            CHECK(std::log(coarse / error) / std::log(h_coarse / step) ==
                  doctest::Approx(1.0).epsilon(0.02));
          coarse = error;
          h_coarse = step;
        }
        // [RAB] Figure 9 in the authors' norm; the reference data give 7.4757e-6 for h = 1.29e-4.
        CHECK(coarse == doctest::Approx(7.5e-6).epsilon(0.01));
      }
  }

  TEST_CASE("for B = (1,2) the solution jumps from A- to (2,3) at t = 0.75, by 2 sqrt(5)") {
    for (const bool own : {true, false})
      for (const Selector selector : both_rules)
        for (const double h : {0.9, 0.3, 0.1, 0.01}) {
          const Trajectory run = integrate(form(own, 1, 2), Vector{{-0.5, -0.5, 0}}, {0, 2},
                                           BackwardEuler{.h = h, .selector = selector});
          const Event* jump = find(run, EventKind::jump);
          REQUIRE(jump != nullptr);
          CHECK(jump->t == doctest::Approx(0.75).epsilon(1e-9));
          CHECK((jump->x_before.head(2) - Vector{{0, -1}}).norm() < 1e-8);
          CHECK((jump->x_after.head(2) - Vector{{2, 3}}).norm() < 1e-9);
          CHECK(jump->size == doctest::Approx(2 * std::sqrt(5.0)).epsilon(1e-9));
        }
  }

  TEST_CASE("for B = (1,2) no selector jumps at the first step from (-0.5,-0.5)") {
    for (const bool own : {true, false})
      for (const Selector selector : both_rules)
        for (const double h : {0.5, 0.1, 1e-3}) {
          const Trajectory run = integrate(form(own, 1, 2), Vector{{-0.5, -0.5, 0}}, {0, h},
                                           BackwardEuler{.h = h, .selector = selector});
          REQUIRE(run.size() == 2);
          CHECK((run.x[1].head(2) - Vector{{-0.5 + 2 * h / 3, -0.5 - 2 * h / 3}}).norm() < 1e-13);
          CHECK(run.events.empty());
        }
  }

  TEST_CASE("for B = (2,1) the solution ends at t = 15 and everything before is kept") {
    for (const bool own : {true, false})
      for (const Selector selector : both_rules)
        for (const double h : {0.9, 0.1}) {
          const Trajectory run = integrate(form(own, 2, 1), Vector{{-5, 4, 0}}, {0, 20},
                                           BackwardEuler{.h = h, .selector = selector});
          CHECK(run.status == Status::no_solution);
          CHECK(run.t.back() == doctest::Approx(15).epsilon(1e-9));
          CHECK((run.x.back().head(2) - Vector{{0, -1}}).norm() < 1e-9);
          CHECK(run.size() > 15 / h);
          CHECK(run.message.find("t = 15") != std::string::npos);
          CHECK(run.message.find("residuals of the modes") != std::string::npos);
        }
  }

  TEST_CASE("every solution of the tabulated steps is found, and the nearest is the nearest") {
    const auto table = load("s003_backward_euler_steps");
    for (const auto& step : table["steps"])
      for (const bool own : {true, false}) {
        CAPTURE(step.dump());
        const double h = step["h"];
        const Vector x{{step["xk"][0].get<double>(), step["xk"][1].get<double>(), 0}};
        const Lcs lcs = form(own, step["B"][0], step["B"][1]);
        const Mlcp problem = step_problem(lcs, x, 0, h);
        const SolutionSet set = enumerate(problem);
        CHECK(set.complete);
        if (!step["n_solutions"].is_number()) {
          CHECK(multiplicity_of_u(set) == Multiplicity::continuum);
          continue;
        }
        CHECK(count_of_u(set) == step["n_solutions"].get<long>());
        const auto found = pieces(set, 100);
        for (const auto& solution : step["solutions"]) {
          const Vector u{{solution["x"][0].get<double>(), solution["x"][1].get<double>(),
                          solution["z"].get<double>()}};
          double nearest_point = inf;
          for (const Piece& piece : found)
            nearest_point = std::min(nearest_point, (piece.vertices.col(0).head(3) - u).norm());
          CHECK(nearest_point < 1e-12 * (1 + u.norm()));
        }
        if (step["min_norm_index"].is_null() || step["solutions"].empty()) continue;
        const auto& best = step["solutions"][step["min_norm_index"].get<std::size_t>()];
        const Nearest choice = nearest(problem, set, step_norm(lcs, x));
        REQUIRE(choice.status == Status::solved);
        CHECK((choice.minimisers.front().u.head(2) -
               Vector{{best["x"][0].get<double>(), best["x"][1].get<double>()}})
                  .norm() < 1e-12);
      }
  }

  TEST_CASE("at large h minimal norm leaves the exact branch and keep_mode stays on it") {
    // B = (1,2), x_k = (-1.5, 0.5), h = 2: the solution in mode 1 moves by 4 sqrt(2)/3, sliding to
    // (0, 0.5)... by less.
    const Lcs lcs = own_law(1, 2);
    const Vector x{{-1.5, 0.5, 0}};
    const Mlcp problem = step_problem(lcs, x, 0, 2);
    const SolutionSet set = enumerate(problem);
    CHECK(count_of_u(set) == 3);
    const Nearest choice = nearest(problem, set, step_norm(lcs, x));
    CHECK(std::abs(choice.minimisers.front().u[0]) <
          1e-12);  // slides, although the exact solution does not
    const Trajectory kept = integrate(lcs, x, {0, 2}, BackwardEuler{.h = 2});
    CHECK((kept.x.back().head(2) - Vector{{-1.0 / 6, -5.0 / 6}}).norm() < 1e-13);
  }

  TEST_CASE("keep_mode and minimal_norm are different rules at finite h") {
    // B = (-1, 0.5), h = 0.1, x_k = (-0.01, -0.99): the only continuous solution stays in x1 < 0.
    const Lcs lcs = own_law(-1, 0.5);
    const Vector x{{-0.01, -0.99, 0}};
    const Trajectory kept = integrate(lcs, x, {0, 0.1}, BackwardEuler{.h = 0.1});
    CHECK((kept.x.back().head(2) - Vector{{-0.11, -0.89}}).norm() < 1e-14);
    const Mlcp problem = step_problem(lcs, x, 0, 0.1);
    const Nearest choice = nearest(problem, enumerate(problem), step_norm(lcs, x));
    CHECK((choice.minimisers.front().u.head(2) - Vector{{0, -0.945}}).norm() < 1e-14);
    // A run sees that x1 moves by 0.01 however short the step is, and goes by shorter ones.
    const Trajectory nearest_run =
        integrate(lcs, x, {0, 0.1}, BackwardEuler{.h = 0.1, .selector = Selector::minimal_norm});
    CHECK((nearest_run.x.back().head(2) - Vector{{-0.11, -0.89}}).norm() < 1e-13);
    CHECK(nearest_run.counts.at("refined") == 1);
    CHECK(nearest_run.provenance.at("selector") == "minimal_norm");
    // and minimal norm is right for h < 0.01/1.4
    const Trajectory fine =
        integrate(lcs, x, {0, 0.1}, BackwardEuler{.h = 0.005, .selector = Selector::minimal_norm});
    CHECK((fine.x.back().head(2) - Vector{{-0.11, -0.89}}).norm() < 1e-13);
  }

  TEST_CASE("steps of several solutions are counted alike whether they are rows or made at once") {
    const Lcs lcs = lcp_form(-1, 0.5);
    for (const double h : {1e-2, 1e-3}) {
      const BackwardEuler scheme{.h = h, .selector = Selector::minimal_norm};
      const Vector x0{{0, 0, 0}};
      const Trajectory rows = integrate(lcs, x0, {0, 1}, scheme), ends = integrate(lcs, x0, {0, 1}, scheme, {.keep = false});
      REQUIRE(rows.status == Status::solved);
      CHECK(ends.x.back() == rows.x.back());
      for (const char* count : {"several_solutions", "steps"}) CHECK(ends.counts.at(count) == rows.counts.at(count));
      CHECK(ends.counts.at("several_solutions") > 10);
    }
  }

  TEST_CASE("where a step has a continuum of solutions the nearest point is taken") {
    // B = (0, 1), x_k = (-h, h - 1): x1 lands on 0, where x2 is anything in [-1, 1].
    const Lcs lcs = own_law(0, 1);
    const Vector x{{-0.5, -0.5, 0}};
    const Mlcp problem = step_problem(lcs, x, 0, 0.5);
    const SolutionSet set = enumerate(problem);
    CHECK(multiplicity_of_u(set) == Multiplicity::continuum);
    const Nearest choice = nearest(problem, set, step_norm(lcs, x));
    CHECK(choice.norm == doctest::Approx(0.5));
    CHECK(choice.minimisers.front().u[1] == doctest::Approx(-0.5));
  }
}
