#include <doctest/doctest.h>
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
    CHECK(contains(run.out, "x < 0  -x  lambda=0 | w=0 | lambda=1"));
    CHECK(contains(run.out, "lambda=0  regular, index 2"));
    CHECK(contains(run.out, "lambda=1  regular, index 1"));
    CHECK(contains(run.out, "(x, lambda): several (2); x: several (2)"));
  }

  TEST_CASE("both solutions of a step are listed with their norms, the chosen one marked") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "branch", "--all", "-o", "out.csv"});
    CHECK(run.status == 0);
    CHECK(contains(run.out, "step 1 from t = 0 to 0.1: (x, lambda): several (2)"));
    CHECK(contains(run.out, "10 steps have not exactly one solution"));
    const Outcome solutions = perp_program(folder, {"solutions", "branch", "--h", "0.1"});
    CHECK(solutions.status == 0);
    CHECK(contains(solutions.out, "*  1  lambda=0"));
    CHECK(contains(solutions.out, "2  lambda=1"));
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

  TEST_CASE("a relay multiplied by a variable gives the trajectory of the merged law") {
    const Folder folder;
    const std::vector<std::vector<std::string>> cases{
        {"B1=-0.5", "B2=1"},   {"B1=-1", "B2=0.5", "x1=0", "x2=0"},
        {"B1=1", "B2=2"},      {"B1=2", "B2=1"},
        {"B1=0.5", "B2=0.25"},
    };
    for (const std::vector<std::string>& values : cases) {
      CAPTURE(values[0]);
      const auto states = [&](const char* model) {
        std::vector<std::string> arguments{"run", model, "--h", "0.05", "--quiet"};
        for (const std::string& value : values) {
          arguments.emplace_back("--set");
          arguments.push_back(value);
        }
        return parse_csv(perp_program(folder, arguments).out);
      };
      const Csv merged = states("switching_dae_equations");
      const Csv relay = states("switching_dae_relay");
      REQUIRE(merged.rows.size() == relay.rows.size());
      CHECK(merged.rows.size() == 201);
      for (std::size_t k = 0; k < merged.rows.size(); ++k)
        for (const char* name : {"x1", "x2"})
          CHECK(relay.number(k, name) == doctest::Approx(merged.number(k, name)).epsilon(1e-8));
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

  TEST_CASE("a scheme that needs matrices refuses other models by name") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "branch", "--scheme", "theta"});
    CHECK(run.status == 2);
    CHECK(contains(run.err, "not affine; expected scheme backward_euler"));
    const Outcome contact = perp_program(folder, {"run", "rlcd", "--scheme", "moreau_jean"});
    CHECK(contact.status == 2);
  }
}
