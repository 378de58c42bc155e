#include <doctest/doctest.h>
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <perp/tests/paths.hpp>
#include <perp/tests/relations/containment.hpp>
#include <perp/tests/relations/models/generate.hpp>
#include <perp/tests/relations/relations.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using namespace perp::relations;

TEST_SUITE("relations/enclosures") {
  TEST_CASE("enclosures of random models hold the located run, in any units, order and company") {
    constexpr unsigned models = test::is_sanitized ? 20 : 150;
    const auto relation =
        std::find_if(relations::relations().begin(), relations::relations().end(),
                     [](const Relation& entry) { return entry.name == std::string("enclosures"); });
    REQUIRE(relation != relations::relations().end());
    unsigned judged = 0;
    for (unsigned seed = 1; seed <= models; ++seed) {
      Subject subject(random_model(seed));
      const Judgement judgement = judge(*relation, subject, SchemeName::located);
      INFO("seed ", seed, ": ", judgement.what, "\n", judgement.other);
      CHECK(judgement.verdict != Verdict::different);
      judged += judgement.verdict == Verdict::same ? 1U : 0U;
    }
    CHECK(judged >= models / 3);
  }

  // Some of the points of perp_containment, which runs as many as one likes.
  TEST_CASE("random points of a set, followed for themselves, lie in its rows") {
    for (const char* name : {"graze_box", "s001_ex4_dry_friction_box", "s003_crossing_box"}) {
      CAPTURE(name);
      std::ifstream stream(test::data_path("/enclosures/") + name + ".json");
      const nlohmann::json problem = nlohmann::json::parse(stream);
      std::vector<double> times;
      for (const auto& t : problem["times"]) times.push_back(std::stod(t.get<std::string>()));
      ContainmentOptions options;
      options.points = test::is_sanitized ? 5 : 100;
      const Containment found = contained(problem["toml"].get<std::string>(), times, options);
      CAPTURE(found.first);
      CHECK(found.misses == 0);
      CHECK(found.refused == 0);
      CHECK(found.states >= options.points * static_cast<long>(times.size()) / 2);
    }
  }
}
