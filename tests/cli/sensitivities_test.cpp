#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Csv;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

TEST_SUITE("cli/sensitivities") {
  TEST_CASE("columns are numbered, named in the JSON beside them, and right to ten digits") {
    const Folder folder;
    const Outcome outcome = perp_program(
        folder, {"sensitivities", "ifdiff_canonical", "--wrt", "p1,x1(0),x2(0)", "--tol", "1e-12",
                 "--times", "20", "-o", "s.csv", "--events", "e.csv"});
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("crossing x1 < p1") != std::string::npos);
    const Csv csv = parse_csv(read_text(folder / "s.csv"));
    REQUIRE(csv.rows.size() == 1);
    CHECK(csv.number(0, "dx1_dp1") == doctest::Approx(-5.204090748489405).epsilon(1e-12));
    CHECK(csv.number(0, "dx2_dp1") == doctest::Approx(-0.066658328790789).epsilon(1e-11));
    CHECK(csv.number(0, "dx1_dx02") == doctest::Approx(16.741598573798613).epsilon(1e-12));
    const json provenance = json::parse(read_text(folder / "s.csv.json"));
    CHECK(provenance["sensitivities"]["p1"] == "p1");
    CHECK(provenance["sensitivities"]["x02"] == "x2(0)");
    const Csv events = parse_csv(read_text(folder / "e.csv"));
    REQUIRE(events.rows.size() == 2);
    CHECK(events.number(1, "dt_dp1") == doctest::Approx(0.813073223070242).epsilon(1e-12));
    CHECK(events.number(1, "dt_dx02") == doctest::Approx(-0.131788006720215).epsilon(1e-12));
    CHECK(events.number(1, "continuations") == 1);
  }

  TEST_CASE("what cannot be differentiated by is refused by name") {
    const Folder folder;
    const auto refuses = [&](std::vector<std::string> arguments, const std::string& reason) {
      arguments.insert(arguments.begin(), "sensitivities");
      const Outcome outcome = perp_program(folder, arguments);
      CAPTURE(outcome.err);
      CHECK(outcome.status == 2);
      CHECK(outcome.err.find(reason) != std::string::npos);
    };
    refuses({"ifdiff_canonical", "--wrt", "p2"}, "did you mean 'p1'?");
    refuses({"ifdiff_canonical", "--wrt", "p1,p1"}, "'p1' is there twice");
    refuses({"filippov_dae", "--wrt", "y(0)"}, "the start of an algebraic variable is a guess");
    refuses({"bouncing_ball_contact", "--wrt", "gamma"}, "numbers of a law or a restitution");
    refuses({"switching_dae_crossing", "--wrt", "B1"}, "keeps no parameters");
    const auto write = [&folder](const std::string& name, const std::string& text) { std::ofstream(folder / name) << text << "[run]\nt = [0, 1]\n"; };
    const std::string family = "[variables]\nx = {size = 3, start = \"i\"}\n[model]\nequations = [\"for i in 1:3: der(x[i]) = if(i >= p, 1, 0)\"]\n";
    write("equal.toml", "[parameters]\np = 2\n" + family);
    write("between.toml", "[parameters]\np = 2.5\n" + family);
    write("size.toml", "[parameters]\nN = 2\n[variables]\nx = {size = \"N\", start = 1}\n[model]\nequations = [\"for i in 1:N: der(x[i]) = -x[i]\"]\n");
    refuses({"equal.toml", "--wrt", "p"}, "the equations are others at p = 2 and beside it");
    refuses({"size.toml", "--wrt", "N"}, "the model has no value of N beside 2");
    CHECK(perp_program(folder, {"sensitivities", "gene_oscillator", "--wrt", "theta", "--times", "1"}).status == 0);  // theta is an option of runs, too
    CHECK(perp_program(folder, {"sensitivities", "between.toml", "--wrt", "p", "--times", "1"}).status == 0);
    refuses({"ifdiff_canonical", "--tol", "1"}, "tol must be in [1e-14, 1e-2]");
    // What moves with a parameter has one derivative by it, also through other formulas.
    folder.write("kink.toml", "[parameters]\np = 0\nq = \"max(p, 0)\"\nr = \"p + 1\"\n[variables]\nx = \"abs(r - 1) + 2\"\ny = \"min(q, p)\"\n"
                              "[model]\nequations = [\"der(x) = -x\", \"der(y) = q + r\"]\n[run]\nt = [0, 1]\n");
    refuses({"kink.toml", "--wrt", "p"}, "--wrt p: q has a kink at p = 0, where its derivative may have two sides");
    refuses({"kink.toml", "--wrt", "r"}, "--wrt r: the start of x has a kink at r = 1");
    refuses({"kink.toml", "--wrt", "q"}, "--wrt q: the start of y has a kink at q = 0");
    CHECK(perp_program(folder, {"sensitivities", "kink.toml", "--wrt", "p", "--set", "p=0.5"}).status == 0);
    CHECK(perp_program(folder, {"sensitivities", "kink.toml", "--wrt", "x(0),y(0)"}).status == 0);
  }

  TEST_CASE("a captured run says so first and prints no sensitivities: absent, not nan") {
    const Folder folder;
    folder.write("pendulum.toml",
                 "[variables]\nx = 1\ny = 0\nu = 0\nv = 0\nforce = 0\n[model]\nequations = "
                 "[\"der(x) = u\", \"der(y) = v\", \"der(u) = -force*x\", "
                 "\"der(v) = -force*y - 1\", \"x^2 + y^2 = 1\"]\n[run]\nt = [0, 0.1]\n");
    const Outcome outcome = perp_program(
        folder, {"sensitivities", "pendulum.toml", "--wrt", "v(0)", "-o", "s.csv"});
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("solved, first order from t = 0") != std::string::npos);
    CHECK(outcome.out.find("no sensitivities from there") != std::string::npos);
    CHECK(outcome.out.find("nan") == std::string::npos);
    CHECK(read_text(folder / "s.csv").find("nan") == std::string::npos);
    const Outcome run = perp_program(folder, {"run", "pendulum.toml", "--scheme",
                                                    "located", "-o", "o.csv"});
    CHECK(run.out.starts_with("first order from t = 0 on (backward_euler, h = 0.0001"));
  }

  TEST_CASE("a run that ends writes what it has, and exits with 3") {
    const Folder folder;
    const Outcome outcome = perp_program(
        folder, {"sensitivities", "switching_dae_equations", "--set", "B1=2", "--set", "B2=1",
                 "--set", "x1=-1", "--set", "x2=0", "--wrt", "B1", "-o", "s.csv"});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("no solution after t = ") != std::string::npos);
    CHECK(parse_csv(read_text(folder / "s.csv")).rows.size() > 10);
  }
}

TEST_SUITE("cli/located") {
  TEST_CASE("the tree of solutions and the cross-check are options of run") {
    const Folder folder;
    const Outcome tree = perp_program(
        folder, {"run", "branch", "--scheme", "located", "--policy", "all", "-o", "o.csv"});
    CHECK(tree.status == 0);
    CHECK(tree.out.find("solutions   2") != std::string::npos);
    CHECK(tree.out.find("(x, y) = (-3, 0)") != std::string::npos);
    const Outcome checked = perp_program(
        folder, {"run", "stick_slip", "--scheme", "located", "--cross-check", "-o", "o.csv"});
    CHECK(checked.status == 0);
    CHECK(checked.out.find("cross_check_agrees 8") != std::string::npos);
    const Outcome wrong =
        perp_program(folder, {"run", "branch", "--scheme", "located", "--policy", "al"});
    CHECK(wrong.status == 2);
    const Outcome tight =
        perp_program(folder, {"run", "branch", "--scheme", "located", "--tol", "1e-20"});
    CHECK(tight.status == 2);
    CHECK(tight.out.empty());
    CHECK(wrong.err.find("did you mean 'all'?") != std::string::npos);
  }
}
