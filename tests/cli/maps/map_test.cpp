#include <doctest/doctest.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/hdf5_file.hpp>
#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Csv;
using perp::test::Folder;
using perp::test::Hdf5;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

TEST_SUITE("cli/map") {
  TEST_CASE("runs from the left end as the exact solution: on, across, with a jump, or nowhere") {
    // x1 = -1/2 moves with x1' = B2/(B1 + B2) and meets A- at t = (B1 + B2)/(2 B2); the end is T
    // = 2.
    const Folder folder;
    const Outcome run = perp_program(folder, {"map", "switching_dae_jump", "--vary", "B1=-2:2:17",
                                              "--vary", "B2=-2:2:17", "--what", "outcome"});
    REQUIRE(run.status == 0);
    const Csv csv = parse_csv(run.out);
    REQUIRE(csv.rows.size() == 17 * 17);
    for (int i = -8; i <= 8; ++i)
      for (int j = -8; j <= 8; ++j) {
        if (i + j == 0 || i == 3 * j) continue;  // no mode 1; A- is met at the very end
        CAPTURE(i);
        CAPTURE(j);
        const auto row = static_cast<std::size_t>((i + 8) * 17 + j + 8);
        const bool meets = (i + j) * j > 0 && (j > 0 ? i < 3 * j : i > 3 * j);
        const bool jumps = meets && (i >= 0 && j >= 0 ? j > i : i <= 0 && j <= 0 && j < i);
        const bool crosses = meets && i * j < 0;
        CHECK(csv.rows[row].back() == (!meets    ? "mode 1 (x1 < 0)"
                                       : jumps   ? "\"mode 2 (x1 > 0), jumped\""
                                       : crosses ? "mode 2 (x1 > 0)"
                                                 : "no_solution"));
        CHECK(csv.number(row, "jumps") == (jumps ? 1 : 0));
        CHECK((csv.number(row, "end") == 2) == (!meets || jumps || crosses));
      }
  }

  TEST_CASE("what is varied is set nowhere else, however it is written; nor is the time") {
    const Folder folder;
    for (const char* set : {"x1=1", "x1(0)=1", "variables.x1=1"}) {
      CAPTURE(set);
      const Outcome run = perp_program(
          folder, {"map", "switching_dae_jump", "--vary", "x1=-2:2:3", "--set", set});
      CHECK(run.status == 2);
      CHECK(run.err.find("x1 is varied by --vary") != std::string::npos);
    }
    CHECK(perp_program(folder, {"map", "switching_dae_jump", "--vary", "B1=-2:2:3", "--set",
                                "parameters.B1=1"})
              .status == 2);
    for (const char* command : {"solutions", "jumps", "equilibria"}) {
      CAPTURE(command);
      const Outcome run =
          perp_program(folder, {command, "switching_dae_jump", "--t", "1", "--set", "t=0,2"});
      CHECK(run.status == 2);
      CHECK(run.err.find("run.t is given by '--set t=0,2' too") != std::string::npos);
    }
  }

  TEST_CASE("the bytes do not depend on the number of threads") {
    const Folder folder;
    for (const char* what : {"solutions", "ac", "jumps", "outcome"}) {
      CAPTURE(what);
      const auto with = [&](const char* threads) {
        return perp_program(
            folder, {"map", "switching_dae_jump", "--vary", "B1=-2:2:21", "--vary", "B2=-2:2:21",
                     "--what", what, "--at", "x1=0,x2=-1", "--threads", threads});
      };
      const Outcome one = with("1"), two = with("2"), seven = with("7");
      CHECK(one.status == 0);
      CHECK(one.out.size() > 21 * 21 * 10);
      CHECK(one.out == two.out);
      CHECK(one.out == seven.out);
      CHECK(one.err == two.err);
    }
  }

  TEST_CASE("a map over states counts the solutions that start at each") {
    // On the line x1 = 0 all -1 < x2 <= 1 slide on and A- does not; beside the constraint is
    // nothing.
    const Folder folder;
    const Outcome run = perp_program(folder, {"map", "switching_dae_jump", "--vary", "x2=-2:2:17",
                                              "--at", "x1=0", "--what", "ac"});
    REQUIRE(run.status == 0);
    const Csv csv = parse_csv(run.out);
    REQUIRE(csv.rows.size() == 17);
    for (int k = -8; k <= 8; ++k) {
      CAPTURE(k);
      const double found = csv.number(static_cast<std::size_t>(k + 8), "continuations");
      CHECK(found == (k <= -4 || k > 4 ? 0 : k == 4 ? 2 : 1));  // at A+ also into mode 2
    }
  }

  TEST_CASE("models that are not affine are mapped too") {
    const Folder folder;
    const auto numbers = [&](const char* what) {
      return parse_csv(
          perp_program(folder, {"map", "branch", "--vary", "y=1:3:3", "--what", what}).out);
    };
    const Csv solutions = numbers("solutions"), continuations = numbers("ac"),
              jumps = numbers("jumps");
    for (std::size_t row = 0; row < 3; ++row) {
      CHECK(solutions.number(row, "solutions") == 2);
      CHECK(continuations.number(row, "continuations") == 2);
      CHECK(jumps.number(row, "amplitude") == 0);
    }
  }

  TEST_CASE("the number of solutions over the step length changes where c = 1") {
    // [RAB] section 3.4.1: B = (1/2, 1/4), x = (-3/4, -1/4) has c = 1/4 + (h - 3/4)/2 <= 1 for h <=
    // 9/4
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"map", "switching_dae_jump", "--set", "B1=0.5", "--set", "B2=0.25", "--at",
                 "x1=-0.75,x2=-0.25", "--vary", "run.h=0.25:4:16", "--what", "solutions"});
    REQUIRE(run.status == 0);
    const Csv csv = parse_csv(run.out);
    for (int k = 1; k <= 16; ++k) {
      CAPTURE(k);
      CHECK(csv.number(static_cast<std::size_t>(k - 1), "solutions") == (k < 9    ? 2
                                                                         : k == 9 ? 1
                                                                                  : 0));
    }
  }

  TEST_CASE("points that cannot be decided are said as such, with exit status 3") {
    // der^4(a) = u, a = 0: the series of four levels do not determine u of this mode. Beside the
    // constraint there is no solution for sure.
    const Folder folder;
    folder.write("chain.toml",
                 "[variables]\na = 0\nb = 0\nc = 0\nd = 0\ne = 0\nu = 0\n[model]\n"
                 "equations = [\"der(a) = b\", \"der(b) = c\", \"der(c) = d\", \"der(d) = e\", "
                 "\"der(e) = u\", \"0 = a\"]\n[run]\nt = [0, 1]\n");
    const Outcome run =
        perp_program(folder, {"map", "chain.toml", "--vary", "a=0:1:2", "--what", "ac"});
    CHECK(run.status == 3);
    CHECK(run.err.find("perp map: 1 of 2 points are not decided") != std::string::npos);
    const Csv csv = parse_csv(run.out);
    REQUIRE(csv.rows.size() == 2);
    CHECK(csv.rows[0].back() == "not decided");
    CHECK(csv.rows[1].back() == "none");
  }

  TEST_CASE("HDF5 holds the same numbers as a grid, with the words of the regions") {
    const Folder folder;
    const std::vector<std::string> start{"map",    "switching_dae_jump", "--vary", "B1=-2:2:5",
                                         "--vary", "B2=-1:2:4",          "--what", "jumps",
                                         "--at",   "x1=0,x2=-1"};
    const auto with = [&](const std::vector<std::string>& more) {
      std::vector<std::string> arguments = start;
      arguments.insert(arguments.end(), more.begin(), more.end());
      return perp_program(folder, arguments);
    };
    const Csv csv = parse_csv(with({}).out);
    CHECK(with({"-o", "map.h5"}).status == 0);
    const Hdf5 file(folder / "map.h5");
    REQUIRE(file.is_open());
    CHECK(file.size("amplitude") == std::vector<hsize_t>{5, 4});
    const std::vector<double> values = file.read<double>("amplitude", H5T_NATIVE_DOUBLE);
    for (std::size_t row = 0; row < 20; ++row) {
      const double found = csv.number(row, "amplitude");
      CHECK((values[row] == found || (std::isnan(values[row]) && std::isnan(found))));
    }
    CHECK(file.size("axes/B1") == std::vector<hsize_t>{5});
    CHECK(file.size("region") == std::vector<hsize_t>{5, 4});
  }

  TEST_CASE("what made a map stands beside its CSV and in its HDF5 file") {
    const Folder folder;
    const std::vector<std::string> start{"map",    "switching_dae_jump",
                                         "--vary", "x2=-2:2:17",
                                         "--vary", "B1=-1:1:3",
                                         "--at",   "x1=0",
                                         "--at",   "x1=1/2,z=1",
                                         "--what", "ac",
                                         "--set",  "B2=0.5",
                                         "-o"};
    const auto with = [&](const std::string& output, const std::string& threads) {
      std::vector<std::string> arguments = start;
      arguments.insert(arguments.end(), {output, "--threads", threads});
      return perp_program(folder, arguments);
    };
    const Outcome run = with("map.csv", "1");
    REQUIRE_MESSAGE(run.status == 0, run.err);
    CHECK(run.out.find("written  map.csv\nwritten  map.csv.json\n") != std::string::npos);
    const json made = json::parse(read_text(folder / "map.csv.json"));
    CHECK(made["program"] == "perp");
    CHECK(made.contains("version"));
    CHECK(made["model"]["hash"].get<std::string>().size() >= 16);
    CHECK(made["model"]["parameters"]["B2"] == 0.5);
    CHECK(made["options"]["set"] == json{"B2=0.5"});
    const json& map = made["map"];
    CHECK(map["quantity"] == "ac");
    CHECK(map["axes"] == json{{{"name", "x2"}, {"first", -2}, {"last", 2}, {"count", 17}},
                              {{"name", "B1"}, {"first", -1}, {"last", 1}, {"count", 3}}});
    CHECK(map["at"] == json{{{"x1", "0"}}, {{"x1", "1/2"}, {"z", "1"}}});
    CHECK(map["columns"] == json{"continuations_1", "continuations_2"});
    const Csv csv = parse_csv(read_text(folder / "map.csv"));
    long points = 0;
    for (const json& region : map["regions"]) {
      const long count = region["points"];
      points += count;
      CHECK(count == std::count_if(csv.rows.begin(), csv.rows.end(),
                                   [&](const auto& row) { return row.back() == region["name"]; }));
    }
    CHECK(points == 17 * 3);
    CHECK(map["not_decided"] == 0);

    CHECK(with("again.csv", "2").status == 0);
    CHECK(read_text(folder / "again.csv.json") == read_text(folder / "map.csv.json"));
    const Outcome hdf5 = with("map.h5", "1");
    REQUIRE_MESSAGE(hdf5.status == 0, hdf5.err);
    CHECK_FALSE(std::filesystem::exists(folder / "map.h5.json"));
    const Hdf5 file(folder / "map.h5");
    REQUIRE(file.is_open());
    CHECK(file.attribute("provenance") + "\n" == read_text(folder / "map.csv.json"));
    CHECK(file.attribute("quantity") == "ac");
    CHECK(file.attribute("model hash") == made["model"]["hash"]);
  }

  TEST_CASE("a picture of one or two axes has a legend with every region") {
    const Folder folder;
    const Outcome plane = perp_program(
        folder, {"map", "switching_dae_jump", "--vary", "B1=-2:2:5", "--vary", "B2=-1:2:4",
                 "--what", "ac", "--at", "x1=0,x2=-1", "--plot", "plane.svg"});
    CHECK(plane.status == 0);
    CHECK(plane.out.find("written  plane.svg") != std::string::npos);
    const std::string script = read_text(folder / "plane.gp");
    for (const char* entry : {"'none (", "'unique (", "'several (2) ("})
      CHECK(script.find(entry) != std::string::npos);
    const std::string svg = read_text(folder / "plane.svg");
    CHECK(svg.find("several (2)") != std::string::npos);
    // Each entry of the legend has its cells in the data, neighbours of a row together, which cover the plane once.
    double area = 0;
    for (const std::string& line : lines(read_text(folder / "plane.dat"))) {
      std::istringstream numbers(line);
      if (double x0 = 0, x1 = 0, y0 = 0, y1 = 0; numbers >> x0 >> x1 >> y0 >> y1) area += (x1 - x0) * (y1 - y0);
    }
    CHECK(area == doctest::Approx(5 * 4).epsilon(1e-12));  // 5 and 4 values, 1 apart
    CHECK(read_text(folder / "plane_matplotlib.py").find("(\"areas\", \"several (2) (") != std::string::npos);
    const Outcome strip = perp_program(folder, {"map", "switching_dae_jump", "--vary", "B1=-2:2:5",
                                                "--what", "ac", "--plot", "strip.svg"});
    CHECK(strip.status == 0);
    CHECK(read_text(folder / "strip.svg").find("unique (") != std::string::npos);
  }

  TEST_CASE("wrong input is refused with what is expected") {
    const Folder folder;
    const auto refused = [&](std::vector<std::string> arguments, const std::string& message) {
      arguments.insert(arguments.begin(), {"map", "switching_dae_jump"});
      const Outcome run = perp_program(folder, arguments);
      CAPTURE(run.err);
      CHECK(run.status == 2);
      CHECK(run.out.empty());
      CHECK(run.err.find(message) != std::string::npos);
      CHECK(lines(run.err).size() == 1);
    };
    refused({}, "--vary is missing; expected NAME=FIRST:LAST:COUNT");
    refused({"--vary", "B1"}, "--vary B1: expected NAME=VALUE");
    refused({"--vary", "B1=1"}, "expected NAME=FIRST:LAST:COUNT, as in B1=-2:2:161");
    refused({"--vary", "B1=1:2"}, "expected NAME=FIRST:LAST:COUNT, as in B1=-2:2:161");
    refused({"--vary", "B1=a:2:3"}, "--vary B1");
    refused({"--vary", "B1=1:2:1"}, "the count is 1; expected a whole number from 2");
    refused({"--vary", "B1=1:2:2.5"}, "the count is 2.5; expected a whole number from 2");
    refused({"--vary", "B1=1:1:3"}, "expected two different ends");
    refused({"--vary", "B3=1:2:3"},
            "unknown parameter or variable 'B3'; expected one of B1, B2, x1, x2, z, run.h");
    refused({"--vary", "B1=1:2:3", "--vary", "B1=1:2:4"}, "--vary B1 is given twice");
    refused({"--vary", "B1=1:2:1000000", "--vary", "B2=1:2:1000"}, "the map has 1e+09 points");
    refused({"--vary", "B1=1:2:3", "--what", "jump"}, "did you mean 'jumps'?");
    refused({"--vary", "B1=1:2:3", "--at", "y=1"}, "unknown variable 'y'");
    refused({"--vary", "x1=1:2:3", "--at", "x1=1"}, "x1 is varied by --vary; expected it in one");
    refused({"--vary", "B1=1:2:3", "--at", "x1=1,x1=2"}, "--at x1=1,x1=2: x1 stands there twice");
    refused({"--vary", "B1=1:2:3", "--set", "B1=1"}, "--set B1=1: B1 is varied by --vary");
    refused({"--vary", "run.h=1:2:3", "--set", "h=1"}, "--set h=1: run.h is varied by --vary");
    refused({"--vary", "run.h=1:2:3", "--h", "1"}, "--h 1: run.h is varied by --vary");
    refused({"--vary", "B1=1:2:3", "--threads", "two"},
            "--threads is 'two'; expected a whole number");
    refused({"--vary", "B1=1:2:3", "--threads", "-1"}, "--threads is -1; expected a number from 1");
    refused({"--vary", "B1=1:2:3", "-o", "map.txt"}, "expected a name that ends in .csv or .h5");
    refused({"--vary", "B1=1:2:3", "--vary", "B2=1:2:3", "--vary", "x1=1:2:3", "--plot", "a.svg"},
            "--plot draws one or two --vary but there are 3");
  }

  TEST_CASE("a point where the model is wrong is named, the first one whatever the threads") {
    const Folder folder;
    folder.write(
        "inverse.toml",
        "[parameters]\np = 1\n[variables]\nx = 1\n[system]\nA = [[\"1/p\"]]\n[run]\nt = [0, 1]\n");
    for (const char* threads : {"1", "2"}) {
      const Outcome run = perp_program(
          folder, {"map", "inverse.toml", "--vary", "p=-1:1:201", "--threads", threads});
      CHECK(run.status == 2);
      CHECK(run.out.empty());
      CHECK(run.err.find("at p = 0: inverse.toml:6:") != std::string::npos);
    }
  }
}
