#include <doctest/doctest.h>
#include <cmath>
#include <csignal>
#include <filesystem>

#include <perp/tests/cli/convergence/convergence_study.hpp>

using perp::test::converge;
using perp::test::ConvergenceStudy;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;

TEST_SUITE("cli/converge variants") {
  TEST_CASE("three forms of one system and two selectors side by side have the same errors") {
    const Folder folder;
    const ConvergenceStudy study =
        converge(folder, {"switching_dae_variant37", "switching_dae_variant37_lcp",
                          "switching_dae_variant37_equations", "--h", "1e-2,3e-3,1e-3",
                          "--selectors", "keep_mode,minimal_norm"});
    CHECK(study.run.status == 0);
    REQUIRE(study.table.rows.size() == 18);
    for (std::size_t variant = 0; variant < 6; ++variant) {
      CHECK(std::abs(study.order("end", variant) - 1) < 0.01);
      for (std::size_t row = 0; row < 3; ++row)
        CHECK(study.table.number(3 * variant + row, "error_end") ==
              doctest::Approx(study.table.number(row, "error_end")).epsilon(1e-8));
    }
    CHECK(study.says("variant    switching_dae_variant37_lcp, minimal_norm"));
    CHECK(
        study.says("fitted orders                                    error at T\n"
                   "switching_dae_variant37, keep_mode               1.000\n"));
    CHECK(
        study.says("switching_dae_variant37, keep_mode and switching_dae_variant37, "
                   "minimal_norm: equal up to rounding at every grid point of every h"));
    CHECK(
        study.says("switching_dae_variant37, keep_mode and switching_dae_variant37_lcp, "
                   "keep_mode: identical at every grid point of every h"));
  }

  TEST_CASE("selectors whose steps at a long h would part go by shorter ones, and agree") {
    const Folder folder;
    // The only continuous solution from here stays in x1 < 0. At h = 0.1 the step of minimal norm
    // slides, which moves x1 by 0.01 however short the step: a jump, which need not be.
    const ConvergenceStudy study =
        converge(folder, {"switching_dae_repulsive", "--set", "x1=-0.01", "--set", "x2=-0.99",
                          "--t", "0,0.1", "--h", "0.1,0.005", "--selectors",
                          "keep_mode,minimal_norm", "--reference", "located"});
    CHECK(study.run.status == 0);
    for (int row = 0; row < 4; ++row) CHECK(study.refused(row, "end") == "at rounding level");
    CHECK(study.says("keep_mode and minimal_norm: equal up to rounding at every grid point"));
  }

  TEST_CASE("variants that part are said to, with the largest difference") {
    const Folder folder;
    const ConvergenceStudy study =
        converge(folder, {"thermostat", "--h", "0.1,0.05", "--schemes", "backward_euler,theta",
                          "--reference", "located"});
    CHECK(study.run.status == 0);
    CHECK(study.says("backward_euler and theta: largest difference of T at a grid point"));
    CHECK(study.says("7.109430e-02  13.2"));
  }

  TEST_CASE("variables are matched by name, those that not all have are left out and named") {
    const Folder folder;
    const std::string first = folder.write(
        "first.toml",
        "[variables]\nx = 1\ny = 0\n[model]\nequations = [\"der(x) = y\", \"der(y) = -x\"]\n"
        "[run]\nt = [0, 1]\n");
    const std::string second = folder.write(
        "second.toml",
        "[variables]\nc = 0\ny = 0\nx = 1\n[model]\nequations = [\"der(c) = 1\", \"der(y) = -x\", "
        "\"der(x) = y\"]\n[run]\nt = [0, 1]\n");
    const ConvergenceStudy study =
        converge(folder, {first, second, "--h", "0.02,0.01", "--schemes", "backward_euler,theta"});
    CHECK(study.run.status == 0);
    CHECK(study.about["compared"] == nlohmann::json::array({"x", "y"}));
    CHECK(study.says("not compared, as not known everywhere: c"));
    for (std::size_t form = 0; form < 2; ++form) {
      CHECK(std::abs(study.order("end", 2 * form) - 1) < 0.1);
      CHECK(std::abs(study.order("end", 2 * form + 1) - 2) < 0.05);
    }
    CHECK(study.table.number(0, "error_end") ==
          doctest::Approx(study.table.number(4, "error_end")).epsilon(1e-9));
  }

  TEST_CASE("the number of jobs changes no byte") {
    const Folder folder;
    const auto variants = [&](const char* jobs) {
      return perp_program(folder, {"converge", "two_relays", "--h", "0.04,0.02,0.01,0.005",
                                   "--selectors", "keep_mode,minimal_norm", "--error",
                                   "end,trajectory,events", "--jobs", jobs, "-o", "t.csv"});
    };
    const Outcome one = variants("1");
    const std::string table = read_text(folder / "t.csv");
    const std::string about = read_text(folder / "t.csv.json");
    CHECK(one.status == 0);
    CHECK(table.size() > 500);
    for (const char* jobs : {"2", "7"}) {
      const Outcome several = variants(jobs);
      CHECK(several.out == one.out);
      CHECK(read_text(folder / "t.csv") == table);
      CHECK(read_text(folder / "t.csv.json") == about);
    }
  }

  TEST_CASE("an interrupt ends all runs, what is finished is written, status 3") {
    const Folder folder;
    const std::string slow =
        folder.write("slow.toml",
                     "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x^3\"]\n[run]\n"
                     "t = [0, 1e6]\n[exact]\npieces = [{ t = [0, 1e6], x = \"1/sqrt(1+2*t)\" }]\n");
    for (const char* jobs : {"1", "2"}) {
      const perp::test::Run run(
          folder, {"converge", slow, "--h", "1e-2,5e5", "--jobs", jobs, "-o", "study.csv"});
      // Nothing is written before the runs end, which takes minutes.
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      run.send(SIGINT);
      const Outcome outcome = run.wait();
      CHECK(outcome.status == 3);
      CHECK(outcome.err.find("interrupted") != std::string::npos);
      CHECK(outcome.out.find("fitted order") == std::string::npos);
    }
  }

  TEST_CASE("the picture shows every variant and kind, hollow where nothing counts") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"converge", "switching_dae_variant37", "--h", "0.1,0.03,0.01",
                              "--whole-steps", "--selectors", "keep_mode,minimal_norm", "--error",
                              "end,events", "--reference", "located", "--plot", "order.svg"});
    CHECK(run.status == 0);
    CHECK(run.out.find("h = 0.03 end at t_N, not at T, and count for no order") !=
          std::string::npos);
    const std::string picture = read_text(folder / "order.svg");
    for (const char* entry :
         {"keep_mode, error at T: fitted order 1.0", "minimal_norm, event times: fitted order 1.0",
          "hollow: counts for no order"})
      CHECK(picture.find(entry) != std::string::npos);
    const std::string data = read_text(folder / "order.dat");
    // h = 0.03 ends at t_N = 10.02.
    CHECK(data.find("# keep_mode, error at T, not counted: h error\n0.03 ") != std::string::npos);
    CHECK(data.find("# keep_mode, error at T, counted: h error\n0.1 ") != std::string::npos);
    const Outcome none =
        perp_program(folder, {"converge", "branch", "--h", "0.1", "--plot", "none.svg"});
    CHECK(none.status == 2);
    CHECK(none.err.find("there is no picture: no run has an error above 0") != std::string::npos);
  }
}
