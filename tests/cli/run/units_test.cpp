#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/hdf5_file.hpp>
#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Csv;
using perp::test::Folder;
using perp::test::Hdf5;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

TEST_SUITE("cli/units") {
  const std::vector<std::string> ball{"run", "ball_on_table", "--scheme", "located", "--quiet"};

  TEST_CASE("the units of variables stand in the JSON beside a CSV and in the datasets of states of an HDF5 file") {
    const Folder folder;
    std::vector<std::string> csv = ball;
    csv.insert(csv.end(), {"-o", "b.csv"});
    REQUIRE(perp_program(folder, csv).status == 0);
    CHECK(json::parse(read_text(folder / "b.csv.json"))["units"] == json{{"h", "m"}, {"v", "m/s"}});
    std::vector<std::string> hdf5 = ball;
    hdf5.insert(hdf5.end(), {"-o", "b.h5"});
    REQUIRE(perp_program(folder, hdf5).status == 0);
    const Hdf5 file(folder / "b.h5");
    for (const char* set : {"x", "events/x_before", "events/x_after"}) {
      const std::vector<std::string> units = file.texts(set, "units");
      REQUIRE(units.size() == file.size(set)[1]);
      CHECK(units[0] == "m");
      CHECK(units[1] == "m/s");
    }
  }

  TEST_CASE("a table of events has the states on both sides: an impact raises the velocity and keeps the height") {
    const Folder folder;
    std::vector<std::string> run = ball;
    run.insert(run.end(), {"--events", "e.csv", "-o", "b.csv"});
    REQUIRE(perp_program(folder, run).status == 0);
    const Csv events = parse_csv(read_text(folder / "e.csv"));
    bool has_jump = false;
    for (std::size_t k = 0; k < events.rows.size(); ++k) {
      if (events.text(k, "type") != "jump") continue;
      has_jump = true;
      CHECK(events.number(k, "h_before") == events.number(k, "h_after"));
      CHECK(events.number(k, "v_before") < events.number(k, "v_after"));  // the table pushes upward
    }
    CHECK(has_jump);
  }

  TEST_CASE("a model without units has none in its files") {
    const Folder folder;
    REQUIRE(perp_program(folder, {"run", "chatter", "-o", "c.csv", "--quiet"}).status == 0);
    CHECK_FALSE(json::parse(read_text(folder / "c.csv.json")).contains("units"));
  }
}
