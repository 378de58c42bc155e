#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/lcp/residual_gate.hpp>
#include <perp/lcp/search_account.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step/step_equations.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/schemes/step/point/random_systems.hpp>

// Steps of systems whose unknowns are too many for maps of modes, against the dense problem of a step and against
// themselves in other orders and units.

using namespace perp;
using perp::test::friction_chain;

namespace {

struct Run {
  Lcs lcs;
  Vector x0;
  double h = 0;
  int steps = 0;
};

Run frictions(unsigned seed, int masses) {
  std::mt19937 random(seed);
  Run run{friction_chain(random, masses), Vector::Zero(2 * masses), 0.02, 40};
  for (int i = 0; i < masses; ++i) run.x0[masses + i] = 0.5 + 0.3 * std::sin(0.37 * i * i + seed);
  return run;
}

/// Diodes to ground along a line of resistances and capacitances, a source at one end.
Run diodes(unsigned seed, int nodes) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> about_one(0.8, 1.2);
  Run run{{.A = Matrix::Zero(nodes, nodes), .B = Matrix::Identity(nodes, nodes), .C = Matrix::Identity(nodes, nodes),
           .laws = std::vector<Law>(at(nodes), complementarity())},
          Vector::Zero(nodes), 0.1, 60};
  Vector b(nodes);
  for (int i = 0; i < nodes; ++i) {
    const double conductance = about_one(random);
    run.lcs.A(i, i) -= conductance;
    if (i > 0) run.lcs.A(i - 1, i - 1) -= conductance, run.lcs.A(i, i - 1) = run.lcs.A(i - 1, i) = conductance;
    b[i] = 0.2 * std::cos(0.4 * i + seed);
  }
  const double bias = b[0];
  run.lcs.b = Signal(b, {0}, [bias](double t, Vector& value) { value[0] = bias + 20 * std::sin(t); });
  return run;
}

Trajectory integrated(const Run& run, bool splits = true) {
  return integrate(run.lcs, run.x0, {0, run.h * run.steps}, BackwardEuler{.h = run.h, .split_at_events = splits});
}

/// Equations, variables and laws in another order.
Run permuted(const Run& run, std::mt19937& random) {
  const auto shuffled = [&](int count) {
    std::vector<int> order(at(count));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  const Lcs lcs = validated(run.lcs);
  const std::vector<int> rows = shuffled(lcs.n()), columns = shuffled(lcs.n()), laws = shuffled(lcs.m());
  Run other{{.E = lcs.E(rows, columns), .A = lcs.A(rows, columns), .B = lcs.B(rows, laws), .C = lcs.C(laws, columns),
             .D = lcs.D(laws, laws), .q = Vector(lcs.q.constant()(laws)), .laws = {}},
            run.x0(columns), run.h, run.steps};
  for (const int law : laws) other.lcs.laws.push_back(lcs.laws[at(law)]);
  std::vector<int> all(rows.size());
  std::iota(all.begin(), all.end(), 0);
  other.lcs.b = Signal(Vector(lcs.b.constant()(rows)), all,
                       [b = lcs.b, rows](double t, Vector& value) { value = Vector(b(t)(rows)); });
  return other;
}

std::vector<double> times(const Trajectory& run) {
  std::vector<double> list;
  for (const Event& event : run.events) list.push_back(event.t);
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

TEST_SUITE("schemes/capturing/many unknowns") {
  TEST_CASE("each step without an event is the one solution of its dense problem") {
    for (const unsigned seed : {1U, 2U})
      for (const Run& run : {frictions(seed, 25), diodes(seed, 40)}) {
        CAPTURE(seed);
        const Trajectory steps = integrated(run, false);
        REQUIRE(steps.status == Status::solved);
        REQUIRE(steps.counts.at("solver_calls") == 0);
        StepEquations equations(run.lcs, 1);
        int compared = 0;
        for (std::size_t k = 1; k < steps.t.size(); ++k) {
          const double h = steps.t[k] - steps.t[k - 1];
          const bool is_whole = std::ranges::none_of(steps.events, [&](const Event& event) {
            return event.t_after >= steps.t[k - 1] && event.t_before <= steps.t[k];
          });
          if (!is_whole) continue;
          const Mlcp problem = equations.problem(steps.x[k - 1], steps.t[k - 1], steps.t[k], h);
          const SolveResult dense = solve(solver("newton_min"), problem, {});
          REQUIRE(dense.status == Status::solved);
          const Vector x = dense.solution.u.head(run.lcs.n());
          CHECK((x - steps.x[k]).lpNorm<Eigen::Infinity>() <= 1e-10 * (1 + x.lpNorm<Eigen::Infinity>()));
          ++compared;
        }
        CHECK(compared > 10);
      }
  }

  TEST_CASE("the order of equations, variables and laws changes neither events nor states") {
    std::mt19937 random(7);
    for (const Run& run : {frictions(3, 30), diodes(3, 50)}) {
      const Trajectory wanted = integrated(run);
      REQUIRE(wanted.status == Status::solved);
      REQUIRE(wanted.events.size() > 5);
      for (int trial = 0; trial < 3; ++trial) {
        const Trajectory other = integrated(permuted(run, random));
        REQUIRE(other.status == Status::solved);
        REQUIRE(other.events.size() == wanted.events.size());
        const std::vector<double> a = times(wanted), b = times(other);
        for (std::size_t k = 0; k < a.size(); ++k) CHECK(std::abs(a[k] - b[k]) < 1e-9 * run.h);
        CHECK(std::abs(other.x.back().norm() - wanted.x.back().norm()) < 1e-10 * wanted.x.back().norm());
      }
    }
  }

  TEST_CASE("powers of two as units of variables and equations change no event") {
    std::mt19937 random(8);
    const Run run = frictions(4, 30);
    const Trajectory wanted = integrated(run);
    Run other = run;
    other.lcs = validated(other.lcs);
    const Vector unit = perp::test::change_units(other.lcs, other.x0, random, 10);
    const Trajectory scaled = integrated(other);
    REQUIRE(scaled.status == Status::solved);
    CHECK(times(scaled) == times(wanted));
    CHECK(scaled.x.back().cwiseQuotient(unit) == wanted.x.back());
  }

  TEST_CASE("what has no certificate and too many unknowns to be enumerated is solved, and said not to be enumerated") {
    // friction that falls with the position of the mass before: no energy tells that a step has one solution
    Run run = frictions(5, 200);
    for (int i = 1; i < 200; ++i) run.lcs.C(i, i - 1) = 1e-3;
    run.steps = 3;
    const Trajectory steps = integrated(run);
    CHECK(steps.status == Status::solved);
    CHECK(steps.counts.at("not_enumerated") > 0);
  }

  TEST_CASE("searches that come to no end cost a run no more than it has steps for") {
    SearchAccount account;
    const long most = account.nodes();
    const auto count_whole = [&](int searches, int steps_between) {
      int count = 0;
      for (int k = 0; k < searches; ++k) {
        count += account.nodes() == most ? 1 : 0;
        account.take();
        for (int step = 0; step < steps_between; ++step) account.add_step();
      }
      return count;
    };
    CHECK(count_whole(100, 0) == 4);
    CHECK(count_whole(160, 1) == 9);
    CHECK(account.nodes() > 0);
  }

  TEST_CASE("contacts and frictions that share masses at rest, by name: steps end though their solutions are too many to list") {
    const Model model = read_model_text(R"model(
[variables]
x = { size = 20, start = "0.05*sin(i)^2" }
v = { size = 20, start = "-0.3*i/20" }
r = { size = 20, start = "0" }
[model]
equations = [
  "for i in 1:20: der(x[i]) = v[i]",
  "for i in 1:20: der(v[i]) = -9*x[i] + if(i>1, 2*(x[i-1]-x[i]), 0) + if(i<20, 2*(x[i+1]-x[i]), 0) + r[i] - 0.1*sign(v[i])",
]
laws = ["for i in 1:20: 0 <= x[i] + 0.01 perp r[i] >= 0"]
[run]
t = [0, 0.02]
h = 0.01
)model", "contacts.toml");
    const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = model.run.h});
    CHECK(run.status == Status::solved);
    CHECK(run.counts.at("not_enumerated") > 0);
  }
}
