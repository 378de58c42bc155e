#include <doctest/doctest.h>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>

// Which derivatives of constraints count as 0: what bounds of all errors and rational numbers say.
namespace {

using namespace perp;

HybridContinuations ask(const std::string& text, const std::vector<double>& previous, double share = 0) {
  HybridModes modes(*read_hybrid_model_text(text + "[run]\nt = [0, 10]\n", "m.toml"));
  return modes.continuations(0, modes.model().head.x0(), previous, {.share = share});
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

/// A relay that slides at x = 0 in units of x.
std::string relay(double x, double unit) {
  const std::string u = number(unit);
  return "[variables]\nx = { start = " + number(x * unit) + ", nominal = " + u + " }\n[binaries]\nz = 0\n" +
         "[model]\nequations = [\"der(x) = " + u + "*(2*z - 1)\"]\nconstraints = [\"x*(1 - z) - x*z <= 0\"]\n";
}

TEST_CASE("an exact state is beyond a surface by its last bit, in all units") {
  for (const double unit : {1.0, 0x1p-30, 0x1p30, 1e-9, 1e9, 3e-120}) {
    CAPTURE(unit);
    for (const double x : {0.0, 0x1p-52, -0x1p-52, 1e-40, -1e-40}) {
      CAPTURE(x);
      // x < 0: z = 0 falls on; x > 0: z = 1 rises on; at 0 either, and none of them is held there.
      const HybridContinuations found = ask(relay(x, unit), {0});
      CHECK(found.is_complete);
      CHECK(found.status == Status::solved);
      CHECK(found.list.size() == (x == 0 ? 3 : 1));
      CHECK(found.list[0].z[0] == (x > 0 ? 1 : 0));
    }
  }
}

TEST_CASE("a computed state is on a surface as far as it is known, and so in all units") {
  for (const double unit : {1.0, 0x1p-30, 0x1p30, 1e-9, 1e9}) {
    const std::string text = "[variables]\nx = { start = " + number(unit * (1 + 1e-13)) +
                             ", nominal = 1 }\n[binaries]\nz = 0\n[model]\nequations = [\"der(x) = " + number(unit) +
                             "*(1 - 2*z)\"]\nconstraints = [\"(x - " + number(unit) + ")*(1 - z) + (" + number(unit) +
                             " - x)*z <= 0\"]\n";
    const HybridContinuations exactly = ask(text, {0});
    REQUIRE(exactly.list.size() == 1);
    CHECK(exactly.list[0].released.empty());
    const HybridContinuations nearly = ask(text, {0}, share_of_computed);
    REQUIRE(nearly.list.size() == 1);
    CHECK(nearly.list[0].released == std::vector<int>{0});
    CHECK(nearly.list[0].z[0] == doctest::Approx(0.5).epsilon(1e-15));
  }
}

TEST_CASE("sums that cancel in rounding are decided in rational numbers") {
  // 0.1 + 0.2 - 0.3 in exact arithmetic of these doubles is 2^-55: x stands beyond, though rounding says 2^-54.
  const auto text = [](const std::string& low) {
    return "[variables]\nx = 0.1\ny = 0.2\n[binaries]\nz = 0\n[model]\nequations = [\"der(x) = 0\", \"der(y) = 0\"]\n"
           "constraints = [\"(" + low + ")*(1 - z) <= 0\"]\n";
  };
  const HybridContinuations beyond = ask(text("x + y - 0.3"), {0});
  REQUIRE(beyond.list.size() == 1);
  CHECK(beyond.list[0].z[0] == 1);
  CHECK(beyond.is_complete);
  const HybridContinuations below = ask(text("0.3 - x - y"), {0});
  CHECK(below.decided_by == "previous mode continues");
  CHECK(below.list[0].is_strict);
  // y is exactly 2 x, whose sum with x is rounded: 0 and no number beside it, for all time: weak.
  const HybridContinuations touching = ask(text("(x + y) - 3*x"), {0});
  CHECK(touching.decided_by == "previous mode continues");
  CHECK_FALSE(touching.list[0].is_strict);
}

TEST_CASE("equal rate norms are ties of the exact numbers, not of a share") {
  const auto text = [](double second) {
    return "[variables]\nx = 20\n[binaries]\na = 0\nb = 0\n[model]\nequations = [\"der(x) = -1 + 3*a + " +
           number(second) + "*b\"]\nconstraints = [\"(20 - x)*(1 - a)*(1 - b) <= 0\", \"(x - 22)*(1 - (1 - a)*(1 - b)) <= 0\"]\n";
  };
  CHECK(ask(text(3), {0, 0}).decided_by == "first declared binary changes");
  const HybridContinuations one = ask(text(3 - 0x1p-50), {0, 0});
  CHECK(one.decided_by == "smallest rate norm");
  CHECK(one.list[0].z == std::vector<double>{0, 1});
}

TEST_CASE("that nothing continues rests on bounds; where nothing bounds a sign it is not said") {
  const std::string head = "[variables]\nx = 1\n[binaries]\nz = 0\n[model]\nequations = [\"der(x) = 3*z - 1\"]\n";
  const HybridContinuations none = ask(head + "constraints = [\"(1 - x)*(1 - z) + x*z <= 0\"]\n", {0});
  CHECK(none.status == Status::no_solution);
  CHECK(none.excluded_count > 0);
  // Constraints by functions that no series here knows: the same model, without the word.
  const HybridContinuations open =
      ask(head + "constraints = [\"asin(1 - x)*(1 - z) + x*z <= 0\"]\n", {0});
  CHECK(open.status == Status::not_solved);
}

}  // namespace
