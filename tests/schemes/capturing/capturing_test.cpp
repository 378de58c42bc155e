#include <perp/lcp/solver.hpp>
#include <perp/schemes/step_mlcp.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <numbers>

#include <perp/perp.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/tests/allocations.hpp>

using namespace perp;

namespace {

/// ẋ = 1 - 3 λ, λ ∈ sign(x): reaches 0 and slides with λ = 1/3.
Lcs relay_flow() {
  return {
      .A = Matrix{{0}}, .B = Matrix{{-3}}, .b = Vector{{1}}, .C = Matrix{{1}}, .laws = {sign()}};
}

/// Ṫ = -T + 10 (1 - λ): heats below the band, cools above it.
Lcs thermostat(Law controller) {
  return {.A = Matrix{{-1}},
          .B = Matrix{{-10}},
          .b = Vector{{10}},
          .C = Matrix{{1}},
          .laws = {std::move(controller)}};
}

int switches(const Trajectory& run) {
  int count = 0;
  for (std::size_t k = 1; k < run.size(); ++k) count += run.mode[k] != run.mode[k - 1];
  return count;
}

}  // namespace

TEST_SUITE("schemes/capturing") {
  TEST_CASE("steps that are made at once have the bits of steps that are made one by one, the last two of them too") {
    for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm})
      for (const long last : {2L, 3L, 5L, 300L, 301L}) {
        const double h = 5e-3;
        const Lcs system = switching_dae::lcp_form(-0.5, 1);
        const Theta options{.h = h, .theta = 1, .selector = selector};
        Capturing at_once(system, options), one_by_one(system, options);
        for (Capturing* scheme : {&at_once, &one_by_one}) {
          std::vector<Event> events;
          REQUIRE(scheme->start(0, Vector{{-5, 4, 0}}, h, events).status == Status::solved);
          REQUIRE(scheme->attempt(h, h).status == Status::solved);
          scheme->accept();
        }
        CHECK(at_once.stay({0, h, 2, last}, nullptr).steps == last - 1);
        for (long k = 2; k <= last; ++k) {
          REQUIRE(one_by_one.attempt(static_cast<double>(k) * h, h).kept_mode);
          one_by_one.accept();
        }
        CHECK(at_once.t() == one_by_one.t());
        Vector between, expected;
        at_once.interpolate(0.5, between);
        one_by_one.interpolate(0.5, expected);
        CHECK(between == expected);
        CHECK(at_once.x() == one_by_one.x());
        CHECK(at_once.lambda() == one_by_one.lambda());
        CHECK(at_once.w() == one_by_one.w());
      }
  }

  TEST_CASE("an accepted step in a known mode allocates nothing") {
    for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm})
      for (const double B1 : {-0.5, -1.0}) {
        const double h = 1e-3;
        Capturing scheme(switching_dae::lcp_form(B1, B1 == -0.5 ? 1 : 0.5),
                         Theta{.h = h, .theta = 1, .selector = selector});
        std::vector<Event> events;
        const Vector x0 = B1 == -0.5 ? Vector{{-5, 4, 0}} : Vector{{0, 0, 0}};
        REQUIRE(scheme.start(0, x0, h, events).status == Status::solved);
        for (int k = 1; k <= 300; ++k) {  // by then the rivals of the mode are known
          REQUIRE(scheme.attempt(k * h, h).status == Status::solved);
          scheme.accept();
        }
        const long before = allocations();
        for (int k = 301; k <= 500; ++k) {
          const Attempt attempt = scheme.attempt(k * h, h);
          if (attempt.status != Status::solved) break;
          scheme.accept();
        }
        CHECK(allocations() == before);
        CHECK(scheme.t() == doctest::Approx(0.5));
      }
  }

  TEST_CASE("a step of another length that asks all modes at its point allocates its motion alone") {
    const Lcs lcs{.A = Matrix{{0, 1}, {0, 0}}, .B = Matrix{{0}, {-1}}, .b = Vector{{0, 0}}, .C = Matrix{{1, 0}}, .laws = {sign()}};
    Capturing scheme(lcs, Theta{.h = 0.1, .theta = 1});
    std::vector<Event> events;
    REQUIRE(scheme.start(0, Vector{{0.5, 0}}, 0.1, events).status == Status::solved);
    long before = 0;
    for (int k = 0; k < 100; ++k) {
      if (k == 50) before = allocations();  // the last answers are kept
      const double h = 0.8 + 0.001 * k;
      const Attempt attempt = scheme.attempt(h, h);
      if (attempt.status != Status::solved || attempt.kept_mode) break;
      if (k == 99) CHECK(allocations() == before + 50);
    }
    CHECK(before > 0);
  }

  TEST_CASE("a step that is told of allocates nothing") {
    IntegrateOptions options;
    options.keep = false;
    long steps = 0, first = 0, last = 0;
    options.observer = [&](const Step&) {
      if (++steps == 300) first = allocations();
      if (steps == 500) last = allocations();
      return true;
    };
    const Trajectory run = integrate(switching_dae::lcp_form(-1, 0.5), Vector{{0, 0, 0}}, {0, 1}, BackwardEuler{.h = 1e-3}, options);
    REQUIRE(run.status == Status::solved);
    CHECK(steps == 1001);
    CHECK(last == first);
  }

  TEST_CASE("the last step ends exactly at T and requested times are hit exactly") {
    IntegrateOptions options;
    options.times = {0.1, 1.0 / 3, 0.7};
    for (const double h : {0.3, 0.1, 0.07, 1.0}) {
      const Trajectory run =
          integrate(relay_flow(), Vector{{-1}}, {0, 0.9}, BackwardEuler{.h = h}, options);
      CHECK(run.status == Status::solved);
      CHECK(run.t.back() == 0.9);
      for (const double t : options.times)
        CHECK(std::find(run.t.begin(), run.t.end(), t) != run.t.end());
      for (std::size_t k = 1; k < run.size(); ++k) CHECK(run.t[k] - run.t[k - 1] <= h * (1 + 1e-9));
    }
  }

  TEST_CASE(
      "entering a sliding mode is logged at its time and the multiplier is the equivalent "
      "control") {
    const Trajectory run = integrate(relay_flow(), Vector{{-1}}, {0, 1}, BackwardEuler{.h = 0.01});
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == EventKind::sliding_entry);
    CHECK(run.events[0].t == doctest::Approx(0.25).epsilon(1e-12));  // ẋ = 4
    CHECK(std::abs(run.x.back()[0]) < 1e-15);
    CHECK(run.lambda.back()[0] == doctest::Approx(1.0 / 3));
  }

  TEST_CASE(
      "a law with memory cycles through its band whatever the selector; without it minimal norm "
      "chatters") {
    const Law with_memory = hysteresis(4, 6);
    Law without = with_memory;
    without.memory = false;
    const auto run = [](const Law& law, Selector selector) {
      return integrate(thermostat(law), Vector{{5}}, {0, 5},
                       BackwardEuler{.h = 0.01, .selector = selector});
    };
    const Trajectory kept = run(with_memory, Selector::keep_mode);
    const int cycles = switches(kept);
    CHECK(cycles >= 6);
    CHECK(cycles <= 20);
    CHECK(switches(run(with_memory, Selector::minimal_norm)) == cycles);
    CHECK(switches(run(without, Selector::keep_mode)) == cycles);
    CHECK(switches(run(without, Selector::minimal_norm)) > 3 * cycles);
    double low = inf, high = -inf;
    for (std::size_t k = kept.size() / 2; k < kept.size(); ++k) {
      low = std::min(low, kept.x[k][0]);
      high = std::max(high, kept.x[k][0]);
    }
    CHECK(low > 4 - 0.1);
    CHECK(low < 4 + 0.1);
    CHECK(high < 6 + 0.1);
    CHECK(high > 6 - 0.1);
  }

  TEST_CASE(
      "backward Euler has order 1 and theta = 1/2 order 2 on a smooth system with inputs in b and "
      "q") {
    // ẋ = -x + y + cos t, 0 = y - λ - sin t ... with the equality law w = x - y - λ... solved by
    // hand: ẋ = -x + sin t, 0 = y - x: x = c e^-t + (sin t - cos t)/2.
    const Lcs lcs{.E = Matrix{{1, 0}, {0, 0}},
                  .A = Matrix{{-1, 0}, {-1, 1}},
                  .B = Matrix{{1}, {0}},
                  .C = Matrix{{0, 0}},
                  .D = Matrix{{1}},
                  .q = Signal(Vector{{0}}, {0}, [](double t, Vector& q) { q[0] = -std::sin(t); }),
                  .laws = {equality()}};  // λ = sin t
    const double c = 1.5, T = 2;
    const double exact = c * std::exp(-T) + (std::sin(T) - std::cos(T)) / 2;
    const auto error = [&](double theta, double h) {
      const Trajectory run = integrate(lcs, Vector{{1, 0}}, {0, T}, Theta{.h = h, .theta = theta});
      CHECK(run.x.back()[1] == doctest::Approx(run.x.back()[0]).epsilon(1e-14));
      return std::abs(run.x.back()[0] - exact);
    };
    CHECK(std::log2(error(1, 0.02) / error(1, 0.01)) == doctest::Approx(1).epsilon(0.02));
    // λ is implicit whatever θ is, so what enters through it stays of first order.
    CHECK(std::log2(error(0.5, 0.02) / error(0.5, 0.01)) == doctest::Approx(1).epsilon(0.02));
    const Lcs forced{.A = Matrix{{-1}}, .b = Signal(Vector{{0}}, {0}, [](double t, Vector& b) {
                                          b[0] = std::sin(t);
                                        })};
    const auto smooth = [&](double h) {
      return std::abs(
          integrate(forced, Vector{{1}}, {0, T}, Theta{.h = h, .theta = 0.5}).x.back()[0] - exact);
    };
    CHECK(std::log2(smooth(0.02) / smooth(0.01)) == doctest::Approx(2).epsilon(0.02));
  }

  TEST_CASE("dependent rows of E are handled as algebraic equations") {
    // x' + y' = 1 twice (rows dependent): the second row minus the first is 0 = x - 2 y.
    const Lcs lcs{.E = Matrix{{1, 1}, {1, 1}}, .A = Matrix{{0, 0}, {1, -2}}, .b = Vector{{1, 1}}};
    const Trajectory run = integrate(lcs, Vector{{2, 1}}, {0, 3}, BackwardEuler{.h = 0.1});
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.back()[0] == doctest::Approx(4).epsilon(1e-12));
    CHECK(run.x.back()[1] == doctest::Approx(2).epsilon(1e-12));
  }

  TEST_CASE("an inconsistent start jumps by the model's own law and the log says by how much") {
    const Trajectory run = integrate(switching_dae::own_law(-0.5, 1), Vector{{-5, 5, 0}}, {0, 1},
                                     BackwardEuler{.h = 0.1});
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == EventKind::inconsistent_start);
    CHECK(run.events[0].t == 0);
    // x+ = x0 + (-0.5, 1) σ on x2 = -x1 - 1: 5 + σ = 4 + σ/2, σ = -2.
    CHECK((run.events[0].x_after.head(2) - Vector{{-4, 3}}).norm() < 1e-6);
    CHECK(run.events[0].size == doctest::Approx(1).epsilon(1e-12));  // 5 instead of 4
    CHECK(run.events[0].note.find("is 2.23607 away") != std::string::npos);
    CHECK((run.x.back().head(2) - Vector{{-2, 1}}).norm() < 1e-12);
  }

  TEST_CASE("a run begins on the constraints, with the algebraic variables that continue there") {
    for (const double theta : {1.0, 0.5}) {
      const Trajectory run = integrate(switching_dae::own_law(-0.5, 1), Vector{{-2, 2, 0}}, {0, 1}, Theta{.h = 0.05, .theta = theta});
      REQUIRE(run.events.size() >= 1);
      CHECK(run.events[0].kind == EventKind::inconsistent_start);
      CHECK(run.events[0].x_before == Vector{{-2, 2, 0}});
      CHECK(run.events[0].x_after == run.x.front());
      CHECK((run.x.front() - Vector{{-1, 0, -2}}).norm() < 1e-8);
      for (const Vector& x : run.x) CHECK(std::abs(x[2]) < 3);
    }
  }

  TEST_CASE("what x0 leaves open is the limit from the right") {
    const Trajectory run = integrate(switching_dae::own_law(-1, 0.5, 1, -1), Vector{{0, 0, 7}},
                                     {0, 1}, BackwardEuler{.h = 0.1});
    CHECK(run.x.front()[2] == doctest::Approx(1).epsilon(1e-6));  // z(0) = 1, not the guess 7
    CHECK(std::abs(run.lambda.front()[0]) < 1e-6);
    CHECK(run.events.empty());
  }

  TEST_CASE("a start from which nothing leads on ends the run with its reason") {
    const Lcs lcs{.A = Matrix{{0}},
                  .B = Matrix{{0}},
                  .C = Matrix{{0}},
                  .D = Matrix{{0}},
                  .q = Vector{{-1}},
                  .laws = {complementarity()}};
    const Trajectory run = integrate(lcs, Vector{{1}}, {0, 1}, BackwardEuler{});
    CHECK(run.status == Status::no_solution);
    CHECK(run.size() == 1);
    CHECK(run.message.find("x0 violates the constraints") != std::string::npos);
  }

  TEST_CASE("the observer sees every step and can stop the run") {
    int seen = 0;
    IntegrateOptions options;
    options.keep = false;
    options.observer = [&](const Step& step) { return ++seen < 6 && step.x.size() == 1; };
    const Trajectory run =
        integrate(relay_flow(), Vector{{-1}}, {0, 1}, BackwardEuler{.h = 0.1}, options);
    CHECK(run.status == Status::interrupted);
    CHECK(seen == 6);
    CHECK(run.t.back() == doctest::Approx(0.5));
    CHECK(run.size() == 2);
  }

  TEST_CASE(
      "every solver drives the selector `first` to the same trajectory where solutions are "
      "unique") {
    const Vector x0{{-5, 4, 0}};
    for (const MlcpSolver* method : solvers()) {
      const Lcs lcs = switching_dae::lcp_form(-0.5, 1);
      const Mlcp problem = step_problem(lcs, x0, 0, 0.1);
      if (!method->unsupported(problem).empty() || std::string(method->name).starts_with("siconos"))
        continue;
      CAPTURE(method->name);
      const Trajectory run =
          integrate(lcs, x0, {0, 10},
                    BackwardEuler{.h = 0.1, .selector = Selector::first, .solver = method->name});
      CHECK(run.status == Status::solved);
      CHECK((run.x.back().head(2) - Vector{{13.0 / 3, 16.0 / 3}}).norm() < 1e-11);
    }
  }

  TEST_CASE("the state between two steps is interpolated") {
    Capturing scheme(relay_flow(), Theta{.h = 0.1, .theta = 1});
    std::vector<Event> events;
    scheme.start(0, Vector{{-1}}, 0.1, events);
    scheme.attempt(0.1, 0.1);
    scheme.accept();
    Vector x(1);
    scheme.interpolate(0.25, x);
    CHECK(x[0] == doctest::Approx(-0.9));
  }

  TEST_CASE("wrong options and shapes are refused by name") {
    const Vector x0{{-1}};
    const auto message = [&](const BackwardEuler& scheme, Span span) -> std::string {
      try {
        (void)integrate(relay_flow(), x0, span, scheme);
      } catch (const InvalidInput& error) {
        return error.what();
      }
      return {};
    };
    CHECK(message({.h = 0}, {0, 1}) == "h must be positive but is 0");
    CHECK(message({.h = -1}, {0, 1}) == "h must be positive but is -1");
    CHECK(message({.h = 0.1}, {1, 0}).find("time span") != std::string::npos);
    CHECK(message({.h = 0.1, .tol = 0}, {0, 1}).find("tol") != std::string::npos);
    CHECK(message({.h = 0.1, .solver = "lemkee"}, {0, 1}).find("did you mean 'lemke'") !=
          std::string::npos);
    CHECK_THROWS_WITH_AS((void)integrate(relay_flow(), Vector{{1, 2}}, {0, 1}, BackwardEuler{}),
                         "x0 must have 1 entries but has 2", InvalidInput);
    Lcs wrong = switching_dae::own_law(1, 2);
    wrong.C = Matrix{{1, 0}};
    CHECK_THROWS_WITH_AS((void)integrate(wrong, Vector::Zero(3), {0, 1}, BackwardEuler{}),
                         "C must be 1x3 but is 1x2", InvalidInput);
  }

  TEST_CASE("a law with memory that moves nothing keeps its branch when another law changes") {
    // ẋ = λ₁ − 1 falls from above the band of a hysteresis on x into it and lands at 0: x⁺ is the
    // same with either branch of the hysteresis.
    const Lcs lands{.A = Matrix{{0}},
                    .B = Matrix{{1, 0}},
                    .b = Vector{{-1}},
                    .C = Matrix{{1}, {1}},
                    .q = Vector{{0, 0}},
                    .laws = {complementarity(), hysteresis(-5, 5)}};
    for (const Selector selector :
         {Selector::keep_mode, Selector::minimal_norm, Selector::continuation}) {
      const Trajectory run =
          integrate(lands, Vector{{6}}, {0, 8}, BackwardEuler{.h = 0.7, .selector = selector});
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(0));
      CHECK(run.mode.front() == Mode{0, 1});
      CHECK(run.mode.back() == Mode{1, 1});
      CHECK(run.lambda.back()[1] == 1);
    }
  }

  TEST_CASE("a small entry of E beside a large one is a differential equation all the same") {
    // The rows of ẋ = −x are multiplied by factors, which changes nothing.
    for (const double factor : {1.0, 1e-8, 1e-13, 1e-40, 1e13}) {
      CAPTURE(factor);
      const Lcs lcs{.E = Matrix{{factor, 0}, {0, 1}}, .A = Matrix{{-factor, 0}, {0, -1}}};
      const Trajectory run = integrate(lcs, Vector{{1, 1}}, {0, 1}, BackwardEuler{.h = 0.1});
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(std::pow(1.1, -10)));
      CHECK(run.x.back()[1] == doctest::Approx(std::pow(1.1, -10)));
    }
  }

  TEST_CASE("dependent rows of E are found whatever their units") {
    // ẋ + ẏ = −x and the same derivatives again with 0 = 1 − y added: y = 1, ẋ = −x.
    for (const double factor : {1.0, 1e-8, 1e-13, 1e13}) {
      CAPTURE(factor);
      const Lcs lcs{.E = Matrix{{1, 1}, {factor, factor}},
                    .A = Matrix{{-1, 0}, {-factor, -factor}},
                    .b = Vector{{0, factor}}};
      const Trajectory run = integrate(lcs, Vector{{1, 1}}, {0, 1}, BackwardEuler{.h = 0.1});
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(std::pow(1.1, -10)));
      CHECK(run.x.back()[1] == doctest::Approx(1));
    }
  }

  TEST_CASE("of dependent rows of E those stay that lose nothing: the written states fulfil every row as it was given") {
    // The first row is a combination of the others: they are the ones that x0 and x2 are known by.
    const Matrix E{{1e-4, 0, -1e4}, {1, 0, 0}, {0, 0, 0.01}}, A{{-1e-5, 1, 0}, {0, 0, -1e4}, {1, 0, 0}};
    const Vector b{{0, 0, 1}};
    for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {1, 2, 0}, {2, 1, 0}}) {
      const Trajectory run = integrate(Lcs{.E = E(order, Eigen::all), .A = A(order, Eigen::all), .b = Vector(b(order))},
                                       Vector::Zero(3), {0, 4}, BackwardEuler{.h = 1});
      REQUIRE(run.status == Status::solved);
      for (std::size_t k = 2; k < run.size(); ++k) {
        const Vector moved = run.x[k] - run.x[k - 1];
        CHECK(std::abs(moved[0] + 1e4 * run.x[k][2]) < 1e-8 * std::abs(moved[0]) + 4e-16);  // of x0 = -1
        CHECK(std::abs(0.01 * moved[2] - (run.x[k][0] + 1)) < 1e-15);
      }
    }
  }

  TEST_CASE("a system without laws is a plain DAE") {
    const Lcs lcs{.A = Matrix{{0, 1}, {-1, 0}}};
    const Trajectory run = integrate(lcs, Vector{{1, 0}}, {0, std::numbers::pi}, Theta{.h = 1e-3});
    CHECK(run.x.back()[0] == doctest::Approx(-1).epsilon(1e-6));
    CHECK(run.status == Status::solved);
  }
}
