#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include <perp/tests/cli/program.hpp>

// Inputs from columns of CSV files: exact solutions between the rows of the data.
namespace {

using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;

/// der(x) = u: x is the integral of the data.
std::string integrator(const std::string& between, const std::string& more = "") {
  return "[variables]\nx = 0\n[inputs]\nu = { file = \"data/u.csv\", column = \"u\", between = \"" +
         between + "\" }\n" + more + "[model]\nequations = [\"der(x) = u\"]\n[run]\nt = [0, 4]\nh = 0.3\n";
}

const std::string data = "# measured\nt,other,u\n0,7,2\n1,7,3\n2.5,7,-1\n4,7,0\n";

void prepare(const Folder& folder, const std::string& model, const std::string& table = data) {
  folder.write("model.toml", model);
  std::filesystem::create_directory(folder / "data");
  folder.write("data/u.csv", table);
}

double end_of(const Folder& folder, const std::string& scheme) {
  const Outcome run = perp_program(
      folder, {"run", "model.toml", "--scheme", scheme, "--times", "4", "--quiet"});
  CAPTURE(run.err);
  REQUIRE(run.status == 0);
  return perp::test::parse_csv(run.out).number(0, "x");
}

TEST_CASE("held data are integrated exactly by every scheme, and their jumps are events") {
  const Folder folder;
  prepare(folder, integrator("hold"));
  const double exact = 2 * 1 + 3 * 1.5 - 1 * 1.5;
  for (const char* scheme : {"located", "backward_euler", "theta"}) {
    CAPTURE(scheme);
    CHECK(end_of(folder, scheme) == doctest::Approx(exact).epsilon(1e-12));
    const Outcome run = perp_program(folder, {"run", "model.toml", "--scheme", scheme, "-o", "x.csv",
                                              "--events", "events.csv"});
    REQUIRE(run.status == 0);
    const auto events = perp::test::parse_csv(perp::test::read_text(folder / "events.csv"));
    REQUIRE(events.rows.size() == 2);
    CHECK(events.number(0, "t") == 1);
    CHECK(events.number(1, "t") == 2.5);
    CHECK(run.out.find("u: 2 -> 3") != std::string::npos);
  }
}

TEST_CASE("outputs hold states, rates, inputs and binaries, and can be measured, by every scheme and in every form of the model") {
  for (const char* more : {"", ", \"(x + y - 90)*z <= 0\""}) {  // by a law of the binary, or by constraints
    CAPTURE(std::string(more));
    const Folder folder;
    folder.write("room.toml", std::string("[parameters]\nP = 2\n[variables]\nx = { start = 18, unit = \"degC\" }\ny = 0\n[inputs]\nout = \"5 + t\"\n[binaries]\nz = 1\n"
                 "[model]\nequations = [\"der(x) = 0.1*(out - x) + P*z\", \"y = 3*z\"]\n"
                 "constraints = [\"(19 - x)*(1 - z) + (x - 21)*z <= 0\"") + more + "]\n"
                 "[model.outputs]\nheat = { value = \"P*z\", unit = \"kW\" }\nrate = \"der(x)\"\nair = \"out\"\n[run]\nt = [0, 5]\nh = 0.01\n");
    for (const char* scheme : {"located", "backward_euler"}) {
      CAPTURE(scheme);
      const Outcome run = perp_program(folder, {"run", "room.toml", "--scheme", scheme, "--quiet"});
      CAPTURE(run.err);
      REQUIRE(run.status == 0);
      const auto csv = perp::test::parse_csv(run.out);
      for (std::size_t k = 0; k < csv.rows.size(); ++k) {
        const double x = csv.number(k, "x"), air = csv.number(k, "air"), heat = csv.number(k, "heat");
        CHECK(air == doctest::Approx(5 + csv.number(k, "t")));
        CHECK(heat == doctest::Approx(2 * csv.number(k, "y") / 3));
        CHECK(csv.number(k, "rate") == doctest::Approx(0.1 * (air - x) + heat));
      }
      const Outcome measured = perp_program(folder, {"run", "room.toml", "--scheme", scheme, "--measure", "d=integral(rate)-end(x)+18", "--measure", "e=mean(heat)-2*duration(z:1)/5", "--quiet"});
      REQUIRE(measured.status == 0);
      CAPTURE(measured.out);
      CHECK(std::abs(std::stod(measured.out.substr(measured.out.find("d = ") + 4))) < 0.03);
      CHECK(std::abs(std::stod(measured.out.substr(measured.out.find("e = ") + 4))) < 0.02);
    }
  }
  const Folder folder;
  folder.write("bad.toml", "[variables]\nx = 0\n[binaries]\nz = 1\n[model]\nequations = [\"der(x) = z\"]\nconstraints = [\"(1 - x)*(1 - z) <= 0\"]\noutputs = { z = \"2*x\" }\n[run]\nt = [0, 1]\n");
  const Outcome bad = perp_program(folder, {"run", "bad.toml"});
  CHECK(bad.status == 2);
  CHECK(bad.err.find("bad.toml:8:13: 'z' is a variable, a multiplier or a parameter already") != std::string::npos);
}

TEST_CASE("a jump of held data is one event, whoever reads them, and integrals of what has no rate are cut there") {
  const Folder folder;
  prepare(folder, "[variables]\nx = 0\ny = 0\nv = 0\n[inputs]\nu = { file = \"data/u.csv\", column = \"u\", between = \"hold\" }\n"
                  "[binaries]\nz = 1\n[model]\nequations = [\"der(x) = u - x + z\", \"y = u\", \"der(v) = u\"]\n"
                  "constraints = [\"(x + 9)*(1 - z) - (x + 9)*z <= 0\"]\n[run]\nt = [0, 4]\nh = 0.3\n");
  for (const char* scheme : {"located", "backward_euler"}) {
    CAPTURE(scheme);
    const Outcome run = perp_program(folder, {"run", "model.toml", "--scheme", scheme, "--measure", "n=count(mode_change)", "--measure", "m=integral(y)", "--quiet"});
    REQUIRE(run.status == 0);
    CHECK(run.out.find("n = 2\n") != std::string::npos);
    const std::size_t at = run.out.find("m = ");
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(run.out.substr(at + 4)) == doctest::Approx(2 * 1 + 3 * 1.5 - 1 * 1.5).epsilon(1e-12));
  }
}

TEST_CASE("linear data are integrated exactly by the located scheme") {
  const double exact = 2.5 * 1 + 1 * 1.5 - 0.5 * 1.5;
  const Folder folder;
  prepare(folder, integrator("linear"));
  CHECK(end_of(folder, "located") == doctest::Approx(exact).epsilon(1e-13));
}

TEST_CASE("a jump of data changes binaries at its own moment, as laws and as constraints") {
  // z = 1 while u >= 1; the second constraint holds both binaries: no law stands for it.
  for (const std::string& second : {std::string(), std::string("z2 = 0\n")}) {
    const std::string binaries =
        "[binaries]\nz = 1\n" + second + "[model]\nequations = [\"der(x) = z\"]\nconstraints = [" +
        (second.empty() ? "\"(u - 1)*(1 - 2*z) <= 0\""
                        : "\"(u - 1)*(1 - 2*z) <= 0\", \"(z2 - 1)*(1 - z) <= 0\"") +
        "]\n[run]\nt = [0, 4]\nh = 0.3\n";
    const Folder folder;
    prepare(
        folder,
        "[variables]\nx = 0\n[inputs]\nu = { file = \"data/u.csv\", column = \"u\", between = "
        "\"hold\" }\n" +
        binaries);
    for (const char* scheme : {"located", "backward_euler"}) {
      CAPTURE(scheme);
      CAPTURE(second);
      CHECK(end_of(folder, scheme) == doctest::Approx(2.5).epsilon(1e-12));
    }
  }
}

TEST_CASE("inputs are replaced by --set: numbers, formulas, other files and columns") {
  const Folder folder;
  prepare(folder, integrator("hold"));
  folder.write("data/v.csv", "time;v\n0;1\n4;1\n");
  const auto end = [&](std::vector<std::string> set) {
    std::vector<std::string> arguments{"run", "model.toml", "--scheme", "located", "--times", "4",
                                       "--quiet"};
    for (const std::string& item : set) {
      arguments.push_back("--set");
      arguments.push_back(item);
    }
    const Outcome run = perp_program(folder, arguments);
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    return perp::test::parse_csv(run.out).number(0, "x");
  };
  CHECK(end({"u=2"}) == doctest::Approx(8).epsilon(1e-12));
  CHECK(end({"inputs.u=t"}) == doctest::Approx(8).epsilon(1e-12));
  CHECK(end({"u.file=data/v.csv", "u.column=v"}) == doctest::Approx(4).epsilon(1e-12));
  CHECK(end({"u.column=other"}) == doctest::Approx(28).epsilon(1e-12));
  CHECK(end({"u.between=linear"}) == doctest::Approx(3.25).epsilon(1e-12));
}

TEST_CASE("wrong data are one line with their place, exit status 2") {
  const auto complains = [](const std::string& model, const std::string& table,
                            const std::string& part, std::vector<std::string> more = {}) {
    const Folder folder;
    prepare(folder, model, table);
    std::vector<std::string> arguments{"run", "model.toml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome run = perp_program(folder, arguments);
    CAPTURE(run.err);
    CHECK(run.status == 2);
    CHECK(run.err.starts_with("model.toml:4:"));
    CHECK(run.err.find(part) != std::string::npos);
  };
  const std::string model = integrator("linear");
  complains(model, data, "ends at t = 4, and the run at t = 5", {"--t", "0,5"});
  complains(model, data, "begins at t = 0, and the run at t = -1", {"--t", "-1,4"});
  complains(model, "t,u\n0,1\n0,2\n4,1\n", "data/u.csv:3:1: found time 0 behind 0");
  complains(model, "t,u\n0,1\n2,nan\n4,1\n", "data/u.csv:3:1: found 'nan' in column 'u'");
  complains(model, "t,u\n0,1\n2\n4,1\n", "data/u.csv:3:1: found 1 fields; expected 2");
  complains(model, "t,v\n0,1\n4,1\n", "has no column 'u'; it has t, v");
  complains(model, "t,u\n", "found no row of numbers");
  complains(integrator("cubic"), data, "between of input 'u' is 'cubic'; expected linear or hold");
  complains("[variables]\nx = 0\n[inputs]\nu = { file = \"none.csv\", column = \"u\" }\n[model]\n"
            "equations = [\"der(x) = u\"]\n[run]\nt = [0, 1]\n",
            data, "'none.csv' cannot be opened");
  complains("[variables]\nx = 0\n[inputs]\nu = { file = \"data/u.csv\" }\n[model]\n"
            "equations = [\"der(x) = u\"]\n[run]\nt = [0, 1]\n",
            data, "'column' is missing in input 'u'");
}

}  // namespace
