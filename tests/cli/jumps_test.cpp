#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;

TEST_SUITE("cli/jumps") {
  TEST_CASE("the unique jump from A- is printed with its amplitude, impulse and mode") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"jumps", "switching_dae_jump", "--at", "x1=0,x2=-1"});
    CHECK(run.status == 0);
    CHECK(run.out.find("jumps  unique (proved") != std::string::npos);
    CHECK(run.out.find("*  2   3   4.472135955  z: 2      mode 2 (x1 > 0)") != std::string::npos);
    CHECK(run.out.find("no jump is needed") == std::string::npos);
  }

  TEST_CASE("no jump is said as such, on both outputs, with exit status 3") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"jumps", "switching_dae_jump", "--at", "x1=0,x2=-1",
                                              "--set", "B1=2", "--set", "B2=1"});
    CHECK(run.status == 3);
    CHECK(run.out.find("jumps  none (proved") != std::string::npos);
    CHECK(run.err.find("no jump leads to a state from which a continuous solution starts") !=
          std::string::npos);
  }

  TEST_CASE("where a continuous solution starts the amplitude is 0 and all its modes are named") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"jumps", "switching_dae_repulsive", "--at", "x1=0,x2=-1"});
    CHECK(run.status == 0);
    CHECK(run.out.find("mode 1 (x1 < 0); mode 3 (sliding)") != std::string::npos);
    CHECK(run.out.find("a continuous solution starts here, no jump is needed") !=
          std::string::npos);
  }

  TEST_CASE("JSON holds every jump, the smallest marked") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"jumps", "switching_dae_jump", "--at", "x1=2,x2=3",
                                              "--set", "B1=1", "--set", "B2=1", "--json"});
    const json found = json::parse(run.out);
    CHECK(found["status"] == "solved");
    CHECK(found["starts_continuously"] == false);
    REQUIRE(found["jumps"].size() == 2);
    CHECK(found["jumps"][0]["minimal"] == true);
    CHECK(found["jumps"][1]["minimal"] == false);
    CHECK(found["jumps"][0]["x"][0].get<double>() == doctest::Approx(0));
    CHECK(found["jumps"][0]["x"][1].get<double>() == doctest::Approx(1));
    CHECK(found["jumps"][1]["x"][0].get<double>() == doctest::Approx(-1));
    CHECK(found["jumps"][1]["impulse_x"][2].get<double>() == doctest::Approx(-3));
    CHECK(found["jumps"][1]["continuations"][0]["mode"] == "mode 1 (x1 < 0)");
  }

  TEST_CASE("a model that is not affine is searched by Newton's method in every mode") {
    const Folder folder;
    folder.write("drag.toml",
                 "[variables]\nq = 0\nv = -3\n[model]\nlaws = [\"0 <= q perp force >= 0\"]\n"
                 "equations = [\"der(q) = v\", \"der(v) = -9.81 - 0.1*v*abs(v) + force\"]\n"
                 "[run]\nt = [0, 1]\n");
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"jumps", "drag.toml"});
      return perp_program(folder, more);
    };
    const Outcome impact = with({});
    CHECK(impact.status == 0);
    CHECK(impact.out.find("jumps  unique (by Newton's method in every mode)") != std::string::npos);
    CHECK(impact.out.find("*  0  0  3          lambda_1: 3") != std::string::npos);
    const json found = json::parse(with({"--json"}).out);
    CHECK(found["jumps"][0]["amplitude"].get<double>() == doctest::Approx(3).epsilon(1e-12));
    CHECK(found["jumps"][0]["impulse_lambda"][0].get<double>() ==
          doctest::Approx(3).epsilon(1e-12));
    const Outcome leaves = with({"--at", "v=2"});
    CHECK(leaves.out.find("a continuous solution starts here, no jump is needed") !=
          std::string::npos);
    const Outcome none = with({"--at", "q=-1"});
    CHECK(none.status == 3);
    CHECK(none.out.find("jumps  none (by Newton's method") != std::string::npos);
    const Outcome ended = with({"--max-nodes", "1"});
    CHECK(ended.status == 3);
    CHECK(ended.out.find("not proved complete") != std::string::npos);
  }

  TEST_CASE("a model with resets is refused, since they say where its state jumps to") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"jumps", "bouncing_ball"});
    CHECK(run.status == 2);
    CHECK(run.err.find("expected a model without resets") != std::string::npos);
  }

  TEST_CASE("a budget that ends the search is said, and wrong options are refused") {
    const Folder folder;
    const std::vector<std::string> start{"jumps", "switching_dae_jump_lcp", "--at", "x1=0,x2=-1"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), start.begin(), start.end());
      return perp_program(folder, more);
    };
    const Outcome ended = with({"--max-nodes", "3"});
    CHECK(ended.status == 3);
    CHECK(ended.out.find("not proved complete: the search ended after 3 nodes") !=
          std::string::npos);
    CHECK(with({"--max-nodes", "0"}).status == 2);
    CHECK(perp_program(folder, {"jumps", "switching_dae_jump", "--at", "y=1"}).status == 2);
  }
}
