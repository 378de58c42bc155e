#include <doctest/doctest.h>
#include <fmt/format.h>
#include <chrono>

#include <perp/tests/cli/enclosures/enclosure_check.hpp>
#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Csv;
using perp::test::Decimal;
using perp::test::EnclosureCheck;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

json reference(const std::string& name) {
  return json::parse(read_text(perp::test::data_path("/enclosures/") + name + ".json"));
}

struct Tables {
  Csv rows{}, events{};
  Outcome outcome{};
};

/// Encloses the model of a case with the defaults.
Tables enclose(const json& of) {
  const Folder folder;
  folder.write("case.toml", of["toml"]);
  std::string times;
  for (const auto& time : of["times"]) times += time.get<std::string>() + "\n";
  folder.write("times", times);
  Tables tables;
  tables.outcome = perp_program(folder, {"enclose", "case.toml", "--times", "times", "-o",
                                         "rows.csv", "--events", "events.csv"});
  tables.rows = parse_csv(read_text(folder / "rows.csv"));
  tables.events = parse_csv(read_text(folder / "events.csv"));
  return tables;
}

void check_case(const std::string& name) {
  CAPTURE(name);
  const json of = reference(name);
  const Tables tables = enclose(of);
  CAPTURE(tables.outcome.err);
  CHECK(tables.outcome.status == (of["expect"].contains("lost") ? 3 : 0));
  for (const std::string& wrong : EnclosureCheck(of, tables.rows, tables.events)()) {
    CAPTURE(wrong);
    CHECK(wrong.empty());
  }
}

/// Rows with every bound moved by a share of the width, or by a number.
Csv moved(Csv rows, const Decimal& share_of_width, const Decimal& by) {
  for (auto& row : rows.rows)
    for (std::size_t k = 0; k + 1 < rows.header.size(); ++k) {
      if (!rows.header[k].ends_with("_lo") || row[k].empty()) continue;
      const Decimal low(row[k]), high(row[k + 1]);
      row[k] = Decimal(low + share_of_width * (high - low) + by).str(50);
      row[k + 1] = Decimal(high - share_of_width * (high - low) + by).str(50);
    }
  return rows;
}

}  // namespace

TEST_SUITE("enclosure cases") {
  TEST_CASE("smooth systems are enclosed sharply") {
    for (const char* name : {"lorenz_5", "lorenz_20", "lorenz_box", "rossler_10",
                             "van_der_pol_100", "van_der_pol_box"})
      check_case(name);
  }

  TEST_CASE("switches, sliding and dips of single points are enclosed to rounding") {
    for (const char* name :
         {"dip", "s000_canonical", "s001_ex1_dead_zone", "s001_ex1_relay", "s001_ex2_tacoma",
          "s001_ex3_water_level", "s001_ex3_water_level_11", "s001_ex4_dry_friction",
          "s001_ex4_dry_friction_100", "s001_ex5_hysteresis_mid", "s001_ex6_sofc_standin",
          "s000_stick_slip", "s000_predator_prey", "relay_feedback"})
      check_case(name);
  }

  TEST_CASE("equations of index 2, resets, and several solutions") {
    for (const char* name : {"s003_crossing", "s003_repulsive", "s003_variant37", "s003_nonunique",
                             "s000_bouncing_ball"})
      check_case(name);
  }

  TEST_CASE("a proof ends where no continuous solution goes on, and says so") {
    check_case("s003_jump");
  }

  TEST_CASE("boxes are enclosed through their switches") {
    for (const char* name : {"s001_ex1_relay_box", "s001_ex2_tacoma_box",
                             "s001_ex4_dry_friction_box", "s001_ex4_dry_friction_box_wide"})
      check_case(name);
  }

  TEST_CASE("boxes that need pieces are enclosed nearly as narrow as the hull of their members") {
    for (const char* name : {"s000_canonical_box", "s000_predator_prey_box", "s000_stick_slip_box",
                             "s001_ex3_water_level_box", "s001_ex4_dry_friction_mu",
                             "s001_ex6_sofc_standin_gain", "s003_crossing_box",
                             "s003_variant37_box", "van_der_pol_mu", "weak_sliding"})
      check_case(name);
  }

  TEST_CASE("algebraic equations with two roots are followed along the one that goes on") {
    for (const char* name : {"s004_filippov_dae", "s004_filippov_dae_box"}) check_case(name);
  }

  TEST_CASE("jumps of a box are passed while a kink is open") {
    check_case("s001_ex5_hysteresis_piece");
  }

  TEST_CASE("the check sees rows that are too narrow, beside, too wide, missing or over-claimed") {
    const json of = reference("van_der_pol_box");
    const Tables tables = enclose(of);
    const auto wrong = [&](const Csv& rows) { return EnclosureCheck(of, rows, tables.events)(); };
    CHECK(wrong(tables.rows).empty());
    CHECK_FALSE(wrong(moved(tables.rows, Decimal("0.1"), 0)).empty());
    CHECK_FALSE(wrong(moved(tables.rows, 0, Decimal("0.01"))).empty());
    CHECK_FALSE(wrong(moved(tables.rows, -1, 0)).empty());
    Csv fewer = tables.rows;
    fewer.rows.erase(fewer.rows.begin() + 3);
    CHECK_FALSE(wrong(fewer).empty());
    Csv vague = tables.rows;
    vague.rows[2][vague.column("flag")] = "all";
    CHECK_FALSE(wrong(vague).empty());
    json several = of;
    several["expect"]["flag"] = "all";
    CHECK_FALSE(EnclosureCheck(several, tables.rows, tables.events)().empty());
  }

  TEST_CASE("an event has to lie in an interval of its type") {
    json of = reference("van_der_pol_box");
    const Tables tables = enclose(of);
    for (auto& member : of["members"])
      member["events"] = json::array({{{"t", "2.5"}, {"type", "crossing"}}});
    Csv events = tables.events;
    CHECK_FALSE(EnclosureCheck(of, tables.rows, events)().empty());
    events.rows.push_back({"2.4999999999", "2.5", "0", "crossing", "", "", "", "unique", ""});
    CHECK(EnclosureCheck(of, tables.rows, events)().empty());
    events.rows[0][7] = "possible";
    CHECK_FALSE(EnclosureCheck(of, tables.rows, events)().empty());
    events.rows[0] = {"2.6", "2.7", "0", "crossing", "", "", "", "unique", ""};
    CHECK_FALSE(EnclosureCheck(of, tables.rows, events)().empty());
  }
}
