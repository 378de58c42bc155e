#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <perp/tests/cli/program.hpp>
#include <perp/tests/paths.hpp>

using nlohmann::json;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;

TEST_SUITE("cli/equilibria") {
  TEST_CASE("the soft drink tank's pseudo-equilibrium is found from the model's start to 1e-9") {
    const Folder folder;
    const json data = json::parse(perp::test::read_text(
        perp::test::data_path("/trajectories/s004_soft_drink_paired.json")))["pseudo_equilibrium"];
    const Outcome run = perp_program(folder, {"equilibria", "soft_drink_paired", "--json"});
    CHECK(run.status == 0);
    const json result = json::parse(run.out);
    int found = 0;
    for (const json& e : result["equilibria"]) {
      if (e["kind"] != "pseudo") continue;
      ++found;
      for (std::size_t j = 0; j < 3; ++j)
        CHECK(std::abs(e["x"][j].get<double>() - data["x"][j].get<double>()) < 1e-9);
      CHECK(std::abs(e["lambda"][0].get<double>() - data["lambda"].get<double>()) < 1e-9);
      CHECK(e["stability"] == "attracting");
      // rest, the second sliding root, and the exit into the liquid
      REQUIRE(e["continuations"].size() == 3);
      std::vector<double> roots;
      for (const json& start : e["continuations"]) roots.push_back(start["lambda"][0]);
      std::sort(roots.begin(), roots.end());
      CHECK(roots[0] == doctest::Approx(data["lambda"].get<double>()).epsilon(1e-9));
      CHECK(roots[1] == doctest::Approx(0.37187).epsilon(1e-4));
      CHECK(roots[2] == 1);
    }
    CHECK(found == 1);
  }

  TEST_CASE("the sign of an eigenvalue is said where it is beyond the error of the point") {
    const Folder folder;
    const auto stability = [&](const std::string& right_side, const std::string& start) {
      folder.write("root.toml", "[variables]\nx = " + start + "\n[model]\nequations = [\"der(x) = " +
                                    right_side + "\"]\n[run]\nt = [0, 1]\n");
      std::string text;
      const Outcome run = perp_program(folder, {"equilibria", "root.toml", "--starts", "1", "--json"});
      if (run.out.empty()) return text;
      const json result = json::parse(run.out);  // it outlives its elements
      for (const json& e : result["equilibria"]) text += e["stability"].get<std::string>();
      return text;
    };
    // A double root: the derivative is 0 there, whatever it is where Newton's method ends.
    for (const char* right_side : {"(x-1)^2*(x+2)", "(x-1)^2", "1e-9*(x-1)^2*(x+2)", "x^3-3*x+2"}) {
      CAPTURE(right_side);
      CHECK(stability(right_side, "0.9") == "marginal");
    }
    // Simple roots keep their sign, be the rate slow or another root near.
    CHECK(stability("-1e-9*(x-1)", "0.5") == "attracting");
    CHECK(stability("1e-9*(x-1)", "0.5") == "repelling");
    CHECK(stability("(x-1)*(x-1.001)", "0.9") == "attracting");
    CHECK(stability("(x-1)*(x-1.001)", "1.2") == "repelling");
  }

  TEST_CASE("text names kind, mode, variables, eigenvalues and the tangent points") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"equilibria", "filippov_dae", "--tangents", "--virtual"});
    CHECK(run.status == 0);
    for (const char* text :
         {"pseudo-equilibrium", "lambda = 0.9375", "eigenvalues  0.875", "repelling", "virtual",
          "-0.5 ± 1.65831i", "tangent points 2", "0.3333333333", "ends here"})
      CHECK(run.out.find(text) != std::string::npos);
  }

  TEST_CASE("virtual points are counted, and listed where they are asked for") {
    const Folder folder;
    const Outcome few = perp_program(folder, {"equilibria", "filippov_dae"});
    CHECK(few.status == 0);
    CHECK(few.out.find("equilibria  1, from 24 starts in each mode; 2 virtual ones are left out") != std::string::npos);
    CHECK(few.out.find("virtual\n") == std::string::npos);
    const json some = json::parse(perp_program(folder, {"equilibria", "filippov_dae", "--json"}).out);
    const json all = json::parse(perp_program(folder, {"equilibria", "filippov_dae", "--json", "--virtual"}).out);
    CHECK(some["virtual_left_out"] == 2);
    CHECK(all["virtual_left_out"] == 0);
    REQUIRE(all["equilibria"].size() == 3);
    json real = json::array();
    for (const json& point : all["equilibria"])
      if (point["kind"] != "virtual") real.push_back(point);
    CHECK(some["equilibria"] == real);
  }

  TEST_CASE("rest on a surface that repels is told with the solutions that leave it") {
    const Folder folder;
    const std::string file = folder.write("repels.toml",
        "[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = sign(x)\", \"der(y) = -y\"]\n[run]\nt = [0, 1]\n");
    const Outcome run = perp_program(folder, {"equilibria", file});
    CHECK(run.status == 0);
    CHECK(run.out.find("flow         saddle: attracting along the surface; 3 solutions start here, 2 in another mode\n") != std::string::npos);
    CHECK(run.out.find(": solutions leave\n") != std::string::npos);
    CHECK(run.out.find(": solutions arrive\n") == std::string::npos);
  }

  TEST_CASE("one start finds what is near to it") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"equilibria", "gene_toggle", "--at", "x1=0.1,x2=3.9", "--starts", "1", "--json"});
    CHECK(run.status == 0);
    const json result = json::parse(run.out);
    CHECK(result["starts"] == 1);
    int regular = 0;
    for (const json& e : result["equilibria"]) regular += e["kind"] == "regular";
    CHECK(regular == 2);
  }

  TEST_CASE("a system that never rests is told with exit status 3") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"equilibria", "switching_dae_crossing"});
    CHECK(run.status == 3);
    CHECK(run.err == "perp equilibria: none was found\n");
  }

  TEST_CASE("wrong variables, times and counts are one line with exit status 2") {
    const Folder folder;
    const auto check = [&](std::vector<std::string> arguments, const std::string& text) {
      arguments.insert(arguments.begin(), "equilibria");
      const Outcome run = perp_program(folder, arguments);
      CHECK(run.status == 2);
      CHECK(run.out.empty());
      CHECK(run.err.find(text) != std::string::npos);
      CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
    };
    check({"filippov_dae", "--at", "q=1"}, "unknown variable 'q'");
    check({"filippov_dae", "--t", "soon"}, "--t is 'soon'; expected a finite number");
    check({"filippov_dae", "--starts", "0"}, "--starts");
    check({"filippov_dae", "--reach", "-1"}, "--reach");
    check({"no_such_model"}, "no_such_model");
  }
}
