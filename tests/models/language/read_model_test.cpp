#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <perp/core/laws/law_table.hpp>
#include <perp/core/lcs.hpp>
#include <perp/lcp/selector.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/tests/paths.hpp>

namespace {

using perp::InvalidInput;
using perp::Matrix;
using perp::Model;
using perp::ModelError;
using perp::Override;
using perp::Vector;

Model read(const std::string& text, const std::vector<Override>& overrides = {}) {
  return perp::read_model_text(text, "folder/m.toml", overrides);
}

std::string message_of(const std::string& text, const std::vector<Override>& overrides) {
  try {
    read(text, overrides);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "no error";
}

const std::string rich = R"toml(
name   = "rich"
source = "made for this test"
[system]
E = [["2*L", 0], [0, 0]]
A = [[0, 1], [1, -1]]
B = [["-1/C", 0], [0, "F^2"]]
b = ["V*sin(2*pi*t)", "R + F"]
C = [[1, 0], [0, 1]]
q = [0, "time - L"]
laws = [
  { law = "relay(-F, 2*F)", name = "friction", modes = ["left", "stick", "right"] },
  { name = "own", memory = true, branches = [
    { b = 1, w = [-inf, "R"], name = "off" },
    { a = "F - 2", b = 1, c = "L", w = [0, inf], lambda = [0, 9] },
  ] },
]
[run]
t = ["-L", "10*L"]
h = "L/100"
scheme = "theta"
theta = 0.75
selector = "first"
tol = 1e-8
solver = "lemke"
[variables]
zeta = "R/2"
alpha = { start = "F", unit = "m/s", nominal = "1e3" }
[parameters]
R = 3
L = "R - 1"
F = "min(R, L) + 10.5e-1"
C = 1e-6
V = 230
[exact]
pieces = [
  { t = ["-L", 0], zeta = "t" },
  { t = [0, "L"], zeta = 1, alpha = "V*exp(-t)" },
  { t = ["2*L", "3*L"], alpha = 7 },
]
)toml";

}  // namespace

TEST_SUITE("models/read_model") {
  TEST_CASE("a file with everything in it is read as it stands") {
    const Model model = read(rich);
    CHECK(model.name == "rich");
    CHECK(model.source == "made for this test");
    CHECK(model.file == "folder/m.toml");
    using Parameter = std::pair<std::string, double>;
    CHECK(model.parameters ==
          std::vector<Parameter>{{"R", 3}, {"L", 2}, {"F", 3.05}, {"C", 1e-6}, {"V", 230}});
    REQUIRE(model.variables.size() == 2);
    CHECK(model.variables[0].name == "zeta");  // the order of the file, not of the alphabet
    CHECK(model.variables[0].nominal == 1);
    CHECK(model.variables[1].name == "alpha");
    CHECK(model.variables[1].unit == "m/s");
    CHECK(model.variables[1].nominal == 1000);
    CHECK(model.x0() == Vector{{1.5, 3.05}});
    CHECK(model.lcs().E == Matrix{{4, 0}, {0, 0}});
    CHECK(model.lcs().A == Matrix{{0, 1}, {1, -1}});
    CHECK(model.lcs().B == Matrix{{-1 / 1e-6, 0}, {0, std::pow(3.05, 2)}});
    CHECK(model.lcs().D == Matrix::Zero(2, 2));
    CHECK(model.run.span.start == -2);
    CHECK(model.run.span.end == 20);
    CHECK(model.run.h == 0.02);
    CHECK(model.run.scheme == "theta");
    CHECK(model.run.theta == 0.75);
    CHECK(model.run.selector == "first");
    CHECK(model.run.tol == 1e-8);
    CHECK(model.run.solver == "lemke");
    CHECK_NOTHROW(validated(model.lcs()));
  }

  TEST_CASE("laws come from names, from tables and from branches") {
    const Model model = read(rich);
    REQUIRE(model.laws().size() == 2);
    perp::Law friction = perp::relay(-3.05, 6.1);
    friction.name = "friction";
    friction.branches.changed(0).name = "left";
    friction.branches.changed(1).name = "stick";
    friction.branches.changed(2).name = "right";
    CHECK(model.laws()[0] == friction);
    const perp::Law own{
        "own",
        {{0, 1, 0, {-perp::inf, 3}, {}, "off"}, {3.05 - 2, 1, 2, {0, perp::inf}, {0, 9}, ""}},
        true};
    CHECK(model.laws()[1] == own);
    for (const perp::NamedLaw& law : perp::named_laws()) {
      const std::string arguments = law.arguments == 2   ? "(-1, 2)"
                                    : law.arguments == 0 ? ""
                                                         : "(1)";
      const Model one =
          read("[variables]\nx = 0\n[system]\nA = [[0]]\nB = [[1]]\nC = [[1]]\nlaws = [\" " +
               (law.name + arguments) + " \"]\n[run]\nt = [0, 1]\n");
      const std::vector<double> numbers{-1, 2};
      CHECK(one.laws()[0] == law.make(numbers.data()));
    }
  }

  TEST_CASE("b and q are functions of time where they use it, constants elsewhere") {
    const Model model = read(rich);
    CHECK(model.lcs().b.varying() == std::vector<int>{0});
    CHECK(model.lcs().q.varying() == std::vector<int>{1});
    CHECK(model.lcs().b.constant()[1] == 6.05);
    for (const double t : {-2.0, 0.1, 0.25, 7.3}) {
      CHECK(model.lcs().b(t)[0] == 230 * std::sin(2 * std::acos(-1.0) * t));
      CHECK(model.lcs().q(t) == Vector{{0, t - 2}});
    }
    // More operations than fit on the stack.
    std::string sum = "0";
    for (int k = 1; k <= 300; ++k) sum += " + t^" + std::to_string(k);
    const Model large =
        read("[variables]\nx = 0\n[system]\nA = [[0]]\nb = [\"" + sum + "\"]\n[run]\nt = [0, 1]\n");
    CHECK(large.lcs().b(1)[0] == 300);
    CHECK(large.lcs().b(0.5)[0] == doctest::Approx(1));
  }

  TEST_CASE("an exact solution is known piece by piece, from the right") {
    const Model model = read(rich);
    CHECK(model.exact_at(-3).size() == 0);
    CHECK(model.exact_at(-1)[0] == -1);
    CHECK(std::isnan(model.exact_at(-1)[1]));
    CHECK(model.exact_at(0) == Vector{{1, 230}});                   // the later piece
    CHECK(model.exact_at(2) == Vector{{1, 230 * std::exp(-2.0)}});  // the end belongs to the piece
    CHECK(model.exact_at(3).size() == 0);
    CHECK(model.exact_at(5)[1] == 7);
    CHECK(model.exact_at(6.1).size() == 0);
  }

  TEST_CASE("what may be missing has its default") {
    const Model model =
        read("[variables]\nx = 1\ny = {}\n[system]\nA = [[0, 1], [-1, 0]]\n[run]\nt = [0, 1]\n");
    CHECK(model.name == "m");
    CHECK(model.x0() == Vector{{1, 0}});
    CHECK(model.lcs().E == Matrix::Identity(2, 2));
    CHECK(model.m() == 0);
    CHECK(model.lcs().B.rows() == 2);
    CHECK(model.lcs().B.cols() == 0);
    CHECK(model.lcs().b(0) == Vector::Zero(2));
    CHECK(model.run.h == 0);
    CHECK(model.run.scheme == "backward_euler");
    CHECK(model.run.selector == "keep_mode");
    CHECK(model.exact.empty());
    CHECK(read("[variables]\nx=1\n[system]\nA=[[0]]\nB=[[]]\nC=[]\nD=[]\nq=[]\nlaws=[]\n[run]\nt=["
               "0,1]")
              .m() == 0);
  }

  TEST_CASE("overrides act before anything is evaluated") {
    const Model model =
        read(rich, {{"R", "4"}, {"zeta", "-7"}, {"h", "1/L"}, {"selector", "first"}});
    CHECK(model.parameters[1].second == 3);  // L = R - 1
    CHECK(model.x0() == Vector{{-7, 4.05}});
    CHECK(model.run.h == 1.0 / 3);
    CHECK(model.run.selector == "first");
    CHECK(read(rich, {{"parameters.F", "R*L"}}).parameters[2].second == 6);
    CHECK(read(rich, {{"variables.alpha", "2"}}).x0()[1] == 2);
    CHECK(read(rich, {{"variables.alpha.start", "2"}}).x0()[1] == 2);
    CHECK(read(rich, {{"alpha", "2"}}).variables[1].unit == "m/s");
    CHECK_THROWS_WITH_AS(
        read(rich, {{"R", "4"}, {"parameters.R", "5"}}),
        "--set parameters.R=5:1:1: parameters.R is given by '--set R=4' too; expected one of them",
        ModelError);
    for (const char* span : {"[0, 2*(1 + L)]", "0, 2*(1 + L)", " [ 0,2*(1+L) ] "}) {
      const Model other = read(rich, {{"run.t", span}});
      CHECK(other.run.span.start == 0);
      CHECK(other.run.span.end == 6);
    }
    CHECK(read(rich, {{"run.theta", "1"}}).run.theta == 1);
  }

  TEST_CASE("an exact solution is dropped where overrides make it another problem") {
    CHECK(read(rich, {{"R", "4"}}).exact.empty());
    CHECK(read(rich, {{"zeta", "4"}}).exact.empty());
    CHECK(read(rich, {{"t", "[0, 1]"}}).exact.empty());
    CHECK(read(rich, {{"t", "[-2, 1]"}}).exact.size() == 3);
    CHECK(read(rich, {{"h", "1"}, {"scheme", "theta"}}).exact.size() == 3);
  }

  TEST_CASE("an exact solution that overrides drop need not have values for them") {
    const std::string model = "[parameters]\nk = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = k\"]\n"
                              "[run]\nt = [0, 2]\nh = 0.5\n[exact]\npieces = [{ t = [0, \"2/k\"], x = \"1 + t/k\" }]\n";
    CHECK(read(model, {}).exact.size() == 1);
    CHECK(read(model, {{"k", "0"}}).exact.empty());
    CHECK_THROWS_AS(read(model, {{"run.t", "[0, 1/0]"}}), ModelError);
  }

  TEST_CASE("a mistake in an exact solution is told whatever overrides make of it") {
    const std::string head = "[parameters]\nk = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = k\"]\n"
                             "[run]\nt = [0, 2]\nh = 0.5\n[exact]\n";
    for (const char* wrong :
         {"pieces = [{ t = [0, 2], x = \"1 + q*t\" }]", "pieces = [{ t = [0, 2], y = \"1\" }]", "pieces = [{ x = \"1\" }]",
          "pieces = [{ t = [0, \"2/q\"], x = \"1\" }]", "pieces = [{ t = [0, 2] }]", "piece = []", "pieces = 3",
          "pieces = [{ t = 2, x = \"1\" }]", "pieces = [{ t = [0, 2], x = \"1 + \" }]"}) {
      CAPTURE(wrong);
      CHECK_THROWS_AS(read(head + wrong + "\n", {}), ModelError);
      CHECK_THROWS_AS(read(head + wrong + "\n", {{"k", "2"}}), ModelError);
      CHECK_THROWS_AS(read(head + wrong + "\n", {{"x", "2"}}), ModelError);
    }
  }

  TEST_CASE("a wrong override says where in the command it is wrong") {
    const std::vector<std::pair<Override, std::string>> cases{
        {{"RR", "1"},
         "--set RR=1:1:1: unknown key 'RR'; expected a parameter, a variable (its start) or "
         "run.cross_check, "
         "run.h, run.petsc, run.policy, run.scheme, run.selector, run.solver, "
         "run.split_at_events, run.t, run.theta, run.tol; did you mean 'R'?"},
        {{"run.selektor", "first"},
         "--set run.selektor=first:1:1: unknown key 'run.selektor'; expected a parameter, a "
         "variable (its start) or run.cross_check, run.h, run.petsc, run.policy, run.scheme, run.selector, "
         "run.solver, run.split_at_events, run.t, "
         "run.theta, run.tol; did you mean 'run.selector'?"},
        {{"L", "2*Q"},
         "--set L=2*Q:1:5: parameter 'L': unknown name 'Q'; expected R; did you mean 'R'?"},
        {{"R", ""},
         "--set R=:1:3: parameter 'R': the expression is empty; expected a number or a name"},
        {{"R", "1/0"}, "--set R=1/0:1:3: parameter 'R' is inf; expected a finite number"},
        {{"h", "0"}, "--set h=0:1:3: run.h is 0; expected a number > 0"},
        {{"t", "[1]"}, "--set t=[1]:1:3: run.t must be two numbers, as in [0, 1], but has 1 entry"},
        {{"t", "[0, 1, 2]"},
         "--set t=[0, 1, 2]:1:3: run.t must be two numbers, as in [0, 1], but has 3 entries"},
        {{"t", "[0, xyz]"},
         "--set t=[0, xyz]:1:7: the second entry of run.t: unknown name 'xyz'; expected one of R, "
         "L, "
         "F, C, V"},
        {{"t", "5, 1"},
         "--set t=5, 1:1:3: run.t = [5, 1] ends before it starts; expected start < end"},
        {{"t", ""}, "--set t=:1:3: run.t is text; expected two numbers in brackets, as in [0, 1]"},
        {{"selector", "nearest"},
         "--set selector=nearest:1:10: unknown selector 'nearest'; expected one of keep_mode, "
         "continuation, minimal_norm, first"},
        {{"scheme", "thet"},
         "--set scheme=thet:1:8: unknown scheme 'thet'; expected one of backward_euler, "
         "enclosure, located, moreau_jean, theta; did you "
         "mean 'theta'?"},
        {{"R", "3\n4"},
         "--set R=3 4:2:1: parameter 'R': found '4'; expected an operator (+ - * / ^) or the end"},
    };
    for (const auto& [override, message] : cases) {
      const auto& shown_key = override.key;
      CAPTURE(shown_key);
      CHECK(message_of(rich, {override}) == message);
    }
    CHECK(
        message_of(
            "[parameters]\nh = 1\n[variables]\nx = 0\n[system]\nA = [[\"h\"]]\n[run]\nt = [0, 1]\n",
            {{"h", "2"}}) == "--set h=2:1:1: 'h' is ambiguous; expected parameters.h or run.h");
  }

  TEST_CASE("the hash tells texts and overrides apart and never changes") {
    const std::string text = "[variables]\nx = 1\n[system]\nA = [[0]]\n[run]\nt = [0, 1]\n";
    CHECK(read(text).hash == read(text).hash);
    CHECK(read(text).hash != read(text + "#").hash);
    CHECK(read(text, {{"x", "1"}}).hash != read(text).hash);
    CHECK(read(text, {{"x", "1"}}).hash != read(text, {{"x", "2"}}).hash);
    CHECK(read(text).hash == "adf412b3b4947bb8");
    CHECK(read(text, {{"x", "2"}}).hash == "de50a67483e8071f");
  }

  TEST_CASE("every selector that a file may name exists") {
    const std::vector<std::string> names =
        perp::find_scheme("backward_euler")->option("selector")->names();
    REQUIRE(names.size() == perp::selectors().size());
    for (const std::string& name : names) CHECK(to_string(perp::selector_from(name)) == name);
  }

  TEST_CASE("names of schemes and solvers are checked against those that there are") {
    const std::string text =
        "[variables]\nx = 1\n[system]\nA = [[0]]\n[run]\nt = [0, 1]\nselector = \"first\"\nsolver = \"lemk\"\n";
    std::string solvers;
    for (const perp::MlcpSolver* method : perp::solvers())
      solvers += (solvers.empty() ? "" : ", ") + std::string(method->name);
    CHECK_THROWS_WITH_AS(read(text),
                         ("folder/m.toml:8:10: unknown solver 'lemk'; expected one of " + solvers +
                          "; did you mean 'lemke'?")
                             .c_str(),
                         ModelError);
    CHECK(read(text, {{"run.solver", "lemke"}}).run.solver == "lemke");
  }
}

TEST_SUITE("models/zoo") {
  TEST_CASE("every model of the zoo is read, valid, named and has a source") {
    const std::vector<std::string> names = perp::zoo();
    CHECK(names.size() >= 23);
    CHECK(std::is_sorted(names.begin(), names.end()));
    std::vector<std::string> titles;
    for (const std::string& name : names) {
      CAPTURE(name);
      perp::ReadOptions known;
      known.hybrid = true;
      const Model model = perp::read_model(perp::find_model(name), {}, known);
      if (const auto* lcs = model.system.affine()) CHECK_NOTHROW(validated(*lcs));
      for (const perp::Law& law : model.laws()) CHECK_NOTHROW(validate(law));
      CHECK(!model.source.empty());
      CHECK(model.run.h > 0);
      CHECK(std::find(titles.begin(), titles.end(), model.name) == titles.end());
      titles.push_back(model.name);
      // Every branch of a law has a name that tells it from the others.
      for (const perp::Law& law : model.laws())
        for (std::size_t k = 0; k < law.branches.size(); ++k)
          for (std::size_t j = 0; j < k; ++j)
            CHECK(describe(law.branches[j]) != describe(law.branches[k]));
    }
  }

  TEST_CASE("a model is found by path, by name, and by the name at the end of a path") {
    namespace fs = std::filesystem;
    const std::string file = perp::test::models_path("/rlcd.toml");
    CHECK(perp::find_model(file) == file);
    CHECK(fs::equivalent(perp::find_model("rlcd"), file));
    CHECK(fs::equivalent(perp::find_model("rlcd.toml"), file));
    CHECK(fs::equivalent(perp::find_model("/nowhere/models/rlcd.toml"), file));
    CHECK(perp::find_model(perp::test::models_path("")) == perp::test::models_path(""));  // read_model says what is wrong with it
  }

  TEST_CASE("a model that is not there is answered with the nearest name") {
    const auto message = [](const std::string& model) -> std::string {
      try {
        return perp::find_model(model);
      } catch (const InvalidInput& error) {
        return error.what();
      }
    };
    CHECK(
        message("rlcq") ==
        "there is no model 'rlcq'; expected a model file or a name of the zoo (perp list models); "
        "did you mean 'rlcd'?");
    CHECK(message("models/switching_dae_crosing.toml")
              .ends_with("did you mean 'switching_dae_crossing'?"));
    CHECK(message("x/rlcd").starts_with("there is no model 'x/rlcd'"));
    CHECK(message("") == "the model is empty; expected a file or a name of the zoo");
  }

  TEST_CASE("the complementarity form and the law (11') have the same parameters and start") {
    for (const std::string name :
         {"crossing", "repulsive", "variant37", "jump", "no_solution", "half"}) {
      const Model direct = perp::read_model(perp::find_model("switching_dae_" + name));
      const Model lcp = perp::read_model(perp::find_model("switching_dae_" + name + "_lcp"));
      CHECK(direct.parameters == lcp.parameters);
      CHECK(direct.x0() == lcp.x0());
      CHECK(direct.run.h == lcp.run.h);
      CHECK(direct.run.span.end == lcp.run.span.end);
      CHECK(direct.lcs().A.topRows(2) == lcp.lcs().A.topRows(2));
    }
  }
}
