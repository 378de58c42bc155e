#include <doctest/doctest.h>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <perp/analysis/parallel.hpp>

using namespace perp;

TEST_SUITE("analysis/parallel") {
  TEST_CASE("every index is taken once, by any number of threads") {
    for (const int threads : {1, 2, 7, 64}) {
      std::vector<std::atomic<int>> taken(50);
      in_parallel(threads, taken.size(), [&](std::size_t index, int thread) {
        CHECK(thread < threads);
        ++taken[index];
      });
      for (const auto& count : taken) CHECK(count == 1);
    }
  }

  TEST_CASE("the exception is that of the smallest index that throws, for any number of threads") {
    for (const int threads : {1, 2, 8}) {
      std::string what;
      try {
        in_parallel(threads, 100, [](std::size_t index, int /*thread*/) {
          if (index % 10 == 7) throw std::runtime_error(std::to_string(index));
        });
      } catch (const std::runtime_error& error) {
        what = error.what();
      }
      CHECK(what == "7");
    }
  }

  TEST_CASE("nothing is called for no task") {
    in_parallel(4, 0, [](std::size_t /*index*/, int /*thread*/) { FAIL("there is no task"); });
  }
}
