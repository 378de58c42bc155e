#include <doctest/doctest.h>
#include <cmath>

#include <perp/schemes/integrate.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>

using namespace perp;

namespace {

/// x' = -1.692 exp(-((t - 6.9) / 0.5)²), y' = -y, or y' = -y + x / 1000. At t = 0 x' is 1e-83.
struct Pulse {
  bool coupled;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto&, auto& r) const {
    using std::exp;
    const auto s = (t - 6.9) / 0.5;
    r[0] = xdot[0] + 1.692 * exp(-(s * s));
    r[1] = coupled ? xdot[1] + x[1] - 1e-3 * x[0] : xdot[1] + x[1];
  }
  void output(const auto&, const auto&, const auto&, auto&) const {}
};

}  // namespace

TEST_SUITE("schemes/linear_company") {
  TEST_CASE("a variable whose rate begins at 1e-83 changes no step of another one") {
    for (const bool coupled : {false, true})
      for (const double h : {0.02, 0.01, 0.005, 0.001}) {
        CAPTURE(h);
        CAPTURE(coupled);
        const Trajectory run = integrate(make_dcs(Pulse{coupled}, 2, {}), Vector{{1.62, -1.3}},
                                         {0, 10}, BackwardEuler{.h = h});
        REQUIRE(run.status == Status::solved);
        const double pulse = 1.692 * 0.5 * std::sqrt(M_PI);
        CHECK(std::abs(run.x.back()[0] - (1.62 - pulse)) < 2 * h);
        if (!coupled)
          CHECK(run.x.back()[1] == doctest::Approx(-1.3 * std::pow(1 + h, -10 / h)).epsilon(1e-9));
      }
  }
}
