#include <doctest/doctest.h>

#include <perp/analysis/maps/parameter_map.hpp>

using namespace perp;

namespace {

/// w = x + λ - a, 0 ≤ w ⊥ λ ≥ 0 with the multiplier pushing against itself: -λ makes two solutions.
MapRequest fold(int threads) {
  const ModelText text(
      "name = \"fold\"\n[parameters]\na = 1\n[variables]\nx = 1\n"
      "[system]\nE = [[1]]\nA = [[0]]\nB = [[0]]\nb = [0]\nC = [[1]]\nD = [[\"a\"]]\nq = [0]\n"
      "laws = [\"complementarity\"]\n[run]\nt = [0, 1]\nh = 0.1\nscheme = \"backward_euler\"\n",
      "fold.toml");
  MapRequest request{.axes = {{"a", -1, 1, 3}}, .states = {{}}};
  request.quantity = &map_quantity("outcome");
  request.threads = threads;
  request.read = [text](const auto& set, const auto& start) {
    std::vector<Override> all = set;
    for (const Override& item : start) all.push_back({"variables." + item.key, item.value});
    return text.read(all);
  };
  return request;
}

}  // namespace

TEST_SUITE("analysis/maps") {
  TEST_CASE("a map does not depend on the number of threads") {
    const ParameterMap one = parameter_map(fold(1)), three = parameter_map(fold(3));
    CHECK(one.points() == 3);
    CHECK(one.regions == three.regions);
    CHECK(one.region == three.region);
    CHECK(one.numbers == three.numbers);
  }

  TEST_CASE("the last axis varies fastest") {
    ParameterMap map;
    map.axes = {{"a", 0, 1, 2}, {"b", 0, 1, 3}};
    CHECK(map.index(4, 0) == 1);
    CHECK(map.index(4, 1) == 1);
  }

  TEST_CASE("an axis over [-a, a] is antisymmetric with an exact 0 in the middle") {
    const MapAxis axis{"a", -0.3, 0.3, 7};
    CHECK(axis.value(3) == 0);
    for (int k = 0; k < 7; ++k) CHECK(axis.value(k) == -axis.value(6 - k));
    const MapAxis given{.name = "a", .first = 0.2, .last = 0.5, .count = 7};
    CHECK(given.value(0) == 0.2);  // not 6·0.2/6
    CHECK(given.value(6) == 0.5);
  }

  TEST_CASE("the first wrong point of the grid is named, whatever the threads") {
    for (const int threads : {1, 4}) {
      MapRequest request = fold(threads);
      request.axes = {{"run.h", -1, 1, 101}};
      try {
        parameter_map(request);
        FAIL("a negative h was taken");
      } catch (const InvalidInput& error) {
        CHECK(std::string(error.what()).starts_with("at run.h = -1: "));
      }
    }
  }
}
