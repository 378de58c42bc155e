#include <doctest/doctest.h>
#include <algorithm>
#include <string>

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
}
