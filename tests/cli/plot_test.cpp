#include <doctest/doctest.h>

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
