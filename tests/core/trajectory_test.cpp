#include <doctest/doctest.h>
#include <cstddef>
#include <vector>

#include <perp/core/trajectory.hpp>

using namespace perp;

namespace {

/// Number k of a list of vectors of the lengths 0 to 3, none for long.
Vector vector_of(std::size_t k) {
  const auto length = static_cast<Eigen::Index>(k / 1000 % 4);
  return Vector::Constant(length, static_cast<double>(k) / 3);
}

}  // namespace

TEST_SUITE("trajectory") {
  TEST_CASE("vectors of a trajectory are those that were put there, whatever their lengths") {
    Trajectory::Vectors list;
    static constexpr std::size_t count = 50'000;
    for (std::size_t k = 0; k < count; ++k) list.push_back(vector_of(k));
    REQUIRE(list.size() == count);
    const auto expect_all = [](const Trajectory::Vectors& vectors) {
      std::size_t wrong = 0, k = 0;
      for (const Vector& x : vectors) {
        const Vector expected = vector_of(k++);
        if (x.size() != expected.size() || x != expected) ++wrong;
      }
      CHECK(k == count);
      CHECK(wrong == 0);
    };
    expect_all(list);
    CHECK(list.back() == vector_of(count - 1));
    CHECK(list.front() == vector_of(0));
    Trajectory::Vectors other = list;
    expect_all(other);
    CHECK(other == list);
    other.push_back(Vector::Ones(1));
    CHECK_FALSE(other == list);
  }

  TEST_CASE("modes of a trajectory that stay are kept once, and every time has its own") {
    Trajectory::Modes modes;
    std::vector<Mode> expected;
    for (int k = 0; k < 1000; ++k) expected.push_back({k / 100 % 3, k / 300});
    for (const Mode& mode : expected) modes.push_back(mode);
    REQUIRE(modes.size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) REQUIRE(modes[k] == expected[k]);
    CHECK(modes.back() == expected.back());
  }
}
