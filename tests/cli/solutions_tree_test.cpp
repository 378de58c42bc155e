#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

std::vector<std::string> repulsive(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{
      "solutions", "switching_dae_repulsive", "--at", "x1=0,x2=-1", "--h", "0.1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const char* const unstable_sign =
    "[variables]\nx = 0\n[system]\nE = [[1]]\nA = [[0]]\nB = [[1]]\nC = [[1]]\n"
    "laws = [\"sign\"]\n[run]\nt = [0, 1]\nh = 0.25\n";

}  // namespace

TEST_SUITE("cli/solutions_tree") {
  TEST_CASE("the tree shows every solution of every step once, and where ways meet") {
    const Folder folder;
    const Outcome run = perp_program(folder, repulsive({"--tree", "3"}));
    CHECK(run.status == 0);
    CHECK(run.err == "");
    CHECK(run.out.find("8 ways of 3 steps to 2 states; 7 nodes") != std::string::npos);
    int met = 0, steps = 0;
    for (const std::string& line : lines(run.out)) {
      steps += line.find("norm ") != std::string::npos ? 1 : 0;
      met += line.find("met above") != std::string::npos ? 1 : 0;
    }
    CHECK(steps == 2 + 4 + 4);
    CHECK(met == steps - 6);  // six states besides the start, each shown once
  }

  TEST_CASE("the 2^70 and 2^100 ways of long trees are not rounded without a word") {
    const Folder folder;
    const Outcome exact = perp_program(folder, repulsive({"--tree", "70"}));
    CHECK(exact.out.find("1180591620717411303424 ways of 70 steps to 2 states") !=
          std::string::npos);
    const Outcome about = perp_program(folder, repulsive({"--tree", "100"}));
    CHECK(about.out.find("about 1.268e30 ways of 100 steps to 2 states") != std::string::npos);
    const Outcome run = perp_program(folder, repulsive({"--tree", "100", "--json"}));
    REQUIRE_MESSAGE(run.status == 0, run.err);
    const json tree = json::parse(run.out);
    CHECK(tree["ways"] == "1267650600228229401496703205376");
    CHECK(tree["ways_that_die"] == 0);
    CHECK(tree["nodes"][1]["ways"] == 1);
  }

  TEST_CASE("x' in sign(x) in a model file: (N+1)^2 nodes, also as JSON") {
    const Folder folder;
    folder.write("sign.toml", unstable_sign);
    const Outcome run = perp_program(folder, {"solutions", "sign.toml", "--tree", "4", "--json"});
    REQUIRE_MESSAGE(run.status == 0, run.err);
    const json tree = json::parse(run.out);
    CHECK(tree["complete"] == true);
    CHECK(tree["nodes"].size() == 25);
    CHECK(tree["end_states"] == 9);
    for (const json& edge : tree["edges"]) {
      const double from = tree["nodes"][edge["from"].get<std::size_t>()]["x"][0];
      const double to = edge["x"][0], lambda = edge["lambda"][0];
      CHECK(to == doctest::Approx(from + 0.25 * lambda));
      CHECK((to == 0 || lambda == (to > 0 ? 1 : -1)));
    }
  }

  TEST_CASE("a tree whose ways all die exits with 3 and marks the place") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"solutions", "switching_dae_no_solution", "--h", "1", "--tree", "60"});
    CHECK(run.status == 3);
    CHECK(run.out.find("dies: the next step has no solution") != std::string::npos);
    CHECK(run.out.find(" die; ") != std::string::npos);
    CHECK(run.err.find("no solution has 60 steps") != std::string::npos);
  }

  TEST_CASE("--max-nodes ends the tree and the answer says so") {
    const Folder folder;
    const Outcome run = perp_program(folder, repulsive({"--tree", "9", "--max-nodes", "6"}));
    CHECK(run.status == 3);
    CHECK(run.err.find("not proved complete: the limit of 6 nodes was reached in step 3 of 9") !=
          std::string::npos);
    CHECK(run.out.find("6 nodes") != std::string::npos);
    CHECK(run.out.find("not followed") != std::string::npos);
  }

  TEST_CASE("the picture has a point for each state and a line for each step") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"solutions", "switching_dae_no_solution", "--h", "1", "--tree", "30",
                              "--plot", "tree.svg", "--plot-variables", "x2,x1"});
    CHECK(run.status == 3);  // every way dies, and is drawn
    CHECK(read_text(folder / "tree.svg").find("dies: no solution") != std::string::npos);
    const Outcome again = perp_program(
        folder, {"solutions", "switching_dae_no_solution", "--h", "1", "--tree", "30", "--json"});
    const json tree = json::parse(again.out);
    std::size_t rows = 0, points = 0, block = 0;
    for (const std::string& line : lines(read_text(folder / "tree.dat"))) {
      if (line.rfind("# index", 0) == 0)
        block = static_cast<std::size_t>(line[8] - '0');
      else if (!line.empty() && line.find("NaN") == std::string::npos)
        ++(block < 2 ? rows : points);
    }
    CHECK(rows == 2 * tree["edges"].size());
    CHECK(points == tree["nodes"].size());
  }

  TEST_CASE("a model that is not affine has its tree, without a proof") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"solutions", "ifdiff_canonical", "--tree", "2"});
    CHECK(run.status == 3);
    CHECK(run.out.find("1 way of 2 steps to 1 state; 3 nodes") != std::string::npos);
    CHECK(run.err.find("not proved complete") != std::string::npos);
    CHECK(run.err.find("Newton") != std::string::npos);
  }

  TEST_CASE("options that do not fit a tree are named") {
    const Folder folder;
    const auto message = [&](const std::vector<std::string>& more) {
      const Outcome run = perp_program(folder, repulsive(more));
      CHECK(run.status == 2);
      CHECK(lines(run.err).size() == 1);
      return run.err;
    };
    CHECK(message({"--tree", "0"}).find("--tree must be positive") != std::string::npos);
    CHECK(message({"--plot", "a.svg"}).find("add --tree N") != std::string::npos);
    CHECK(message({"--tree", "2", "--plot-variables", "x1"}).find("needs --plot") !=
          std::string::npos);
    CHECK(message({"--tree", "2", "--mode", "1"}).find("--mode") != std::string::npos);
    CHECK(message({"--tree", "2", "--max-nodes", "-1"}).find("--max-nodes") != std::string::npos);
    CHECK(message({"--tree", "2", "--plot", "a.svg", "--plot-variables", "y"}).find("'y'") !=
          std::string::npos);
    CHECK(message({"--tree", "2", "--scheme", "located"}).find("but the scheme is located") !=
          std::string::npos);
    const Outcome resets = perp_program(folder, {"solutions", "bouncing_ball", "--tree", "2"});
    CHECK(resets.status == 2);
    CHECK(resets.err.find("resets") != std::string::npos);
    const Outcome memory = perp_program(folder, {"solutions", "thermostat", "--tree", "2"});
    CHECK(memory.status == 0);
    CHECK(memory.out.find("the memory of law 'heater' is not used") != std::string::npos);
  }
}
