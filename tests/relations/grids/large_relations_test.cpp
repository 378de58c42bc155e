#include <doctest/doctest.h>
#include <algorithm>
#include <string>

#include <perp/tests/from_environment.hpp>
#include <perp/tests/relations/grids/large_relations.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using namespace perp::relations;

namespace {

const LargeRelation& relation_of(const std::string& name) {
  const auto found = std::ranges::find_if(large_relations(), [&](const LargeRelation& entry) { return entry.name == name; });
  REQUIRE(found != large_relations().end());
  return *found;
}

}  // namespace

// PERP_LARGE_MODELS=N: as many models.
TEST_SUITE_BEGIN("relations/grids");

TEST_CASE("steps of membranes, bodies, strings and rows of blocks solve their rows and laws, in other units, orders, words and forms too") {
  const unsigned count = test::from_environment("PERP_LARGE_MODELS", test::is_sanitized ? 1U : 3U);
  for (unsigned seed = 4; seed < 4 + count; ++seed) {
    LargeSubject subject(seed);
    for (const LargeRelation& relation : large_relations()) {
      const Judgement judgement = judge(relation, subject);
      INFO("seed ", seed, ", ", relation.name, ": ", judgement.what);
      CHECK(judgement.verdict != Verdict::different);
    }
  }
}

TEST_CASE("large models that contradicted a relation, or took minutes, hold it") {
  struct Case {
    const char* relation;
    unsigned seed;
  };
  const Case cases[] = {
      {"free_units", 3},  // bounds of factors that exchanges of rows had spoiled: thousands of modes at the start
      {"order", 4},       // equations of a string in another order than its nodes had the bands of a full matrix
      {"time", 201},      // a state of a fine string was said to jump
      {"decimal_units", 9000048},  // steps that were too short to tell the end of a sliding made all changes of a step: the rest was whole
  };
  for (const Case& one : cases) {
    LargeSubject subject(one.seed);
    const Judgement judgement = judge(relation_of(one.relation), subject);
    INFO(one.relation, ", seed ", one.seed, ": ", judgement.what);
    CHECK(judgement.verdict == Verdict::same);
  }
}

TEST_CASE("a large model by families, by entries and by files is the same, and one number of it that is another one is a difference") {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const LargeDraw draw = random_large(seed);
    const LargeRun here = run_large(text(draw.model, Form::entries), {});
    LargeModel other = draw.model;
    other.b[other.b.size() / 2] += 1;
    CHECK(fault_of(draw.model, here, true) == "");
    CHECK_FALSE(fault_of(other, here, true).empty());
    CHECK_FALSE(difference(draw.model, here, run_large(text(other, Form::entries), {}), same_places(other.n())).empty());
  }
}

TEST_SUITE_END();
