#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/hybrid/sparse/product_faces.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>

using namespace perp;

namespace {

int threshold(int i, int k) { return 7 * i % k; }

/// k heaters on a ring: of two neighbours one is on below a temperature of their own. One sub-problem.
HybridModel ring(int k) {
  std::string binaries, constraints, heat;
  for (int i = 0; i < k; ++i) {
    binaries += fmt::format("z{} = 0\n", i);
    heat += fmt::format(" + {}*z{}", 4 + i, i);
    constraints += fmt::format("\"(19 + {}/100 - x)*(1 - z{})*(1 - z{}) <= 0\",\n", threshold(i, k), i, (i + 1) % k);
  }
  return *read_hybrid_model_text(
      fmt::format("[variables]\nx = 19\n[binaries]\n{}[model]\nequations = [\"der(x) = -0.1*(x - 5){}\"]\n"
                  "constraints = [\n{}]\n[run]\nt = [0, 1]\n",
                  binaries, heat, constraints),
      "ring.toml");
}

/// k heaters of one room: one is on from 19 down, none from 21 up; pairs that no temperature in reach forbids make them
/// one sub-problem. Then all that are on go off at once, k changes. `sign`: of the second constraint's power.
HybridModel common(int k, const std::string& upper = "(x - 21)") {
  std::string binaries, heat, off = "1", pairs;
  for (int i = 0; i < k; ++i) {
    binaries += fmt::format("z{} = 1\n", i);
    heat += fmt::format(" + {}*z{}", 2 + 0.125 * i, i);
    off += fmt::format("*(1 - z{})", i);
    if (i + 1 < k) pairs += fmt::format(", \"(0 - x)*z{}*z{} <= 0\"", i, i + 1);
  }
  return *read_hybrid_model_text(
      fmt::format("[variables]\nx = 21\n[binaries]\n{}[model]\nequations = [\"der(x) = -0.1*(x - 5){}\"]\n"
                  "constraints = [\"(19 - x)*{} <= 0\", \"{}*(1 - {}) <= 0\"{}]\n[run]\nt = [0, 1]\n",
                  binaries, heat, off, upper, off, pairs),
      "common.toml");
}

/// The fewest binaries that are on, by trying all values.
int fewest(int k, int active) {
  int best = k;
  for (unsigned long value = 0; value < 1UL << k; ++value) {
    const auto is_on = [&](int i) { return (value >> i & 1) != 0; };
    bool fits = true;
    for (int i = 0; i < k && fits; ++i) fits = threshold(i, k) < active || is_on(i) || is_on((i + 1) % k);
    if (fits) best = std::min(best, std::popcount(value));
  }
  return best;
}

}  // namespace

TEST_SUITE("analysis/hybrid/large_sub_problems") {
  TEST_CASE("in a sub-problem of eighteen binaries the choice changes as few of them as any value that continues") {
    constexpr int k = 18;
    HybridModes modes(ring(k));
    for (const int active : {17, 15, 12, 6}) {
      const double x = 19 + active / 100.0 - 0.005;  // below the thresholds from `active` on
      const HybridContinuations found = modes.continuations(0, Vector::Constant(1, x), std::vector<double>(k, 0), {.nearest_alone = true});
      REQUIRE(found.status == Status::solved);
      const HybridContinuation& chosen = found.list[static_cast<std::size_t>(*found.chosen)];
      CHECK(std::count(chosen.z.begin(), chosen.z.end(), 1.0) == fewest(k, active));
      CHECK_FALSE(found.is_complete);
    }
  }

  TEST_CASE("the only value that continues is found although it changes all fourteen binaries of a sub-problem") {
    constexpr int k = 14;
    HybridModes modes(common(k));
    const HybridContinuations found = modes.continuations(0, Vector::Constant(1, 21), std::vector<double>(k, 1), {});
    REQUIRE(found.status == Status::solved);
    REQUIRE(found.list.size() == 1);
    CHECK(found.list[0].z == std::vector<double>(k, 0));
    CHECK(found.list[0].inside == k);
  }

  TEST_CASE("binaries that slide are not passed over for values further away") {
    // The two faces are opposite: with all but one off the last one slides, one change.
    constexpr int k = 14;
    HybridModes modes(common(k, "(x - 19)"));
    std::vector<double> previous(k, 0);
    previous[3] = 1;
    const HybridContinuations found = modes.continuations(0, Vector::Constant(1, 19), previous, {.nearest_alone = true});
    REQUIRE(found.chosen);
    CHECK(found.list[0].inside == 1);
    CHECK(found.list[0].released == std::vector<int>{3});
  }

  TEST_CASE("without a search for the nearest alone the same value is taken, and the list says that it is not all") {
    constexpr int k = 14;
    HybridModes modes(ring(k));
    const Vector x = Vector::Constant(1, 19.105);
    const std::vector<double> previous(k, 0);
    const HybridContinuations near = modes.continuations(0, x, previous, {.nearest_alone = true});
    const HybridContinuations all = modes.continuations(0, x, previous);
    REQUIRE(all.status == Status::solved);
    CHECK(all.list[static_cast<std::size_t>(*all.chosen)].z == near.list[static_cast<std::size_t>(*near.chosen)].z);
    CHECK_FALSE(all.is_complete);
  }

  TEST_CASE("faces of products are opposite where the factors of binaries or of signals are") {
    const auto may_slide = [](const std::string& low, const std::string& high) {
      const HybridModel model = *read_hybrid_model_text(
          "[variables]\nx = 1\n[binaries]\nz1 = 0\nz2 = 0\n[model]\nequations = [\"der(x) = z1 + z2\"]\nconstraints = [\"" +
              low + " <= 0\", \"" + high + " <= 0\"]\n[run]\nt = [0, 1]\n",
          "m.toml");
      std::vector<int> rows;
      const Tape tape = model.closed(rows);
      const auto a = ProductFace::read(tape, rows[1], model.binary_input(0)),
                 b = ProductFace::read(tape, rows[2], model.binary_input(0));
      return !a || !b || ProductFace::may_be_opposite(*a, *b, 0);
    };
    CHECK(may_slide("(1 - x)*(1 - z1)*(1 - z2)", "(x - 1)*z1"));
    CHECK(may_slide("2*(1 - x)*(1 - z1*z2)", "(3*x - 3)*(1 - (1 - z1)*(1 - z2))"));
    CHECK_FALSE(may_slide("(1 - x)*(1 - z1)*(1 - z2)", "(x - 2)*z1"));        // two ends
    CHECK_FALSE(may_slide("(1 - x)*(1 - z1)*(1 - z2)", "(1 - x)*z1*(1 - z2)"));  // one sign
    CHECK_FALSE(may_slide("(1 - x)*(1 - z1)*(1 - z2)", "(x - 1)*(1 - z1)"));     // 0 where z1 = 1
    CHECK(may_slide("(1 - x)*(2*z2 - 1)*(1 - z1)", "(1 - x)*z1"));
    CHECK(may_slide("(1 - x)*(1 - z1) + z1*z2", "(1 - x)*z1"));  // no product: not told
  }
}
