#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <numbers>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>

using namespace perp;

namespace {

Model model(const std::string& text) { return read_model_text(text, "test.toml"); }

Dcs system_of(const Model& model) {
  return model.equations ? *model.equations : as_dcs(model.lcs());
}

Trajectory run(const Model& model, Located scheme, const IntegrateOptions& options = {}) {
  scheme.restitution = model.restitution;
  return integrate(system_of(model), model.x0(), model.run.span, scheme, options);
}

const Event* find(const Trajectory& run, EventKind kind) {
  for (const Event& event : run.events)
    if (event.kind == kind) return &event;
  return nullptr;
}

}  // namespace

TEST_SUITE("schemes/located/run") {
  TEST_CASE("two relays wind to the origin through infinitely many crossings until t = 1/2") {
    const Model spiral = read_model(find_model("filippov_spiral"));
    const Trajectory found = run(spiral, {.tol = 1e-10});
    REQUIRE(found.status == Status::solved);
    const Event* limit = find(found, EventKind::accumulation);
    REQUIRE(limit != nullptr);
    CHECK(limit->t == doctest::Approx(0.5).epsilon(1e-14));
    CHECK(found.x.back().norm() < 1e-12);
    CHECK(found.mode.back() == Mode{1, 1});
  }

  TEST_CASE("a ball with e = 1/2 rests from t = sqrt(2h/g) (1+e)/(1-e) on, with contact force g") {
    const Model ball = model(R"TOML(
[variables]
h = 1
v = 0
[model]
laws = ["0 <= h perp force >= 0"]
restitution = { force = "0.5" }
equations = ["der(h) = v", "der(v) = -9.81 + force"]
[run]
t = [0, 2]
)TOML");
    const Trajectory found = run(ball, {.tol = 1e-12});
    REQUIRE(found.status == Status::solved);
    const Event* limit = find(found, EventKind::accumulation);
    REQUIRE(limit != nullptr);
    CHECK(std::abs(limit->t - 1.35457092295719) < 1e-12);
    CHECK(found.x.back().norm() < 1e-12);
    CHECK(found.lambda.back()[0] == doctest::Approx(9.81));
    double energy = 9.81;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double now = 9.81 * found.x[k][0] + found.x[k][1] * found.x[k][1] / 2;
      CHECK(now <= energy * (1 + 1e-10) + 1e-12);
      energy = std::min(energy, now);
    }
  }

  TEST_CASE("contacts that close at one moment have their impacts at once") {
    const Model balls = model(R"TOML(
[variables]
h1 = 1
v1 = 0
h2 = 1
v2 = 0
[model]
laws = ["0 <= h1 perp f1 >= 0", "0 <= h2 perp f2 >= 0"]
restitution = { f1 = "1", f2 = "0" }
equations = ["der(h1) = v1", "der(v1) = -2 + f1", "der(h2) = v2", "der(v2) = -2 + f2"]
[run]
t = [0, 1.5]
)TOML");
    const Trajectory found = run(balls, {.tol = 1e-11});
    REQUIRE(found.status == Status::solved);
    REQUIRE(found.events.size() >= 2);
    CHECK(found.events[0].kind == EventKind::jump);
    CHECK(found.events[1].kind == EventKind::jump);
    CHECK(std::abs(found.events[0].t - 1) < 1e-13);
    CHECK(found.events[0].t == found.events[1].t);
    CHECK((found.x.back() - Vector{{0.75, 1, 0, 0}}).norm() < 1e-11);
  }

  TEST_CASE("a reset that accumulates ends the run where it does") {
    const Model ball = model(R"TOML(
name = "ball with a reset"
[variables]
h = 1
v = 0
[model]
equations = ["der(h) = v", "der(v) = -2"]
when = [{ condition = "h", direction = -1, set = { v = "-0.5*v" }, name = "impact" }]
[run]
t = [0, 10]
)TOML");
    const Trajectory found = run(ball, {.tol = 1e-11});
    CHECK(found.status == Status::not_solved);
    CHECK(found.message.find("resets accumulate at t = 3") != std::string::npos);
    CHECK(std::abs(found.events.back().t - 3) < 1e-12);
  }

  // While the mass sticks its state is constant; only the multiplier of the friction moves.
  TEST_CASE("a long step does not jump over the end of a sticking phase") {
    const Model block = model(R"TOML(
name = "block that sticks, pulled more and more"
[parameters]
T = 1000
[variables]
v = 0
[model]
equations = ["der(v) = 1.1*sin(t/T) - sign(v)"]
[run]
t = [0, 3141]
)TOML");
    const double leaves = 1000 * std::asin(1 / 1.1);
    for (const int stages : {3, 5, 7}) {
      const Trajectory found = run(block, {.tol = 1e-9, .stages = stages});
      REQUIRE(found.status == Status::solved);
      REQUIRE(found.events.size() == 2);  // it leaves, slides, and sticks again
      CHECK(found.events[0].kind == EventKind::sliding_exit);
      CHECK(std::abs(found.events[0].t - leaves) < 1e-9);
      CHECK(found.events[1].kind == EventKind::sliding_entry);
    }
  }

  TEST_CASE(
      "excursions of a millionth across a surface are found, shallower touches are not events") {
    const auto grazing = [](double depth) {
      return model(fmt::format(R"TOML(
name = "a parabola that dips"
[variables]
x = 1
y = 0
[model]
equations = ["der(x) = 2*(t - 1)", "der(y) = if(x < {:.17g}, 1, 0)"]
[run]
t = [0, 2.5]
)TOML",
                               depth));
    };
    // x = (t − 1)² is below the depth for 2 sqrt(depth)
    const Trajectory found = run(grazing(1e-6), {.tol = 1e-10});
    REQUIRE(found.events.size() == 2);
    CHECK(std::abs(found.events[0].t - 0.999) < 1e-10);
    CHECK(std::abs(found.x.back()[1] - 2e-3) < 1e-10);
    CHECK(run(grazing(-1e-6), {.tol = 1e-10}).events.empty());
    CHECK(run(grazing(0), {.tol = 1e-10}).status == Status::solved);
  }

  TEST_CASE("x' in sign(x) from 0 has three continuations, and the one of least norm rests") {
    const Model repulsive = model(R"TOML(
[variables]
x = 0
[model]
equations = ["der(x) = sign(x)"]
[run]
t = [0, 1]
)TOML");
    const SolutionBranches found =
        solution_branches(system_of(repulsive), repulsive.x0(), repulsive.run.span, {.tol = 1e-8});
    CHECK_FALSE(found.complete);  // others rest for a while
    REQUIRE(found.list.size() == 3);
    CHECK(found.list[0].run.x.back()[0] == 0);
    CHECK(found.list[1].run.x.back()[0] == doctest::Approx(-1));
    CHECK(found.list[2].run.x.back()[0] == doctest::Approx(1));
    CHECK(found.list[0].choices.front().of == 3);
    CHECK(solution_branches(system_of(repulsive), repulsive.x0(), repulsive.run.span,
                            {.tol = 1e-8}, {}, 2)
              .list.size() == 2);
  }

  TEST_CASE("a tree with two branching points has a solution for every choice") {
    const Model repulsive = model(R"TOML(
[variables]
x = 0
y = 0
[model]
equations = ["der(x) = sign(x)", "der(y) = sign(y)"]
[run]
t = [0, 1]
)TOML");
    const SolutionBranches found =
        solution_branches(system_of(repulsive), repulsive.x0(), repulsive.run.span, {.tol = 1e-8});
    CHECK(found.list.size() == 9);
  }

  TEST_CASE("where nothing goes on, every mode is named with its violation") {
    const Model ends = read_model(find_model("switching_dae_no_solution"));
    const Trajectory found = run(ends, {.tol = 1e-10});
    CHECK(found.status == Status::no_solution);
    CHECK(found.events.back().kind == EventKind::no_solution);
    CHECK(found.events.back().note.find("violations of the modes") != std::string::npos);
    CHECK(found.t.back() == doctest::Approx(found.events.back().t));
  }

  TEST_CASE("a mode of index 3 is captured by backward Euler, and the message says so") {
    const Model pendulum = model(R"TOML(
name = "pendulum in Cartesian coordinates"
[variables]
x = 1
y = 0
u = 0
v = 0
force = 0
[model]
equations = ["der(x) = u", "der(y) = v", "der(u) = -force*x", "der(v) = -force*y - 1", "x^2 + y^2 = 1"]
[run]
t = [0, 0.5]
)TOML");
    const Trajectory found = run(pendulum, {.tol = 1e-8});
    CAPTURE(found.message);
    CHECK(found.message.find("backward_euler") != std::string::npos);
    CHECK(found.t.back() == doctest::Approx(0.5));
    CHECK(std::abs(found.x.back().head(2).norm() - 1) < 1e-6);
  }

  TEST_CASE("a start whose jump leads into modes with fast poles goes on with high order") {
    Model bridge = read_model(find_model("diode_bridge_capacitor"));
    bridge.run.span.end = 1e-4;
    const Trajectory found = run(bridge, {.tol = 1e-8});
    CHECK(found.status == Status::solved);
    CHECK(found.message.find("backward_euler") == std::string::npos);
    const auto captured = [&](double h) {
      const BackwardEuler scheme{.h = h};
      return integrate(bridge.lcs(), bridge.x0(), bridge.run.span, scheme).x.back();
    };
    const Vector limit = 2 * captured(5e-9) - captured(1e-8);  // extrapolated to h = 0
    CHECK((found.x.back() - limit).norm() < 1e-7 * limit.norm());
  }

  TEST_CASE("states are reported at the times asked for, whatever the steps, and twice the same") {
    const Model friction = read_model(find_model("stick_slip"));
    IntegrateOptions options;
    options.only_times = true;
    for (int k = 0; k <= 40; ++k) options.times.push_back(0.5 * k);
    const Trajectory first = run(friction, {.tol = 1e-9}, options);
    const Trajectory second = run(friction, {.tol = 1e-9}, options);
    REQUIRE(first.t == options.times);
    CHECK(first.x == second.x);
    const Trajectory fine = run(friction, {.tol = 1e-12}, options);
    for (std::size_t k = 0; k < fine.size(); ++k) CHECK((fine.x[k] - first.x[k]).norm() < 1e-8);
  }

  TEST_CASE("every choice agrees with the short implicit step of least norm") {
    for (const char* name :
         {"predator_prey", "stick_slip", "forced_dry_friction", "filippov_dae"}) {
      CAPTURE(std::string(name));
      const Trajectory found =
          run(read_model(find_model(name)), {.tol = 1e-10, .cross_check = true});
      CHECK(found.counts.at("cross_check_agrees") > 0);
      CHECK_FALSE(found.counts.contains("cross_check_differs"));
    }
  }

  TEST_CASE("wrong options are refused by name") {
    const Model friction = read_model(find_model("stick_slip"));
    const Dcs system = system_of(friction);
    const auto refuses = [&](const Vector& x0, Span span, const Located& scheme) {
      CHECK_THROWS_AS(integrate(system, x0, span, scheme), InvalidInput);
    };
    const Vector x0 = friction.x0();
    refuses(x0, {0, 1}, {.tol = 1});
    refuses(x0, {0, 1}, {.stages = 4});
    refuses(x0, {0, 1}, {.fixed_step = -1});
    refuses(x0, {0, 1}, {.scale = -Vector::Ones(2)});
    refuses(x0, {1, 0}, {});
    refuses(Vector::Ones(1), {0, 1}, {});
    refuses(Vector::Constant(2, perp::nan), {0, 1}, {});
  }
}

TEST_SUITE("schemes/located/sensitivities") {
  TEST_CASE("laws that switch at one moment have one-sided derivatives where their order matters") {
    const Model exclusive = model(R"TOML(
name = "exclusive or of two crossings"
[variables]
x1 = -1
x2 = -1
x3 = 0
[model]
equations = ["der(x1) = 1", "der(x2) = 1",
             "der(x3) = if(x1 > 0 and not x2 > 0 or x2 > 0 and not x1 > 0, 1, 0)"]
[run]
t = [0, 2]
)TOML");
    Located scheme{.tol = 1e-10};
    scheme.sensitivities.starts = {0, 1, 2};
    const Trajectory found = run(exclusive, scheme);
    REQUIRE(found.status == Status::solved);
    REQUIRE(found.counts.at("one_sided") == 1);
    const Event& event = found.events.front();
    CHECK(event.t == doctest::Approx(1));
    REQUIRE(event.pieces.size() == 2);
    // x1 first: x3 gains x1(0) − x2(0); x2 first: the opposite
    CHECK(std::abs(event.pieces[0](2, 0)) == doctest::Approx(1));
    CHECK(event.pieces[0](2, 0) == doctest::Approx(-event.pieces[1](2, 0)));
    CHECK(event.pieces[0](2, 1) == doctest::Approx(-event.pieces[0](2, 0)));
  }

  TEST_CASE("a start on a sliding surface moves back to it along the field, not across") {
    // slides on y = 0 with λ = 1/2 + x/4; a start off the surface falls back along (1, −1)
    const Model sliding = model(R"TOML(
name = "sliding with a tangential part"
[variables]
x = 0.5
y = 0
[model]
laws = ["s in sign(y)"]
equations = ["der(x) = -0.1*x + 2*s", "der(y) = 0.3 + 0.2*x - s"]
[run]
t = [0, 1]
)TOML");
    Located scheme{.tol = 1e-12};
    scheme.sensitivities.starts = {0, 1};
    const Trajectory found = run(sliding, scheme);
    const Matrix& S = found.dx_dq.back();
    // dx/dt = −0.1 x + 0.6 + 0.4 x; a start (x, δ) reaches the surface near (x + 2 δ, 0)
    CHECK(S(0, 0) == doctest::Approx(std::exp(0.3)).epsilon(1e-10));
    CHECK(S(0, 1) == doctest::Approx(2 * std::exp(0.3)).epsilon(1e-10));
    CHECK(std::abs(S(1, 0)) < 1e-10);
    CHECK(std::abs(S(1, 1)) < 1e-10);
  }

  TEST_CASE("impacts: dx/dx0 and dx/dg of a bouncing ball as in closed form") {
    const Model ball = model(R"TOML(
[parameters]
g = 2
[variables]
h = 1
v = 0
[model]
laws = ["0 <= h perp force >= 0"]
restitution = { force = "0.5" }
equations = ["der(h) = v", "der(v) = -g + force"]
[run]
t = [0, 1.5]
)TOML");
    Located scheme{.tol = 1e-12};
    scheme.sensitivities = {.starts = {0, 1}, .parameters = {0}};
    const Trajectory found = run(ball, scheme);
    REQUIRE(found.status == Status::solved);
    // t* = (v + sqrt(v² + 2 g h))/g, v⁺ = e sqrt(v² + 2 g h); h(T) = v⁺ (T − t*) − g (T − t*)²/2
    const auto exact = [](double h, double v, double g) {
      const double root = std::sqrt(v * v + 2 * g * h), rest = 1.5 - (v + root) / g;
      return Vector{{0.5 * root * rest - g * rest * rest / 2, 0.5 * root - g * rest}};
    };
    CHECK((found.x.back() - exact(1, 0, 2)).norm() < 1e-12);
    for (int k = 0; k < 3; ++k) {
      Vector q{{1, 0, 2}}, sum = Vector::Zero(2);
      for (const auto& [place, weight] : {std::pair{-2, 1}, {-1, -8}, {1, 8}, {2, -1}}) {
        Vector moved = q;
        moved[k] += place * 1e-3;
        sum += weight * exact(moved[0], moved[1], moved[2]);
      }
      CHECK((found.dx_dq.back().col(k) - sum / (12e-3)).norm() < 1e-9);
    }
    REQUIRE(found.events.front().dt_dq.size() == 3);
    CHECK(found.events.front().dt_dq[0] == doctest::Approx(0.5));
  }

  TEST_CASE(
      "past an accumulation of impacts the rest does not depend on the start, the way there does") {
    const Model ball = model(R"TOML(
[variables]
h = 1
v = 0
z = 0
[model]
laws = ["0 <= h perp force >= 0"]
restitution = { force = "0.5" }
equations = ["der(h) = v", "der(v) = -2 + force", "der(z) = h"]
[run]
t = [0, 4]
)TOML");
    Located scheme{.tol = 1e-12};
    scheme.sensitivities.starts = {0};
    const Trajectory found = run(ball, scheme);
    REQUIRE(found.status == Status::solved);
    const Matrix& S = found.dx_dq.back();
    CHECK(std::abs(S(0, 0)) < 1e-9);
    CHECK(std::abs(S(1, 0)) < 1e-9);
    // z is the area below the bounces: h^(3/2) (2/3 + 4/3 Σ 8^-k)
    CHECK(found.x.back()[2] == doctest::Approx(6.0 / 7).epsilon(1e-10));
    CHECK(S(2, 0) == doctest::Approx(9.0 / 7).epsilon(1e-9));
  }
}
