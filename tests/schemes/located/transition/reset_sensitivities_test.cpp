#include <doctest/doctest.h>
#include <cmath>
#include <string>

#include <perp/tests/schemes/located/models.hpp>

// Derivatives of what resets write, by closed forms.

using namespace perp;

namespace {

/// ∂(x, y, z)/∂x(0) at t = 2 where x = -2 exp(-t), z = t and r = max(0, -x) is the multiplier of a law.
Vector derivatives(const std::string& when) {
  const Model model = read_model_text(
      "[variables]\nx = -2\ny = 0\nz = 0\n[model]\nequations = [\"der(x) = -x\", \"der(y) = 0\", \"der(z) = 1\"]\n"
      "laws = [\"0 <= r perp r + x >= 0\"]\nwhen = [" + when + "]\n[run]\nt = [0, 2]\n",
      "resets");
  Located scheme = test::located(model, 1e-12);
  scheme.sensitivities = {{0}, {}};
  const Trajectory found = integrate(*model.equations, model.x0(), model.run.span, scheme);
  REQUIRE_MESSAGE(found.status == Status::solved, found.message);
  REQUIRE(found.dx_dq.size() == found.t.size());
  return found.dx_dq.back().col(0);
}

}  // namespace

TEST_SUITE("schemes/located/reset_sensitivities") {
  // y = r + |x| = 2 |x(0)| exp(-1) from t = 1 on
  TEST_CASE("what a reset writes from multipliers has their derivatives") {
    const Vector d = derivatives("{ condition = \"t - 1\", direction = 1, set = { y = \"y + r + abs(x)\" } }");
    CHECK(d[0] == doctest::Approx(std::exp(-2.0)).epsilon(1e-9));
    CHECK(d[1] == doctest::Approx(-2 * std::exp(-1.0)).epsilon(1e-9));
    CHECK(d[2] == 0);
  }

  // x = -1 at t* = log |x(0)|, where r = 1 whatever x(0) is: y = 2 t*, and z = t* + r² - 1 + (t - t*)
  TEST_CASE("so it has at a moment that the start moves, where multipliers stay as they are") {
    const Vector d = derivatives("{ condition = \"x + 1\", direction = 1, set = { y = \"(r + abs(x))*z\", z = \"z + r^2 - 1\" } }");
    CHECK(d[1] == doctest::Approx(-1).epsilon(1e-9));
    CHECK(std::abs(d[2]) < 1e-9);
  }
}
