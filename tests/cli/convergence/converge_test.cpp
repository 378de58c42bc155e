#include <doctest/doctest.h>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include <perp/tests/cli/convergence/convergence_study.hpp>
#include <perp/tests/cli/program.hpp>

using perp::test::converge;
using perp::test::ConvergenceStudy;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;

namespace {

/// The number behind "fitted order", NaN if there is none.
double fitted_order(const std::string& text) {
  double order = NAN;
  const std::size_t at = text.find("fitted order ");
  if (at != std::string::npos) std::sscanf(text.c_str() + at, "fitted order %lf", &order);
  return order;
}

}  // namespace

TEST_SUITE("cli/converge") {
  TEST_CASE("backward Euler has order one on the variant (37) of [RAB]") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"converge", "switching_dae_variant37", "--h",
                                              "1.29e-3:1.29e-1:3", "--plot", "order.svg"});
    CHECK(run.status == 0);
    CHECK(run.out.find("exact solution") != std::string::npos);
    CHECK(run.out.find("differential variables x1, x2") != std::string::npos);
    CHECK(std::abs(fitted_order(run.out) - 1) < 0.02);
    const std::string picture = perp::test::read_text(folder / "order.svg");
    CHECK(picture.find("fitted order 1.0") != std::string::npos);
    CHECK(picture.find("<title>error at T: fitted order 1.00</title>") != std::string::npos);
  }

  TEST_CASE("no order is claimed where every error is rounding") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"converge", "switching_dae_crossing", "--h", "0.9,0.3,0.1"});
    CHECK(run.status == 0);
    CHECK(run.out.find("exact at the grid points") != std::string::npos);
    CHECK(std::isnan(fitted_order(run.out)));
  }

  TEST_CASE("models as equations converge with order one, to exact solutions and finest runs") {
    const Folder folder;
    // ẋ = -x² above 1/2, -2 x² below: 1/(1 + t), then 1/(2 t).
    const std::string file = folder.write(
        "m.toml",
        "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x^2*if(x > 0.5, 1, 2)\"]\n"
        "[run]\nt = [0, 3]\n[exact]\npieces = [{ t = [0, 1], x = \"1/(1 + t)\" }, "
        "{ t = [1, 3], x = \"1/(2*t)\" }]\n");
    const Outcome exact = perp_program(folder, {"converge", file, "--h", "1e-3:0.07:9"});
    CHECK(exact.status == 0);
    CHECK(exact.out.find("exact solution") != std::string::npos);
    CHECK(std::abs(fitted_order(exact.out) - 1) < 0.03);
    const Outcome finest =
        perp_program(folder, {"converge", "stick_slip", "--h", "4e-3,2e-3,1e-3"});
    CHECK(finest.status == 0);
    CHECK(finest.out.find("smallest h / 16") != std::string::npos);
    CHECK(std::abs(fitted_order(finest.out) - 1) < 0.1);
    // Affine: the rotating field of [RAB] (37) in its form of equations.
    const Outcome rotating =
        perp_program(folder, {"converge", "switching_dae_variant37_equations", "--h", "1e-3,1e-2"});
    CHECK(rotating.status == 0);
    CHECK(std::abs(fitted_order(rotating.out) - 1) < 0.02);
  }

  TEST_CASE("errors and orders know no unit of time and no unit of a variable") {
    const Folder folder;
    std::vector<std::string> outputs;
    for (const auto& [time, unit] : {std::pair(1.0, 1.0), std::pair(0x1p-40, 0x1p-40)}) {
      // ẋ = -x²; at t = 1 x is doubled: 1/(1 + t), then 1/t.
      const std::string file = folder.write(
          "m.toml", fmt::format("[parameters]\nT = {0:.17g}\nX = {1:.17g}\n[variables]\nx = \"X\"\n"
                                "clock = 0\n[model]\nequations = [\"der(x) = -x^2/X/T\", "
                                "\"der(clock) = 1\"]\nwhen = [{{ condition = \"clock - T\", direction = 1, "
                                "set = {{ x = \"2*x\" }} }}]\n[run]\nt = [0, \"2*T\"]\n"
                                "[exact]\npieces = [{{ t = [0, \"T\"], x = \"X/(1 + t/T)\", clock = \"t\" }}, "
                                "{{ t = [\"T\", \"2*T\"], x = \"X*T/t\", clock = \"t\" }}]\n",
                                time, unit));
      const std::string steps = fmt::format("{:.17g},{:.17g},{:.17g}", time / 64, time / 128, time / 256);
      const ConvergenceStudy study =
          converge(folder, {file, "--h", steps, "--error", "trajectory"});
      REQUIRE_MESSAGE(study.run.status == 0, study.run.err);
      CHECK(std::abs(study.order("trajectory") - 1) < 0.1);
      outputs.push_back(fmt::format("{:.9g} {}", study.order("trajectory"), study.rows("trajectory")));
    }
    CHECK(outputs.front() == outputs.back());
  }

  TEST_CASE("the finest run and a CSV file serve as references") {
    const Folder folder;
    const Outcome finest = perp_program(folder, {"converge", "switching_dae_variant37", "--h",
                                                 "0.08,0.04,0.02", "--reference", "finest"});
    CHECK(finest.status == 0);
    CHECK(std::abs(fitted_order(finest.out) - 1) < 0.15);
    perp_program(folder, {"run", "switching_dae_variant37", "--h", "1e-4", "-o", "fine.csv"});
    const Outcome file = perp_program(folder, {"converge", "switching_dae_variant37", "--h",
                                               "0.08,0.04,0.02", "--reference", "fine.csv"});
    CHECK(file.status == 0);
    CHECK(std::abs(fitted_order(file.out) - 1) < 0.05);
    const Outcome wrong = perp_program(folder, {"converge", "switching_dae_variant37", "--t",
                                                "0,20", "--h", "0.1", "--reference", "fine.csv"});
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("fine.csv: there is no row at t = 20") != std::string::npos);
  }

  TEST_CASE("the theta-method has order two on a smooth problem") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"converge", "driven_rlc", "--h", "2e-6,1e-6,5e-7", "--scheme", "theta"});
    CHECK(run.status == 0);
    CHECK(std::abs(fitted_order(run.out) - 2) < 0.05);
  }

  TEST_CASE("a run without a solution is named in the table, status 3") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"converge", "switching_dae_no_solution", "--h", "0.1,0.05", "--t",
                              "0,16", "--reference", folder.write("r.csv", "t,x1,x2\n16,1,2\n")});
    CHECK(run.status == 3);
    CHECK(run.out.find("no_solution") != std::string::npos);
    CHECK(lines(run.err).size() == 1);
  }
}
