#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

std::vector<double> jump_times(const Trajectory& run) {
  std::vector<double> times;
  for (const Event& event : run.events)
    if (event.kind == EventKind::jump) times.push_back(event.t);
  return times;
}

Model reset_model(const std::string& start, const std::string& equations, const std::string& when,
                  double end) {
  return read_model_text(fmt::format("[variables]\n{}\n[model]\nequations = [{}]\nwhen = [{}]\n"
                                     "[run]\nt = [0, {}]\n",
                                     start, equations, when, end),
                         "resets.toml");
}

/// Both run loops, each with the error that its times may have.
struct Outcome {
  const char* scheme;
  Trajectory run;
  double error;
};

std::vector<Outcome> both(const Model& model, double h = 1e-3) {
  const Dcs& system = *model.equations;
  return {{"located", integrate(system, model.x0(), model.run.span, Located{.tol = 1e-11}), 1e-10},
          {"backward_euler", integrate(system, model.x0(), model.run.span, BackwardEuler{.h = h}),
           10 * h}};
}

/// The moments of all jumps, in both run loops.
void check_times(const Model& model, const std::vector<double>& wanted, double h = 1e-3) {
  for (const auto& [scheme, run, error] : both(model, h)) {
    const auto& shown_scheme = scheme;
    CAPTURE(shown_scheme);
    CHECK(run.status == Status::solved);
    const std::vector<double> found = jump_times(run);
    REQUIRE(found.size() == wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
      CHECK(std::abs(found[k] - wanted[k]) < error * (1 + wanted[k]));
  }
}

}  // namespace

TEST_SUITE("schemes/resets") {
  TEST_CASE("a comparison as condition is its difference with the direction in which it begins to hold") {
    const auto oscillator = [](const std::string& condition) {  // x = sin t
      return reset_model("x = 0\nv = 1\nn = 0",
                         R"("der(x) = v", "der(v) = -x", "der(n) = 0")",
                         "{ condition = " + condition + R"(, set = { n = "n + 1" } })", 7);
    };
    const double up = std::asin(0.5), down = std::numbers::pi - up;
    const std::vector<double> both_up = {up, up + 2 * std::numbers::pi};
    check_times(oscillator(R"("x < 1/2")"), {down});
    check_times(oscillator(R"("2*x <= 1")"), {down});
    check_times(oscillator(R"("x > 0.5")"), both_up);
    check_times(oscillator(R"("1/2 >= x")"), {down});
    check_times(oscillator(R"("1 < 2*x")"), both_up);
    const auto written = [&](const std::string& condition) {
      const Model model = oscillator(condition);
      return integrate(*model.equations, model.x0(), model.run.span, Located{.tol = 1e-11});
    };
    CHECK(written(R"("x < 0.5")").x == written(R"("x - 0.5", direction = -1)").x);
  }

  TEST_CASE("a reset that lets the motion pass fires once") {
    check_times(reset_model("x = 1\nv = -1", "\"der(x) = v\", \"der(v) = 0\"",
                            "{ condition = \"x\", direction = -1, set = { v = \"0.9*v\" } }", 2),
                {1}, 0.01);
  }

  TEST_CASE("rises of an oscillation through a level are counted") {
    const double first = std::asin(0.5), period = 2 * std::acos(-1.0);
    check_times(
        reset_model("x = 0\nv = 1\nn = 0", "\"der(x) = v\", \"der(v) = -x\", \"der(n) = 0\"",
                    "{ condition = \"x - 0.5\", direction = 1, set = { n = \"n + 1\" } }", 10),
        {first, first + period});
  }

  TEST_CASE("a dose at a given time is given once: within, at a grid time, at the end") {
    for (const double at : {0.7071, 1.0, 2.0}) {
      CAPTURE(at);
      check_times(reset_model("x = 1", "\"der(x) = -x\"",
                              fmt::format("{{ condition = \"t - {}\", direction = 1, "
                                          "set = {{ x = \"x + 1\" }} }}",
                                          at),
                              2),
                  {at}, 0.01);
    }
  }

  TEST_CASE("a start on a surface fires nothing, whether the motion leaves, rests or passes") {
    for (const char* speed : {"-1", "0", "1"})
      for (const int direction : {-1, 0, 1})
        check_times(reset_model(fmt::format("x = 0\nv = {}", speed),
                                "\"der(x) = v\", \"der(v) = 0\"",
                                fmt::format("{{ condition = \"x\", direction = {}, set = {{ v = "
                                            "\"2*v\" }} }}",
                                            direction),
                                2),
                    {}, 0.01);
  }

  TEST_CASE("a condition that touches 0 and goes back does not pass, one that bends through does") {
    const std::string equations = "\"der(n) = 0\"", start = "n = 0";
    const auto when = [](const char* condition) {
      return fmt::format("{{ condition = \"{}\", direction = 0, set = {{ n = \"n + 1\" }} }}",
                         condition);
    };
    check_times(reset_model(start, equations, when("(t - 1)^2"), 2), {}, 0.01);
    check_times(reset_model(start, equations, when("(t - 1)^3"), 2), {1}, 0.01);
  }

  TEST_CASE("a condition that rests on its surface up to rounding costs no steps and fires no more") {
    // 1 + y − p rises to 0 at t = 2.75; with v turned round it moves as p does from there on.
    const Model model = read_model_text(
        "[variables]\nx = -0.8999999999999999\nv = 0.5\np = 1.15\ny = -0.8999999999999999\n"
        "u = 0.3000000000000003\n[model]\nequations = [\"der(x) = v\", \"der(v) = 0\", "
        "\"der(p) = -0.5\", \"y = x\", \"der(u) = -sign(u)\"]\n"
        "when = [{ condition = \"1 + y - p\", direction = 1, set = { v = \"-v\" }, name = \"turn\" }]\n"
        "[run]\nt = [1.7, 6]\n",
        "rests.toml");
    const Vector x0 = model.x0();
    const Located scheme{.tol = 1e-10, .scale = x0.cwiseAbs(), .max_steps = 100};
    const Trajectory run = integrate(*model.equations, x0, {1.7, 6}, scheme);
    CHECK_MESSAGE(run.status == Status::solved, run.message);
    CHECK(jump_times(run).size() == 1);
    CHECK(std::abs(run.x.back()[0] + 2) <= 1e-12);
  }

  TEST_CASE("an algebraic variable in a condition is that of the state after a reset, not of a step later") {
    // y − p − 1.875 rises with speed 1, after the reset with 1/4, while y itself falls.
    check_times(reset_model("x = 1.5\nv = 0.5\np = 0\ny = 1.5",
                            "\"der(x) = v\", \"der(v) = 0\", \"der(p) = -0.5\", \"y = x\"",
                            "{ condition = \"y - p - 1.875\", set = { v = \"-0.5*v\" }, name = \"r\" }", 6),
                {0.375}, 0.03);
  }

  TEST_CASE("a condition that is the argument of a law: one jump, on either side of the law") {
    for (const int sign : {1, -1}) {
      CAPTURE(sign);
      const Model model = reset_model(
          fmt::format("x = {}\nv = {}", sign, -sign), "\"der(x) = v\", \"der(v) = -0.1*sign(x)\"",
          "{ condition = \"x\", direction = 0, set = { v = \"0.5*v\" } }", 2);
      const double t = 10 * (std::sqrt(1.2) - 1);  // 0 = 1 - t - t²/20
      check_times(model, {t});
      const Trajectory run = both(model).front().run;
      const double v = -0.5 * std::sqrt(1.2), rest = 2 - t;
      CHECK(run.x.back()[0] == doctest::Approx(sign * (v * rest + 0.05 * rest * rest)).epsilon(1e-9));
    }
  }

  TEST_CASE("a block that rocks jumps once at each crossing, however much it loses") {
    for (const auto& [r, count] : {std::pair{0.9, 3}, {1.0, 2}}) {
      const auto& shown_r = r;
      CAPTURE(shown_r);
      const Model model = reset_model(
          "phi = 0.1\nw = 0", "\"der(phi) = w\", \"der(w) = -4*sin(0.2*sign(phi) - phi)\"",
          fmt::format("{{ condition = \"phi\", direction = 0, set = {{ w = \"{}*w\" }} }}", r), 3);
      for (const auto& [scheme, run, error] : both(model)) {
        const auto& shown_scheme = scheme;
        CAPTURE(shown_scheme);
        CHECK(jump_times(run).size() == static_cast<std::size_t>(count));
      }
    }
  }

  TEST_CASE("resets of one moment use the state before it and are one event") {
    const Model model = reset_model(
        "x = 1\na = 0\nb = 5", "\"der(x) = -1\", \"der(a) = 0\", \"der(b) = 0\"",
        "{ condition = \"x\", direction = -1, set = { a = \"b\" } }, "
        "{ condition = \"2*x\", direction = 0, set = { b = \"a\" } }",
        2);
    check_times(model, {1}, 0.01);
    for (const auto& [scheme, run, error] : both(model)) {
      const auto& shown_scheme = scheme;
      CAPTURE(shown_scheme);
      CHECK(run.x.back()[1] == 5);
      CHECK(run.x.back()[2] == 0);
    }
  }

  TEST_CASE("a ball that bounces several times within one step of the capturing scheme") {
    // x' = v between walls at 0 and 1/16, h = 1/4: every 1/16.
    const Model model = reset_model(
        "x = 0.03125\nv = 1", "\"der(x) = v\", \"der(v) = 0\"",
        "{ condition = \"x\", direction = -1, set = { v = \"-v\" } }, "
        "{ condition = \"x - 0.0625\", direction = 1, set = { v = \"-v\" } }",
        0.5);
    std::vector<double> times;
    for (int k = 0; k < 8; ++k) times.push_back(0.03125 + 0.0625 * k);
    check_times(model, times, 0.25);
  }

  TEST_CASE("resets that accumulate end the run, and the log says so") {
    const Model model = reset_model(
        "x = 1\nv = 0", "\"der(x) = v\", \"der(v) = -10\"",
        "{ condition = \"x\", direction = -1, set = { v = \"-0.5*v\" }, name = \"bounce\" }", 3);
    const double limit = std::sqrt(0.2) * 3;  // (1 + e)/(1 - e) times the first fall
    for (const auto& [scheme, run, error] : both(model)) {
      const auto& shown_scheme = scheme;
      CAPTURE(shown_scheme);
      CHECK(run.status == Status::not_solved);
      REQUIRE(!run.events.empty());
      CHECK(run.events.back().kind == EventKind::accumulation);
      CHECK(run.events.back().t == doctest::Approx(limit).epsilon(2e-2));
      CHECK(run.events.back().note.find("accumulate") != std::string::npos);
    }
  }

  TEST_CASE("a law with memory starts in its declared branch, else in the first that its argument allows") {
    const auto first_change = [](const std::string& law, const char* equation, double start) {
      const Model model = read_model_text(
          fmt::format("[variables]\nx = {}\n[model]\nlaws = [{}]\nequations = [\"{}\"]\n"
                      "[run]\nt = [0, 1]\n",
                      start, law, equation),
          "memory.toml");
      std::vector<double> times;
      const auto note = [&](const Trajectory& run) {
        CHECK(run.status == Status::solved);
        for (const Event& event : run.events)
          if (event.law >= 0) return times.push_back(event.t);
        times.push_back(-1);
      };
      if (const std::optional<Lcs> lcs = as_lcs(*model.equations))
        note(integrate(*lcs, model.x0(), model.run.span, Theta{.h = 1e-3}));
      note(integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = 1e-3}));
      note(integrate(*model.equations, model.x0(), model.run.span,
                     BackwardEuler{.h = 1e-3, .selector = Selector::minimal_norm}));
      note(integrate(*model.equations, model.x0(), model.run.span, Located{}));
      return times;
    };
    for (const char* equation : {"der(x) = 2 - 3*n", "der(x) = (2 - 3*n)*(1 + 0*x^2)"}) {
      CAPTURE(equation);
      for (const double t : first_change("\"n in hysteresis(x, 0, 1)\"", equation, 0.5))
        CHECK(t == doctest::Approx(0.25).epsilon(0.02));  // low: rises from 1/2 to 1
      const std::string law = "{ law = \"n in hysteresis(x, 0, 1)\", start = \"";
      for (const double t : first_change(law + "high\" }", equation, 0.5))
        CHECK(t == doctest::Approx(0.5).epsilon(0.02));  // falls to 0
      for (const double t : first_change(law + "low\" }", equation, 1.5))
        CHECK(t == -1);  // its argument decides: high, and falls from 1.5 to 1/2
    }
    CHECK_THROWS_WITH_AS(first_change("{ law = \"n in hysteresis(x, 0, 1)\", start = \"hi\" }",
                                      "der(x) = 2 - 3*n", 0.5),
                         doctest::Contains("expected one of low, high"), InvalidInput);
  }

  TEST_CASE("of several laws with memory the one changes whose own argument leaves, under any selector") {
    // y rises to 1 at t = 1/2; z, which the same supply heats, is far from the ends of its band.
    const Model model = read_model_text(
        "[variables]\ny = 0.5\nz = 0\n[model]\n"
        "laws = [\"a in hysteresis(y, -1, 1)\", \"b in hysteresis(z, -1, 1)\"]\n"
        "equations = [\"der(y) = 1 - 2*a - 2*b\", \"der(z) = 0.1 - 0.2*b\"]\n[run]\nt = [0, 1]\n",
        "two.toml");
    for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm}) {
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span,
                                       BackwardEuler{.h = 0.3, .selector = selector});
      for (const Event& event : run.events) CHECK(event.law != 1);
      CHECK(run.events.size() == 1);
    }
  }

  TEST_CASE("a ball bounces beside a relay, an algebraic variable and a counter as it does alone") {
    const std::string ball = "\"der(y) = v\", \"der(v) = -9.81 + N\"";
    const auto bounces = [&](const std::string& start, const std::string& more,
                             const std::string& laws) {
      const Model model = read_model_text(
          fmt::format("[variables]\ny = 0.5\nv = 0\n{}\n[model]\nlaws = [\"0 <= N perp y >= 0\"{}]\n"
                      "restitution = {{ N = 0.5 }}\nequations = [{}{}]\n[run]\nt = [0, 0.75]\n",
                      start, laws, ball, more),
          "ball.toml");
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span,
                                       Located{.restitution = model.restitution});
      CHECK(run.status == Status::solved);
      return std::pair(jump_times(run), run.x.back()[0]);
    };
    const auto [times, y] = bounces("", "", "");
    REQUIRE(times.size() == 2);
    CHECK(times[0] == doctest::Approx(std::sqrt(1 / 9.81)).epsilon(1e-9));
    for (const auto& [start, more, laws] :
         {std::tuple{"u = 0.3", ", \"der(u) = -sign(u)\"", ""},
          std::tuple{"z = 1", ", \"z^3 + z = 2 + sin(t)\"", ""},
          std::tuple{"i = 0\nk = 0", ", \"der(i) = 1 - d\", \"k = i\"", ", \"0 <= d perp 1 - k >= 0\""},
          std::tuple{"w = 0\nk = 0", ", \"w = 2*v + N\", \"k = abs(v) + step(v)\"", ""},
          std::tuple{"k = 0\nw = 0", ", \"w = 2*k + der(v)\", \"k = v*y\"", ""}}) {
      const auto& shown_more = more;
      CAPTURE(shown_more);
      const auto [other_times, other_y] = bounces(start, more, laws);
      REQUIRE(other_times.size() == times.size());
      for (std::size_t k = 0; k < times.size(); ++k)
        CHECK(other_times[k] == doctest::Approx(times[k]).epsilon(1e-9));
      CHECK(other_y == doctest::Approx(y).epsilon(1e-8));
    }
  }

  TEST_CASE("a restitution that cannot be honoured is refused by name") {
    const Model model = read_model_text(
        "[variables]\ny = 0.5\nv = 0\n[model]\nlaws = [\"0 <= N perp y + v >= 0\"]\n"
        "restitution = { N = 0.5 }\nequations = [\"der(y) = v\", \"der(v) = -9.81 + N\"]\n"
        "[run]\nt = [0, 1]\n",
        "damped.toml");
    CHECK_THROWS_WITH_AS(integrate(*model.equations, model.x0(), model.run.span,
                                   Located{.restitution = model.restitution}),
                         doctest::Contains("restitution of law 'N'"), InvalidInput);
  }

  TEST_CASE("a law that a reset carries beyond its end is left at the moment of the reset") {
    for (const std::string law : {"sat(x, -1, 1)", "min(max(x, -1), 1)", "x - deadzone(x, -1, 1)"}) {
      CAPTURE(law);
      const Model model = reset_model(
          "x = 0.5", "\"der(x) = -0.1*tanh(x) - 0.2*" + law + "\"",
          R"toml({ condition = "t - 0.4037", direction = 1, set = { x = "x + 2" } })toml", 1);
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span,
                                       BackwardEuler{.h = 0.01});
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == 2);
      CHECK(run.events[0].kind == EventKind::jump);
      CHECK(run.events[1].kind == EventKind::kink);
      CHECK(std::abs(run.events[1].t - 0.4037) < 1e-12);
    }
  }

  // Each time is a sum of rounded steps: none of these moments is told apart from the others' by steps.
  TEST_CASE("clocks of several periods strike as often as they do alone, also at one moment") {
    std::string start, equations, when;
    const int rates[] = {1, 3, 7};
    for (const int rate : rates) {
      start += fmt::format("p{0} = 0\nn{0} = 0\n", rate);
      equations += fmt::format("{1}\"der(p{0}) = {0}\", \"der(n{0}) = 0\"", rate,
                               equations.empty() ? "" : ", ");
      when += fmt::format("{1}{{ condition = \"p{0} - 1\", direction = 1, set = {{ p{0} = \"p{0} - 1\", "
                          "n{0} = \"n{0} + 1\" }} }}",
                          rate, when.empty() ? "" : ", ");
    }
    const Model model = reset_model(start, equations, when, 10.5);
    for (const double h : {0.0105, 0.01, 0.0307, 0.25})
      for (const auto& [scheme, run, error] : both(model, h)) {
        const auto& shown_scheme = scheme;
        CAPTURE(shown_scheme);
        CAPTURE(h);
        REQUIRE(run.status == Status::solved);
        for (int k = 0; k < 3; ++k) CHECK(run.x.back()[2 * k + 1] == std::floor(10.5 * rates[k]));
      }
  }

  TEST_CASE("where another reset throws a condition over its surface, nothing passes") {
    const char* one = R"toml({ condition = "s - 1", direction = 1, set = { a = "1" } }, )toml";
    const std::string watched[] = {"a", "step(a) - 0.5", "a*abs(a)"};
    for (const std::string& condition : watched) {
      CAPTURE(condition);
      const Model model = reset_model(
          "s = 0\na = -1\nc = 0\nb = 0", "\"der(s) = 1\", \"der(a) = 0\", \"der(c) = 0\", \"der(b) = step(a)\"",
          one + fmt::format("{{ condition = \"{}\", direction = 0, set = {{ c = \"c + 1\" }} }}", condition), 3);
      for (const auto& [scheme, run, error] : both(model, 0.003)) {
        const auto& shown_scheme = scheme;
        CAPTURE(shown_scheme);
        REQUIRE(run.status == Status::solved);
        CHECK(run.x.back()[2] == 0);
        CHECK(std::abs(run.x.back()[3] - 2) < 0.01);
      }
    }
  }

  TEST_CASE(
      "located counts as weak how often a condition touches its surface as far as the tolerance "
      "tells") {
    // x = 1 - (1 - t)² touches 1 at t = 1, from 1 - depth or beyond 1 + depth.
    for (const double unit : {1.0, 0x1p40, 0x1p-40})
      for (const double beyond : {0.0, 1e-13, -1e-13, 1e-7, -1e-7}) {
        const Model model = reset_model(
            fmt::format("x = 0\nv = {:.17g}\nn = 0", 2 * unit),
            fmt::format("\"der(x) = v\", \"der(v) = -{:.17g}\", \"der(n) = 0\"", 2 * unit),
            fmt::format("{{ condition = \"x - {:.17g}\", set = {{ n = \"n + 1\" }} }}",
                        (1 - beyond) * unit),
            1.7);
        const Trajectory run =
            integrate(*model.equations, model.x0(), {0, 1.7}, Located{.tol = 1e-11});
        CAPTURE(beyond);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(run.x.back()[2] == (beyond > 1e-10 ? 2 : 0));
        CHECK(run.counts.contains("weak") == (std::abs(beyond) < 1e-10));
      }
  }
}
