#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

// Sensitivities where the state alone would take steps that are too long for them: at rest, on polynomials. By closed forms.

using namespace perp;

namespace {

Model model_of(const std::string& text, const std::string& end) {
  return read_model_text(text + "[run]\nt = [0, " + end + "]\n", "steps.toml");
}

Trajectory run(const std::string& text, const std::string& end, std::vector<int> starts, std::vector<int> parameters = {}) {
  const Model model = model_of(text, end);
  Located scheme = test::located(model, 1e-10);
  scheme.sensitivities = {std::move(starts), std::move(parameters)};
  Trajectory found = integrate(*model.equations, model.x0(), model.run.span, scheme);
  REQUIRE_MESSAGE(found.status == Status::solved, found.message);
  REQUIRE_MESSAGE(found.dx_dq.size() == found.t.size(), found.message);
  return found;
}

std::string model(const std::string& variables, const std::string& equations, const std::string& parameters = "") {
  return "[parameters]\n" + parameters + "\n[variables]\n" + variables + "\n[model]\nequations = [" + equations + "]\n";
}

struct Case {
  const char* variables;
  const char* equations;
  const char* end;
  int variable;  ///< also the start
  double exact;
};

void check(const Case& one) {
  CAPTURE(one.equations);
  const Trajectory found = run(model(one.variables, one.equations), one.end, {one.variable});
  CHECK(found.dx_dq.back()(one.variable, 0) == doctest::Approx(one.exact).epsilon(1e-10).scale(0));
}

}  // namespace

TEST_SUITE("schemes/located/sensitivity_steps") {
  TEST_CASE("derivatives of a state at rest grow, decay and swing as the linear equations say") {
    check({"x = 0", "\"der(x) = x\"", "10", 0, std::exp(10)});
    check({"x = 1", "\"der(x) = -x + 1\"", "10", 0, std::exp(-10)});
    check({"x = 1", "\"der(x) = -x + 1\"", "100", 0, std::exp(-100)});
    check({"q = 0\nw = 0", "\"der(q) = w\", \"der(w) = -q\"", "20", 0, std::cos(20)});
    check({"q = 0\nw = 0", "\"der(q) = w\", \"der(w) = -9.81*sin(q)\"", "5", 0, std::cos(5 * std::sqrt(9.81))});
    check({"x = 0\ny = 0", "\"der(x) = 1\", \"der(y) = 2*(y - x) + 1\"", "10", 1, std::exp(20)});
    check({"x = 0\ny = 0", "\"der(x) = -sign(x)\", \"der(y) = 3*y\"", "6", 1, std::exp(18)});
  }

  // ẋ = x - a, x = a: ∂x/∂a = 1 - e^t. ẏ = b (x - a): ∂y/∂b = 0 exactly
  TEST_CASE("so do those by parameters, and a parameter that does not act leaves 0") {
    const std::string text = model("x = 1\ny = 2", "\"der(x) = x - a\", \"der(y) = b*(x - a)\"", "a = 1\nb = 3");
    const Trajectory found = run(text, "10", {}, {0, 1});
    CHECK(found.dx_dq.back()(0, 0) == doctest::Approx(1 - std::exp(10)).epsilon(1e-10));
    CHECK(found.dx_dq.back()(1, 0) == doctest::Approx(-3 * (std::exp(10) - 1)).epsilon(1e-10));
    CHECK(found.dx_dq.back().col(1).isZero(0));
  }

  // ẏ = 3 y before x = 1, y behind it: y = e^(3 t* + 2 - t*), t* = 1 - x(0)
  TEST_CASE("behind events that move and that do not") {
    for (const double y : {0.0, 1.0}) {
      CAPTURE(y);
      const Trajectory found =
          run(model(fmt::format("x = 0\ny = {}", y), "\"der(x) = 1\", \"der(y) = (2 - sign(x - 1))*y\""), "4", {0, 1});
      CHECK(found.dx_dq.back()(1, 0) == doctest::Approx(-2 * y * std::exp(6)).epsilon(1e-10));
      CHECK(found.dx_dq.back()(1, 1) == doctest::Approx(std::exp(6)).epsilon(1e-10));
    }
    const Trajectory late = run(model("y = 0", "\"der(y) = if(t < 2, 0, 5)*y\""), "6", {0});
    CHECK(late.dx_dq.back()(0, 0) == doctest::Approx(std::exp(20)).epsilon(1e-10));
  }

  // y = 0 is written as -2 y + p (x - 1) at x = 1; behind it ẏ = y
  TEST_CASE("behind resets") {
    const Trajectory found =
        run(model("x = 0\ny = 0", "\"der(x) = 1\", \"der(y) = y\"", "p = 3") +
                "when = [{ condition = \"x - 1\", direction = 1, set = { y = \"-2*y + p*(x - 1)\" } }]\n",
            "9", {0, 1}, {0});
    CHECK(std::abs(found.dx_dq.back()(1, 0)) < 1e-12 * std::exp(9));
    CHECK(found.dx_dq.back()(1, 1) == doctest::Approx(-2 * std::exp(9)).epsilon(1e-10));
    CHECK(std::abs(found.dx_dq.back()(1, 2)) < 1e-12 * std::exp(9));
  }

  // On x + |y| = 2 with y > 0: ẋ = -x/(1 + x), ln x + x = 1 - t. A start beside it returns along (x, 1): half of it is left.
  TEST_CASE("a start beside constraints that laws stand in goes onto them at once") {
    const Trajectory found =
        run(model("x = 1\ny = 1\nz = 0", "\"der(x) = x*z\", \"der(y) = 1 + z\", \"x + abs(y) = 2\""), "1", {0, 1});
    const double omega = 0.56714329040978387;
    for (const int start : {0, 1}) {
      const double sign = start == 0 ? 1 : -1;
      CHECK(found.dx_dq.front()(0, start) == doctest::Approx(sign / 2).epsilon(1e-14));
      CHECK(found.dx_dq.front()(1, start) == doctest::Approx(-sign / 2).epsilon(1e-14));
      CHECK(found.dx_dq.back()(0, start) == doctest::Approx(sign * omega / (1 + omega)).epsilon(1e-10));
    }
  }

  // 1e-19 of rounding in columns of a state that sticks, where the multipliers have all of the derivative
  TEST_CASE("columns that are 0 beside multipliers cost no steps") {
    const Trajectory found = run(model("x = 0\nv = 0", "\"der(x) = v\", \"m*der(v) = 0.5*sin(3*t) - F*sign(v) - m*v\"", "m = 1.1\nF = 1"),
                                 "6", {}, {0, 1});
    CHECK(found.dx_dq.back().cwiseAbs().maxCoeff() < 1e-15);
    CHECK(found.t.size() < 40);
  }

  TEST_CASE("columns that polynomials of a step know exactly leave the steps of the state") {
    const std::string text = model("x = 0\ny = 1", "\"der(x) = cos(t)\", \"der(y) = x\"");
    const Model file = model_of(text, "10");
    const Trajectory alone = integrate(*file.equations, file.x0(), file.run.span, test::located(file, 1e-10));
    const Trajectory found = run(text, "10", {0, 1});
    CHECK(found.t == alone.t);
    CHECK(found.x.back() == alone.x.back());
    CHECK(found.dx_dq.back()(1, 0) == doctest::Approx(10).epsilon(1e-13));
  }

  TEST_CASE("in another unit of time they are the same to the bit") {
    const auto with_unit = [](double unit) {
      return run(model("q = 0\nw = 0\ny = 0",
                       fmt::format("\"der(q) = {0:.17g}*w\", \"der(w) = -{0:.17g}*sin(q)\", \"der(y) = {0:.17g}*(a*w - y)\"", 1 / unit),
                       "a = 2"),
                 fmt::format("{:.17g}", 5 * unit), {0, 1}, {0});
    };
    const Trajectory one = with_unit(1);
    CHECK(one.dx_dq.back()(0, 0) == doctest::Approx(std::cos(5)).epsilon(1e-10));
    for (const double unit : {0x1p-30, 0x1p30}) {
      const Trajectory other = with_unit(unit);
      REQUIRE(other.t.size() == one.t.size());
      for (std::size_t i = 0; i < one.t.size(); ++i) {
        CHECK(other.t[i] == unit * one.t[i]);
        CHECK(other.dx_dq[i] == one.dx_dq[i]);
      }
    }
  }

  // e^710 is the largest double
  TEST_CASE("they end where doubles do") {
    const Model grows = model_of(model("x = 0", "\"der(x) = x\""), "800");
    Located scheme = test::located(grows, 1e-8);
    scheme.sensitivities = {{0}, {}};
    const Trajectory found = integrate(*grows.equations, grows.x0(), grows.run.span, scheme);
    CHECK(found.status == Status::solved);
    CHECK(found.t.back() == 800);
    CHECK(found.message.find("; no sensitivities from t = 7") != std::string::npos);
    CHECK(found.message.find("they are larger than doubles") != std::string::npos);
  }
}
