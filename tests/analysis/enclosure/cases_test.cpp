#include <doctest/doctest.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureEvent;
using enclosure::EnclosureRow;
using enclosure::Flag;
using enclosure::Interval;

namespace {

using nlohmann::json;

/// A reference problem: its model, and what is known of its solutions to 20 digits and more.
struct Case {
  explicit Case(const std::filesystem::path& path) {
    std::ifstream stream(path);
    data = json::parse(stream);
    model = enclosure::read_exact_model(data["toml"].get<std::string>(), path.filename().string());
    for (const json& t : data["times"]) options.times.push_back(std::stod(t.get<std::string>()));
    until = std::stod(data["expect"]["until"].get<std::string>());
    accuracy = enclosure::enclose_decimal(data["accuracy"].get<std::string>());
  }

  [[nodiscard]] Interval member(const json& number) const {
    return enclosure::enclose_decimal(number.get<std::string>()) +
           enclosure::symmetric(accuracy.hi);
  }

  json data;
  enclosure::ExactModel model;
  EncloseOptions options;
  double until = 0;
  Interval accuracy;
};

/// Names of events that are the same in rows and references.
std::string kind(const std::string& type) {
  return type == "kink" || type == "mode_change" ? "crossing" : type;
}

std::vector<const EnclosureRow*> rows_at(const Enclosure& result, double t) {
  std::vector<const EnclosureRow*> rows;
  for (const EnclosureRow& row : result.rows)
    if (row.t == t) rows.push_back(&row);
  return rows;
}

/// Algebraic variables may jump at an event: there they are not judged.
bool holds(const Case& known, const EnclosureRow& row, const json& states, bool near_event) {
  const auto& columns = known.data["columns"];
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto name = columns[c].get<std::string>();
    const bool differential =
        known.data["toml"].get<std::string>().find("der(" + name + ")") != std::string::npos;
    const auto& names = known.model.variables;
    const auto at =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    REQUIRE(at < row.box.size());
    if (near_event && !differential) continue;
    if (!intersection(row.box[at], known.member(states[c]))) return false;
  }
  return true;
}

void check_members(const Case& known, const Enclosure& result) {
  for (std::size_t k = 0; k < known.options.times.size(); ++k) {
    const double t = known.options.times[k];
    const auto rows = rows_at(result, t);
    CAPTURE(t);
    if (t <= known.until) CHECK_FALSE(rows.empty());
    for (const json& member : known.data["members"]) {
      const bool near_event =
          std::any_of(member["events"].begin(), member["events"].end(), [&](const json& event) {
            return std::abs(std::stod(event["t"].get<std::string>()) - t) < 1e-9;
          });
      const bool inside = rows.empty() || std::any_of(rows.begin(), rows.end(), [&](auto* row) {
                            return holds(known, *row, member["states"][k], near_event);
                          });
      CHECK(inside);
    }
  }
}

void check_flags(const Case& known, const Enclosure& result) {
  const auto flag = known.data["expect"]["flag"].get<std::string>();
  for (const EnclosureRow& row : result.rows) {
    if (flag == "unique" && row.t <= known.until) CHECK(row.flag == Flag::unique);
    if (flag == "all" && row.t > 0) CHECK(row.flag == Flag::all);
  }
}

/// The event number `order` of every member lies in that of the rows.
void check_events(const Case& known, const Enclosure& result) {
  for (const json& member : known.data["members"]) {
    for (const json& event : member["events"]) {
      if (std::stod(event["t"].get<std::string>()) > known.until) continue;
      const auto type = kind(event["type"].get<std::string>());
      const Interval t = known.member(event["t"]);
      CAPTURE(type);
      CAPTURE(t.lo);
      CHECK(
          std::any_of(result.events.begin(), result.events.end(), [&](const EnclosureEvent& found) {
            return kind(found.type) == type && intersection(found.t, t).has_value();
          }));
    }
  }
}

/// No wider than the case allows, 2 % of a column's largest hull apart.
void check_widths(const Case& known, const Enclosure& result) {
  const double factor = known.data["limits"]["factor"], absolute = known.data["limits"]["absolute"];
  const auto& columns = known.data["columns"];
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto& names = known.model.variables;
    const auto at = static_cast<std::size_t>(
        std::find(names.begin(), names.end(), columns[c].get<std::string>()) - names.begin());
    const auto hull_width = [&](const json& row) {
      return std::stod(row[c][1].get<std::string>()) - std::stod(row[c][0].get<std::string>());
    };
    double largest = 0;
    for (const json& row : known.data["hull"]) largest = std::max(largest, hull_width(row));
    const bool differential =
        known.data["toml"].get<std::string>().find("der(" + names[at] + ")") != std::string::npos;
    for (std::size_t k = 0; k < known.options.times.size() && differential; ++k) {
      const auto rows = rows_at(result, known.options.times[k]);
      if (rows.empty()) continue;
      Interval all = rows.front()->box[at];
      for (const EnclosureRow* row : rows) all = hull(all, row->box[at]);
      CAPTURE(known.options.times[k]);
      CHECK(enclosure::width(all) <=
            factor * hull_width(known.data["hull"][k]) + absolute + 0.02 * largest);
    }
  }
}

/// Those that are proved to the end, or to where they must be lost, in a second or less.
const std::vector<std::string> proved{
    "dip",
    "graze_box",
    "graze_point",
    "relay_feedback",
    "relay_feedback_box",
    "repulsive_start",
    "s000_bouncing_ball",
    "s000_bouncing_ball_box",
    "s000_canonical",
    "s000_predator_prey",
    "s000_stick_slip",
    "s001_ex1_dead_zone",
    "s001_ex1_relay",
    "s001_ex1_relay_box",
    "s001_ex2_tacoma",
    "s001_ex2_tacoma_box",
    "s001_ex3_water_level",
    "s001_ex3_water_level_11",
    "s001_ex4_dry_friction",
    "s001_ex4_dry_friction_box",
    "s001_ex5_hysteresis_mid",
    "s001_ex6_sofc_standin",
    "s003_crossing",
    "s003_jump",
    "s003_nonunique",
    "s003_repulsive",
    "s003_variant37",
    "two_at_once",
};

Case open_case(const std::string& name) {
  return Case(test::data_path("/enclosures/") + name + ".json");
}

}  // namespace

TEST_SUITE("analysis/enclosure/cases") {
  TEST_CASE("every known solution lies in the rows, its events in their times, within the widths") {
    for (const std::string& name : proved) {
      CAPTURE(name);
      const Case known = open_case(name);
      const Enclosure result = known.model.enclose(known.options);
      check_members(known, result);
      check_flags(known, result);
      check_events(known, result);
      check_widths(known, result);
      if (known.data["expect"].contains("lost")) {
        const json& lost = known.data["expect"]["lost"];
        REQUIRE(result.lost.has_value());
        CHECK(intersection(result.lost->t, Interval(std::stod(lost[0].get<std::string>()),
                                                    std::stod(lost[1].get<std::string>()))));
      } else {
        CHECK_FALSE(result.lost.has_value());
      }
    }
  }

  TEST_CASE("tubes hold the known solutions at all times, without gaps") {
    for (const char* name : {"s001_ex4_dry_friction", "s001_ex1_relay_box", "s001_ex2_tacoma_box",
                             "s000_bouncing_ball", "dip"}) {
      CAPTURE(name);
      Case known = open_case(name);
      known.options.tube = true;
      const Enclosure result = known.model.enclose(known.options);
      REQUIRE_FALSE(result.lost.has_value());
      std::map<int, double> ends;
      bool any_gap = false;
      for (const auto& row : result.tube) {
        const auto [end, is_new] = ends.try_emplace(row.branch, known.options.times[0]);
        any_gap = any_gap || row.from > end->second;
        end->second = std::max(end->second, row.to);
      }
      CHECK_FALSE(any_gap);
      for (std::size_t k = 0; k < known.options.times.size(); ++k) {
        for (const json& member : known.data["members"]) {
          const bool inside = std::any_of(
              result.tube.begin(), result.tube.end(), [&](const enclosure::TubeRow& row) {
                EnclosureRow box;
                box.box = row.box;
                return row.from <= known.options.times[k] && known.options.times[k] <= row.to &&
                       holds(known, box, member["states"][k], true);
              });
          CHECK(inside);
        }
      }
    }
  }

  TEST_CASE("the number of threads changes no bit") {
    Case known = open_case("s001_ex3_water_level_box");
    const Enclosure one = known.model.enclose(known.options);
    known.options.threads = 3;
    const Enclosure three = known.model.enclose(known.options);
    REQUIRE(one.pieces >= 4);
    REQUIRE(one.rows.size() == three.rows.size());
    for (std::size_t k = 0; k < one.rows.size(); ++k) CHECK(one.rows[k].box == three.rows[k].box);
  }
}
