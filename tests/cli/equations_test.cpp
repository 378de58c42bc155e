#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>

#include <perp/tests/cli/program.hpp>

using perp::test::Csv;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("cli/equations") {
  TEST_CASE("check prints equations, laws with their arguments and the index of every mode") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"check", "branch"});
    CHECK(run.status == 0);
    CHECK(contains(run.out, "n = 2: 1 differential (x), 1 algebraic (y)"));
    CHECK(contains(run.out, "0 = der(x) - (y - 3)"));
    CHECK(contains(run.out, "x < 0  -x  false | sliding | true"));
    CHECK(contains(run.out, "false    regular, index 2"));
    CHECK(contains(run.out, "true     regular, index 1"));
    CHECK(contains(run.out, "(x, lambda): 2 found; x: 2 found"));
  }

  TEST_CASE("both solutions of a step are listed with their norms, the chosen one marked") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "branch", "--all", "-o", "out.csv"});
    CHECK(run.status == 0);
    CHECK(contains(run.out, "step 1 from t = 0 to 0.1: (x, lambda): 2 found"));
    CHECK(contains(run.out, "10 steps have not exactly one solution"));
    const Outcome solutions = perp_program(folder, {"solutions", "branch", "--h", "0.1"});
    CHECK(solutions.status == 0);
    CHECK(contains(solutions.out, "*  1  false"));
    CHECK(contains(solutions.out, "2  true"));
  }

  TEST_CASE("the user's multipliers and outputs are columns of the result") {
    const Folder folder;
    const std::string file = folder.write(
        "m.toml",
        "[parameters]\nk = 3\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = -s\"]\n"
        "laws = [\"s in sign(x)\"]\noutputs = { twice = \"2*x\", force = \"k*s\" }\n"
        "[run]\nt = [0, 2]\nh = 0.25\n");
    const Outcome run = perp_program(folder, {"run", file});
    REQUIRE(run.status == 0);
    const Csv csv = parse_csv(run.out);
    CHECK(csv.header == std::vector<std::string>{"t", "x", "s", "twice", "force", "mode"});
    REQUIRE(csv.rows.size() == 9);
    for (std::size_t k = 0; k < csv.rows.size(); ++k) {
      CHECK(csv.number(k, "twice") == 2 * csv.number(k, "x"));
      CHECK(csv.number(k, "force") == 3 * csv.number(k, "s"));
    }
    CHECK(csv.number(8, "s") == 0);
  }

  TEST_CASE("an output may hold a derivative: that of the equations, on every branch") {
    const Folder folder;
    const std::string text =
        "[variables]\nx = 1\ny = 0\n[model]\nequations = [\"der(x) = -2*s - x\", "
        "\"2*der(y) = der(x) + PRODUCT\"]\nlaws = [\"s in sign(x)\"]\n"
        "outputs = { slope = \"der(x)\", both = \"der(y) + x\" }\n[run]\nt = [0, 1]\nh = 0.05\n";
    for (const char* product : {"t", "t*y^2"}) {  // affine and not
      std::string model = text;
      model.replace(model.find("PRODUCT"), 7, product);
      const Outcome run = perp_program(folder, {"run", folder.write("m.toml", model)});
      REQUIRE(run.status == 0);
      const Csv csv = parse_csv(run.out);
      bool slid = false;
      for (std::size_t k = 0; k < csv.rows.size(); ++k) {
        const double x = csv.number(k, "x"), y = csv.number(k, "y"), t = csv.number(k, "t");
        const double slope = -2 * csv.number(k, "s") - x;
        const double more = std::string(product) == "t" ? t : t * y * y;
        CHECK(csv.number(k, "slope") == doctest::Approx(slope).epsilon(1e-12));
        CHECK(csv.number(k, "both") == doctest::Approx((slope + more) / 2 + x).epsilon(1e-12));
        if (t > 0.45) {  // it slides on x = 0 from log(3/2) on
          CHECK(std::abs(csv.number(k, "slope")) < 1e-10);
          slid = true;
        }
      }
      CHECK(slid);
    }
  }

  TEST_CASE("the relay form [RAB] (34) gives the trajectory of (11') for all B") {
    const Folder folder;
    struct Case {
      const char *B1, *B2, *x1, *x2, *span;
      int status;
    };
    for (const Case& one : {Case{"-0.5", "1", "-5", "4", "0,10", 0},
                            {"-0.49", "1", "-3", "2", "0,10", 0},
                            {"-1", "0.5", "0", "0", "0,10", 0},
                            {"1", "2", "-0.5", "-0.5", "0,10", 0},
                            {"2", "1", "-5", "4", "0,20", 3},
                            {"2", "1", "10", "11", "0,20", 3},
                            {"0.5", "0.25", "-0.75", "-0.25", "0,10", 3},
                            {"1", "1", "1", "2", "0,5", 3},
                            {"1", "-1", "-1", "0", "0,5", 0},
                            {"0", "1", "-1", "0", "0,5", 0}})
      for (const char* h : {"0.05", "0.3"}) {
        CAPTURE(std::string(one.B1) + ", " + one.B2 + ", h = " + h);
        const auto states = [&](const char* model) {
          const Outcome run = perp_program(
              folder, {"run", model, "--quiet", "--h", h, "--t", one.span, "--set",
                       std::string("B1=") + one.B1, "--set", std::string("B2=") + one.B2, "--set",
                       std::string("x1=") + one.x1, "--set", std::string("x2=") + one.x2});
          CHECK(run.status == one.status);
          return parse_csv(run.out);
        };
        const Csv merged = states("switching_dae_equations");
        const Csv relay = states("switching_dae_relay");
        // Where the solution ends its last moment may be a row of its own.
        const std::size_t rows = std::min(merged.rows.size(), relay.rows.size());
        CHECK(std::max(merged.rows.size(), relay.rows.size()) <= rows + (one.status == 3 ? 1 : 0));
        REQUIRE(rows > 5);
        for (std::size_t k = 0; k < rows; ++k)
          for (const char* name : {"x1", "x2"})
            CHECK(std::abs(relay.number(k, name) - merged.number(k, name)) < 1e-11);
      }
  }

  TEST_CASE("the chattering fields slide to their end state") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "chatter"});
    REQUIRE(run.status == 0);
    const Csv csv = parse_csv(run.out);
    const std::size_t last = csv.rows.size() - 1;
    CHECK(csv.number(last, "x") == doctest::Approx(31.0 / 34).epsilon(1e-12));
    CHECK(csv.number(last, "y") == doctest::Approx(31.0 / 34).epsilon(1e-12));
    CHECK(contains(run.err, "sliding_entry  x > y"));
  }

  TEST_CASE("the residual of velocity stepping is that of its laws of impact") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "bouncing_ball_contact"});
    REQUIRE(run.status == 0);
    CHECK(contains(run.err, "scheme      moreau_jean, theta = 0.5, h = 0.001\n"));
    const std::size_t at = run.err.find("residual    ");
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(run.err.substr(at + 12)) <= 1e-10);
    CHECK(contains(run.err, "of the laws of impact in all steps; deepest penetration of a gap "));
  }

  TEST_CASE("a start that no consistent state is near is reported with its residual, status 3") {
    const Folder folder;
    const std::string file = folder.write(
        "m.toml",
        "[variables]\nx = 2\ny = 0\n[model]\nequations = [\"der(x) = y\", "
        "\"x^2 + y^2 = 1\"]\n[run]\nt = [0, 1]\n");
    const Outcome run = perp_program(folder, {"run", file});
    CHECK(run.status == 3);
    CHECK(contains(run.err, "x0 violates the constraints, whose residual is 3 there"));
  }

  TEST_CASE("theta makes the steps of models that are not affine, of second order for theta = 1/2") {
    // x' = -x^2, x(1) = 1/2.
    const Folder folder;
    const std::string file = folder.write(
        "m.toml", "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x^2\"]\n[run]\nt = [0, 1]\n");
    double errors[2];
    for (int k = 0; k < 2; ++k) {
      const Outcome run = perp_program(
          folder, {"run", file, "--scheme", "theta", "--theta", "0.5", "--h", k == 0 ? "0.1" : "0.05"});
      CHECK(run.status == 0);
      CHECK(contains(run.err, "scheme      theta (0.5)"));
      const std::size_t last = run.out.rfind("\n1,");
      REQUIRE(last != std::string::npos);
      errors[k] = std::abs(std::stod(run.out.substr(last + 3)) - 0.5);
    }
    CHECK(errors[0] / errors[1] > 3.5);
    CHECK(errors[0] / errors[1] < 4.5);
  }

  TEST_CASE("a scheme that needs equations of motion refuses other models by name") {
    const Folder folder;
    const Outcome contact = perp_program(folder, {"run", "rlcd", "--scheme", "moreau_jean"});
    CHECK(contact.status == 2);
  }
}
