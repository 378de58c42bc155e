#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/step/step_solutions.hpp>
#include <perp/tests/allocations.hpp>

using namespace perp;
using namespace nonlinear_systems;

namespace {

Dcs canonical() { return make_dcs(Canonical{}, 2, {step(), step()}); }
Dcs stick_slip() { return make_dcs(StickSlip{}, 2, {sign()}); }
Dcs soft_drink() { return make_dcs(SoftDrink{}, 9, {step()}); }

std::vector<EventKind> kinds(const Trajectory& run) {
  std::vector<EventKind> list;
  for (const Event& event : run.events) list.push_back(event.kind);
  return list;
}

/// Makes `steps` steps and returns the allocations of all but the first four.
long allocations_of(const Dcs& system, const Vector& x0, double h, int steps) {
  NonlinearCapturing scheme(system, BackwardEuler{.h = h});
  std::vector<Event> events;
  REQUIRE(scheme.start(0, x0, h, events).status == Status::solved);
  long before = 0;
  for (int k = 1; k <= steps; ++k) {
    if (k == 5) before = allocations();
    if (scheme.attempt(k * h, h).status != Status::solved) break;
    scheme.accept();
  }
  const long made = allocations() - before;
  CHECK(scheme.t() == doctest::Approx(steps * h));
  return made;
}

/// y1 (c ẋ1 + x1 − 2) = 0 with y1 = 1 + x2²: fully implicit.
struct Implicit {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = x[2] * (4 * xdot[0] + x[0] - 2);
    r[1] = xdot[1] * xdot[1] * xdot[1] + xdot[1] - 2;  // ẋ2 = 1
    r[2] = x[2] - (1 + x[1] * x[1]);
  }
};

/// ẋ = −1/√x from x = 1: reaches 0 at t = 2/3 and has no continuation.
struct Drain {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = sqrt(x[0]) * xdot[0] + 1;
  }
};

/// A pendulum of length 1 on the level of velocities (index 2): (p, q, u, v, f).
struct Pendulum {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - x[2];
    r[1] = xdot[1] - x[3];
    r[2] = xdot[2] + x[0] * x[4];
    r[3] = xdot[3] + x[1] * x[4] + 9.81;
    r[4] = x[0] * x[2] + x[1] * x[3];
  }
};

/// ẋ = c − λ1 − λ2 − x², both λ ∈ sign(x): where x = 0 only the sum of the λ is determined.
struct TwoRelays {
  double c = 0.5;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (c - lambda[0] - lambda[1] - x[0] * x[0]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = w[1] = x[0]; }
};

/// 0 = λ y: where λ = 0 any y will do.
struct FreeVariable {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] + 1;
    r[1] = lambda[0] * x[1];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// m relays, each sliding on its own surface: x_i' = 0.5 − 2 λ_i + 0.1 x_i³.
struct ManyRelays {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    for (std::size_t i = 0; i < r.size(); ++i)
      r[i] = xdot[i] - (0.5 - 2 * lambda[i] + 0.1 * x[i] * x[i] * x[i]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = x[i];
  }
};

/// ẋ = 1 − 3 λ, λ ∈ sign(x).
struct RelayFlow {
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (1 - 3 * lambda[0]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// ẋ = λ² − 1/4, λ ∈ sign(x): x stays at 0 with λ = 1/2 and with λ = −1/2.
struct Quadratic {
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (lambda[0] * lambda[0] - 0.25);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

}  // namespace

TEST_SUITE("schemes/nonlinear_capturing") {
  TEST_CASE("an accepted step that keeps its mode allocates nothing") {
    CHECK(allocations_of(stick_slip(), Vector{{1, 0}}, 1e-3, 2000) == 0);
    CHECK(allocations_of(soft_drink(), SoftDrink::start(), 1e-3, 2000) == 0);
  }

  TEST_CASE("the relay form [RAB] (34) has the trajectories of (11') for every B") {
    const struct {
      double B1, B2;
      Vector x0;
    } cases[] = {{-0.5, 1, Vector{{-5, 4, 0}}},   {-1, 0.5, Vector{{-5, 4, 0}}},
                 {1, 2, Vector{{-0.5, -0.5, 0}}}, {2, 1, Vector{{-3, 2, 0}}},
                 {0.5, 0.25, Vector{{-3, 2, 0}}}, {-0.49, 1, Vector{{-3, 2, 0}}},
                 {1, 2, Vector{{0, -1, 0}}},      {-1, 2, Vector{{-3, 2, 0}}}};
    for (const auto& [B1, B2, x0] : cases)
      for (const double h : {0.1, 0.013}) {
        const Vector shown{{B1, B2, h}};
        CAPTURE(shown.transpose());
        const BackwardEuler scheme{.h = h};
        const Trajectory law = integrate(switching_dae::own_law(B1, B2), x0, {0, 10}, scheme);
        const Trajectory relay =
            integrate(make_dcs(RelayForm{B1, B2}, 3, {sign()}), x0, {0, 10}, scheme);
        // Where the enumeration of the affine form proves that none goes on, Newton's method finds
        // none.
        std::vector<EventKind> expected = kinds(law);
        if (law.status == Status::no_solution) {
          CHECK(relay.status == Status::not_solved);
          expected.back() = EventKind::stopped;
        } else {
          CHECK(relay.status == law.status);
        }
        CHECK(kinds(relay) == expected);
        REQUIRE(std::abs(static_cast<long>(relay.size()) - static_cast<long>(law.size())) <= 1);
        double difference = 0;
        for (std::size_t k = 0; k < std::min(law.size(), relay.size()); ++k)
          difference = std::max(difference, (law.x[k] - relay.x[k]).head(2).norm());
        CHECK(difference < 1e-10);
      }
  }

  TEST_CASE("an if on its boundary has exactly two solutions, both listed") {
    const Dcs system = make_dcs(nonlinear_systems::Branch{}, 2, {step()});
    for (const double h : {1.0, 0.1, 1e-6}) {
      const StepSolutions found = solutions(system, Vector{{0, 0}}, 0, h);
      REQUIRE(found.list.size() == 2);
      CHECK(found.all_modes);
      CHECK(found.note.empty());
      CHECK(found.list[0].x.isApprox(Vector{{0, 3}}, 1e-12));
      CHECK(found.list[0].lambda[0] == 0);
      CHECK(found.list[0].norm == doctest::Approx(0));
      CHECK(found.list[1].x.isApprox(Vector{{-3 * h, 0}}, 1e-12));
      CHECK(found.list[1].lambda[0] == 1);
      CHECK(found.list[1].norm == doctest::Approx(3 * h));
      for (const StepSolution& solution : found.list) {
        CHECK(solution.isolated);
        CHECK(solution.residual <= gate);
      }
    }
    const Trajectory run = integrate(system, Vector{{0, 0}}, {0, 1}, BackwardEuler{.h = 0.1});
    CHECK(run.status == Status::solved);
    CHECK(run.x.back().isApprox(Vector{{0, 3}}, 1e-12));
  }

  TEST_CASE("several solutions in λ on one branch are found from several starts") {
    const StepSolutions found = solutions(make_dcs(Quadratic{}, 1, {sign()}), Vector{{0}}, 0, 0.1);
    int sliding = 0;
    for (const StepSolution& solution : found.list)
      if (solution.mode[0] == 1) {
        ++sliding;
        CHECK(std::abs(solution.lambda[0]) == doctest::Approx(0.5));
      }
    CHECK(sliding == 2);
  }

  TEST_CASE("the canonical example crosses both switches in order for every h") {
    for (const double h : {1.0, 0.5, 0.3, 0.1, 0.07, 0.02, 0.01, 1e-3}) {
      CAPTURE(h);
      const Trajectory run = integrate(canonical(), Vector{{1, 0}}, {0, 20}, BackwardEuler{.h = h});
      CHECK(run.status == Status::solved);
      REQUIRE(run.events.size() == 2);
      CHECK(run.events[0].law == 0);
      CHECK(run.events[1].law == 1);
      CHECK(run.events[0].kind == EventKind::crossing);
      CHECK(run.events[1].kind == EventKind::crossing);
      CHECK(std::abs(run.events[0].t - 11.000275475194826) < 1.5 * h);
      CHECK(std::abs(run.events[1].t - 11.270040323650829) < 2.5 * h);
      CHECK(run.lambda.back() == Vector{{1, 1}});
    }
  }

  TEST_CASE("stick-slip has the events of the reference, and their times to first order") {
    const std::vector<EventKind> expected{EventKind::sliding_entry, EventKind::sliding_exit,
                                          EventKind::crossing,      EventKind::sliding_entry,
                                          EventKind::sliding_exit,  EventKind::crossing,
                                          EventKind::sliding_entry, EventKind::sliding_exit};
    const std::vector<double> times{4.339679767481757,  4.9265253806553435, 10.326115009011556,
                                    11.08609031233643,  11.34131873602866,  16.74090836438487,
                                    17.500883667709743, 17.756112091401974};
    for (const double h : {2e-3, 1e-3, 5e-4}) {
      CAPTURE(h);
      const Trajectory run =
          integrate(stick_slip(), Vector{{1, 0}}, {0, 20}, BackwardEuler{.h = h});
      REQUIRE(kinds(run) == expected);
      for (std::size_t k = 0; k < times.size(); ++k)
        CHECK(std::abs(run.events[k].t - times[k]) < 25 * h);
    }
  }

  TEST_CASE("the soft drink process with paired algebraic equations crosses, then slides") {
    const Trajectory run =
        integrate(soft_drink(), SoftDrink::start(), {0, 10}, BackwardEuler{.h = 2e-3});
    REQUIRE(run.status == Status::solved);
    REQUIRE(kinds(run) == std::vector{EventKind::crossing, EventKind::sliding_entry});
    CHECK(run.events[0].t == doctest::Approx(2.3330367189673984).epsilon(1e-4));
    CHECK(run.events[1].t == doctest::Approx(6.0418605700348795).epsilon(5e-3));
    for (std::size_t k = 0; k < run.size(); ++k) CHECK(run.x[k].allFinite());
    // Where sliding begins its equations have two solutions, λ = 1.47 and, near the end of the
    // branch, the one that counts.
    const StepSolutions found = solutions(soft_drink(),
                                          Vector{{2.12068, 112.585, 0.0060094, 0.0559841, 13.8952,
                                                  0.00074168, 6.58076, 0.453607, 1.66708}},
                                          5.98, 0.02);
    REQUIRE(found.list.size() == 1);
    CHECK(found.list[0].mode == Mode{1});
    CHECK(found.list[0].lambda[0] == doctest::Approx(0.01427).epsilon(1e-2));
  }

  TEST_CASE("fully implicit equations are solved as they are written") {
    const Trajectory run =
        integrate(make_dcs(Implicit{}, 3), Vector{{0, 0, 5}}, {0, 1}, BackwardEuler{.h = 1e-3});
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.front()[2] == doctest::Approx(1));  // algebraic: from x0, not as guessed
    CHECK(run.x.back()[0] == doctest::Approx(2 * (1 - std::exp(-0.25))).epsilon(1e-3));
    CHECK(run.x.back()[1] == doctest::Approx(1));
    CHECK(run.x.back()[2] == doctest::Approx(2));
  }

  TEST_CASE("where the equations leave their domain the run stops with finite states") {
    const Trajectory run =
        integrate(make_dcs(Drain{}, 1), Vector{{1}}, {0, 1}, BackwardEuler{.h = 1e-2});
    CHECK((run.status == Status::not_solved || run.status == Status::no_solution));
    CHECK(run.message.find("stopped at t = 0.6") != std::string::npos);
    for (std::size_t k = 0; k < run.size(); ++k) CHECK(run.x[k].allFinite());
    CHECK(run.t.back() == doctest::Approx(2.0 / 3).epsilon(0.03));
  }

  TEST_CASE(
      "an inconsistent start says its residual and where it leads, a hidden constraint is found") {
    const Dcs pendulum = make_dcs(Pendulum{}, 5);
    const BackwardEuler scheme{.h = 1e-4};
    const Trajectory good = integrate(pendulum, Vector{{1, 0, 0, 2, 0}}, {0, 0.01}, scheme);
    CHECK(good.events.empty());
    CHECK(good.x.front()[4] == doctest::Approx(4).epsilon(1e-2));  // |velocity|²: hidden
    const Trajectory wrong = integrate(pendulum, Vector{{1, 0, 0.3, 2, 0}}, {0, 0.01}, scheme);
    REQUIRE(wrong.status == Status::solved);
    REQUIRE(!wrong.events.empty());
    CHECK(wrong.events[0].kind == EventKind::inconsistent_start);
    CHECK(wrong.events[0].size == doctest::Approx(0.3).epsilon(1e-9));  // of x u + y v = 0
    CHECK((wrong.events[0].x_after.head(4) - Vector{{1, 0, 0, 2}}).norm() < 1e-6);
    CHECK(wrong.events[0].note.find("is 0.3 away") != std::string::npos);
    // The relay form: x₂ = 3 where x₁ = -2 asks for 1, and x₁ (1 + x₁) for the multiplier -1.
    const Trajectory relay = integrate(make_dcs(RelayForm{-0.5, 1}, 3, {sign()}),
                                       Vector{{-2, 3, 0}}, {0, 0.1}, BackwardEuler{.h = 0.01});
    REQUIRE(!relay.events.empty());
    CHECK(relay.events[0].kind == EventKind::inconsistent_start);
    CHECK(relay.events[0].size == doctest::Approx(2).epsilon(1e-9));
    const Vector& led_to = relay.events[0].x_after;
    CHECK(led_to[1] == doctest::Approx(-1 - led_to[0]).epsilon(1e-6));
  }

  TEST_CASE("multipliers that are not determined are said to be so, and so is a free state") {
    const Dcs relays = make_dcs(TwoRelays{}, 1, {sign(), sign()});
    const StepSolutions found = solutions(relays, Vector{{0}}, 0, 0.1);
    bool continuum = false;
    for (const StepSolution& solution : found.list) {
      CHECK(solution.isolated);
      CHECK(solution.x[0] == doctest::Approx(0));
      CHECK(solution.lambda.sum() == doctest::Approx(0.5));
      continuum = continuum || !solution.lambda_determined;
    }
    CHECK(continuum);
    const Trajectory run = integrate(relays, Vector{{1}}, {0, 2}, BackwardEuler{.h = 0.01});
    CHECK(run.status == Status::solved);
    CHECK(std::abs(run.x.back()[0]) < 1e-12);

    const StepSolutions free =
        solutions(make_dcs(FreeVariable{}, 2, {complementarity()}), Vector{{1, 1}}, 0, 0.1);
    REQUIRE(free.list.size() == 1);
    CHECK_FALSE(free.list[0].isolated);
  }

  TEST_CASE("with too many modes to try all, neighbours are searched and the result says so") {
    const int m = 13;
    const Dcs system = make_dcs(ManyRelays{}, m, std::vector<Law>(m, sign()));
    Vector x0(m);
    for (int i = 0; i < m; ++i) x0[i] = (i % 2 == 0 ? 0.1 : -0.1) * (1 + i);
    // All as one, although the relays do not act on each other.
    const auto scheme = capturing_scheme(system, BackwardEuler{.h = 1e-2});
    const Trajectory run = perp::run(*scheme, system.laws, x0, {0, 2}, 1e-2, {40, true, nullptr, nullptr}, {});
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.back().norm() < 1e-12);
    CHECK(run.counts.at("not_enumerated") > 0);
    for (int i = 0; i < m; ++i) CHECK(run.lambda.back()[i] == doctest::Approx(0.25));
  }

  TEST_CASE("a reset happens where its condition falls through 0") {
    const double e = 0.9, g = 9.81;
    const auto error = [&](double h) {
      const Trajectory run =
          integrate(bouncing_ball(e), Vector{{0, 10}}, {0, 5}, BackwardEuler{.h = h});
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == 2);
      const double first = 20 / g, second = first + e * first;
      CHECK(run.events[0].kind == EventKind::jump);
      CHECK(run.events[0].note == "impact");
      CHECK(std::abs(run.events[0].t - first) < 2 * h);
      CHECK(run.events[0].x_after[1] == doctest::Approx(-e * run.events[0].x_before[1]));
      const double since = 5 - second, v = 10 * e * e;
      return std::abs(run.x.back()[0] - (v * since - g / 2 * since * since));
    };
    const double coarse = error(2e-4), fine = error(1e-4);
    CHECK(std::log2(coarse / fine) == doctest::Approx(1).epsilon(0.1));
  }

  TEST_CASE("resets that accumulate are not passed over") {
    const Trajectory run =
        integrate(bouncing_ball(0.5), Vector{{0, 10}}, {0, 15}, BackwardEuler{.h = 1e-3});
    CHECK(run.status == Status::not_solved);
    CHECK(run.message.find("accumulate") != std::string::npos);
    CHECK(run.t.back() == doctest::Approx(60 / 9.81 * 2.0 / 3).epsilon(0.02));
    for (std::size_t k = 0; k < run.size(); ++k) CHECK(run.x[k][0] > -1e-2);
  }

  TEST_CASE("wrong input is refused at the door") {
    CHECK_THROWS_AS((void)integrate(stick_slip(), Vector{{1, 0, 0}}, {0, 1}, BackwardEuler{}),
                    InvalidInput);
    CHECK_THROWS_AS((void)integrate(stick_slip(), Vector{{1, 0}}, {0, 1}, BackwardEuler{.h = -1}),
                    InvalidInput);
    CHECK_THROWS_AS((void)integrate(stick_slip(), Vector{{1, 0}}, {0, 1}, Theta{.theta = 0.4}),
                    InvalidInput);
    CHECK_THROWS_AS((void)solutions(stick_slip(), Vector{{1, perp::nan}}, 0, 0.1), InvalidInput);
    CHECK_THROWS_AS((void)solutions(stick_slip(), Vector{{1, 0}}, 0, 0), InvalidInput);
  }

  TEST_CASE("an affine system runs as the Lcs it is") {
    const Trajectory run =
        integrate(make_dcs(RelayFlow{}, 1, {sign()}), Vector{{1}}, {0, 1}, Theta{.theta = 0.5});
    CHECK(run.status == Status::solved);
    CHECK(run.provenance.at("scheme") == "theta = 0.5");
    CHECK(run.lambda.back()[0] == doctest::Approx(1.0 / 3));
  }

  TEST_CASE("a smooth model never jumps: a stiff start is stiff") {
    // Van der Pol, μ = 1000, by steps of 1; ẋ = −exp(x) from 700; ẋ = −1e8 x, which is affine.
    struct Case {
      const char* variables;
      const char* equations;
      double h;
    };
    for (const Case& each :
         {Case{"x = 2\nv = 0", "\"der(x) = v\", \"der(v) = 1000*(1-x^2)*v - x\"", 1},
          Case{"x = 700", "\"der(x) = -exp(x)\"", 0.01}, Case{"x = 1", "\"der(x) = -1e8*x\"", 1}}) {
      CAPTURE(each.equations);
      const Model model =
          read_model_text(fmt::format("[variables]\n{}\n[model]\nequations = [{}]\n[run]\nt = "
                                      "[0, 5]\n",
                                      each.variables, each.equations),
                          "smooth.toml");
      const Trajectory run = integrate(model.system, model.x0(), {0, 5}, BackwardEuler{.h = each.h});
      for (const Event& event : run.events) CHECK(event.kind != EventKind::jump);
      CHECK(run.message.find("jump") == std::string::npos);
    }
  }
}
