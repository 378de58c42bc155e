#include <doctest/doctest.h>
#include <cmath>
#include <filesystem>
#include <string>

#include <perp/tests/cli/convergence/convergence_study.hpp>

using perp::test::converge;
using perp::test::ConvergenceStudy;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;

TEST_SUITE("cli/converge refusals") {
  TEST_CASE("a run that ends at t_N shows the way from T to t_N, not the error of the scheme") {
    const Folder folder;
    // Exact at the grid points; on the last piece x1 and x2 move with the speed 2/3.
    const ConvergenceStudy study = converge(
        folder, {"switching_dae_crossing", "--h", "0.9,0.7,0.3,0.13,0.011", "--whole-steps"});
    CHECK(study.run.status == 0);
    REQUIRE(study.table.rows.size() == 5);
    for (std::size_t row = 0; row < 5; ++row) {
      const double h = study.table.number(row, "h");
      const double t_end = h * std::ceil(10 / h);
      CHECK(study.table.number(row, "t_end") == doctest::Approx(t_end).epsilon(1e-14));
      CHECK(study.table.number(row, "error_end") ==
            doctest::Approx(2.0 / 3 * (t_end - 10)).epsilon(1e-9));
      CHECK(study.refused(row, "end") == "t_N is not T");
    }
    CHECK(std::isnan(study.order("end")));
    CHECK(study.says("h = 0.9, 0.7, 0.3, 0.13, 0.011 end at t_N, not at T"));
    CHECK(study.says("(it is 0.667 times |t_N - T|)"));
  }

  TEST_CASE(
      "event times that are exact but for rounding give no order, and no number stands where "
      "there is none") {
    const Folder folder;
    const ConvergenceStudy study =
        converge(folder, {"switching_dae_jump", "--h", "1,0.5,0.2,0.1", "--error", "end,events",
                          "--selectors", "keep_mode,continuation,minimal_norm"});
    CHECK(study.run.status == 0);
    CHECK(study.table.rows.size() == 12);
    for (std::size_t variant = 0; variant < 3; ++variant) {
      CHECK(std::isnan(study.order("end", variant)));
      CHECK(std::isnan(study.order("events", variant)));
    }
    const std::string text = perp::test::read_text(folder / "study.csv");
    CHECK(text.find("nan") == std::string::npos);
  }

  TEST_CASE("whole steps that reach T exactly count, the others do not") {
    const Folder folder;
    const ConvergenceStudy study = converge(
        folder, {"switching_dae_variant37", "--h", "0.1,0.03,0.01,0.003,0.001", "--whole-steps"});
    CHECK(study.run.status == 0);
    CHECK(study.rows("end") == 3);
    CHECK(std::abs(study.order("end") - 1) < 0.01);
    CHECK(study.refused(1, "end") == "t_N is not T");
    CHECK(study.refused(2, "end").empty());
    CHECK(study.table.number(2, "t_end") == 10);
    CHECK(study.says("h = 0.03, 0.003 end at t_N, not at T"));
  }

  TEST_CASE("rounding errors give no order, to whatever reference, where a solution passes 0 too") {
    const Folder folder;
    for (const char* model : {"switching_dae_crossing", "switching_dae_repulsive",
                              "switching_dae_jump", "hysteresis_relay"})
      for (const char* reference : {"exact", "finest", "located"}) {
        CAPTURE(model);
        CAPTURE(reference);
        const ConvergenceStudy study =
            converge(folder, {model, "--h", "0.06,0.03,0.02", "--reference", reference});
        CHECK(study.run.status == 0);
        CHECK(study.says("no order: exact at the grid points, every error is at rounding level"));
        CHECK(study.rows("end") == 0);
      }
  }

  TEST_CASE("without events there are no event times, and none that is exact") {
    const Folder folder;
    const std::string model = folder.write(
        "decay.toml", "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x\"]\n[run]\nt = [0, 1]\n");
    const ConvergenceStudy study =
        converge(folder, {model, "--h", "0.1,0.05", "--reference", "located", "--error", "events"});
    CHECK(study.run.status == 0);
    CHECK(study.refused(0, "events") == "no events");
    CHECK(study.says("neither the run nor the reference has an event, so there are no times to compare"));
    CHECK_FALSE(study.says("exact, every error"));
  }

  TEST_CASE("a chaotic system has no reference run: no order") {
    const Folder folder;
    const std::string lorenz = folder.write(
        "lorenz.toml",
        "[variables]\nx = 1\ny = 1\nz = 20\n[model]\nequations = [\"der(x) = 10*(y - x)\", "
        "\"der(y) = x*(28 - z) - y\", \"der(z) = x*y - 8/3*z\"]\n[run]\nt = [0, 30]\n");
    const ConvergenceStudy study = converge(folder, {lorenz, "--h", "4e-3,2e-3"});
    CHECK(study.run.status == 0);
    CHECK(study.rows("end") == 0);
    CHECK(study.refused(0, "end") == "near the reference's own error");
    CHECK(study.says("h = 0.004, 0.002: less than 8 times the reference's own error of about "));
    // The same system over a short time has one.
    const ConvergenceStudy brief = converge(folder, {lorenz, "--t", "0,1", "--h", "1e-3,5e-4"});
    CHECK(std::abs(brief.order("end") - 1) < 0.15);
  }

  TEST_CASE("one error alone has no order, and errors that grow are said to grow") {
    const Folder folder;
    const ConvergenceStudy one = converge(folder, {"switching_dae_variant37", "--h", "0.01"});
    CHECK(one.run.status == 0);
    CHECK(one.says("no order: 1 of 1 errors can be compared"));
    const ConvergenceStudy close =
        converge(folder, {"switching_dae_variant37", "--h", "0.01,0.0099999"});
    CHECK(
        close.says("no order: the step lengths of 2 errors that count are less than a factor of "
                   "1.1 apart"));
    const ConvergenceStudy grows =
        converge(folder, {"predator_prey", "--h", "0.04,0.02,0.01", "--reference", "located"});
    CHECK(grows.order("end") < 0);
    CHECK(grows.says("the errors do not fall with h"));
  }

  TEST_CASE("wrong input is one line with what to write instead, status 2") {
    const Folder folder;
    const std::string other = folder.write(
        "other.toml",
        "[variables]\nq = 1\n[model]\nequations = [\"der(q) = -q\"]\n[run]\nt = [0, 10]\n");
    const std::string backwards = folder.write("backwards.csv", "t,x1,x2\n10,0,0\n0,0,0\n");
    const std::string no_law = folder.write("no_law.csv", "t,type\n1,jump\n");
    const std::string empty = folder.write("empty.csv", "");
    const std::string model = "switching_dae_variant37";
    struct Case {
      std::vector<std::string> arguments;
      const char* message;
    };
    const std::vector<Case> cases{
        {{model, "--h", "0.1", "--reference", "exat"},
         "--reference exat: there is no file exat; expected exact, finest, located or a file; did "
         "you mean 'exact'?"},
        {{model, "--h", "0.1", "--jobs", "-1"}, "--jobs is -1; expected a number from 1 to 1024"},
        {{model, "--h", "20,0.1"}, "--h is 20 but the span [0, 10] is 10 long"},
        {{model, "--h", "0.1", "--error", "ends"}, "unknown --error 'ends'; expected one of end, "},
        {{model, "--h", "0.1", "--error", "end,end"}, "'end' stands there twice"},
        {{model, "--h", "0.1", "--scheme", "located"}, "scheme located chooses its step lengths"},
        {{model, "--h", "0.1", "--selectors", "keep_mode,nearest"}, "unknown selector 'nearest'"},
        {{model, "--h", "0.1", "--selectors", "first,first"}, "'first' stands there twice"},
        {{model, "--h", "0.1", "--schemes", "theta,"}, "--schemes theta,: a name is missing"},
        {{model, "--h", "0.1", "--schemes", "theta", "--scheme", "theta"},
         "--schemes and --scheme are both given"},
        {{model, model, "--h", "0.1"}, "the model switching_dae_variant37 stands there twice"},
        {{model, other, "--h", "0.1"},
         "no differential variable in common (switching_dae_variant37: x1, x2; other: q)"},
        {{model, "stick_slip", "--h", "0.1"}, "expected one span for all, see --t"},
        {{model, "--h", "0.1", "--reference", "exact", "--error", "events"},
         "an exact solution holds no events; expected --reference-events FILE"},
        {{model, "--h", "0.1", "--reference", backwards}, "t = 0 follows 10"},
        {{model, "--h", "0.1", "--reference", empty}, "empty.csv:1:1: is empty"},
        {{model, "--h", "0.1", "--reference-events", no_law, "--error", "events"},
         "no_law.csv:1:1: there is no column law"},
        {{model, "--h", "0.1", "--reference-events", no_law},
         "--reference-events needs --error events or trajectory"},
        {{model, "--h", "1e-8", "--error", "trajectory"}, "expected at most 1e+08"},
        {{model, "--h", "0.1", "-o", "table.h5"}, "expected a name that ends in .csv"},
    };
    for (const Case& wrong : cases) {
      std::vector<std::string> arguments{"converge"};
      arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
      const Outcome run = perp_program(folder, arguments);
      CAPTURE(wrong.message);
      CAPTURE(run.err);
      CHECK(run.status == 2);
      CHECK(run.out.empty());
      CHECK(lines(run.err).size() == 1);
      CHECK(run.err.find(wrong.message) != std::string::npos);
    }
  }

  TEST_CASE("the file beside a reference is not written, by whatever name") {
    const Folder folder;
    REQUIRE(perp_program(folder, {"run", "thermostat", "-o", folder / "F.csv"}).status == 0);
    std::filesystem::create_symlink(folder / "F.csv.json", folder / "L.csv");
    const std::string before = perp::test::read_text(folder / "F.csv.json");
    const Outcome run = perp_program(folder, {"converge", "thermostat", "--h", "0.1,0.05", "--reference", folder / "F.csv", "-o",
                                              folder / "L.csv"});
    CHECK(run.status == 2);
    CHECK(run.err.find("which is read; expected another") != std::string::npos);
    CHECK(perp::test::read_text(folder / "F.csv.json") == before);
  }
}
