#include <doctest/doctest.h>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include <perp/tests/cli/program.hpp>

namespace {

using nlohmann::json;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;

const std::string room = R"([variables]
x = 19
[binaries]
z = 1
[model]
equations = ["der(x) = 4*z - 1"]
constraints = [{ name = "band", g = "(19 - x)*(1 - z) + (x - 21)*z <= 0" }]
[run]
t = [0, 2]
scheme = "located"
)";

TEST_CASE("perp modes prints the continuations as JSON, its choice first") {
  const Folder folder;
  folder.write("room.toml", room);
  const Outcome outcome = perp_program(folder, {"modes", "room.toml", "--at", "x=21", "--json"});
  REQUIRE(outcome.status == 0);
  const json answer = json::parse(outcome.out);
  REQUIRE(answer["continuations"].size() == 1);
  CHECK(answer["chosen"] == json{{"z", 0.0}});
  CHECK(answer["violated_by_previous"] == json{"band"});
  CHECK(answer["called"] == json{"z"});
  CHECK(answer["continuations"][0]["der"]["x"] == -1.0);
  CHECK(answer["status"] == "solved");
}

TEST_CASE("perp modes: wrong values are one line, and no continuation is exit status 3") {
  const Folder folder;
  folder.write("room.toml", room);
  for (const std::string previous : {"z=2", "w=1", "z"}) {
    const Outcome wrong = perp_program(folder, {"modes", "room.toml", "--previous", previous});
    CAPTURE(wrong.err);
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("--previous") + wrong.err.find("binary") != std::string::npos);
  }
  CHECK(perp_program(folder, {"modes", "room.toml", "--at", "y=1"}).status == 2);
  CHECK(perp_program(folder, {"modes", "thermostat"}).status == 2);
  folder.write(
      "gap.toml",
      "[variables]\nx = 1\n[binaries]\nz = 0\n[model]\nequations = [\"der(x) = 3*z - 1\"]\n"
      "constraints = [\"(1 - x)*(1 - z) + x*z <= 0\"]\n[run]\nt = [0, 1]\n");
  const Outcome none = perp_program(folder, {"modes", "gap.toml"});
  CHECK(none.status == 3);
  CHECK(none.err == "perp modes: no_solution at t = 0: no mode continues from this state\n");
}

TEST_CASE(
    "a model of a binary runs like the one with the law, and perp check shows its structure") {
  const Folder folder;
  folder.write("room.toml", room);
  folder.write("law.toml",
               "[variables]\nx = 19\n[model]\nlaws = [{ law = \"z in hysteresis(-x, -21, -19)\", "
               "start = \"high\" }]\n"
               "equations = [\"der(x) = 4*z - 1\"]\n[run]\nt = [0, 2]\nscheme = \"located\"\n");
  for (const std::string scheme : {"located", "backward_euler"}) {
    const auto run = [&](const std::string& model) {
      return perp_program(folder,
                          {"run", model, "--scheme", scheme, "--times", "0.5,1,1.5,2", "--quiet"});
    };
    const Outcome binary = run("room.toml"), law = run("law.toml");
    REQUIRE(binary.status == 0);
    REQUIRE(law.status == 0);
    const auto a = perp::test::parse_csv(binary.out), b = perp::test::parse_csv(law.out);
    REQUIRE(a.rows.size() == 4);
    for (std::size_t row = 0; row < 4; ++row)
      CHECK(a.number(row, "x") == doctest::Approx(b.number(row, "x")).epsilon(1e-12));
  }
  const Outcome check = perp_program(folder, {"check", "room.toml"});
  CHECK(check.status == 0);
  CHECK(check.out.find("class        multilinear: 1 equations, 1 constraints") == 0);
}

TEST_CASE("a binary with opposite faces slides in a run, with its value as a column") {
  // x = 2 - 1.5 exp(-t) until x = 1, then z = 1/2 holds it there.
  const Folder folder;
  folder.write(
      "relay.toml",
      "[variables]\nx = 0.5\n[binaries]\nz = {}\n[model]\nequations = [\"der(x) = -x + 2*z\"]\n"
      "constraints = [\"(x - 1)*(2*z - 1) <= 0\"]\n[run]\nt = [0, 2]\n");
  const Outcome run = perp_program(
      folder, {"run", "relay.toml", "--scheme", "located", "--times", "0.2,2", "--quiet"});
  REQUIRE(run.status == 0);
  const auto rows = perp::test::parse_csv(run.out);
  CHECK(rows.number(0, "x") == doctest::Approx(2 - 1.5 * std::exp(-0.2)).epsilon(1e-9));
  CHECK(rows.number(0, "z") == 1);
  CHECK(rows.number(1, "x") == doctest::Approx(1).epsilon(1e-12));
  CHECK(rows.number(1, "z") == doctest::Approx(0.5).epsilon(1e-12));
}

TEST_CASE("perp multilinear writes a model that has the same continuations and the same run") {
  const Folder folder;
  folder.write("room.toml", room);
  REQUIRE(perp_program(folder, {"multilinear", "room.toml", "-o", "matrices"}).status == 0);
  const auto ask = [&](const std::string& model) {
    return json::parse(perp_program(folder, {"modes", model, "--at", "x=20", "--json"}).out);
  };
  const json written = ask("matrices/model.toml"), own = ask("room.toml");
  CHECK(written["chosen"] == own["chosen"]);
  CHECK(written["continuations"].size() == own["continuations"].size());
  const auto end = [&](const std::string& model) {
    return perp::test::parse_csv(perp_program(folder, {"run", model, "--scheme", "located",
                                                       "--times", "2", "--quiet"})
                                     .out)
        .number(0, "x");
  };
  CHECK(end("matrices/model.toml") == doctest::Approx(end("room.toml")).epsilon(1e-9));
  CHECK(perp_program(folder, {"multilinear", "thermostat"}).status == 2);
  CHECK(perp_program(folder, {"multilinear", "room.toml", "--at", "v=1"}).status == 2);
}

}  // namespace
