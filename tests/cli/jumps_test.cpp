#include <doctest/doctest.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;

namespace {

/// As many switching DAEs with B = (1, 1) side by side, each at its point (2, 3), as matrices.
std::string copies(int count) {
  const int n = 3 * count;
  std::vector<std::vector<double>> E(static_cast<std::size_t>(n),
                                     std::vector<double>(static_cast<std::size_t>(n), 0)),
      A = E;
  std::vector<std::vector<double>> B(static_cast<std::size_t>(n),
                                     std::vector<double>(static_cast<std::size_t>(count), 0));
  std::vector<std::vector<double>> C(static_cast<std::size_t>(count),
                                     std::vector<double>(static_cast<std::size_t>(n), 0));
  std::vector<double> b(static_cast<std::size_t>(n), 0);
  std::string variables, laws;
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    E[3 * k][3 * k] = E[3 * k + 1][3 * k + 1] = 1;
    A[3 * k][3 * k + 2] = A[3 * k + 1][3 * k + 2] = 1;
    A[3 * k + 2][3 * k + 1] = -1;
    B[3 * k + 2][k] = C[k][3 * k] = b[3 * k] = 1;
    variables += "x" + std::to_string(k) + " = 2\ny" + std::to_string(k) + " = 3\nz" +
                 std::to_string(k) + " = 0\n";
    laws += std::string(k > 0 ? ", " : "") + "\"abs_plus_sign\"";
  }
  return "[variables]\n" + variables + "[system]\nE = " + json(E).dump() +
         "\nA = " + json(A).dump() + "\nB = " + json(B).dump() + "\nC = " + json(C).dump() +
         "\nb = " + json(b).dump() + "\nlaws = [" + laws + "]\n[run]\nt = [0, 1]\n";
}

}  // namespace

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
    CHECK(impact.out.find("jumps  one found (by Newton's method in every mode)") != std::string::npos);
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
    CHECK(none.out.find("jumps  none found (by Newton's method") != std::string::npos);
    const Outcome ended = with({"--max-nodes", "1"});
    CHECK(ended.status == 3);
    CHECK(ended.out.find("not proved complete") != std::string::npos);
  }

  TEST_CASE("few jumps of independent parts are listed as jumps of the whole") {
    const Folder folder;
    folder.write("two.toml", copies(2));
    const Outcome run = perp_program(folder, {"jumps", "two.toml"});
    CHECK(run.status == 0);
    CHECK(run.out.find("jumps  several (4) (proved") != std::string::npos);
    CHECK(run.out.find("x0  y0  x1  y1  amplitude") != std::string::npos);
    CHECK(run.out.find("block") == std::string::npos);
  }

  TEST_CASE("many jumps of independent parts are listed part by part, and counted together") {
    const Folder folder;
    folder.write("one.toml", copies(1));
    folder.write("many.toml", copies(80));
    const json one = json::parse(perp_program(folder, {"jumps", "one.toml", "--json"}).out);
    REQUIRE(one["count"] == 2);
    const Outcome run = perp_program(folder, {"jumps", "many.toml"});
    CHECK(run.status == 0);
    CHECK(run.out.find("jumps  several (about 1.209e24) (proved") != std::string::npos);
    CHECK(run.out.find("one jump of each of 80 independent blocks:") != std::string::npos);
    CHECK(run.out.find("block 80, x79, y79, z79: several (2)") != std::string::npos);
    CHECK(run.out.find("* the smallest, together of amplitude ") != std::string::npos);
    const json many = json::parse(perp_program(folder, {"jumps", "many.toml", "--json"}).out);
    CHECK(many["count"] == "1208925819614629174706176");
    CHECK(many["all_listed"] == false);
    REQUIRE(many["blocks"].size() == 80);
    CHECK(many["blocks"][7]["variables"] == json{"x7", "y7", "z7"});
    CHECK(many["blocks"][7]["laws"] == json{8});
    CHECK(many["blocks"][7]["jumps"] == one["jumps"]);
    CHECK(many["jumps"][0]["amplitude"].get<double>() ==
          doctest::Approx(one["jumps"][0]["amplitude"].get<double>() * std::sqrt(80.0)));
  }

  TEST_CASE(
      "laws with memory: every branch without --mode, which is said, the present one with it") {
    const Folder folder;
    folder.write("curved.toml",
                 "[variables]\nx = 0.75\ny = 0\nz = 0\n[model]\n"
                 "laws = [\"s in hysteresis(y, -1, 1)\"]\n"
                 "equations = [\"der(x) = z\", \"der(y) = x^2 - x^2\", \"x*(1 + y^2) = s\"]\n"
                 "[run]\nt = [0, 1]\n");
    for (const std::string model : {"thermostat", "curved.toml"}) {
      CAPTURE(model);
      const std::string state = model == "thermostat" ? "T=20" : "y=0.5";
      const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"jumps", model, "--at", state});
        return perp_program(folder, more);
      };
      const Outcome any = with({});
      CHECK(any.status == 0);
      CHECK(any.out.find("is not known: every branch counts, see --mode") != std::string::npos);
      const auto ways = [&](std::vector<std::string> more) {
        more.emplace_back("--json");
        std::size_t count = 0;
        const json found = json::parse(with(more).out);
        for (const json& jump : found["jumps"]) count += jump["continuations"].size();
        return count;
      };
      CHECK(ways({}) == 2);
      CHECK(ways({"--mode", "1"}) == 1);
      CHECK(ways({"--mode", "2"}) == 1);
      CHECK(with({"--mode", "1"}).out.find("note") == std::string::npos);
      CHECK(with({"--mode", "3"}).status == 2);
      CHECK(with({"--mode", "1,1"}).err.find("expected 1 branches, one for each law") !=
            std::string::npos);
    }
    const json up = json::parse(
        perp_program(folder, {"jumps", "curved.toml", "--at", "y=0.5", "--mode", "2", "--json"})
            .out);
    CHECK(up["jumps"][0]["x"][0].get<double>() == doctest::Approx(0.8));
    const json down = json::parse(
        perp_program(folder, {"jumps", "curved.toml", "--at", "y=0.5", "--mode", "1", "--json"})
            .out);
    CHECK(std::abs(down["jumps"][0]["x"][0].get<double>()) < 1e-12);
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
