#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureEvent;
using enclosure::EnclosureRow;
using enclosure::ExactModel;
using enclosure::Flag;
using enclosure::Interval;

namespace {

Enclosure enclosed(const ExactModel& model, const std::vector<double>& times, int pieces) {
  EncloseOptions options;
  options.times = times;
  options.pieces = pieces;
  return model.enclose(options);
}

}  // namespace

TEST_SUITE("analysis/enclosure/pieces/bisection") {
  // Onto the unit circle and along it: the angle grows by 1/2 whatever a is. Its linear share is 0,
  // what it adds to the curved window of the entry is not.
  TEST_CASE("intervals without a linear share are bisected too, where the others are in vain") {
    const ExactModel model = enclosure::read_exact_model(
        R"toml(
[parameters]
a = "[1.45, 1.55]"
[variables]
x = "[1.48, 1.52]"
y = "[0.98, 1.02]"
[model]
equations = ["der(x) = -0.5*y - a*x*sign(x^2 + y^2 - 1)", "der(y) = 0.5*x - a*y*sign(x^2 + y^2 - 1)"]
[run]
t = [0, 2]
)toml",
        "circle.toml");
    const Enclosure found = enclosed(model, {0, 0.5, 1, 2}, 64);
    REQUIRE(!found.lost);
    const double least = std::atan(0.98 / 1.52), most = std::atan(1.02 / 1.48);
    for (const EnclosureRow& row : found.rows) {
      CHECK(row.flag == Flag::unique);
      if (row.t < 0.5) continue;
      const double low = std::cos(most + row.t / 2), high = std::cos(least + row.t / 2);
      CHECK(row.box[0].lo <= low + 1e-12);
      CHECK(row.box[0].hi >= high - 1e-12);
      CHECK(enclosure::width(row.box[0]) < 1.5 * (high - low));
    }
  }

  // The dead zone of a clamp of slope 1000: its corners are 0.001 apart, members 0.02.
  TEST_CASE(
      "corners that are nearer to each other than members of a set are passed one after the "
      "other") {
    for (const int slope : {1000, -1000}) {
      const auto text = [slope](const std::string& x, const std::string& v) {
        const std::string k = std::to_string(slope);
        return "[variables]\nx = " + x + "\nv = " + v +
               "\n[model]\nequations = [\"der(x) = v\", \"der(v) = -max(min(" +
               (slope > 0 ? k + "*(x - 1)" : k + "*(1 - x)") + ", 1), 0) + max(min(" +
               (slope > 0 ? k + "*(-x - 1)" : k + "*(1 + x)") + ", 1), 0)\"]\n[run]\nt = [0, 20]\n";
      };
      const std::vector<double> times{0, 1, 1.3, 2, 2.41, 3, 5, 10, 15, 20};
      const Enclosure set =
          enclosed(enclosure::read_exact_model(text("\"[2.495, 2.505]\"", "\"[-0.505, -0.495]\""),
                                               "zone.toml"),
                   times, 8);
      REQUIRE(!set.lost);
      REQUIRE(set.rows.size() == times.size());
      CHECK(set.events.size() == 16);
      for (const EnclosureEvent& event : set.events) CHECK(event.unique);
      for (const char* const x : {"2.495", "2.5", "2.505"})
        for (const char* const v : {"-0.505", "-0.5", "-0.495"}) {
          const Enclosure point =
              enclosed(enclosure::read_exact_model(text(x, v), "zone.toml"), times, 1);
          REQUIRE(!point.lost);
          REQUIRE(point.rows.size() == times.size());
          for (std::size_t k = 0; k < times.size(); ++k)
            for (std::size_t i = 0; i < 2; ++i)
              CHECK(set.rows[k].box[i].contains(point.rows[k].box[i]));
          REQUIRE(point.events.size() == set.events.size());
          for (std::size_t k = 0; k < set.events.size(); ++k)
            CHECK(set.events[k].t.contains(point.events[k].t));
        }
    }
  }
}
