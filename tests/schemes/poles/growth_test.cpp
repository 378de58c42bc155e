#include <doctest/doctest.h>
#include <cmath>
#include <limits>
#include <vector>

#include <perp/schemes/poles/growth.hpp>

using perp::Growth;

namespace {

/// The course of z(d) from d = 1 down to 2^-30, d being the distance from 0.
template <class Z>
Growth course(const Z& z) {
  Growth growth;
  for (int k = 0; k <= 120; ++k) growth.add(-std::exp2(-k / 4.0), {z(std::exp2(-k / 4.0))});
  return growth;
}

}  // namespace

TEST_SUITE("schemes/poles/growth") {
  TEST_CASE("powers of the distance are poles, by their order; bounded courses and logarithms are none") {
    for (const double order : {0.8, 1.0, 1.5, 2.0}) {
      CAPTURE(order);
      CHECK(course([&](double d) { return std::pow(d, -order); }).leads_to_pole(false));
    }
    CHECK_FALSE(course([](double d) { return std::pow(d, -0.5); }).leads_to_pole(false));
    CHECK(course([](double d) { return std::pow(d, -0.5); }).leads_to_pole(true));
    CHECK_FALSE(course([](double d) { return 1 - std::log(d); }).leads_to_pole(true));
    CHECK_FALSE(course([](double d) { return 2 - std::sqrt(d); }).leads_to_pole(true));
  }

  TEST_CASE("courses without a size of their own tell nothing") {
    CHECK_FALSE(Growth().leads_to_pole(true));
    CHECK_FALSE(course([](double) { return 0.0; }).leads_to_pole(true));
    CHECK_FALSE(course([](double d) { return d < 1e-3 ? std::numeric_limits<double>::infinity() : 1.0; })
                    .leads_to_pole(true));
    CHECK_FALSE(course([](double d) { return d < 1e-3 ? std::nan("") : 1.0; }).leads_to_pole(true));
  }

  TEST_CASE("one unknown of several that grows is enough, and places from which a path begins anew are forgotten") {
    Growth growth;
    for (int k = 0; k <= 80; ++k) growth.add(k, {1.0, std::exp2(k / 4.0), 0.0});
    CHECK_FALSE(growth.leads_to_pole(false));  // an exponential has no moment at which it is infinite
    for (int k = 0; k <= 120; ++k) growth.add(-std::exp2(-k / 4.0), {1.0, std::exp2(k / 4.0), 0.0});
    CHECK(growth.leads_to_pole(false));
  }
}
