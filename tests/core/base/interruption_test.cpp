// Watches that end the computations of their thread.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <perp/core/base/interruption.hpp>

using namespace perp;

namespace {

/// Asks for longer than a watch waits between two questions.
bool is_interrupted_soon() {
  for (int k = 0; k < 40; ++k) {
    if (interruption_requested()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

TEST_CASE("a watch that says yes ends the computations of its thread, and only while it lives") {
  {
    const InterruptionWatch watch([] { return true; });
    CHECK(is_interrupted_soon());
    CHECK(watch.has_stopped());
    CHECK_THROWS_AS(check_interruption(), Interrupted);
    bool other = true;
    std::thread([&] { other = interruption_requested(); }).join();
    CHECK_FALSE(other);
  }
  CHECK_FALSE(interruption_requested());
}

TEST_CASE("a watch that says no is asked again, the inner one of two alone") {
  int outer = 0, inner = 0;
  const InterruptionWatch first([&] { return ++outer < 0; });
  {
    const InterruptionWatch second([&] { return ++inner < 0; });
    CHECK_FALSE(is_interrupted_soon());
    CHECK(inner > 1);
    CHECK(outer == 0);
  }
  CHECK_FALSE(is_interrupted_soon());
  CHECK(outer > 1);
}
