#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/from_environment.hpp>
#include <perp/tests/paths.hpp>
#include <perp/tests/relations/known_differences.hpp>
#include <perp/tests/relations/models/generate.hpp>
#include <perp/tests/relations/models/transform.hpp>
#include <perp/tests/relations/relations.hpp>
#include <perp/tests/relations/shrink.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using namespace perp::relations;

namespace {

constexpr unsigned usual = test::is_sanitized ? 20 : 400;

/// How many models: PERP_RELATION_MODELS in the environment, else as many as a minute allows.
unsigned models() { return test::from_environment("PERP_RELATION_MODELS", usual); }

/// How many models may differ, see known_differences.hpp.
unsigned allowed(const Relation& relation, SchemeName scheme) {
  for (const KnownDifference& known : known_differences())
    if (known.relation == relation.name && known.scheme == to_string(scheme))
      return models() * known.per_thousand / 1000;
  return 0;
}

const Relation& relation_of(const std::string& name) {
  const auto found = std::find_if(relations::relations().begin(), relations::relations().end(),
                                  [&](const Relation& entry) { return entry.name == name; });
  REQUIRE(found != relations::relations().end());
  return *found;
}

/// No model of the suite contradicts the relation beyond what is known, and enough of them can be
/// judged by it.
void check(const std::string& name, SchemeName scheme, RandomModel (*draw)(unsigned) = random_model,
           unsigned count = models()) {
  const Relation& relation = relation_of(name);
  unsigned judged = 0, ties = 0, different = 0;
  std::string list;
  for (unsigned seed = 1; seed <= count; ++seed) {
    Subject subject(draw(seed));
    const Judgement judgement = judge(relation, subject, scheme);
    judged += judgement.verdict == Verdict::same ? 1 : 0;
    ties += judgement.verdict == Verdict::tie ? 1 : 0;
    if (judgement.verdict != Verdict::different) continue;
    ++different;
    list += "seed " + std::to_string(seed) + ": " + judgement.what + "\n";
  }
  INFO(name, ", ", to_string(scheme), "\n", list);
  CHECK(different <= allowed(relation, scheme));
  CHECK(judged >= count / 4);
  CHECK(ties <= 1 + count / 10);
}

void check_schemes(const std::string& name) {
  check(name, SchemeName::backward_euler);
  check(name, SchemeName::located);
}

}  // namespace

TEST_SUITE_BEGIN("relations/random_models");

TEST_CASE("numbers of every quantity by powers of two do not change a run") {
  check_schemes("units");
}

TEST_CASE("numbers of every quantity by powers of ten do not change a run") {
  check_schemes("decimal_units");
}

TEST_CASE("what stands beside a model uncoupled does not change its run") {
  check_schemes("company");
}

TEST_CASE("many states behind a model, which steps by entries, do not change its run") {
  check("chain", SchemeName::backward_euler, random_model, models() / 8);
}

TEST_CASE("matrices by rows, by entries and with a parameter that is bound anew are the same to the bit") {
  check("system", SchemeName::backward_euler, random_model, models() / 4);
}

TEST_CASE("models that contradicted a relation hold it") {
  struct Case {
    const char* relation;
    SchemeName scheme;
    unsigned seed;
    RandomModel (*draw)(unsigned) = random_model;
  };
  const Case cases[] = {
      {"units", SchemeName::backward_euler, 670},    // a pivot that the units chose
      {"units", SchemeName::backward_euler, 20626},  // errors of the row of another law
      {"decimal_units", SchemeName::located, 44070},  // w moved by rounding of a null vector
      {"company", SchemeName::backward_euler, 33580},
      {"company", SchemeName::backward_euler, 71854},  // the end of a mode was not found to rounding
      {"time", SchemeName::located, 46664},  // the last row asked for was one ulp before the end
      {"decimal_units", SchemeName::backward_euler, 34702},  // a change of 0 that steps did not reach
      {"words", SchemeName::backward_euler, 31426},  // a reset over two kinks
      {"order", SchemeName::backward_euler, 33216},  // two laws that change alike at once
      {"decimal_units", SchemeName::located, 5007498},  // modes that the argument of a law excludes took all points
      {"words", SchemeName::located, 7000696},
      {"words", SchemeName::located, 7002856},  // min(max(w, l), u): the outer law reads the inner one
      {"order", SchemeName::backward_euler, 6001737},  // an algebraic variable that passes 0 at the end of a mode
      {"offsets", SchemeName::backward_euler, 8300044},  // the mode before held another of several multipliers
      // Steps of a mode without units; a sliding binary at the end of its range.
      {"units", SchemeName::backward_euler, 66, random_hybrid_model},
      {"schemes", SchemeName::backward_euler, 67, random_hybrid_model},
      // A start that a constraint excludes: told by a warning where a law stands for the binary.
      {"words", SchemeName::backward_euler, 5202593, random_hybrid_model},
  };
  for (const Case& one : cases) {
    Subject subject(one.draw(one.seed));
    const Judgement judgement = judge(relation_of(one.relation), subject, one.scheme);
    INFO(one.relation, ", seed ", one.seed, ": ", judgement.what);
    CHECK(judgement.verdict == Verdict::same);
  }
}

TEST_CASE("where solutions of steps are several, and a run takes one of them, it says so") {
  struct Case {
    const char* relation;
    unsigned seed;
  };
  const Case cases[] = {
      {"time", 8300044},  // two relays of one surface, of which one holds the state
      {"time", 6201380},  // several multipliers of one state: the mode before holds one
  };
  for (const Case& one : cases) {
    Subject subject(random_model(one.seed));
    const Judgement judgement = judge(relation_of(one.relation), subject, SchemeName::backward_euler);
    INFO(one.relation, ", seed ", one.seed, ": ", judgement.what);
    CHECK(judgement.verdict == Verdict::choice);
  }
}

TEST_CASE("the order of variables, equations and laws does not change a run") {
  check_schemes("order");
}

TEST_CASE("equivalent statements have the same run") { check_schemes("words"); }

TEST_CASE("backward Euler tends to the located solution, and that to itself") {
  check_schemes("schemes");
}

TEST_CASE("steps are among the enumerated solutions, and solvers answer among them") {
  check("solvers", SchemeName::backward_euler);
}

TEST_CASE("models with binaries, constraints and inputs hold the relations of all models") {
  for (const char* name : {"units", "decimal_units", "company", "order", "words", "schemes", "time"})
    for (const SchemeName scheme : {SchemeName::backward_euler, SchemeName::located})
      check(name, scheme, random_hybrid_model, models() / 8);
}

TEST_CASE("a run goes on from its own states as it did") { check_schemes("time"); }

TEST_CASE("rows of every K-th step, and the runs of a sweep, are those of a run alone to the bit") {
  for (const char* name : {"every", "sweep"})
    for (const SchemeName scheme : {SchemeName::backward_euler, SchemeName::located}) {
      check(name, scheme, random_model, models() / 8);
      check(name, scheme, random_hybrid_model, models() / 16);
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("relations/roots");

TEST_CASE("what is called solved is at a root, from guesses far away") {
  check_schemes("roots");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("relations/zoo");

TEST_CASE("units, company and order do not change the runs of the zoo, which can be stopped") {
  ReadOptions known;
  known.hybrid = true;
  for (const std::string& name : test::thinned(zoo(), 3)) {
    Model model = read_model(find_model(name), {}, known);
    if (model.hybrid) continue;  // relations write models of laws
    if (model.run.h == 0) model.run.h = (model.run.span.end - model.run.span.start) / 1000;
    model.run.span.end = std::min(model.run.span.end, model.run.span.start + 100 * model.run.h);
    Subject subject(model, 1);
    for (const Relation& relation : relations_of_read_models()) {
      if (relation.name == std::string("schemes")) continue;  // takes minutes: scripts/relations
      const Judgement judgement = judge(relation, subject, SchemeName::backward_euler);
      INFO(name, ", ", relation.name, ": ", judgement.what);
      CHECK(judgement.verdict != Verdict::different);
    }
  }
}

namespace {

/// Judges every hard model, a number of draws each, by the relations of this kind in both schemes.
void check_hard_models(const char* kind, unsigned draws) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_path("/hard_models")))
    if (entry.path().stem() != "robertson") files.push_back(entry.path());  // that takes seconds a run
  std::ranges::sort(files);
  for (const std::filesystem::path& file : test::thinned(files, 3)) {
    const std::string name = file.stem().string();
    Model model = read_model(file.string());
    if (model.run.h == 0) model.run.h = (model.run.span.end - model.run.span.start) / 1000;
    for (unsigned draw = 0; draw < draws; ++draw) {
      Subject subject(model, draw);
      for (const Relation& relation : relations_of_read_models()) {
        if (std::string(relation.name).find(kind) == std::string::npos) continue;
        for (const SchemeName scheme : {SchemeName::backward_euler, SchemeName::located}) {
          const Judgement judgement = judge(relation, subject, scheme);
          INFO(name, ", draw ", draw, ", ", relation.name, ", ", to_string(scheme), ": ",
               judgement.what);
          CHECK(judgement.verdict != Verdict::different);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("hard models run alike in units of 2^-30 to 2^30 and of 1e-9 to 1e9, in both schemes") {
  check_hard_models("units", test::is_sanitized ? 1U : 3U);
}

TEST_CASE("hard models that are stopped go on as they would have, in both schemes") { check_hard_models("time", 1); }

TEST_SUITE_END();

TEST_SUITE_BEGIN("relations/generator");

TEST_CASE("a random model is a model: its text is read, with as many variables") {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const RandomModel model = random_model(seed);
    INFO(text(model));
    const Model read = read_model_text(text(model), "random.toml");
    REQUIRE(read.variables.size() == model.variables.size());
    for (std::size_t j = 0; j < model.variables.size(); ++j)
      CHECK(read.variables[j].start == model.variables[j].start);
  }
}

TEST_CASE("units there and back by powers of two are the same text") {
  std::mt19937 random(1);
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const RandomModel model = random_model(seed);
    Units units = binary_units(model, random, 10);
    const RandomModel other = in_units(model, units);
    for (std::vector<double>* list :
         {&units.variables, &units.equations, &units.arguments, &units.multipliers})
      for (double& factor : *list) factor = 1 / factor;
    units.time = 1 / units.time;
    CHECK(text(in_units(other, units)) == text(model));
  }
}

TEST_CASE("a change of one coefficient is found as a difference") {
  unsigned found = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const RandomModel model = random_model(seed);
    std::mt19937 random(seed);
    const Outcome here = run(text(model), SchemeName::backward_euler);
    const Outcome there = run(text(perturbed(model, random, 1e-3)), SchemeName::backward_euler);
    const Correspondence by = identity(static_cast<int>(model.variables.size()));
    found += difference(here, there, by, {1e-9, 1e-9}).empty() ? 0U : 1U;
  }
  CHECK(found >= 18);
}

TEST_CASE("shrinking keeps what fails and leaves out what does not matter") {
  const auto has_sign = [](const RandomModel& model) {
    return std::any_of(model.laws.begin(), model.laws.end(),
                       [](const RandomLaw& law) { return law.kind == LawKind::sign; });
  };
  unsigned seed = 1;
  while (!has_sign(random_model(seed))) ++seed;
  const RandomModel small = shrunk(random_model(seed), has_sign);
  CHECK(has_sign(small));
  CHECK(small.laws.size() == 1);
  CHECK(small.variables.size() == 1);
  CHECK(small.resets.empty());
}

TEST_SUITE_END();
