#include <doctest/doctest.h>

#include <random>
#include <vector>

#include <perp/core/base/number_set.hpp>

namespace {

using perp::NumberSet;

TEST_SUITE("core/number_set") {
  TEST_CASE("numbers stand once, in the order in which they come, up to all that there are") {
    constexpr int bound = 50;
    NumberSet set(bound);
    std::mt19937 random(1);
    for (int round = 0; round < 20; ++round) {
      std::vector<int> expected;
      for (int k = 0; k < (round % 2 == 0 ? 30 : 2000); ++k) {
        const int number = static_cast<int>(random() % bound);
        if (!set.holds(number)) expected.push_back(number);
        set.add(number);
        CHECK(set.holds(number));
      }
      CHECK(std::vector<int>(set.numbers().begin(), set.numbers().end()) == expected);
      CHECK((round % 2 == 0 || set.numbers().size() == bound));
      set.clear();
      CHECK(set.numbers().empty());
      CHECK_FALSE(set.holds(expected.front()));
    }
  }
}

}  // namespace
