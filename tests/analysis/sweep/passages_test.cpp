#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/analysis/sweep/sweep.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

SweepRun run_of(const std::string& text, const std::string& section, const std::vector<std::string>& measures = {},
                const std::vector<double>& times = {}) {
  SweepRequest request;
  request.read = [&](const std::vector<Override>& set) {
    return read_model_text("[parameters]\nnumber = 1\n" + text, "swept.toml", set);
  };
  request.points.axes = {{"number", {1}}};
  request.section = section;
  request.measures = measures;
  request.times = times;
  request.keeps = !times.empty();
  request.points.prepare(request.read({}));
  return sweep(request).runs.front();
}

void check_times(const std::vector<SectionPoint>& points, const std::vector<double>& times, double error) {
  REQUIRE(points.size() == times.size());
  for (std::size_t k = 0; k < times.size(); ++k) CHECK(std::abs(points[k].t - times[k]) <= error);
}

const std::vector<std::string> schemes{"located", "backward_euler"};

/// x is a sawtooth between -1 and 0; y has another one that meets it at every second of its own resets.
std::string sawteeth(const std::string& scheme, const std::string& h = "0.01") {
  return "[variables]\nx = -1\ny = -1\n[model]\nequations = [\"der(x) = 1\", \"der(y) = 1\"]\n"
         "when = [{ condition = \"x\", direction = 1, set = { x = \"-1\" }, name = \"A\" }, "
         "{ condition = \"y\", direction = 1, set = { y = \"-0.5\" }, name = \"B\" }]\n"
         "[run]\nt = [0, 3.2]\nh = " + h + "\nscheme = \"" + scheme + "\"\n";
}

}  // namespace

TEST_SUITE("analysis/sweep") {
  TEST_CASE("a surface on which a law switches is passed as often as it is, in any unit of length and time") {
    for (const double length : {1.0, 0x1p30, 0x1p-30, 1e9, 1e-9})
      for (const double time : {1.0, 0x1p20, 1e-6}) {
        CAPTURE(length);
        CAPTURE(time);
        const std::string text = fmt::format(
            "[variables]\nx = {0:.17g}\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -{1:.17g}*sign(x)\"]\n"
            "[run]\nt = [0, {2:.17g}]\nscheme = \"located\"\n", -length, length / time / time, 20 * time);
        const double quarter = std::sqrt(2) * time;
        for (const char* formula : {"x", "sign(x)", "-2*x"}) {
          const bool turned = formula[0] == '-';
          check_times(run_of(text, fmt::format("{}=0:{}", formula, turned ? "down" : "up")).section,
                      {quarter, 5 * quarter, 9 * quarter, 13 * quarter}, 1e-7 * time);
          check_times(run_of(text, fmt::format("{}=0:{}", formula, turned ? "up" : "down")).section,
                      {3 * quarter, 7 * quarter, 11 * quarter}, 1e-7 * time);
        }
      }
  }

  TEST_CASE("a kink of the rates on the surface loses no passage: half periods of two oscillators") {
    const std::string text =
        "[variables]\nx = -1\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -x - 0.5*abs(x)\"]\n"
        "[run]\nt = [0, 30]\nscheme = \"located\"\ntol = 1e-11\n";
    const double slow = M_PI / std::sqrt(0.5), fast = M_PI / std::sqrt(1.5);  // on the sides x < 0 and x > 0
    std::vector<double> up, down;
    for (double t = slow / 2; t < 30; t += slow + fast) up.push_back(t), down.push_back(t + fast);
    while (down.back() > 30) down.pop_back();
    check_times(run_of(text, "x=0:up").section, up, 1e-8);
    check_times(run_of(text, "x=0:down").section, down, 1e-8);
  }

  TEST_CASE("an event of uncoupled company on the moment of a passage changes no point") {
    for (const std::string& scheme : schemes) {
      CAPTURE(scheme);
      const SweepRun run = run_of(sawteeth(scheme), "x=-0.5:up", {"n=count(B)", "p=period(B)", "a=period(A)", "both=period(A|B)"});
      check_times(run.section, {0.5, 1.5, 2.5}, 1e-9);
      for (const SectionPoint& point : run.section) CHECK(point.x[0] == doctest::Approx(-0.5).epsilon(1e-9));
      CHECK(*run.measures[0].value == 5);
      CHECK(*run.measures[1].value == doctest::Approx(0.5).epsilon(1e-9));
      CHECK(*run.measures[2].value == doctest::Approx(1).epsilon(1e-9));
      CHECK(*run.measures[3].value == doctest::Approx(2.0 / 3).epsilon(1e-9));  // 4 periods of B, 2 of A
    }
  }

  TEST_CASE("a jump over the value passes it at its moment with the state behind it; one back from the value does not") {
    for (const std::string& scheme : schemes) {
      CAPTURE(scheme);
      const std::vector<SectionPoint> down = run_of(sawteeth(scheme), "x=-0.5:down").section;
      check_times(down, {1, 2, 3}, 1e-9);
      for (const SectionPoint& point : down) CHECK(point.x[0] == doctest::Approx(-1).epsilon(1e-9));
      CHECK(run_of(sawteeth(scheme), "x=0:down").section.empty());
      CHECK(run_of(sawteeth(scheme), "x=0:up").section.empty());
      CHECK(run_of(sawteeth(scheme), "x-1000=-1000:up").section.empty());
    }
  }

  TEST_CASE("through a rest on the value it passes once, where it leaves it, and not where it goes back") {
    for (const std::string& scheme : schemes)
      for (const double end : {2.0, -2.0}) {
        CAPTURE(scheme);
        // x = -1 + 2 t + t^2/2 up to 0, where the friction holds it until the force is its equal at t = 3
        const std::string text = fmt::format(
            "[variables]\nx = -1\n[model]\nequations = [\"der(x) = {} - 2*sign(x)\"]\n[run]\nt = [0, 6]\nh = 0.001\nscheme = \"{}\"\n",
            end > 0 ? "t - 1" : "1 - t", scheme);
        check_times(run_of(text, "x=0:up").section, end > 0 ? std::vector{3.0} : std::vector<double>{}, 2e-3);
        CHECK(run_of(text, "x=0:down").section.empty());
      }
  }

  TEST_CASE("at the time of a reset every state that is asked for is the one behind it") {
    for (const std::string& scheme : schemes) {
      CAPTURE(scheme);
      const std::vector<double> times{0, 0.5, 1, 1.25, 2, 3};
      const std::string text = sawteeth(scheme, "0.0625");
      const SweepRun run = run_of(text, "every:1", {"a=value(x,2)", "b=value(x,0)", "c=value(y,0.5)"}, times);
      REQUIRE(run.kept.size() == times.size());
      for (std::size_t k = 0; k < times.size(); ++k)
        CHECK(run.kept[k].x[0] == doctest::Approx(times[k] - std::floor(times[k]) - 1).epsilon(1e-9));
      check_times(run.section, {1, 2, 3}, 0);
      for (const SectionPoint& point : run.section) CHECK(point.x[0] == doctest::Approx(-1).epsilon(1e-9));
      for (const std::size_t k : {0U, 1U}) CHECK(*run.measures[k].value == doctest::Approx(-1).epsilon(1e-9));
      CHECK(*run.measures[2].value == doctest::Approx(-0.5).epsilon(1e-9));
      const std::vector<SectionPoint> passing = run_of(text, "t=2:up").section;
      check_times(passing, {2}, 1e-9);
      CHECK(passing.front().x[0] == doctest::Approx(-1).epsilon(1e-9));
    }
  }

  TEST_CASE("triangles of random slopes that turn by resets pass a value when their formula says, beside each other too") {
    std::mt19937 random(5);
    for (int round = 0; round < 20; ++round) {
      const double a = std::ldexp(1.0 + static_cast<double>(random() % 7), -1), b = std::ldexp(1.0 + static_cast<double>(random() % 7), -1);
      const double value = std::ldexp(static_cast<double>(random() % 7) - 3.0, -3);  // in [-3/8, 3/8]
      const std::string text = fmt::format(
          "[variables]\nx = -0.5\ny = -0.5\nu = 1\nv = 1\n[model]\n"
          "equations = [\"der(x) = {}*u\", \"der(y) = {}*v\", \"der(u) = 0\", \"der(v) = 0\"]\n"
          "when = [{{ condition = \"x - 0.5\", direction = 1, set = {{ u = \"-1\" }}, name = \"xt\" }}, "
          "{{ condition = \"x + 0.5\", direction = -1, set = {{ u = \"1\" }}, name = \"xb\" }}, "
          "{{ condition = \"y - 0.5\", direction = 1, set = {{ v = \"-1\" }}, name = \"yt\" }}, "
          "{{ condition = \"y + 0.5\", direction = -1, set = {{ v = \"1\" }}, name = \"yb\" }}]\n"
          "[run]\nt = [0, 8.2]\nscheme = \"located\"\n", a, b);
      CAPTURE(text);
      CAPTURE(value);
      std::vector<double> up, down, turns;
      for (int k = 0; k < 100; ++k) {
        const double rise = (2 * k + value + 0.5) / b, fall = (2 * k + 1.5 - value) / b, turn = (2 * k + 1) / b;
        if (rise < 8.2) up.push_back(rise);
        if (fall < 8.2) down.push_back(fall);
        if (turn < 8.2) turns.push_back(turn);
      }
      check_times(run_of(text, fmt::format("y={}:up", value)).section, up, 1e-9);
      check_times(run_of(text, fmt::format("y={}:down", value)).section, down, 1e-9);
      check_times(run_of(text, "v=0:down").section, turns, 1e-9);
      CHECK(run_of(text, "y=0.5:up").section.empty());  // where it turns
      const SweepRun run = run_of(text, "", {"p=period(yt)", "q=period(xb)", "n=count(yt)"});
      CHECK(*run.measures[2].value == static_cast<double>(turns.size()));
      if (turns.size() > 1) CHECK(*run.measures[0].value == doctest::Approx(2 / b).epsilon(1e-9));
      if (8.2 * a > 4) CHECK(*run.measures[1].value == doctest::Approx(2 / a).epsilon(1e-9));
    }
  }
}
