#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

// Starts at the end of a branch: derivatives by what moves them off it have two sides.

using namespace perp;

namespace {

/// From t = 0 to 1, by these starts and parameters.
Trajectory run(const std::string& text, std::vector<int> starts, std::vector<int> parameters = {}) {
  const Model model = read_model_text(text + "[run]\nt = [0, 1]\n", "start.toml");
  Located scheme = test::located(model, 1e-12);
  scheme.sensitivities = {std::move(starts), std::move(parameters)};
  Trajectory found = integrate(*model.equations, model.x0(), model.run.span, scheme);
  REQUIRE_MESSAGE(found.status == Status::solved, found.message);
  return found;
}

bool has_none(const Trajectory& found, const std::string& why) {
  for (const Matrix& S : found.dx_dq)
    if (S.size() > 0) return false;
  return found.message.find("no sensitivities from t = 0 on: the solution " + why) != std::string::npos;
}

}  // namespace

TEST_SUITE("schemes/located/sensitivity_sides") {
  // x ≡ 0; ∂x/∂x(0) = e^t for x(0) > 0, e^-t for x(0) < 0
  TEST_CASE("a solution that stays on a kink has no derivative by what moves it off, and those by what does not") {
    const std::string text = "[variables]\nx = 0\ny = 1\n[model]\nequations = [\"der(x) = abs(x)\", \"der(y) = -y + abs(x)\"]\n";
    CHECK(has_none(run(text, {0}), "stays on the end of a branch of abs(x)"));
    CHECK(has_none(run(text, {0, 1}), "stays"));
    const Trajectory company = run(text, {1});
    REQUIRE_FALSE(company.dx_dq.empty());
    CHECK(company.dx_dq.back()(0, 0) == 0);
    CHECK(company.dx_dq.back()(1, 0) == doctest::Approx(std::exp(-1.0)).epsilon(1e-10));
  }

  // y(0) moves nothing at first, x later
  TEST_CASE("derivatives end where a quantity begins to move the solution off") {
    const Trajectory found = run("[variables]\nx = 0\ny = 1\n[model]\nequations = [\"der(x) = abs(x) + 1 - y\", \"der(y) = 0\"]\n", {1});
    CHECK(found.message.find("; no sensitivities from t = ") != std::string::npos);
  }

  // ẋ = 1 for x > 0, 3 for x < 0: ∂x/∂x(0) is 1 and 1/3
  TEST_CASE("a start on a surface where the rate jumps has none by itself, and those by parameters that act later") {
    const std::string text = "[parameters]\np = 2\n[variables]\nx = 0\n[model]\nequations = [\"der(x) = p - sign(x)\"]\n";
    CHECK(has_none(run(text, {0}), "starts on the end of a branch of sign(x)"));
    const Trajectory found = run(text, {}, {0});
    REQUIRE_FALSE(found.dx_dq.empty());
    CHECK(found.dx_dq.back()(0, 0) == doctest::Approx(1).epsilon(1e-10));
  }

  // ẋ = 1 + |x|: e^t whatever side x(0) is on; in any unit
  TEST_CASE("a start on a kink that is left at once has one derivative") {
    for (const double unit : {0x1p-40, 1.0, 0x1p40}) {
      const std::string u = fmt::format("{:.17g}", unit);
      const Trajectory found =
          run("[variables]\nx = {start = 0, nominal = " + u + "}\n[model]\nequations = [\"der(x) = " + u + " + abs(x)\"]\n", {0});
      REQUIRE_FALSE(found.dx_dq.empty());
      CHECK(found.dx_dq.back()(0, 0) == doctest::Approx(std::exp(1.0)).epsilon(1e-9));
    }
  }

  // x(t) = max(x(0), p) + t: ∂x/∂x(0) is 0 and 1; in any unit
  TEST_CASE("a start on a one-sided constraint that it leaves at once has none by itself: below it jumps onto it") {
    for (const double unit : {0x1p-40, 1.0, 0x1p40}) {
      const std::string u = fmt::format("{:.17g}", unit);
      const std::string text = "[parameters]\np = 0\nc = 1\n[variables]\nx = {start = 0, nominal = " + u + "}\n[model]\nequations = [\"der(x) = c*" +
                               u + " + lam\"]\nlaws = [\"0 <= x - p perp lam >= 0\"]\n";
      CHECK(has_none(run(text, {0}), "starts on the end of a branch of lam"));
      CHECK(has_none(run(text, {}, {0}), "starts on the end of a branch of lam"));
      const Trajectory rate = run(text, {}, {1});
      REQUIRE_FALSE(rate.dx_dq.empty());
      CHECK(rate.dx_dq.back()(0, 0) == doctest::Approx(unit).epsilon(1e-10));
    }
  }

  // x(t) = p, from below by a jump, from above by its motion: one derivative; y takes the impulse p - x(0) or what it lacks
  TEST_CASE("a start on a one-sided constraint on which it stays has one derivative") {
    const Trajectory found = run("[parameters]\np = 0\n[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = lam - 2\", \"der(y) = 3*lam\"]\n"
                                 "laws = [\"0 <= x - p perp lam >= 0\"]\n", {0}, {0});
    REQUIRE_FALSE(found.dx_dq.empty());
    const Matrix& S = found.dx_dq.back();
    CHECK((S - Matrix{{0, 1}, {-3, 3}}).norm() <= 1e-10);
  }

  // A ball below the ground has no motion: the derivative is that of one above.
  TEST_CASE("a body that starts on the ground and is thrown up has derivatives by its height") {
    const Trajectory found = run("[variables]\nq = 0\nv = 9\n[model]\nequations = [\"der(q) = v\", \"der(v) = -10 + lam\"]\n"
                                 "laws = [\"0 <= q perp lam >= 0\"]\n", {0});
    REQUIRE_FALSE(found.dx_dq.empty());
    CHECK(found.dx_dq.back()(0, 0) == doctest::Approx(1).epsilon(1e-10));
  }

  // x(1) = max(p - 1, 0), v(1) = max(p - 1/2, 0)
  TEST_CASE("sliding with a multiplier on the end of its range has none by what moves that off") {
    CHECK(has_none(run("[parameters]\np = 1\n[variables]\nx = 0\n[model]\nequations = [\"der(x) = p - sign(x)\"]\n", {}, {0}), "stays on the end of a branch of sign(x)"));
    CHECK(has_none(run("[parameters]\np = 0.5\n[variables]\nx = 0\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = p - 0.5*sign(v)\"]\n", {}, {0}), "stays"));
    const Trajectory inside = run("[parameters]\np = 0.875\n[variables]\nx = 0\n[model]\nequations = [\"der(x) = p - sign(x)\"]\n", {}, {0});
    REQUIRE_FALSE(inside.dx_dq.empty());
    CHECK(inside.dx_dq.back()(0, 0) == 0);
  }
}
