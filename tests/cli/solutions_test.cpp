#include <doctest/doctest.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/program.hpp>
#include <perp/tests/paths.hpp>

using nlohmann::json;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;

namespace {

/// The model file of [RAB] for given B.
std::vector<std::string> with_B(double B1, double B2) {
  return {"switching_dae_crossing", "--set", "B1=" + std::to_string(B1), "--set",
          "B2=" + std::to_string(B2)};
}

}  // namespace

TEST_SUITE("cli/solutions") {
  TEST_CASE("all solutions of one step are printed with modes and norms, the chosen one marked") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"solutions", "switching_dae_jump", "--at", "x1=-0.5,x2=-0.5", "--h", "0.5"});
    CHECK(run.status == 0);
    CHECK(run.out.find("several (3)") != std::string::npos);
    int marked = 0;
    for (const std::string& line : lines(run.out))
      if (line.rfind("*  ", 0) == 0) {
        ++marked;
        CHECK(line.find("mode 1 (x1 < 0)") != std::string::npos);
        CHECK(line.find("-0.1666666667") != std::string::npos);
      }
    CHECK(marked == 1);
    for (const char* mode : {"mode 2 (x1 > 0)", "mode 3 (sliding)"})
      CHECK(run.out.find(mode) != std::string::npos);
    CHECK(run.out.find("keep_mode") != std::string::npos);
  }

  TEST_CASE("on the corner x1 = 0, x2 = -1 the list names what is chosen and why") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"solutions", "switching_dae_crossing", "--at", "x1=0,x2=-1"});
    CHECK(run.status == 0);
    CHECK(run.out.find("unique") != std::string::npos);
    CHECK(run.out.find("x satisfies 2 modes") != std::string::npos);
    CHECK(run.out.find("* chosen by keep_mode") != std::string::npos);
  }

  TEST_CASE(
      "the published single steps are found with all their solutions and the nearest chosen") {
    const Folder folder;
    const json table = json::parse(
        perp::test::read_text(perp::test::data_path("/trajectories/s003_backward_euler_steps.json")));
    for (const json& step : table["steps"]) {
      std::vector<std::string> arguments = with_B(step["B"][0], step["B"][1]);
      arguments.insert(arguments.begin(), "solutions");
      const auto number = [](const json& value) { return value.dump(); };
      arguments.insert(arguments.end(),
                       {"--at", "x1=" + number(step["xk"][0]) + ",x2=" + number(step["xk"][1]),
                        "--h", number(step["h"]), "--selector", "minimal_norm", "--json"});
      const Outcome run = perp_program(folder, arguments);
      CAPTURE(step.dump());
      if (step["n_solutions"].is_string()) {  // "infinitely many: x1 = 0, any x2 in [-1,1]"
        CHECK(run.status == 0);
        const json continuum = json::parse(run.out);
        CHECK(continuum["class"]["x"] == "continuum");
        REQUIRE(continuum["solutions"].size() == 1);
        std::vector<double> ends;
        for (const json& vertex : continuum["solutions"][0]["vertices"])
          ends.push_back(vertex[1].get<double>());
        std::sort(ends.begin(), ends.end());
        CHECK(ends == std::vector<double>{-1, 1});
        continue;
      }
      const std::size_t count = step["solutions"].size();
      CHECK(run.status == (count == 0 ? 3 : 0));
      const json found = json::parse(run.out);
      REQUIRE(found["solutions"].size() == count);
      CHECK(found["class"]["count_x"] == count);
      for (const json& wanted : step["solutions"]) {
        bool is_there = false;
        for (const json& item : found["solutions"])
          is_there = is_there ||
                     (std::abs(item["x"][0].get<double>() - wanted["x"][0].get<double>()) < 1e-12 &&
                      std::abs(item["x"][1].get<double>() - wanted["x"][1].get<double>()) < 1e-12);
        CHECK(is_there);
      }
      if (count == 0) continue;
      const json& nearest = step["solutions"][step["min_norm_index"].get<std::size_t>()];
      for (int j = 0; j < 2; ++j)
        CHECK(std::abs(found["chosen"]["x"][j].get<double>() - nearest["x"][j].get<double>()) <
              1e-12);
    }
  }

  TEST_CASE("keep_mode stays in the present mode where the nearest solution slides") {
    const Folder folder;
    std::vector<std::string> arguments = with_B(-1, 0.5);
    arguments.insert(arguments.begin(), "solutions");
    arguments.insert(arguments.end(), {"--at", "x1=-0.01,x2=-0.99", "--h", "0.1", "--json"});
    const json kept = json::parse(perp_program(folder, arguments).out);
    CHECK(kept["selector"] == "keep_mode");
    CHECK(kept["present_mode"] == "mode 1 (x1 < 0)");
    arguments.insert(arguments.end(), {"--selector", "minimal_norm"});
    const json nearest = json::parse(perp_program(folder, arguments).out);
    CHECK(kept["chosen"]["x"][0].get<double>() < -0.01);
    CHECK(std::abs(nearest["chosen"]["x"][0].get<double>()) < 1e-12);
    CHECK(nearest["chosen"]["norm"].get<double>() < kept["chosen"]["norm"].get<double>());
  }

  TEST_CASE("a step without a solution names by how much each mode misses, status 3") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"solutions", "switching_dae_no_solution", "--at", "x1=0,x2=-1"});
    CHECK(run.status == 3);
    CHECK(run.out.find("none") != std::string::npos);
    CHECK(run.out.find("misses a solution by") != std::string::npos);
    CHECK(run.out.find("mode 3 (sliding)") != std::string::npos);
    CHECK(lines(run.err).size() == 1);
  }

  TEST_CASE("a continuum is listed with its vertices and its nearest point") {
    const Folder folder;
    // ẋ = λ₁ + λ₂ with two relays on x at x = 0: only λ₁ + λ₂ = 0 is determined.
    const std::string file = folder.write("continuum.toml",
                                          "[variables]\nx = 0\n[system]\nA = [[0]]\nB = [[1, 1]]\n"
                                          "C = [[-1], [-1]]\nlaws = [\"sign\", \"sign\"]\n"
                                          "[run]\nt = [0, 1]\nh = 0.1\n");
    const Outcome run = perp_program(folder, {"solutions", file});
    CHECK(run.status == 0);
    CHECK(run.out.find("(x, lambda): a continuum; x: unique") != std::string::npos);
    CHECK(run.out.find("vertex") != std::string::npos);
    const json found = json::parse(perp_program(folder, {"solutions", file, "--json"}).out);
    CHECK(found["class"]["x_lambda"] == "continuum");
    CHECK(found["class"]["count_x_lambda"] == nullptr);
    REQUIRE(found["solutions"].size() == 1);
    CHECK(found["solutions"][0]["dimension"] == 1);
    CHECK(found["solutions"][0]["vertices"].size() == 2);
  }
}

TEST_SUITE("cli/check") {
  TEST_CASE("check shows variables, laws, the index of every mode, start and first step") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"check", "switching_dae_crossing"});
    CHECK(run.status == 0);
    CHECK(run.err == "");
    CHECK(run.out.find("2 differential (x1, x2), 1 algebraic (z)") != std::string::npos);
    CHECK(run.out.find("E 3x3") != std::string::npos);
    int modes = 0;
    for (const std::string& line : lines(run.out))
      modes += line.find("regular, index 2") != std::string::npos;
    CHECK(modes == 3);
    CHECK(run.out.find("consistent") != std::string::npos);
    CHECK(run.out.find("first step   (x, lambda): unique") != std::string::npos);
  }

  TEST_CASE("check says of a step with too many modes that x is unique where a certificate does") {
    const Folder folder;
    const std::string file = folder.write("row.toml",
          "[parameters]\nN = 700\n[variables]\nx = { size = \"N\", start = 0 }\nv = { size = \"N\", start = 1 }\n[model]\nequations = [\n"
          "\"for i in 1:N: der(x[i]) = v[i]\",\n\"for i in 1:N: der(v[i]) = if(i > 1, x[i-1] - x[i], 0) - sign(v[i] - 0.5)\",\n]\n"
          "[run]\nt = [0, 1]\nh = 0.01\n");
    const Outcome run = perp_program(folder, {"check", file});
    CHECK(run.out.find("x: unique, by a certificate of the step") != std::string::npos);
  }

  TEST_CASE("check calls no step matrix singular beside exact determinants that are not 0") {
    const Folder folder;  // 0.2 * 0.2 - 4 * 0.01, which is 0 in decimal numbers
    const std::string file = folder.write("decimal.toml",
          "[variables]\nx = 0\ny = 0.3\n[model]\nequations = [\n\"der(x) = x - 2*max(3*x - y + 1, 2*y + 0.1*x + 1) - 1\",\n"
          "\"der(y) = y + 0.1*max(3*x - y + 1, 2*y + 0.1*x + 1)\",\n]\n[run]\nt = [0, 10]\nh = 1.0\n");
    const Outcome run = perp_program(folder, {"check", file});
    CHECK(run.out.find("exactly one solution for h = 1") != std::string::npos);
    CHECK(run.out.find("  singular\n") == std::string::npos);
    CHECK(run.out.find("singular up to rounding, 1/condition") != std::string::npos);
  }

  TEST_CASE("check names modes that are not well-posed and an inconsistent start") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"check", "switching_dae_crossing", "--set", "B1=1", "--set", "x1=1"});
    CHECK(run.out.find("mode 2 (x1 > 0)   singular: not well-posed") != std::string::npos);
    CHECK(run.out.find("x0 violates") != std::string::npos);
    const Outcome led = perp_program(folder, {"check", "switching_dae_crossing", "--set", "x2=5"});
    CHECK(led.out.find("inconsistent_start  from (x1, x2) = (-5, 5) to (x1, x2) = (-4, 3)  "
                       "residual 1") != std::string::npos);
  }

  TEST_CASE("check says whether a step is unique, and names the law and the modes where not") {
    const Folder folder;
    const auto said = [&](const std::vector<std::string>& arguments) {
      std::vector<std::string> all{"check"};
      all.insert(all.end(), arguments.begin(), arguments.end());
      return perp_program(folder, all).out;
    };
    // [RAB]: unique where B1 + B2, -B1 and B2 - B1 have one sign.
    for (const auto& [B1, B2] : {std::pair{"B1=-0.5", "B2=1"}, {"B1=0.5", "B2=-1"}}) {
      const std::string text = said({"switching_dae_crossing", "--set", B1, "--set", B2});
      CAPTURE(text);
      CHECK(text.find("one step     exactly one solution for h = 0.1") != std::string::npos);
    }
    for (const char* several :
         {"switching_dae_jump", "switching_dae_repulsive", "switching_dae_no_solution",
          "switching_dae_half"})
      CHECK(said({several}).find("warning: for h = 0.1: law 1 (|x1| + sign(x1)) folds between ") !=
            std::string::npos);
    CHECK(said({"switching_dae_repulsive"})
              .find("folds between mode 1 (x1 < 0) and mode 3 (sliding)") != std::string::npos);
    CHECK(said({"switching_dae_variant37"})
              .find("the same for 0 < h < 0.333333, where the step matrix of mode 1 (x1 < 0)") !=
          std::string::npos);
    CHECK(said({"rlcd"}).find("exactly one solution for h = 1e-05") != std::string::npos);
    CHECK(said({"diode_bridge"})
              .find("the step matrix of blocking | blocking | blocking | blocking is singular") !=
          std::string::npos);
    CHECK(said({"thermostat"}).find("not decided: law 'heater'") != std::string::npos);
    CHECK(said({"ifdiff_canonical"}).find("not decided: the steps are not affine") !=
          std::string::npos);
  }

  TEST_CASE("check says so where nothing starts, status 3") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"check", "switching_dae_no_solution", "--set", "x1=0", "--set", "x2=-1"});
    CHECK(run.status == 3);
    CHECK(run.out.find("no solution starts at x0") != std::string::npos);
  }

  TEST_CASE("every model of the zoo passes check") {
    const Folder folder;
    const Outcome list = perp_program(folder, {"list", "models"});
    REQUIRE(list.status == 0);
    const auto rows = lines(list.out);
    REQUIRE(rows.size() > 10);
    for (std::size_t k = 1; k < rows.size(); ++k) {
      const std::string name = rows[k].substr(0, rows[k].find(' '));
      CAPTURE(name);
      CHECK(perp_program(folder, {"check", name}).status == 0);
    }
  }
}

TEST_SUITE("cli/list") {
  TEST_CASE("laws, schemes and solvers are listed with a meaning") {
    const Folder folder;
    for (const auto& [kind, name] : std::vector<std::pair<std::string, std::string>>{
             {"laws", "abs_plus_sign"}, {"schemes", "backward_euler"}, {"solvers", "lemke"}}) {
      const Outcome list = perp_program(folder, {"list", kind});
      CHECK(list.status == 0);
      bool found = false;
      for (const std::string& line : lines(list.out))
        found = found || (line.rfind(name + " ", 0) == 0 && line.size() > name.size() + 10);
      CHECK(found);
    }
  }

  TEST_CASE("--max-nodes ends the enumeration, and the answer says how far it got") {
    const Folder folder;
    const std::vector<std::string> step{
        "solutions", "switching_dae_jump_lcp", "--at", "x1=-0.5,x2=-0.5", "--h", "0.5"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), step.begin(), step.end());
      return perp_program(folder, more);
    };
    const Outcome all = with({});
    CHECK(all.status == 0);
    CHECK(all.out.find("proof     complete enumeration: 3 laws in 1 block") != std::string::npos);
    const Outcome some = with({"--max-nodes", "3"});
    CHECK(some.status == 3);
    CHECK(some.out.find("not proved complete: 0 of 1 blocks finished") != std::string::npos);
    CHECK(some.err.find("3 nodes of at most 3") != std::string::npos);
    CHECK(with({"--max-nodes", "-1"}).status == 2);
    const Outcome nonlinear =
        perp_program(folder, {"solutions", "bouncing_ball", "--max-nodes", "10"});
    CHECK(nonlinear.status == 2);
    CHECK(nonlinear.err.find("leave the option out") != std::string::npos);
  }
}
