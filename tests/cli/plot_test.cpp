#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <perp/tests/cli/program.hpp>

using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

bool exists(const std::string& file) { return std::filesystem::exists(file); }

}  // namespace

TEST_SUITE("cli/plot") {
  TEST_CASE("a picture has its script and data beside it, and the summary is printed") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"run", "switching_dae_crossing", "--plot", "out.svg", "--plot-phase", "x1,x2"});
    CHECK(run.status == 0);
    CHECK(run.err == "");
    CHECK(run.out.find("end state") != std::string::npos);
    for (const char* name : {"out", "out_phase"}) {
      CHECK(read_text(folder / (std::string(name) + ".svg")).find("<svg") != std::string::npos);
      CHECK(exists(folder / (std::string(name) + ".gp")));
      CHECK(exists(folder / (std::string(name) + ".dat")));
    }
    CHECK(read_text(folder / "out.svg").find("mode 3 (sliding)") != std::string::npos);
  }

  TEST_CASE("pictures are PNG and PDF where their names say so") {
    const Folder folder;
    perp_program(folder, {"run", "two_relays", "--plot", "out.png"});
    CHECK(read_text(folder / "out.png").substr(1, 3) == "PNG");
    perp_program(folder, {"run", "two_relays", "--plot", "out.pdf"});
    CHECK(read_text(folder / "out.pdf").substr(0, 4) == "%PDF");
  }

  TEST_CASE("a jump is interrupted in the curve and stands among the jumps") {
    const Folder folder;
    perp_program(folder, {"run", "switching_dae_jump", "--plot", "out.svg"});
    const std::string data = read_text(folder / "out.dat");
    const std::size_t jumps = data.find("# index 1, jumps");
    REQUIRE(jumps != std::string::npos);
    CHECK(data.substr(0, jumps).find(" NaN NaN") != std::string::npos);
    const auto rows = lines(data.substr(jumps));
    REQUIRE(rows.size() >= 3);  // a heading, x1, x2
    double t = 0, from = 0, to = 0;
    REQUIRE(std::sscanf(rows[2].c_str(), "%lf %lf %lf", &t, &from, &to) == 3);
    CHECK(t == doctest::Approx(0.75));
    CHECK(from == doctest::Approx(-1));
    CHECK(to == doctest::Approx(3));
  }

  TEST_CASE("at a reset every curve that jumps does so once, from the state before to the one behind it") {
    const Folder folder;
    folder.write("saw.toml",
                 "[variables]\np = 0\nz = 5\n[model]\nequations = [\"der(p) = 1\", \"z = if(p < 0.5, 5, -5)\"]\n"
                 "when = [{ condition = \"p - 1\", direction = 1, set = { p = \"p - 1\" } }]\n[run]\nt = [0, 2.5]\n");
    for (const char* scheme : {"located", "backward_euler"})
      for (const char* h : {"0.25", "0.23"}) {
        CAPTURE(scheme);
        CAPTURE(h);
        REQUIRE(perp_program(folder, {"run", "saw.toml", "--scheme", scheme, "--h", h, "--plot", "out.svg", "--plot-variables", "p,z"}).status == 0);
        const std::string data = read_text(folder / "out.dat");
        const std::size_t start = data.find("# index 1, jumps");
        int of_p = 0, of_z = 0;
        for (const std::string& row : lines(data.substr(start))) {
          double t = 0, from = 0, to = 0;
          int column = 0;
          if (std::sscanf(row.c_str(), "%lf %lf %lf %d", &t, &from, &to, &column) != 4) continue;
          (column == 2 ? of_p : of_z) += 1;
          if (column == 2) CHECK(std::abs(from - to) == doctest::Approx(1));
          if (column == 3) CHECK(std::abs(from - to) == doctest::Approx(10));
        }
        CHECK(of_p == 2);
        CHECK(of_z == 4);  // the fifth is at the end
        // Between events z is drawn everywhere: its rows cover all of the time but for a step at an event.
        double last = 0, longest = 0;
        for (const std::string& row : lines(data.substr(0, start))) {
          double t = 0, p = 0, z = 0;
          if (std::sscanf(row.c_str(), "%lf %lf %lf", &t, &p, &z) != 3 || std::isnan(z)) continue;
          longest = std::max(longest, t - std::exchange(last, t));
        }
        CHECK(longest <= 0.2501);
      }
  }

  TEST_CASE("multipliers, arguments of laws and outputs are drawn, in the panels and the window that are asked for") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "switching_dae_crossing", "--plot", "out.svg", "--plot-panels",
                                              "x1,x2; lambda1", "--plot-window", "2,4", "-o", "run.csv", "--quiet"});
    CHECK(run.status == 0);
    const std::string data = read_text(folder / "out.dat");
    CHECK(data.find("# index 0: t x1 x2 lambda1;") != std::string::npos);
    const perp::test::Csv csv = perp::test::parse_csv(read_text(folder / "run.csv"));
    std::size_t compared = 0;
    for (const std::string& row : lines(data.substr(0, data.find("# index 1")))) {
      double t = 0, x1 = 0, x2 = 0, lambda = 0;
      if (std::sscanf(row.c_str(), "%lf %lf %lf %lf", &t, &x1, &x2, &lambda) != 4) continue;
      CHECK(t >= 2);
      CHECK(t <= 4);
      for (std::size_t k = 0; k < csv.rows.size(); ++k)
        if (csv.number(k, "t") == t && csv.number(k, "lambda1") == lambda && csv.number(k, "x1") == x1) ++compared;
    }
    CHECK(compared >= 20);  // steps of 0.1
    const std::string script = read_text(folder / "out.gp");
    CHECK(script.find("set ylabel 'x1, x2'") != std::string::npos);
    CHECK(script.find("set ylabel 'lambda1'") != std::string::npos);
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{"--plot-panels", "x1;;x2"}, {"--plot-panels", "x1", "--plot-variables", "x2"},
          {"--plot-window", "3"}, {"--plot-window", "11,12"}, {"--plot-variables", "lambda"}}) {
      std::vector<std::string> arguments{"run", "switching_dae_crossing", "--plot", "no.svg"};
      arguments.insert(arguments.end(), wrong.begin(), wrong.end());
      CHECK(perp_program(folder, arguments).status == 2);
      CHECK_FALSE(exists(folder / "no.svg"));
    }
    CHECK(perp_program(folder, {"run", "switching_dae_crossing", "--plot-panels", "x1"}).status == 2);
  }

  TEST_CASE("a page stands alone and holds the curves with their jumps, also of the phase picture") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "switching_dae_jump", "--plot", "out.html", "--plot-phase", "x1,x2", "--quiet"});
    CHECK_MESSAGE(run.status == 0, run.err);
    for (const char* name : {"out.html", "out_phase.html"}) {
      const std::string page = read_text(folder / name);
      CHECK(page.starts_with("<!DOCTYPE html>"));
      CHECK(page.find("</html>") != std::string::npos);
      CHECK(page.find("stroke-dasharray=\"2 4\"") != std::string::npos);  // the jump
    }
    for (const char* name : {"out.gp", "out.dat", "out_matplotlib.py", "out_phase.gp"}) CHECK_FALSE(exists(folder / name));
    CHECK(perp_program(folder, {"run", "chatter", "--plot", "out.jpg"}).err.find("expected .svg, .png, .pdf or .html") != std::string::npos);
  }

  TEST_CASE("every picture of blocks can be a page: its names are in the legend, its blocks are drawn, nothing is beside it") {
    const Folder folder;
    const auto page_of = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), {"--plot", "page.html"});
      const Outcome run = perp_program(folder, arguments);
      CHECK_MESSAGE(run.status == 0, run.err);
      return exists(folder / "page.html") ? read_text(folder / "page.html") : std::string();
    };
    const auto holds = [](const std::string& page, const std::vector<const char*>& words) {
      for (const char* word : words) CHECK_MESSAGE(page.find(word) != std::string::npos, word);
    };
    holds(page_of({"map", "switching_dae_jump", "--vary", "B1=-2:2:3", "--vary", "B2=-2:2:3", "--what", "ac", "--at", "x1=0,x2=-1"}),
          {"none (5)", "unique (4)", "fill-opacity=\"1\"", "data-xlabel=\"B1\""});
    holds(page_of({"solutions", "switching_dae_repulsive", "--at", "x1=0,x2=-0.5", "--tree", "2", "--plot-variables", "x1,z"}),
          {"solution of a step", "data-ylabel=\"x1\"", "data-ylabel=\"z\""});
    holds(page_of({"enclose", "chatter", "--t", "0,0.5"}), {"branch 0, unique", "fill-opacity=\"0.35\""});
    holds(page_of({"converge", "chatter", "--h", "0.1,0.05", "--reference", "exact"}), {"data-log=\"xy\"", "step length h"});
    holds(page_of({"sweep", "relay_oscillator", "--vary", "y=0.1:2:4", "--vary", "v=0:1:3", "--measure", "e=end(y)", "--t", "0,2", "--quiet"}),
          {"e, every ", "data-xlabel=\"y\"", " to "});
    holds(page_of({"sweep", "relay_oscillator", "--random", "y=uniform(0.1,2)", "--runs", "9", "--t", "0,2", "--plot-type", "fan", "--quiet"}),
          {"90 % of the runs", "median", "fill-opacity=\"0.35\""});
    for (const char* name : {"page.gp", "page.dat", "page_matplotlib.py"}) CHECK_FALSE(exists(folder / name));
    const Outcome pattern = perp_program(folder, {"check", "three_tank_binaries", "--plot", "pattern.html"});
    CHECK(pattern.status == 2);
    CHECK(pattern.err.find("there is no page of this picture; expected .svg, .png or .pdf") != std::string::npos);
  }

  TEST_CASE("axes are logarithmic where that is asked for, and values without a place there are told") {
    const Folder folder;
    const std::string file = folder.write("decay.toml",
        "[variables]\nx = 1\ny = 2\n[model]\nequations = [\"der(x) = -x\", \"der(y) = -4 + abs(x)\"]\n[run]\nt = [0, 5]\nh = 0.01\n");
    const Outcome run = perp_program(folder, {"run", file, "--plot", "out.svg", "--plot-log", "x,t", "--plot-panels", "x;y", "--quiet"});
    CHECK_MESSAGE(run.status == 0, run.err);
    const std::string script = read_text(folder / "out.gp");
    CHECK(script.find("\nset logscale x\n") != std::string::npos);
    CHECK(script.find("set xrange [0.01:5]") != std::string::npos);  // the first time that is positive
    CHECK(script.find("\nset logscale y\nplot data index 0 using 1:2") != std::string::npos);
    CHECK(script.find("\nunset logscale y\nplot data index 0 using 1:3") != std::string::npos);
    const Outcome negative = perp_program(folder, {"run", file, "--plot", "out.svg", "--plot-log", "y", "--quiet"});
    CHECK(negative.status == 2);
    CHECK(negative.err.find("--plot-log: y goes down to ") != std::string::npos);
    const auto error = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"run", file, "--plot", "no.svg"});
      const Outcome wrong = perp_program(folder, more);
      CHECK(wrong.status == 2);
      CHECK(lines(wrong.err).size() == 1);
      CHECK_FALSE(exists(folder / "no.svg"));
      return wrong.err;
    };
    CHECK(error({"--plot-log", "xx"}).find("did you mean 'x'?") != std::string::npos);
    CHECK(error({"--plot-variables", "x", "--plot-log", "y"}).find("y is not drawn") != std::string::npos);
    CHECK(error({"--plot-phase", "x,y", "--plot-layers", "arows"}).find("did you mean 'arrows'?") != std::string::npos);
    CHECK(error({"--plot-phase", "x,y", "--plot-starts", "x=1;z=2"}).find("unknown variable 'z'") != std::string::npos);
    CHECK(error({"--plot-phase", "x,y", "--plot-starts", "x=one"}).find("--plot-starts: x") != std::string::npos);
    CHECK(error({"--plot-starts", "x=1"}).find("add --plot-phase X,Y") != std::string::npos);
    CHECK(error({"--plot-with", "none.csv"}).find("none.csv") != std::string::npos);
  }

  TEST_CASE("a recorded run stands beside the curves, in their window") {
    const Folder folder;
    perp_program(folder, {"run", "switching_dae_crossing", "--h", "0.5", "-o", "coarse.csv", "--quiet"});
    const Outcome run = perp_program(folder, {"run", "switching_dae_crossing", "--plot", "out.svg", "--plot-variables", "x1,x2",
                                              "--plot-window", "2,4", "--plot-with", "coarse.csv", "--quiet"});
    CHECK_MESSAGE(run.status == 0, run.err);
    const std::string data = read_text(folder / "out.dat");
    const std::size_t other = data.find("# index 2: the same of coarse.csv");
    REQUIRE(other != std::string::npos);
    std::vector<double> times;
    for (const std::string& row : lines(data.substr(other)))
      if (double t = 0; std::sscanf(row.c_str(), "%lf", &t) == 1) times.push_back(t);
    CHECK(times == std::vector<double>{2, 2.5, 3, 3.5, 4});
    CHECK(read_text(folder / "out.svg").find("coarse.csv") != std::string::npos);
    // In panels none of whose columns it has it is not named.
    for (const char* picture : {"two.svg", "two.html"})
      perp_program(folder, {"run", "switching_dae_crossing", "--plot", picture, "--plot-panels", "x1,w1;w1", "--plot-with", "coarse.csv", "--quiet"});
    const std::string script = read_text(folder / "two.gp");
    CHECK(script.find("title 'coarse.csv'") != std::string::npos);
    CHECK(script.find("title 'coarse.csv'") == script.rfind("title 'coarse.csv'"));
    const std::string page = read_text(folder / "two.html");
    CHECK(page.find("coarse.csv") != std::string::npos);
    CHECK(page.find("coarse.csv") == page.rfind("coarse.csv"));
    folder.write("other.csv", "t,y\n0,1\n1,2\n");
    const Outcome none = perp_program(folder, {"run", "switching_dae_crossing", "--plot", "out.svg", "--plot-with", "other.csv", "--quiet"});
    CHECK(none.status == 2);
    CHECK(none.err.find("it has none of the columns that are drawn at these times: x1, x2, z") != std::string::npos);
  }

  TEST_CASE("a phase picture shows runs from several starts, the flow, surfaces and equilibria, and names what is there alone") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "gene_toggle", "--scheme", "located", "--plot", "out.svg", "--plot-phase", "x1,x2",
                                              "--plot-starts", "x1=3,x2=0.5; x1=0.5,x2=3", "--plot-layers", "arrows,surfaces,equilibria", "--quiet"});
    CHECK_MESSAGE(run.status == 0, run.err);
    const std::string data = read_text(folder / "out_phase.dat");
    const std::size_t starts = data.find(": start\n"), end = data.find("\n\n\n", starts);
    REQUIRE(starts != std::string::npos);
    CHECK(lines(data.substr(starts, end - starts)).size() == 4);  // its heading and three
    const std::string script = read_text(folder / "out_phase.gp");
    for (const char* name : {"'flow at t = 0'", "title 'saddle'", "title 'stable equilibrium'", "title 'surface of "})
      CHECK(script.find(name) != std::string::npos);
    for (const char* name : {"'jump'", "'unstable equilibrium'"}) CHECK(script.find(name) == std::string::npos);
    const Outcome third = perp_program(folder, {"run", "chua", "--plot", "no.svg", "--plot-phase", "x,z", "--plot-layers", "arrows"});
    CHECK(third.status == 2);
    CHECK(third.err.find("y is a third one") != std::string::npos);
  }

  TEST_CASE("names that a shell or gnuplot could misread do no harm") {
    const Folder folder;
    for (const std::string name : {"it's $(touch harm) `touch harm` \"x\" ; a.svg", "-p.svg"}) {
      CAPTURE(name);
      const Outcome run = perp_program(folder, {"run", "two_relays", "--plot=" + name});
      CHECK_MESSAGE(run.status == 0, run.err);
      CHECK(exists(folder / name));
      CHECK_FALSE(exists(folder / "harm"));
    }
  }

  TEST_CASE("without gnuplot the message names the package and the script is kept") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"run", "two_relays", "--plot", "out.svg"}, "/nonexistent");
    CHECK(run.status == 2);
    REQUIRE(lines(run.err).size() == 1);
    CHECK(run.err.find("gnuplot-nox") != std::string::npos);
    CHECK(exists(folder / "out.gp"));
    CHECK_FALSE(exists(folder / "out.svg"));
    CHECK(run.out.find("end state") != std::string::npos);
  }

  TEST_CASE("a long run is drawn from few states that keep its peaks") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"run", "relay_oscillator", "--h", "1e-4", "--t", "0,10", "--plot", "out.svg"});
    CHECK(run.status == 0);
    CHECK(lines(read_text(folder / "out.dat")).size() < 60'000);
  }
}
