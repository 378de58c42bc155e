#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>

namespace {

double power(int i) { return 0.25 + i / 32.0; }

/// k heaters of one room in one sub-problem, every third of them on at first: one has to be on below 19, and above 21 it may
/// not become hotter.
std::string heaters(int k) {
  std::string binaries, heat, off = "1", pairs;
  for (int i = 0; i < k; ++i) {
    binaries += fmt::format("z{} = {}\n", i, i % 3 == 0 ? 1 : 0);
    heat += fmt::format(" + {}*z{}", power(i), i);
    off += fmt::format("*(1 - z{})", i);
    if (i > 0) pairs += fmt::format(", \"(0 - x)*z{}*z{} <= 0\"", i - 1, i);
  }
  return fmt::format("[variables]\nx = 20\n[binaries]\n{0}[model]\nequations = [\"der(x) = -0.0625*(x - 5){1}\"]\n"
                     "constraints = [\"(19 - x)*{2} <= 0\", \"(x - 21)*(1 - {2}) <= 0\"{3}]\n[run]\nt = [0, 40]\nh = 0.01\n",
                     binaries, heat, off, pairs);
}

/// At 21 degrees those continue that cool, or keep it.
int cooling(int k) {
  int count = 0;
  for (unsigned z = 0; z < 1U << k; ++z) {
    double rate = -1;
    for (int i = 0; i < k; ++i) rate += (z >> i & 1) != 0 ? power(i) : 0;
    count += rate <= 0 ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_SUITE("analysis/hybrid/values/event_counts") {
  TEST_CASE("events of many binaries in one sub-problem say how many of its values continue") {
    perp::ReadOptions known;
    known.hybrid = true;
    for (const int k : {9, 12, 17})
      for (const char* scheme : {"located", "backward_euler"}) {
        CAPTURE(k);
        CAPTURE(scheme);
        const perp::Model model = perp::read_model_text(heaters(k), "heaters.toml", {{"run.scheme", scheme}}, known);
        const perp::Trajectory run = perp::scheme(scheme).run(model, {});
        REQUIRE(!run.events.empty());
        CHECK(run.events.front().continuations == cooling(k));
      }
  }

  TEST_CASE("a start without declared values says how many there are, and not how many of them are listed") {
    perp::ReadOptions known;
    known.hybrid = true;
    for (const bool declares : {false, true}) {
      std::string text = heaters(14);
      for (int i = declares ? 1 : 0; i < 14; ++i) {
        const std::string name = fmt::format("\nz{} = ", i);
        text.replace(text.find(name) + name.size(), 1, "{}");
      }
      const perp::Model model = perp::read_model_text(text, "heaters.toml", {{"run.scheme", "located"}}, known);
      const std::string start = perp::scheme("located").run(model, {}).provenance.at("start");
      CHECK(start.starts_with(declares ? "64 or more values" : "16384 values"));
    }
  }

  TEST_CASE("where a sub-problem of one binary changes no other value of it continues") {
    // Two rooms beside each other, and eight that keep the model from being gone through as a whole.
    std::string variables, binaries, equations, constraints;
    for (int i = 0; i < 8; ++i) {
      variables += fmt::format("x{} = {}\n", i, 19.5 + i / 16.0);
      binaries += fmt::format("z{} = {}\n", i, i % 2);
      equations += fmt::format("\"der(x{0}) = -0.1*(x{0} - 5) + 0.2*(x{1} - x{0}) + 4*z{0}\",", i, (i + 1) % 8);
      constraints += fmt::format("\"(19 - x{0})*(1 - z{0}) + (x{0} - 20)*z{0} <= 0\",", i);
    }
    perp::ReadOptions known;
    known.hybrid = true;
    const perp::Model model = perp::read_model_text(
        fmt::format("[variables]\n{}[binaries]\n{}[model]\nequations = [{}]\nconstraints = [{}]\n[run]\nt = [0, 2]\n", variables, binaries,
                    equations, constraints),
        "rooms.toml", {{"run.scheme", "located"}}, known);
    const perp::Trajectory run = perp::scheme("located").run(model, {});
    REQUIRE(run.events.size() > 4);
    for (const perp::Event& event : run.events) CHECK(event.continuations == 1);
  }
}
