#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/models/equation_models.hpp>

namespace {

using perp::Dcs;
using perp::Law;
using perp::Lcs;
using perp::Matrix;
using perp::Model;
using perp::Override;
using perp::Vector;

Model read(const std::string& text, const std::vector<Override>& overrides = {}) {
  return perp::read_model_text(text, "m.toml", overrides);
}

/// A model of these equations in x, y, z with a parameter p.
Model with(const std::string& model, const std::vector<Override>& overrides = {}) {
  return read("[parameters]\np = 2\n[variables]\nx = 1\ny = 0\nz = 0\n[model]\n" + model +
                  "\n[run]\nt = [0, 1]\n",
              overrides);
}

/// Do two laws have the same graph, branch by branch?
bool same_graph(const Law& a, const Law& b) {
  const auto without_name = [](perp::Branch branch) {
    branch.name.clear();
    return branch;
  };
  if (a.branches.size() != b.branches.size()) return false;
  for (std::size_t k = 0; k < a.branches.size(); ++k)
    if (without_name(a.branches[k]) != without_name(b.branches[k])) return false;
  return true;
}

void check_same(const Lcs& a, const Lcs& b) {
  CHECK(a.E == b.E);
  CHECK(a.A == b.A);
  CHECK(a.B == b.B);
  CHECK(a.b(0.5) == b.b(0.5));
  CHECK(a.C == b.C);
  CHECK(a.D == b.D);
  CHECK(a.q(0.5) == b.q(0.5));
  REQUIRE(a.m() == b.m());
  for (std::size_t i = 0; i < a.laws.size(); ++i) CHECK(same_graph(a.laws[i], b.laws[i]));
}

}  // namespace

TEST_SUITE("models/equations") {
  TEST_CASE("the switching DAE as equations is the matrices that were written by hand") {
    const std::string file = perp::find_model("switching_dae_equations");
    check_same(perp::read_model(file).lcs(),
               perp::read_model(perp::find_model("switching_dae_crossing")).lcs());
    const std::vector<Override> jump{{"B1", "1"}, {"B2", "2"}};
    check_same(perp::read_model(file, jump).lcs(),
               perp::read_model(perp::find_model("switching_dae_jump")).lcs());
    check_same(perp::read_model(perp::find_model("switching_dae_variant37_equations")).lcs(),
               perp::read_model(perp::find_model("switching_dae_variant37")).lcs());
  }

  TEST_CASE("the convex hull of two branches is the same matrices") {
    const Model hull = read(
        "[parameters]\nB1 = -0.5\nB2 = 1\n[variables]\nx1 = -5\nx2 = 4\nz = 0\n[model]\n"
        "equations = [\"der(x1) = 1 + B1*z\", \"der(x2) = B2*z\",\n"
        "\"x2 = if(x1 > 0, x1 + 1, -x1 - 1)\"]\n[run]\nt = [0, 1]\n");
    check_same(hull.lcs(), perp::read_model(perp::find_model("switching_dae_crossing")).lcs());
  }

  TEST_CASE("der may stand anywhere, time enters b and q") {
    const Model model = with(
        "equations = [\"3*(2*x - der(x)) = 6 - t^2\", \"y = z - p*der(y)\",\n"
        "\"z = max(0, x - t)\"]");
    const Lcs& lcs = model.lcs();
    CHECK(lcs.E == Matrix{{-3, 0, 0}, {0, 2, 0}, {0, 0, 0}});
    CHECK(lcs.A == Matrix{{-6, 0, 0}, {0, -1, 1}, {0, 0, -1}});
    CHECK(lcs.b(2) == Vector{{2, 0, 0}});
    CHECK(lcs.C == Matrix{{1, 0, 0}});
    CHECK(lcs.q(2) == Vector{{-2}});
    CHECK(model.differential_variables() == std::vector<int>{0, 1});
  }

  TEST_CASE("stated laws have the user's multipliers and names") {
    const Model model = with(
        "equations = [\"der(x) = s - i\", \"y = i + 1\", \"z = th\"]\n"
        "laws = [\"s in relay(x, -p, 2*p)\", \"0 <= y - x perp i >= 0\",\n"
        "{ law = \"th in hysteresis(x, 20, 22)\", name = \"heater\", modes = [\"off\", \"on\"] }]");
    REQUIRE(model.m() == 3);
    CHECK(model.multipliers == std::vector<std::string>{"s", "i", "th"});
    CHECK(model.arguments == std::vector<std::string>{"x", "y - x", "x"});
    CHECK(model.laws()[0].name == "s");
    CHECK(same_graph(model.laws()[0], perp::relay(-2, 4)));
    CHECK(same_graph(model.laws()[1], perp::complementarity()));
    CHECK(model.laws()[2].name == "heater");
    CHECK(model.laws()[2].memory);
    CHECK(model.laws()[2].branches[1].name == "on");
    CHECK(with("equations = [\"der(x) = s\", \"y = 1\", \"z = 2\"]\n"
               "laws = [\"s in relay(x, -p, p)\"]",
               {{"p", "5"}})
              .laws()[0]
              .branches[0]
              .c == -5);
  }

  TEST_CASE("the multiplier of a complementarity stands on either side") {
    for (const char* law : {"0 <= i perp y + x >= 0", "0 <= y + x perp i >= 0"}) {
      const Model model = with(std::string("equations = [\"der(x) = i\", \"y = 1\", \"z = 0\"]\n"
                                           "laws = [\"") +
                               law + "\"]");
      CHECK(model.multipliers == std::vector<std::string>{"i"});
      CHECK(model.lcs().C == Matrix{{1, 1, 0}});
      CHECK(model.lcs().B == Matrix{{1}, {0}, {0}});
    }
  }

  TEST_CASE("two known quantities are complementary through a multiplier of their own") {
    // The law takes the place of an equation: 0 = z - λ, w = y.
    const Model model =
        with("equations = [\"der(x) = z\", \"y = x + 2*z\"]\nlaws = [\"0 <= y perp z >= 0\"]");
    const Lcs& lcs = model.lcs();
    CHECK(lcs.E == Matrix{{1, 0, 0}, {0, 0, 0}, {0, 0, 0}});
    CHECK(lcs.A == Matrix{{0, 0, 1}, {1, -1, 2}, {0, 0, -1}});
    CHECK(lcs.B == Matrix{{0}, {0}, {1}});
    CHECK(lcs.C == Matrix{{0, 1, 0}});
    CHECK(model.multipliers == std::vector<std::string>{""});
  }

  TEST_CASE("outputs are computed from the state, the multipliers and the parameters") {
    const Model model = with(
        "equations = [\"der(x) = -sign(x)\", \"y = x^2\", \"z = 1\"]\n"
        "outputs = { power = \"p*y\", side = \"sign(x)\", five = 5 }");
    CHECK(model.system.affine() == nullptr);
    CHECK(model.outputs.names == std::vector<std::string>{"power", "side", "five"});
    CHECK(model.outputs.at(0, Vector{{0, 3, 1}}, Vector{{0.5}}) == Vector{{6, 0.5, 5}});
    CHECK(std::isnan(model.outputs.at(0, Vector{{0, 3, 1}}, {})[1]));
  }

  TEST_CASE("resets name variables, a direction and values before the reset") {
    const Model model = with(
        "equations = [\"der(x) = y\", \"der(y) = -9.81\", \"z = 1\"]\n"
        "when = [{ condition = \"x\", direction = -1, set = { y = \"-p*y\", x = 0 }, "
        "name = \"impact\" }, { condition = \"y - 3\", set = { y = 1 } }]");
    const Dcs& dcs = model.system.functions();
    REQUIRE(dcs.resets.size() == 2);
    CHECK(dcs.resets[0].name == "impact");
    CHECK(dcs.resets[0].direction == -1);
    CHECK(dcs.resets[0].variables == std::vector<int>{1, 0});
    std::vector<double> inputs{0, 0, 0, 0, 0.25, 7, 1, 2};
    std::vector<int> lines = dcs.resets[0].values;
    lines.push_back(dcs.resets[0].condition);
    CHECK(perp::test::values(dcs.tape, lines, inputs) == std::vector<double>{-14, 0, 0.25});
    CHECK(dcs.resets[1].name == "when 2");
    CHECK(dcs.resets[1].direction == 0);
  }

  TEST_CASE("parameters stay inputs of the tape") {
    const Model model = with("equations = [\"der(x) = -p*x^2\", \"y = p\", \"z = sat(x, -p, p)\"]");
    const Dcs& dcs = model.system.functions();
    CHECK(dcs.parameters == std::vector<double>{2});
    for (const double p : {1.0, 4.0}) {
      // t | ẋ | x | λ = 1 of sat | p
      const std::vector<double> inputs{0, 0, 0, 0, 3, 0, 0, 1, p};
      const auto found = perp::test::values(dcs.tape, dcs.F, inputs);
      CHECK(found == std::vector<double>{9 * p, -p, -p});
    }
  }

  TEST_CASE("a model that mixes equations and matrices, or has neither, is refused") {
    const auto message = [](const std::string& text) {
      try {
        (void)read(text);
      } catch (const perp::ModelError& error) {
        return std::string(error.what());
      }
      return std::string("no error");
    };
    CHECK(message("[variables]\nx = 0\n[system]\nA = [[1]]\n[model]\nequations = []\n"
                  "[run]\nt = [0, 1]") ==
          "m.toml:5:2: [model] beside [system]; expected equations or matrices, one of them");
    CHECK(message("[variables]\nx = 0\n[run]\nt = [0, 1]").find("[system] is missing") !=
          std::string::npos);
  }
}
