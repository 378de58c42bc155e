#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/analysis/run/constraint_check.hpp>
#include <perp/analysis/run/kept_run.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

TEST_SUITE_BEGIN("analysis/run/constraint_check");

namespace {

/// A relay with hysteresis 0 that slides at x = 0 from t = 1 on, x and its law in units of 2^k.
Model sliding(int k, const std::string& scheme = "backward_euler") {
  const double unit = std::ldexp(1, k);
  ReadOptions known;
  return read_model_text(fmt::format("[parameters]\nu = {:.17g}", unit) + R"toml(
[variables]
x = "u"
y = "0.5*u"
[model]
laws = ["s in sign(x)"]
equations = ["der(x) = -u*s", "0 = y - 0.5*x + 0.25*u*s - 0.25*u"]
[run]
t = [0, 2]
h = 0.01
)toml" + "scheme = \"" + scheme + "\"\n",
                         "sliding.toml", {}, known);
}

}  // namespace

TEST_CASE("steps of an affine system have the rows of its equations and laws to rounding, also where x is 0") {
  for (const char* scheme : {"backward_euler", "theta"})
    for (const int k : {-20, 0, 20}) {
      CAPTURE(scheme);
      CAPTURE(k);
      const Model model = sliding(k, scheme);
      const KeptRun run = keep_run(model, {});
      REQUIRE(run.run.status == Status::solved);
      ConstraintCheck check(model, 200);
      for (std::size_t i = 0; i < run.rows(); ++i) CHECK(check.add(run.row(i)));
      CHECK(check.largest() < 0x1p-48);
      CHECK(check.fault().empty());
    }
}

TEST_CASE("a state that misses a law or an algebraic equation by a thousandth is none, in any unit") {
  for (const int k : {-20, 0, 20}) {
    CAPTURE(k);
    const Model model = sliding(k);
    const double unit = std::ldexp(1, k);
    const KeptRun run = keep_run(model, {});
    const auto fault_with = [&](std::size_t changed, const auto& change) {
      ConstraintCheck check(model, 200);
      for (std::size_t i = 0; i < run.rows(); ++i) {
        Step step = run.row(i);
        if (i == changed) change(step);
        if (!check.add(step)) return check.fault();
      }
      return std::string();
    };
    const std::string of_law = fault_with(150, [&](Step& step) {  // s inside of (-1, 1), x is not 0
      step.x[0] += 1e-3 * unit;
      step.x[1] += 0.5e-3 * unit;
    });
    CHECK(of_law.find("stopped at t = ") == 0);
    CHECK(of_law.find("the law of s misses") != std::string::npos);
    const std::string of_equation = fault_with(20, [&](Step& step) { step.x[1] += 1e-3 * unit; });
    CHECK(of_equation.find("stopped at t = 0.2: an algebraic equation misses") == 0);
    const std::string beyond = fault_with(20, [&](Step& step) {  // beyond the law's range
      step.lambda[0] = 1.001;
      step.x[1] -= 0.25e-3 * unit;
    });
    CHECK(beyond.find("the law of s misses") != std::string::npos);
  }
}

TEST_CASE("a state of scheme located that misses an algebraic equation by more than the tolerance is none, in any unit") {
  for (const int k : {-20, 0, 20}) {
    CAPTURE(k);
    const double unit = std::ldexp(1, k);
    ReadOptions known;
    const Model model = read_model_text(fmt::format("[parameters]\nu = {:.17g}", unit) + R"toml(
[variables]
x = "u"
y = 0
[model]
equations = ["der(x) = -x", "y + u*tanh(y/u) = x^2/u"]
[run]
t = [0, 2]
h = 0.01
scheme = "located"
)toml", "located.toml", {}, known);
    const KeptRun run = keep_run(model, {});
    CHECK(run.run.status == Status::solved);
    const auto fault_with = [&](double miss) {
      ConstraintCheck check(model, 200);
      for (std::size_t i = 0; i < run.rows(); ++i) {
        Step step = run.row(i);
        if (i == 20) step.x[1] += miss * unit;
        if (!check.add(step)) return check.fault();
      }
      return std::string();
    };
    CHECK(fault_with(1e-10).empty());
    CHECK(fault_with(1e-3).find(fmt::format("stopped at t = {:.10g}: an algebraic equation misses", run.row(20).t)) == 0);
  }
}
