#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
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
}
