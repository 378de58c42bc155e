#include <doctest/doctest.h>
#include <cmath>

#include <perp/tests/cli/convergence/convergence_study.hpp>

using perp::test::converge;
using perp::test::ConvergenceStudy;
using perp::test::Csv;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

const std::string variant37 = "switching_dae_variant37";
const std::string t_switch = "2*log(2)";
const double exact_switch = 2 * std::log(2.0);

/// [RAB] (37) as its file has it: slides, then x1 > 0.
std::pair<double, double> exact37(double t) {
  if (t < exact_switch) return {0, std::exp(t / 2) - 1};
  const double e = 2 * std::exp(-(t - exact_switch) / 3);
  return {2 - e, 3 - e};
}

}  // namespace

TEST_SUITE("cli/converge references") {
  TEST_CASE("errors at T, over the trajectory and of event times are of order one on (37)") {
    const Folder folder;
    const ConvergenceStudy study =
        converge(folder, {variant37, "--h", "1e-3:1e-1:5", "--reference", "located", "--error",
                          "end,trajectory,events"});
    CHECK(study.run.status == 0);
    for (const char* kind : {"end", "trajectory", "events"}) {
      CHECK(study.rows(kind) == 5);
      CHECK(std::abs(study.order(kind) - 1) < 0.02);
    }
    CHECK(study.says("reference  located scheme, tol 1e-12"));
  }

  TEST_CASE("the errors are those that the run's own files give") {
    const Folder folder;
    const ConvergenceStudy study = converge(
        folder,
        {variant37, "--h", "0.03", "--reference", "located", "--error", "end,trajectory,events"});
    perp_program(folder, {"run", variant37, "--h", "0.03", "-o", "run.csv", "--events", "e.csv"});
    const Csv run = parse_csv(read_text(folder / "run.csv"));
    const Csv events = parse_csv(read_text(folder / "e.csv"));
    REQUIRE(events.rows.size() == 1);
    const auto error_at = [&](std::size_t row) {
      const auto [x1, x2] = exact37(run.number(row, "t"));
      return std::max(std::abs(run.number(row, "x1") - x1), std::abs(run.number(row, "x2") - x2));
    };
    double largest = 0;
    for (std::size_t k = 0; k < run.rows.size(); ++k) largest = std::max(largest, error_at(k));
    CHECK(study.table.number(0, "error_trajectory") == doctest::Approx(largest).epsilon(1e-9));
    CHECK(study.table.number(0, "error_end") ==
          doctest::Approx(error_at(run.rows.size() - 1)).epsilon(1e-9));
    CHECK(study.table.number(0, "error_events") ==
          doctest::Approx(std::abs(events.number(0, "t") - exact_switch)).epsilon(1e-9));
  }

  TEST_CASE("exact, located and finest references agree, the last one within its own error") {
    const Folder folder;
    const std::vector<std::string> what{variant37,        "--h",        "0.04,0.02,0.01", "--error",
                                        "end,trajectory", "--reference"};
    const auto study = [&](const std::string& reference) {
      std::vector<std::string> arguments = what;
      arguments.push_back(reference);
      return converge(folder, arguments);
    };
    const ConvergenceStudy exact = study("exact");
    const ConvergenceStudy located = study("located");
    const ConvergenceStudy finest = study("finest");
    for (const char* kind : {"end", "trajectory"}) {
      CHECK(std::abs(exact.order(kind) - 1) < 0.02);
      CHECK(std::abs(finest.order(kind) - 1) < 0.05);
      const double own = finest.about["variants"][0]["own_errors_of_reference"][kind].get<double>();
      CHECK(own > 0);
      for (std::size_t row = 0; row < 3; ++row) {
        const std::string column = std::string("error_") + kind;
        const double error = exact.table.number(row, column);
        CHECK(located.table.number(row, column) == doctest::Approx(error).epsilon(1e-9));
        // A run of first order with half the step has at most the difference to it as error.
        CHECK(std::abs(finest.table.number(row, column) - error) < 1.5 * own);
      }
    }
  }

  TEST_CASE("files of a run serve as references, with their events") {
    const Folder folder;
    for (const char* file : {"fine.csv", "fine.h5"})
      perp_program(folder, {"run", variant37, "--scheme", "located", "--tol", "1e-12", "--h",
                            "0.01", "-o", file, "--events", "fine_events.csv"});
    const ConvergenceStudy located =
        converge(folder, {variant37, "--h", "0.08,0.04,0.02", "--reference", "located", "--error",
                          "end,trajectory,events"});
    const ConvergenceStudy csv =
        converge(folder, {variant37, "--h", "0.08,0.04,0.02", "--reference", "fine.csv", "--error",
                          "end,trajectory,events", "--reference-events", "fine_events.csv"});
    const ConvergenceStudy hdf5 =
        converge(folder, {variant37, "--h", "0.08,0.04,0.02", "--reference", "fine.h5", "--error",
                          "end,trajectory,events"});
    const ConvergenceStudy exact =
        converge(folder, {variant37, "--h", "0.08,0.04,0.02", "--reference", "exact", "--error",
                          "end,trajectory,events", "--reference-events", "fine_events.csv"});
    for (const ConvergenceStudy* study : {&csv, &hdf5, &exact}) {
      CHECK(study->run.status == 0);
      for (const char* kind : {"end", "trajectory", "events"})
        for (std::size_t row = 0; row < 3; ++row) {
          const std::string column = std::string("error_") + kind;
          CHECK(study->table.number(row, column) ==
                doctest::Approx(located.table.number(row, column)).epsilon(1e-9));
        }
    }
  }

  TEST_CASE("a file without the times of the runs gives errors at T only") {
    const Folder folder;
    perp_program(folder, {"run", variant37, "--h", "1e-3", "--times", "0,10", "-o", "ends.csv"});
    const ConvergenceStudy study = converge(folder, {variant37, "--h", "0.08,0.04", "--reference",
                                                     "ends.csv", "--error", "end,trajectory"});
    CHECK(study.run.status == 0);
    CHECK(study.rows("end") == 2);
    CHECK(study.rows("trajectory") == 0);
    CHECK(study.refused(0, "trajectory") == "no common times");
    CHECK(study.says("h = 0.08, 0.04: between start and T the reference has a state at none of "));
  }

  TEST_CASE("event times of the canonical example converge with order one") {
    const Folder folder;
    const ConvergenceStudy study =
        converge(folder, {"ifdiff_canonical", "--h", "4e-3,2e-3,1e-3", "--reference", "located",
                          "--error", "events"});
    CHECK(study.run.status == 0);
    CHECK(std::abs(study.order("events") - 1) < 0.01);
    // The first crossing is at the cube root of 1331.1, the second one in the closed form.
    perp_program(folder, {"run", "ifdiff_canonical", "--h", "1e-3", "--events", "e.csv", "--quiet",
                          "-o", "o.csv"});
    const Csv events = parse_csv(read_text(folder / "e.csv"));
    const double first = std::abs(events.number(0, "t") - std::cbrt(1331.1));
    const double second = std::abs(events.number(1, "t") - 11.270040323650829);
    CHECK(study.table.number(2, "error_events") ==
          doctest::Approx(std::max(first, second)).epsilon(1e-8));
  }

  TEST_CASE("lists of events that differ are said and give no error of times") {
    const Folder folder;
    const auto study = [&](const std::string& events) {
      const std::string file = folder.write("events.csv", "t,type,law\n" + events);
      return converge(folder, {variant37, "--h", "1e-2,1e-3", "--error", "end,events",
                               "--reference", "exact", "--reference-events", file});
    };
    const ConvergenceStudy same = study("1.3862943611198906,sliding_exit,|x1| + sign(x1)\n");
    CHECK(same.rows("events") == 2);
    const ConvergenceStudy kind = study("1.3862943611198906,crossing,|x1| + sign(x1)\n");
    CHECK(kind.run.status == 0);
    CHECK(kind.rows("end") == 2);
    CHECK(kind.rows("events") == 0);
    CHECK(kind.refused(0, "events") == "other events");
    CHECK(
        kind.says("h = 0.01, 0.001: the events are not those of the reference (h = 0.01: number "
                  "1 of law |x1| + sign(x1) is sliding_exit at t = 1.38283; in the reference "
                  "crossing at t = 1.38629), so their times are not compared"));
    const ConvergenceStudy more =
        study("1.3862943611198906,sliding_exit,|x1| + sign(x1)\n2,kink,|x1| + sign(x1)\n");
    CHECK(more.says("1 event of law |x1| + sign(x1); in the reference 2 events"));
    const ConvergenceStudy law =
        study("1,kink,other\n1.3862943611198906,sliding_exit,|x1| + sign(x1)\n");
    CHECK(law.says("none of law other; in the reference 1 event"));
    // Events of different laws may be listed in any order of laws.
    const std::string pair = folder.write(
        "pair.toml",
        "[variables]\nx = -1\ny = -1\n[model]\nequations = [\"der(x) = if(x > 0, 1, 2)\", "
        "\"der(y) = if(y > 0, 1, 2)\"]\n[run]\nt = [0, 2]\n");
    const std::string swapped =
        folder.write("swapped.csv", "t,type,law\n0.5,crossing,y > 0\n0.5,crossing,x > 0\n");
    const ConvergenceStudy at_once = converge(
        folder, {pair, "--h", "0.3,0.07", "--error", "events", "--reference-events", swapped});
    CHECK(at_once.says("no order: exact, every error is at rounding level"));
  }

  TEST_CASE("an impact before and after its time is no error: Moreau and Jean's order is one") {
    const Folder folder;
    const ConvergenceStudy study =
        converge(folder, {"bouncing_ball_contact", "--t", "0,15", "--h", "8e-3,4e-3,2e-3,1e-3",
                          "--reference", "located", "--error", "end,trajectory,events"});
    CHECK(study.run.status == 0);
    for (const char* kind : {"end", "trajectory", "events"}) {
      CHECK(study.rows(kind) == 4);
      CHECK(std::abs(study.order(kind) - 1) < 0.2);
    }
    CHECK(study.table.number(0, "error_trajectory") < 1);  // an impact is 19 high
    CHECK(study.says("states between a jump of a run and that of the reference are not compared"));
    // Beyond the accumulation of impacts the numbers of jumps differ.
    const ConvergenceStudy beyond =
        converge(folder, {"bouncing_ball_contact", "--h", "4e-3,2e-3", "--reference", "located",
                          "--error", "trajectory"});
    CHECK(beyond.refused(0, "trajectory") == "other jumps");
    CHECK(beyond.says("no order: 0 of 2 errors can be compared"));
  }

  TEST_CASE("the theta-method has order two over the trajectory too") {
    const Folder folder;
    const ConvergenceStudy study =
        converge(folder, {"driven_rlc", "--h", "4e-4,2e-4,1e-4", "--scheme", "theta", "--reference",
                          "located", "--error", "end,trajectory"});
    CHECK(study.run.status == 0);
    CHECK(std::abs(study.order("end") - 2) < 0.01);
    CHECK(std::abs(study.order("trajectory") - 2) < 0.01);
  }

  TEST_CASE("a located run that is captured, or that ends, is no reference, status 3") {
    const Folder folder;
    folder.write("pendulum.toml",
                 "[variables]\nx = 1\ny = 0\nu = 0\nv = 0\nforce = 0\n[model]\nequations = "
                 "[\"der(x) = u\", \"der(y) = v\", \"der(u) = -force*x\", "
                 "\"der(v) = -force*y - 1\", \"x^2 + y^2 = 1\"]\n[run]\nt = [0, 0.1]\n");
    const Outcome captured = perp_program(
        folder, {"converge", "pendulum.toml", "--h", "4e-3,2e-3", "--reference", "located"});
    CHECK(captured.status == 3);
    CHECK(lines(captured.err).size() == 1);
    CHECK(captured.err.find("captured by backward Euler for a part of the way") !=
          std::string::npos);
    CHECK(captured.err.find("expected --reference finest, exact or a file") != std::string::npos);
    const Outcome ended = perp_program(
        folder, {"converge", "switching_dae_no_solution", "--t", "0,16", "--h", "0.1"});
    CHECK(ended.status == 3);
    CHECK(ended.err.find("ended with no_solution") != std::string::npos);
    CHECK(ended.out.empty());
  }
}
