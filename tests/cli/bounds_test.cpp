#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/tests/cli/program.hpp>

namespace {

using perp::test::Csv;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

/// ẋ = −1 from 1: x = 1 − t leaves [0, inf] at t = 1.
std::string falling(const std::string& variable, const std::string& right = "-1") {
  return "[variables]\nx = " + variable + "\n[model]\nequations = [\"der(x) = " + right +
         "\"]\n[run]\nt = [0, 2]\nh = 0.3\n";
}

/// The time in the message of a run that left a bound.
std::string time_of(const Outcome& run) {
  return run.err.substr(std::min(run.err.size(), run.err.rfind("at t = ")));
}

double number_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? std::nan("") : std::stod(text.substr(at + word.size()));
}

}  // namespace

TEST_SUITE("cli/bounds") {
  TEST_CASE("a run whose variable leaves its bounds ends there, in every scheme") {
    const Folder folder;
    folder.write("m.toml", falling("{ start = 1, bounds = [0, inf] }"));
    folder.write("n.toml", falling("{ start = 1, bounds = [0, inf] }", "-1 - 0*x^2"));
    for (const std::string model : {"m.toml", "n.toml"})
      for (const std::string scheme : {"backward_euler", "theta", "located"}) {
        if (model == "n.toml" && scheme == "theta") continue;
        CAPTURE(scheme);
        const Outcome run = perp_program(
            folder, {"run", model, "--scheme", scheme, "-o", "o.csv", "--events", "e.csv"});
        CHECK(run.status == 3);
        CHECK(run.err.find("interrupted: x falls below its bound 0 (bounds = [0, inf])") !=
              std::string::npos);
        CHECK(std::abs(number_after(run.err, "at t = ") - 1) < 1e-9);
        const Csv states = parse_csv(read_text(folder / "o.csv"));
        for (std::size_t k = 0; k < states.rows.size(); ++k) CHECK(states.number(k, "x") > -1e-9);
        const double last = states.number(states.rows.size() - 1, "t");
        CHECK(std::abs(last - 1) < 1e-9);
        CHECK(std::abs(states.number(states.rows.size() - 1, "x")) < 1e-9);
        const Csv events = parse_csv(read_text(folder / "e.csv"));
        REQUIRE(events.rows.size() == 1);
        CHECK(events.text(0, "type") == "bound");
        CHECK(events.text(0, "note") == "x falls below its bound 0");
        CHECK(std::abs(events.number(0, "t") - 1) < 1e-9);
      }
  }

  TEST_CASE("at_bounds = \"event\": each passage is an event, also inside of a step, and the run goes on") {
    // x = 0.995 + 0.01 sin(t) exceeds 1 from asin(0.5) on, within steps of any length; v is nonlinear.
    const Folder folder;
    folder.write("m.toml",
                 "[variables]\nx = { start = 0.995, bounds = [0, 1], at_bounds = \"event\" }\ny = 0\n"
                 "z = 1\n[model]\nequations = [\"der(x) = 0.01*z\", \"der(y) = z\", "
                 "\"der(z) = -y\"]\n[run]\nt = [0, 6]\nh = 0.001\n");
    for (const std::string scheme : {"backward_euler", "located"}) {
      CAPTURE(scheme);
      const Outcome run = perp_program(
          folder, {"run", "m.toml", "--scheme", scheme, "-o", "o.csv", "--events", "e.csv"});
      CHECK(run.status == 0);
      const Csv events = parse_csv(read_text(folder / "e.csv"));
      REQUIRE(events.rows.size() == 2);
      CHECK(events.text(0, "note") == "x rises above its bound 1");
      CHECK(events.text(1, "note") == "x falls below its bound 1 again");
      const double error = scheme == "located" ? 1e-9 : 1e-2;
      CHECK(std::abs(events.number(0, "t") - std::asin(0.5)) < error);
      CHECK(std::abs(events.number(1, "t") - (std::acos(-1) - std::asin(0.5))) < error);
    }
  }

  TEST_CASE("located sees an excursion inside of one step") {
    const Folder folder;
    folder.write("m.toml",
                 "[variables]\nx = { start = 0, bounds = [-inf, 0.99999] }\nt2 = 0\n[model]\n"
                 "equations = [\"der(x) = 2*(1 - t2)\", \"der(t2) = 1\"]\n[run]\nt = [0, 2]\n"
                 "h = 2\nscheme = \"located\"\n");
    const Outcome run = perp_program(folder, {"run", "m.toml", "-o", "o.csv", "--events", "e.csv"});
    CHECK(run.status == 3);
    const double passed = 1 - std::sqrt(1 - 0.99999);
    CHECK(std::abs(number_after(run.err, "at t = ") - passed) < 1e-9);
    CHECK(parse_csv(read_text(folder / "e.csv")).rows.size() == 1);
  }

  TEST_CASE("a jump over a bound and a start beyond it are passages") {
    const Folder folder;
    folder.write("jump.toml",
                 "[variables]\nx = { start = 0, bounds = [-inf, 2] }\n[model]\nequations = "
                 "[\"der(x) = 1\"]\nwhen = [{ condition = \"x - 1\", direction = 1, set = { "
                 "x = \"5\" } }]\n[run]\nt = [0, 2]\nh = 0.3\n");
    folder.write("start.toml", falling("{ start = -1, bounds = [0, inf] }"));
    for (const std::string scheme : {"backward_euler", "located"}) {
      CAPTURE(scheme);
      Outcome run = perp_program(folder, {"run", "jump.toml", "--scheme", scheme, "-o", "o.csv"});
      CHECK(run.status == 3);
      CHECK(run.err.find("x rises above its bound 2") != std::string::npos);
      CHECK(std::abs(number_after(run.err, "at t = ") - 1) < 1e-9);
      run = perp_program(folder, {"run", "start.toml", "--scheme", scheme, "-o", "o.csv"});
      CHECK(run.status == 3);
      CHECK(run.err.find("x starts below its bound 0") != std::string::npos);
    }
  }

  TEST_CASE("moreau_jean ends at a bound of a velocity") {
    const Folder folder;
    folder.write("m.toml",
                 "[variables]\nq = 10\nv = { start = 0, bounds = [-1, inf] }\n[model]\nequations = "
                 "[\"der(q) = v\", \"der(v) = -2 + f\"]\nlaws = [\"0 <= f perp q >= 0\"]\n[run]\n"
                 "t = [0, 2]\nh = 0.01\nscheme = \"moreau_jean\"\n");
    const Outcome run = perp_program(folder, {"run", "m.toml", "-o", "o.csv"});
    CHECK(run.status == 3);
    CHECK(std::abs(number_after(run.err, "at t = ") - 0.5) < 0.011);
  }

  TEST_CASE("a law that holds a variable on its bound does not leave it") {
    const Folder folder;
    folder.write("m.toml",
                 "[variables]\nx = { start = 1e6, bounds = [0, inf] }\n[model]\nequations = "
                 "[\"der(x) = -1e6 + l\"]\nlaws = [\"0 <= l perp x >= 0\"]\n[run]\nt = [0, 3]\nh = 0.013\n");
    for (const std::string scheme : {"backward_euler", "theta", "located"})
      CHECK(perp_program(folder, {"run", "m.toml", "--scheme", scheme, "-o", "o.csv"}).status == 0);
  }

  TEST_CASE("units of variable and time move the end by the same power of two, to the bit") {
    const Folder folder;
    folder.write("m.toml", falling("{ start = 1, bounds = [0.3125, inf] }", "-0.75*x"));
    folder.write("u.toml", "[variables]\nx = { start = 1073741824, bounds = [335544320, inf] }\n"
                           "[model]\nequations = [\"der(x) = -0.75*x\"]\n[run]\nt = [0, 2]\nh = 0.3\n");
    for (const std::string scheme : {"backward_euler", "located"}) {
      CAPTURE(scheme);
      std::vector<std::string> times;
      for (const std::string model : {"m.toml", "u.toml"}) {
        times.push_back(time_of(perp_program(folder, {"run", model, "--scheme", scheme, "-o", "o.csv"})));
      }
      CHECK(times[0].rfind("at t = ", 0) == 0);
      if (scheme == "backward_euler") CHECK(times[0] == times[1]);
      CHECK(std::abs(number_after(times[0], "at t = ") - number_after(times[1], "at t = ")) < 1e-6);
    }
  }

  TEST_CASE("wrong bounds are refused with their place") {
    const Folder folder;
    const std::vector<std::pair<std::string, std::string>> cases{
        {"{ start = 1, bounds = [1, 0] }", "w.toml:2:27: bounds of variable 'x' are [1, 0]"},
        {"{ start = 1, bounds = [0, 0] }", "w.toml:2:27: "},
        {"{ start = 1, bounds = [-inf, inf] }", "w.toml:2:27: "},
        {"{ start = 1, bounds = [0] }", "w.toml:2:27: "},
        {"{ start = 1, bounds = 0 }", "w.toml:2:27: "},
        {"{ start = 1, bounds = [nan, 1] }", "w.toml:2:28: "},
        {"{ start = 1, bounds = [\"y\", 1] }", "w.toml:2:29: "},
        {"{ start = 1, at_bounds = \"event\" }", "w.toml:2:18: variable 'x' has no bounds"},
        {"{ start = 1, bounds = [0, 2], at_bounds = \"evnt\" }",
         "w.toml:2:47: at_bounds of variable 'x' is 'evnt'"},
        {"{ start = 1, bound = [0, 1] }", "w.toml:2:18: unknown key 'bound'"},
    };
    for (const auto& [variable, message] : cases) {
      folder.write("w.toml", falling(variable));
      const Outcome run = perp_program(folder, {"run", "w.toml"});
      const auto& shown_variable = variable;
      CAPTURE(shown_variable);
      CHECK(run.status == 2);
      CHECK_MESSAGE(run.err.rfind(message, 0) == 0, run.err);
      CHECK(lines(run.err).size() == 1);
    }
  }
}
