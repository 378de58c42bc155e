#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureEvent;
using enclosure::ExactModel;
using enclosure::Interval;

namespace {

Enclosure enclosed(const ExactModel& model, const std::vector<double>& times, int pieces) {
  EncloseOptions options;
  options.times = times;
  options.pieces = pieces;
  return model.enclose(options);
}

}  // namespace

TEST_SUITE("analysis/enclosure/pieces/near_surfaces") {
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
