#include <doctest/doctest.h>

#include <Eigen/Core>
#include <memory>

#include <perp/tests/allocations.hpp>

TEST_SUITE("tests/allocations") {
  TEST_CASE("operator new and Eigen's allocations are counted, arithmetic is not") {
    Eigen::VectorXd a = Eigen::VectorXd::Ones(7);
    long before = perp::allocations();
    a *= 2;
    CHECK(perp::allocations() == before);
    const auto number = std::make_unique<int>(3);
    CHECK(perp::allocations() == before + 1);
    const Eigen::VectorXd b = a;
    CHECK(perp::allocations() == before + 2);
    CHECK(b.sum() + *number == 17);
  }
}
