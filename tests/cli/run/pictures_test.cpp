#include <doctest/doctest.h>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <perp/tests/cli/program.hpp>

using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

const char* const forced = R"toml(
[variables]
x = 1
v = 0
[model]
equations = ["der(x) = v", "der(v) = -x - 0.4*sign(v) + 0.9*sin(2*t)"]
outputs = { E = "x^2/2 + v^2/2" }
[run]
t = [0, 6]
h = 0.2
)toml";

/// Is there a line of the data with these first two numbers, v (column 2) being exactly 0?
std::vector<std::pair<double, double>> rows_of(const std::string& data) {
  std::vector<std::pair<double, double>> rows;
  for (const std::string& line : lines(data)) {
    std::istringstream stream(line);
    double t = 0, v = 0;
    if (line.empty() || line[0] == '#' || !(stream >> t >> v)) continue;
    rows.emplace_back(t, v);
  }
  return rows;
}

}  // namespace

TEST_SUITE("cli/run/pictures") {
  TEST_CASE("a picture has the states of the events, not those of the line between two rows") {
    const Folder folder;
    folder.write("forced.toml", forced);
    REQUIRE(perp_program(folder, {"run", "forced.toml", "--plot", "a.svg", "--plot-variables", "v", "--events", "e.csv", "--quiet"}).status == 0);
    int known = 0;
    const auto rows = rows_of(read_text(folder / "a.dat"));
    for (const std::string& event : lines(read_text(folder / "e.csv"))) {
      if (event.find("sliding_entry") == std::string::npos && event.find("crossing") == std::string::npos) continue;
      const double t = std::stod(event);
      for (const auto& [time, v] : rows)
        if (time == t) {
          CHECK(std::abs(v) < 1e-12);
          ++known;
        }
    }
    CHECK(known > 0);
  }

  TEST_CASE("all of the window is drawn, between two rows too") {
    const Folder folder;
    folder.write("forced.toml", forced);
    for (const std::string window : {"1.05,1.15", "1.1,2.3", "0.95,1.3"}) {
      REQUIRE(perp_program(folder, {"run", "forced.toml", "--plot", "w.svg", "--plot-variables", "x", "--plot-window", window, "--quiet"}).status == 0);
      const std::string script = read_text(folder / "w.gp");
      const std::string range = "set xrange [" + window.substr(0, window.find(',')) + ":" + window.substr(window.find(',') + 1) + "]";
      CHECK(script.find(range) != std::string::npos);
    }
  }

  TEST_CASE("derivatives are drawn in a panel of their own, and phase pictures have a program for matplotlib") {
    const Folder folder;
    folder.write("forced.toml", forced);
    const Outcome run = perp_program(folder, {"run", "forced.toml", "--plot", "d.svg", "--plot-variables", "v,der(v),der(x)", "--plot-phase", "x,v",
                                              "--plot-layers", "arrows,surfaces", "--quiet"});
    REQUIRE(run.status == 0);
    CHECK(read_text(folder / "d.gp").find("der(v), der(x)") != std::string::npos);
    const std::string program = read_text(folder / "d_phase_matplotlib.py");
    for (const char* words : {"(\"arrows\", \"flow at t = 0\"", "(\"dashed\", \"surface of sign(v)\"", "(\"hollow\", \"start\""})
      CHECK(program.find(words) != std::string::npos);
    const Outcome wrong = perp_program(folder, {"run", "forced.toml", "--plot", "d.svg", "--plot-variables", "der(E)"});
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("unknown column 'der(E)'") != std::string::npos);
  }

  TEST_CASE("what a phase picture cannot show is said before anything is computed") {
    const Folder folder;
    folder.write("three.toml", "[variables]\nx = 1\ny = 0\nz = 0\n[model]\nequations = [\"der(x) = y\", \"der(y) = -x\", \"der(z) = sign(x) - z\"]\n[run]\nt = [0, 1]\nh = 0.01\n");
    const Outcome run = perp_program(folder, {"run", "three.toml", "-o", "a.csv", "--plot", "p.svg", "--plot-phase", "x,y", "--plot-layers", "arrows"});
    CHECK(run.status == 2);
    CHECK(run.err.find("z is a third one") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "a.csv"));
    const Outcome both = perp_program(folder, {"run", "three.toml", "-o", "-", "--events", "-"});
    CHECK(both.status == 2);
    CHECK(both.err.find("-o - and --events - are both standard output") != std::string::npos);
  }

  TEST_CASE("a crossing at a row beside a reset is where it is, by every capturing scheme") {
    const Folder folder;
    folder.write("saw.toml",
                 "[variables]\nx = 0\n[model]\nequations = [\"der(x) = 1\"]\nlaws = [\"s in sign(x - 0.25)\"]\n"
                 "when = [{ condition = \"x - 1\", direction = 1, set = { x = \"0\" }, name = \"wrap\" }]\n[run]\nt = [0, 8]\nh = 0.01\n");
    for (const std::string scheme : {"backward_euler", "theta"})
      for (const std::string start : {"0", "2", "4"}) {
        REQUIRE(perp_program(folder, {"run", "saw.toml", "--t", start + ",8", "--scheme", scheme, "--events", "e.csv", "--measure", "d=duration(s:lambda=1)", "--quiet"}).status == 0);
        int k = 0;
        for (const std::string& event : lines(read_text(folder / "e.csv"))) {
          if (event.find("crossing,s,lambda=-1,lambda=1") == std::string::npos) continue;
          CHECK(std::stod(event) == doctest::Approx(std::stod(start) + 0.25 + k++).epsilon(1e-12));
        }
        CHECK(k == 8 - std::stoi(start));
      }
  }

  TEST_CASE("names with two indices stand in lists") {
    const Folder folder;
    folder.write("grid.toml",
                 "[parameters]\nN = 2\n[variables]\nu = { size = [\"N\", \"N\"], start = 1 }\n[model]\n"
                 "equations = [\"for i in 1:N, j in 1:N: der(u[i,j]) = -u[i,j]\"]\n[run]\nt = [0, 1]\nh = 0.1\n");
    const Outcome run = perp_program(folder, {"run", "grid.toml", "--plot", "g.svg", "--plot-variables", "u[1,1],u[2,2]", "--plot-phase", "u[1,1],u[2,1]", "--quiet"});
    CHECK(run.err == "");
    CHECK(run.status == 0);
  }
}
