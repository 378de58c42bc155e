#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::is_captured;
using perp::test::located_model;
using perp::test::run_located;

namespace {

std::string one_equation(const std::string& variables, const std::string& equations, double end) {
  return fmt::format("[variables]\n{}\n[model]\nequations = [{}]\n[run]\nt = [0, {}]\n", variables,
                     equations, end);
}

}  // namespace

TEST_SUITE("schemes/located/honest_ends") {
  TEST_CASE("a diode's exponential is solved from guesses far away, or not at all") {
    for (const char* guess : {"0", "5", "10"}) {
      CAPTURE(guess);
      const Trajectory run = run_located(located_model("exponential_diode", {{"vd", guess}}));
      if (run.status != Status::solved) continue;
      const double v = run.x.back()[0], vd = run.x.back()[1];
      CHECK(std::abs(v - 2.7101172462) < 1e-8);
      CHECK(std::abs(5 - vd - v - 1e-12 * std::expm1(vd / 0.025)) < 1e-12);
    }
    CHECK(run_located(located_model("exponential_diode")).status == Status::solved);
  }

  TEST_CASE("sliding on the argument that is a variable of its own goes on, whatever rounding its row has none of") {
    // 0.3 x = 0.4 cos(1.3 t) while it slides, where u = (0.8 sin(2.2 t) - 0.4 x - dx/dt) / 0.9
    const Trajectory run = run_located(
        "[variables]\nx = -0.6\nw = 0\nu = 0\n[model]\nequations = [\"der(x) = -0.4*x - 0.9*u + 0.8*sin(2.2*t)\", "
        "\"w = 0.3*x - 0.4*cos(1.3*t)\", \"u = sign(w)\"]\n[run]\nt = [0, 3]\n");
    REQUIRE(run.status == Status::solved);
    CHECK_FALSE(is_captured(run));
    const double x = 4.0 / 3 * std::cos(3.9), rate = -1.3 * 4 / 3 * std::sin(3.9);
    CHECK(std::abs(run.x.back()[0] - x) < 1e-9);
    CHECK(std::abs(run.x.back()[2] - (0.8 * std::sin(6.6) - 0.4 * x - rate) / 0.9) < 1e-8);
  }

  TEST_CASE("a solution that goes to infinity ends there, and no mode is spoken of") {
    const Trajectory run = run_located(located_model("blow_up"));
    CHECK(run.status == Status::not_solved);
    CHECK(std::abs(run.t.back() - 1) < 1e-12);
    CHECK(run.message.find("mode") == std::string::npos);
  }

  TEST_CASE("a run ends at a fold of its algebraic variable, in every unit of time") {
    for (const double k : {1.0, 1e9, 1e-9}) {
      CAPTURE(k);
      const Trajectory run = run_located(
          fmt::format("[variables]\nx = 0\ny = 3\n[model]\nequations = [\"der(x) = {}\", "
                      "\"y^3 - 3*y + x - 1 = 0\"]\n[run]\nt = [0, {}]\n",
                      k, 5 / k));
      CHECK(run.status == Status::not_solved);
      CHECK(std::abs(run.t.back() * k - 3) < 4e-12);
      CHECK(std::abs(run.x.back()[1] - 1) < 1e-5);
      CHECK(run.message.find("a fold") !=
            std::string::npos);
    }
  }

  TEST_CASE("a run with rows in between ends at a fold too, and no row is beyond it") {
    const Model model = located_model("fold");
    Located scheme = test::located(model);
    for (const double step : {0.01, 0.3, 0.0007}) {
      CAPTURE(step);
      scheme.output_step = step;
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, scheme);
      CHECK(run.status == Status::not_solved);
      CHECK(std::abs(run.t.back() - 3) < 1e-13);
      CHECK(run.message.find("a fold") != std::string::npos);
    }
  }

  TEST_CASE("a fold beside a constraint of index 2, or beside a law that slides, ends the run") {
    const std::string folding = "\"der(x) = 1\", \"y^3 - 3*y + x - 1 = 0\", ";
    for (const char* rest : {"\"der(p) = f\", \"p = sin(t)\"",
                             "\"der(p) = 0.5 - 2*sign(p)\", \"f = y\""}) {
      CAPTURE(rest);
      const Trajectory run = run_located(one_equation("x = 0\ny = 3\np = 0\nf = 1", folding + rest, 5));
      CHECK(run.status == Status::not_solved);
      CHECK(std::abs(run.t.back() - 3) < 1e-13);
      CHECK(run.message.find("a fold") != std::string::npos);
    }
  }

  TEST_CASE("a run ends at a pole of its algebraic variable") {
    const Trajectory run =
        run_located(one_equation("x = -1\ny = -1", "\"der(x) = 1\", \"y*x = 1\"", 3));
    CHECK(run.status == Status::not_solved);
    CHECK(std::abs(run.t.back() - 1) < 1e-6);
    CHECK(run.x.back()[1] < -1e3);
    CHECK(run.message.find("variable 2 has grown to -") != std::string::npos);
  }

  TEST_CASE("a run stays on its branch of y^2 = 1 + sin(t)/2") {
    for (const double start : {0.9, -1.2}) {
      const Trajectory run = run_located(one_equation(
          fmt::format("x = 0\ny = {}", start), "\"der(x) = y\", \"y^2 = 1 + sin(t)/2\"", 20));
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      for (const Vector& x : run.x) CHECK(x[1] * start > 0);
    }
  }

  TEST_CASE("an exponential equation is solved from far, or not at all") {
    const Trajectory run =
        run_located(one_equation("x = 0\ny = 705", "\"der(x) = y\", \"0 = exp(y) - 2\"", 1));
    if (run.status == Status::solved) CHECK(std::abs(run.x.back()[1] - std::log(2.0)) < 1e-14);
  }

  TEST_CASE("fields that agree at a switch are crossed") {
    const Trajectory run = run_located(located_model("equal_fields"));
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == EventKind::crossing);
    CHECK(std::abs(run.x.back()[0] - 0.307919203813) < 1e-10);
  }

  TEST_CASE("super-twisting crosses its root at full order and slides where the crossings accumulate") {
    const Trajectory run = run_located(located_model("super_twisting"));
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    // By a midpoint rule of steps of 1e-8.
    const double moments[] = {1.02895141, 1.24807394, 1.32601526, 1.33169816, 1.33331593};
    REQUIRE(run.events.size() > 5);
    for (std::size_t k = 0; k < 5; ++k) {
      CHECK(run.events[k].kind == EventKind::crossing);
      CHECK(std::abs(run.events[k].t - moments[k]) < 2e-8);
    }
    const auto count = [&](EventKind kind) {
      return std::count_if(run.events.begin(), run.events.end(),
                           [kind](const Event& event) { return event.kind == kind; });
    };
    CHECK(count(EventKind::accumulation) == 1);
    CHECK(count(EventKind::sliding_entry) == 1);
    CHECK(count(EventKind::jump) == 0);
    CHECK_FALSE(is_captured(run));
    for (std::size_t k = 0; k < run.size(); ++k)
      if (run.t[k] > 1.4) CHECK(std::abs(run.x[k][0]) < 1e-6);
  }

  TEST_CASE("a run that captures says so first, and has the step and selector of a captured run") {
    // From t = 1 on the index is 3.
    const Model model = read_model_text(
        "[variables]\np = 0\nv = 1\nl = 0\n[model]\nequations = [\"der(p) = v\", \"der(v) = l\", "
        "\"0 = (1 - step(t - 1))*l + step(t - 1)*(p - t)\"]\n[run]\nt = [0, 2]\n",
        "index.toml");
    Located scheme = test::located(model);
    scheme.output_step = 0.02;
    scheme.sensitivities.starts = {0, 1};
    const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, scheme);
    REQUIRE(is_captured(run));
    CHECK(run.message.starts_with("first order from t = 1 on"));
    CHECK(run.provenance.at("first order by") == "backward_euler, h = 0.02, selector keep_mode");
    CHECK(run.message.find("no sensitivities from there") != std::string::npos);
    CHECK(run.dx_dq.size() < run.t.size());
    for (const Matrix& S : run.dx_dq) CHECK(S.allFinite());
    REQUIRE(!run.events.empty());
    CHECK(run.events[0].kind == EventKind::crossing);
    CHECK(std::abs(run.events[0].t - 1) < 1e-12);
  }

  TEST_CASE("Robertson's kinetics to 4e10: the published values at tol 1e-10") {
    IntegrateOptions rows;
    rows.times = {4e10, 1e11};
    rows.only_times = true;
    const Model model = located_model("robertson", {{"run.t", "[0, 1e11]"}});
    const Trajectory run = run_located(model, 1e-10, rows);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK_FALSE(is_captured(run));
    CHECK(run.counts.at("steps") < 1000);
    REQUIRE(run.size() == 3);
    CHECK(std::abs(run.x[1][0] - 5.208e-8) < 0.5e-11);
    CHECK(std::abs(run.x[1][1] - 2.083e-13) < 0.5e-16);
    const Vector known{{0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050}};
    for (int j = 0; j < 3; ++j) CHECK(std::abs(run.x[2][j] - known[j]) < 1e-10 * known[j]);
  }

  TEST_CASE("an end at a pole or a fold calls the variable by its name") {
    // y = 1/(1 − t) has a pole, x = 0 for all t.
    const Model model = read_model_text(
        "[variables]\nx = 0\ncurrent = 1\n[model]\nequations = [\"der(x) = 0\", \"0 = current*(1 "
        "- t) - 1\"]\n[run]\nt = [0, 2]\n",
        "named.toml");
    Located scheme = perp::test::located(model);
    scheme.names = {"x", "current"};
    const Trajectory run = integrate(perp::test::system_of(model), model.x0(), {0, 2}, scheme);
    CHECK(run.status == Status::not_solved);
    CHECK_MESSAGE(run.message.find("current has grown to") != std::string::npos, run.message);
  }
  // x' = -x/R + 0.1; x' = -s, s in sign(x - 0.9 sin(t - 1e9)); k z' = x - z: each has one solution.
  TEST_CASE("no solution is said where it is proved alone: what the jets do not resolve goes on") {
    const auto run_of = [](const std::string& text) { return run_located(read_model_text(text, "m.toml")); };
    for (const char* R : {"1e-6", "1e-12", "1e-14", "0"}) {
      const Trajectory run = run_of(fmt::format(
          "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -i + 0.1\"]\n"
          "laws = [\"0 <= i perp {}*i - x >= 0\"]\n[run]\nt = [0, 1]\nh = 0.01\n", R));
      CAPTURE(R);
      REQUIRE(run.status == Status::solved);
      CHECK(std::abs(run.x.back()[0] - 0.1 * std::stod(R)) <= 1e-9 * std::stod(R));
    }
    const Trajectory far = run_of(
        "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -sign(x - 0.9*sin(t - 1e9))\"]\n"
        "[run]\nt = [1e9, 1000000010]\nh = 0.01\n");
    REQUIRE(far.status == Status::solved);
    CHECK(std::abs(far.x.back()[0] - 0.9 * std::sin(10.0)) < 1e-6);
    const Trajectory stiff = run_of(one_equation(
        "x = 1\nz = 0", "\"1e-300*der(z) = x - z\", \"der(x) = -z\"", 1));
    CHECK(stiff.status != Status::no_solution);
  }

  TEST_CASE("the log says that there is no solution where the status does, and then alone") {
    const auto is_end = [](const Event& event) { return event.kind == EventKind::no_solution; };
    // A square that Newton's method finds no root of; a contact that pulls: there is none.
    const Trajectory two = run_located(
        read_model_text(one_equation("x = 0.5", "\"der(x)^2 = -1\"", 1), "two.toml"));
    const Trajectory none = run_located(read_model_text(
        "[variables]\ny = 0\nv = 0\n[model]\nequations = [\"der(y) = v\", \"der(v) = -1 - N\"]\n"
        "laws = [\"0 <= y perp N >= 0\"]\n[run]\nt = [0, 1]\n", "none.toml"));
    CHECK(none.status == Status::no_solution);
    for (const Trajectory& run : {two, none})
      CHECK(std::any_of(run.events.begin(), run.events.end(), is_end) ==
            (run.status == Status::no_solution));
  }

  TEST_CASE("no step is longer than an oscillation whose Taylor coefficients overflow") {
    const Model model = read_model_text(
        one_equation("x = 1\nv = 0", "\"der(x) = 1e150*v\", \"der(v) = -1e150*x\"", 1), "fast.toml");
    Located scheme = perp::test::located(model);
    scheme.max_steps = 500;
    const Trajectory run = integrate(perp::test::system_of(model), model.x0(), model.run.span, scheme);
    CHECK(run.status == Status::not_solved);
    // x = cos(1e150 t)
    for (std::size_t k = 0; k < run.t.size(); ++k)
      CHECK(std::abs(run.x[k][0] - std::cos(1e150 * run.t[k])) < 1e-6);
  }

  TEST_CASE("a reset whose value is no number ends a run before it, where its condition passes 0") {
    // x = 1 - t; the reset writes 1/x, √(-1 - x²) or log(x) where x = 0.
    for (const char* value : {"1/x", "sqrt(-1 - x^2)", "log(x)", "0/x"}) {
      CAPTURE(std::string(value));
      const Trajectory run = run_located(fmt::format(
          "[variables]\nx = 1\nv = 3\n[model]\nequations = [\"der(x) = -1\", \"der(v) = 0\"]\n"
          "when = [{{ condition = \"x\", direction = -1, set = {{ v = \"{}\" }}, name = \"writes\" }}]\n"
          "[run]\nt = [0, 2]\n",
          value));
      CHECK(run.status == Status::not_solved);
      CHECK(std::abs(run.t.back() - 1) < 1e-9);
      CHECK(run.x.back()[1] == 3);
      CHECK(run.message.find("writes") != std::string::npos);
    }
  }

  // x = (1 - t)³ comes to 0 with v = 0 and a = 0, where lam = 6 holds it: a solution goes on. The event is known to 1e-5.
  TEST_CASE("no end is proved behind a contact of order three, whose state is known to the root of its rounding") {
    for (const double size : {1.0, 0.1, 1024.0}) {
      CAPTURE(size);
      const Model model = read_model_text(fmt::format("[variables]\nx = {0}\nv = {1}\na = {2}\n[model]\nequations = [\"der(x) = v\", \"der(v) = a\", \"der(a) = {3} + lam\"]\n"
                                                      "laws = [\"0 <= x perp lam >= 0\"]\n[run]\nt = [0, 2]\n", size, -3 * size, 6 * size, -6 * size), "contact.toml");
      const Trajectory run = run_located(model);
      CAPTURE(run.message);
      CHECK(run.status != Status::no_solution);
      if (run.status == Status::solved) CHECK(std::abs(run.x.back()[0]) < 1e-9 * size);
    }
    // One that comes to 0 with a rate ends, and that is proved.
    const Model falls = read_model_text("[variables]\nx = 1\nv = -3\na = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = a\", \"der(a) = lam\"]\n"
                                        "laws = [\"0 <= x perp lam >= 0\"]\n[run]\nt = [0, 2]\n", "falls.toml");
    CHECK(run_located(falls).status == Status::no_solution);
  }
}
