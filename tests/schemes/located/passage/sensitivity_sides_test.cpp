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

  // x(1) = max(p, 1) or what stands for it
  TEST_CASE("formulas of parameters alone have none at a kink where both sides differ, whatever product or formula holds them") {
    const auto none = [](const std::string& formula, const std::string& p) {
      CAPTURE(formula);
      const Trajectory found = run("[parameters]\np = " + p + "\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = " + formula + "\"]\n", {0}, {0});
      for (const Matrix& S : found.dx_dq) CHECK(S.size() == 0);
      CHECK(found.message.find("no sensitivities from t = 0 on: a formula of parameters has a kink at their values") != std::string::npos);
    };
    none("max(p, 1)", "1");
    none("min(2*p - 0.2, 0)", "0.1");
    none("x*sat(p, 0, 1)", "0");
    none("3*abs(p) + x", "0");
    none("exp(t)*(2 + abs(sin(p)))", "0");
    none("piecewise(p, -1, 0, 0, 0, 1, 1)", "0");
    none("atan2(p, -1)", "0");
    none("max(p, 2 - abs(p - 1) - 1)", "1");  // 1 from both sides, which the mean is not
  }

  TEST_CASE("formulas of parameters with one derivative at a kink have it, and quantities that do not move it have theirs") {
    const auto derivative = [](const std::string& formula, const std::string& p) {
      const Trajectory found = run("[parameters]\np = " + p + "\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = " + formula + "\"]\n", {}, {0});
      REQUIRE_FALSE(found.dx_dq.empty());
      return found.dx_dq.back()(0, 0);
    };
    CHECK(derivative("p*abs(p)", "0") == 0);
    CHECK(derivative("max(p, 1) + min(p, 1)", "1") == doctest::Approx(1));
    CHECK(derivative("max(p, 1)", "1.5") == doctest::Approx(1));
    const Trajectory start = run("[parameters]\np = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = max(p, 1)\"]\n", {0});
    REQUIRE_FALSE(start.dx_dq.empty());
    CHECK(start.dx_dq.back()(0, 0) == doctest::Approx(1));
  }

  // x = -(1 - t)² at p = 1: y grows by √(p - 1), or not at all
  TEST_CASE("a solution that touches the end of a branch has none from there where what is beyond has other rates") {
    const auto ends = [](const std::string& rest, double span, std::vector<int> starts, std::vector<int> parameters) {
      const Model model = read_model_text("[parameters]\np = 1\n[variables]\n" + rest + fmt::format("[run]\nt = [0, {}]\n", span), "touch.toml");
      Located scheme = test::located(model, 1e-12);
      scheme.sensitivities = {std::move(starts), std::move(parameters)};
      return integrate(*model.equations, model.x0(), model.run.span, scheme);
    };
    const std::string touches = "x = -1\ny = 0\n[model]\nequations = [\"der(x) = 2*(1 - t)*p\", \"der(y) = ";
    const auto none = [](const Trajectory& found, const std::string& does) {
      CAPTURE(found.message);
      CHECK(found.dx_dq.size() < found.t.size());  // the rows behind have none
      CHECK(found.message.find("no sensitivities from t = 1 on: the solution " + does) != std::string::npos);
    };
    none(ends(touches + "sign(x)\"]\n", 2, {}, {0}), "touches the end of a branch of sign(x)");
    none(ends(touches + "sign(x)\"]\n", 2, {0}, {}), "touches the end of a branch of sign(x)");
    none(ends(touches + "1\"]\nwhen = [{condition = \"x > 0\", set = {y = \"5\"}, name = \"up\"}]\n", 2, {}, {0}), "touches the condition of up");
    none(ends("x = 1\nv = -2\n[model]\nequations = [\"der(x) = v\", \"der(v) = 2*p + lam\"]\nlaws = [\"0 <= x perp lam >= 0\"]\n", 2, {}, {0}), "touches the end of a branch of lam");
    // Another law turns x back at the same moment.
    none(ends("x = -1\ny = 0\nz = 1\n[model]\nequations = [\"der(x) = p*sign(z)\", \"der(y) = sign(x)\", \"der(z) = -1\"]\n", 2, {}, {0}), "touches the end of a branch of sign(x)");
    // By what does not move x, and where the rates beyond are the same at the end, there are derivatives.
    const Trajectory company = ends(touches + "sign(x)\"]\n", 2, {1}, {});
    REQUIRE(company.dx_dq.back().size() > 0);
    CHECK(company.dx_dq.back()(1, 0) == doctest::Approx(1));
    const Trajectory kink = ends(touches + "max(x, 0)\"]\n", 2, {0}, {0});
    REQUIRE(kink.dx_dq.back().size() > 0);
    CHECK(kink.dx_dq.back()(1, 0) == doctest::Approx(0));
    CHECK(kink.dx_dq.back()(1, 1) == doctest::Approx(0));
  }

  // y(1) = max(1 - p, 0)
  TEST_CASE("a solution that reaches the end of a branch when the run is over has none there, and has where both sides are alike") {
    const auto ends_on = [](const Trajectory& found, const std::string& what) {
      CAPTURE(found.message);
      CHECK(found.dx_dq.size() < found.t.size());  // the rows behind have none
      CHECK(found.message.find("no sensitivities from t = 1 on: the solution ends on " + what) != std::string::npos);
    };
    const std::string p = "[parameters]\np = 1\n[variables]\n";
    const std::string passes = p + "x = 0\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"der(y) = if(x > p, 1, 0)\"]\n";
    ends_on(run(passes, {}, {0}), "the end of a branch of x > p");
    ends_on(run(passes, {0}), "the end of a branch of x > p");
    ends_on(run(p + "x = 1\n[model]\nequations = [\"der(x) = p - 2*step(x)\"]\n", {}, {0}), "the end of a branch of step(x)");
    ends_on(run(p + "x = 1\n[model]\nequations = [\"der(x) = lam - p\"]\nlaws = [\"0 <= x perp lam >= 0\"]\n", {0}), "the end of a branch of lam");
    ends_on(run(p + "x = 1\ny = 0\n[model]\nequations = [\"der(x) = -p\", \"y = abs(x)\"]\n", {}, {0}), "the end of a branch of abs(x)");
    ends_on(run(p + "x = 1\ny = 0\n[model]\nequations = [\"der(x) = -p\", \"der(y) = 1\"]\nwhen = [{condition = \"x < 0\", set = {y = \"5\"}}]\n", {}, {0}), "the condition of when 1");
    const Trajectory alike = run(p + "x = 1\ny = 0\n[model]\nequations = [\"der(x) = -p\", \"der(y) = abs(x)\"]\n", {0}, {0});
    REQUIRE(alike.dx_dq.back().size() > 0);
    CHECK(alike.dx_dq.back()(1, 1) == doctest::Approx(-0.5));
    const Trajectory company = run(passes, {1});
    REQUIRE(company.dx_dq.back().size() > 0);
  }

  // From x = 0 the solution stays; from x(0) ≠ 0 it leaves.
  TEST_CASE("a start held on a surface that repels has none by what moves it off") {
    CHECK(has_none(run("[variables]\nx = 0\n[model]\nequations = [\"der(x) = 2*sign(x)\"]\n", {0}), "starts on the end of a branch of sign(x)"));
    CHECK(has_none(run("[parameters]\np = 0\n[variables]\nx = 0\n[model]\nequations = [\"der(x) = sign(x - p) + x\"]\n", {}, {0}), "starts on the end of a branch of sign(x - p)"));
    // One that attracts has: y takes λ = 1/2 for the time of the way back, from both sides.
    const Trajectory found = run("[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1 - 2*sign(x)\", \"der(y) = sign(x)\"]\n", {0});
    REQUIRE_FALSE(found.dx_dq.empty());
    CHECK(found.dx_dq.back()(0, 0) == doctest::Approx(0));
    CHECK(found.dx_dq.back()(1, 0) == doctest::Approx(0.5));
  }

  // y(1) = 8 x(0) for x(0) > 0, which falls for x(0)/2; for x(0) < 0 it jumps onto 0
  TEST_CASE("a start on a constraint has none where other laws of its argument take another way beside it") {
    CHECK(has_none(run("[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = lam - 2\", \"der(y) = if(x > 0, 3, 1)*2\"]\nlaws = [\"0 <= x perp lam >= 0\"]\n", {0}),
                   "starts on the end of a branch of lam"));
  }

  TEST_CASE("a start on the condition of a reset has none by what moves it off, where one side fires") {
    const std::string reset = "x = 0\ny = 1\n[model]\nequations = [\"der(x) = 2\", \"der(y) = 1\"]\nwhen = [{condition = \"x\", direction = ";
    const auto text = [&](const std::string& direction) { return "[variables]\n" + reset + direction + ", set = {y = \"-y\"}, name = \"up\"}]\n"; };
    CHECK(has_none(run(text("1"), {0}), "starts on the condition of up"));
    CHECK_FALSE(run(text("-1"), {0}).dx_dq.empty());
    CHECK_FALSE(run(text("1"), {1}).dx_dq.empty());
  }

  // x = 1 - t slides on x + t = 1 and crosses 0 at t = 1, when λ touches its end: y(0) moves that, and not the crossing.
  TEST_CASE("the time of an event is that of the law that leaves its branch, not of one that touches the end of its own") {
    const Model model = read_model_text("[variables]\nx = 0.5\ny = 1\n[model]\nequations = [\"der(x) = sign(y) - max(y, 0) - sign(x + t - 1)\", \"der(y) = 2*sign(x)\"]\n[run]\nt = [0, 2]\n", "end.toml");
    Located scheme = test::located(model, 1e-12);
    scheme.sensitivities = {{1}, {}};
    const Trajectory found = integrate(*model.equations, model.x0(), model.run.span, scheme);
    REQUIRE_MESSAGE(found.status == Status::solved, found.message);
    REQUIRE(found.dx_dq.size() == found.t.size());
    CHECK(found.dx_dq.back()(1, 0) == doctest::Approx(1).epsilon(1e-6));
  }

  // Across t = p the solution slides for p > 1, and leaves for p < 1: what is beyond is another mode of other laws, too.
  TEST_CASE("at the end of the span laws that leave their branches together are seen to") {
    const Trajectory found = run("[parameters]\np = 1\n[variables]\nx = 0.25\n[model]\nequations = [\"der(x) = if(x > 0, -1, 1) - 2*step(t - p)\"]\n", {}, {0});
    CHECK(found.dx_dq.size() < found.t.size());
    CHECK(found.message.find("the solution ends on the end of a branch of step(t - p)") != std::string::npos);
  }
}
