#include <doctest/doctest.h>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/run/change_notes.hpp>
#include <perp/analysis/run/kept_run.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>

namespace {

using Events = std::vector<perp::Event>;

perp::Model model_of(const std::string& name, const std::vector<perp::Override>& overrides) {
  return perp::read_model(perp::find_model(name), overrides, {.hybrid = true});
}

Events events_of(const std::string& name, const std::vector<perp::Override>& overrides) {
  return perp::keep_run(model_of(name, overrides)).run.events;
}

/// Those of each binary one behind the other: captured ones of different binaries may come in another order.
Events by_binary(Events events) {
  std::stable_sort(events.begin(), events.end(), [](const perp::Event& a, const perp::Event& b) { return a.law < b.law; });
  return events;
}

/// Two cells with a relay on the rate of each, which act on nothing else.
std::string two_cells(const std::string& second) {
  return R"(
    [variables]
    x = 0
    y = 0
    [binaries]
    up = 1
    wet = 1
    [model]
    equations = ["der(x) = 2*up - 1", "der(y) = )" + second + R"("]
    constraints = [{ name = "band of x", g = "(x - 1)*up + (-1 - x)*(1 - up) <= 0" },
                   { name = "band of y", g = "(y - 1)*wet + (-1 - y)*(1 - wet) <= 0" }]
    [run]
    t = [0, 8]
    h = 0.125
  )";
}

}  // namespace

TEST_SUITE("analysis/hybrid/run/change_notes") {
  TEST_CASE("every change of a binary that a law stands for names its constraint and what decided, as in located runs") {
    for (const char* name : {"rooms", "tanks"}) {
      CAPTURE(name);
      const Events captured = by_binary(events_of(name, {{"run.scheme", "backward_euler"}}));
      const Events located = by_binary(events_of(name, {{"run.scheme", "located"}}));
      REQUIRE(!captured.empty());
      REQUIRE(captured.size() == located.size());
      for (std::size_t k = 0; k < captured.size(); ++k) {
        CHECK(captured[k].law == located[k].law);
        CHECK(captured[k].note == located[k].note);
        CHECK(!captured[k].note.empty());
        CHECK(captured[k].continuations == 1);
        CHECK(located[k].continuations == 1);
      }
    }
  }

  TEST_CASE("the constraint and what decided are those of runs that keep the binaries") {
    // Sixty rooms are run by whole steps, with events of the binaries; six by laws.
    std::map<std::string, std::string> notes;
    for (const perp::Event& event : events_of("rooms", {{"N", "60"}, {"run.t", "[0, 1]"}, {"run.scheme", "backward_euler"}})) {
      CHECK(event.continuations == 1);
      notes[std::to_string(event.law)] = event.note;
    }
    REQUIRE(!notes.empty());
    for (const perp::Event& event : events_of("rooms", {{"run.t", "[0, 1]"}, {"run.scheme", "backward_euler"}}))
      CHECK(notes.at(std::to_string(event.law)) == event.note);
  }

  TEST_CASE("changes of one moment in sets that do not act on each other have the words of each alone") {
    const perp::Model model = perp::read_model_text(two_cells("2*wet - 1"), "cells.toml", {}, {.hybrid = true});
    const Events events = perp::keep_run(model).run.events;
    REQUIRE(events.size() >= 4);
    for (std::size_t k = 0; k + 1 < events.size(); k += 2) {
      CHECK(events[k].t == events[k + 1].t);
      for (const std::size_t one : {k, k + 1}) {
        CHECK(events[one].note == (events[one].law == 0 ? "band of x; only continuation" : "band of y; only continuation"));
        CHECK(events[one].continuations == 1);
      }
    }
  }

  TEST_CASE("where the state of a captured event does not tell, the note is the constraint alone") {
    // Its argument x^3 is bent: interpolated between the ends of a long step it is not 0 where the event is said to be.
    const perp::Model model = perp::read_model_text(R"(
      [variables]
      x = 0
      [binaries]
      up = 1
      [model]
      equations = ["der(x) = 2*up - 1"]
      constraints = [{ name = "band", g = "(x^3 - 2)*up + (-2 - x^3)*(1 - up) <= 0" }]
      [run]
      t = [0, 4]
      h = 0.5
      split_at_events = false
    )", "bent.toml", {}, {.hybrid = true});
    const Events events = perp::keep_run(model).run.events;
    REQUIRE(!events.empty());
    for (const perp::Event& event : events) {
      const bool is_counted = event.continuations > 0;
      CHECK(event.note == (is_counted ? "band; only continuation" : "band"));
    }
  }

  TEST_CASE("a binary starts as it is declared whatever is guessed of the algebraic variables that its constraint holds") {
    // x rises by 2 while z = 1 and falls by 1 else: from 19.3 down to 19 at 0.3, up to 20 at 0.8.
    for (const char* guess : {"0", "19.3", "40"})
      for (const char* scheme : {"located", "backward_euler", "theta"}) {
        CAPTURE(guess);
        CAPTURE(scheme);
        const perp::Model model = perp::read_model_text(R"toml(
          [variables]
          x = 19.3
          y = 0
          [binaries]
          z = 0
          [model]
          equations = ["y = x", "der(x) = -1 + 3*z"]
          constraints = ["(19 - y)*(1 - z) + (y - 20)*z <= 0"]
          [run]
          t = [0, 1]
          h = 0.01
        )toml", "band.toml", {{"y", guess}, {"run.scheme", scheme}}, {.hybrid = true});
        CHECK(model.warnings.empty());
        const perp::Trajectory run = perp::keep_run(model).run;
        REQUIRE(run.events.size() == 2);
        CHECK(run.events[0].t == doctest::Approx(0.3).epsilon(0.05));
        CHECK(run.events[1].t == doctest::Approx(0.8).epsilon(0.05));
      }
  }

  TEST_CASE("a declared start that does not continue is an event with the row that excludes it") {
    for (const char* scheme : {"located", "backward_euler"}) {
      const perp::Model model = perp::read_model_text(R"toml(
        [variables]
        x = 18
        [binaries]
        z = 0
        [model]
        equations = ["der(x) = -1 + 3*z"]
        constraints = ["(19 - x)*(1 - z) + (x - 20)*z <= 0"]
        [run]
        t = [0, 0.25]
        h = 0.125
      )toml", "low.toml", {{"run.scheme", scheme}}, {.hybrid = true});
      const Events events = perp::keep_run(model).run.events;
      REQUIRE(events.size() == 1);
      CHECK(events[0].t == 0);
      CHECK(events[0].note.find("violates g1: (19 - x)*(1 - z) + (x - 20)*z <= 0, which it exceeds by 1; 1 continues") !=
            std::string::npos);
    }
  }

  TEST_CASE("notes that are there stay, and models without binaries keep all") {
    const perp::Model model = perp::read_model(perp::find_model("stick_slip"));
    const perp::Trajectory run = perp::scheme(model.run.scheme).run(model, {});
    const perp::Trajectory same = perp::with_change_notes(model, run);
    REQUIRE(same.events.size() == run.events.size());
    CHECK(std::equal(run.events.begin(), run.events.end(), same.events.begin(),
                     [](const perp::Event& a, const perp::Event& b) { return a.note == b.note && a.continuations == b.continuations; }));
  }
}
