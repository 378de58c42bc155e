#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/system_schemes.hpp>

// Sliding on x = 0 whose multiplier enters as a square: two solutions go on from there, y moves with the one or the other.

using namespace perp;

namespace {

/// The end of a run of keep_mode with these further equations, each of a variable that starts at 0, or of backward Euler in
/// another form.
Vector end(const std::string& equations, const std::string& variables, double h, bool split) {
  const std::string text = fmt::format("[variables]\nx = 0.1\ny = 0\n{}[model]\nlaws = [\"s in sign(x)\"]\nequations = [{}]\n[run]\nt = [0, 1]\n",
                                       variables, equations);
  const Model model = read_model_text(text, "two_roots.toml");
  const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = h, .split_at_events = split});
  REQUIRE_MESSAGE(run.status == Status::solved, run.message);
  return run.x.back().head(2);
}

}  // namespace

TEST_SUITE("schemes/step/step_choice") {
  TEST_CASE("an algebraic variable that nothing uses does not change which solution keep_mode takes at the end of a mode") {
    // x' = 0.49 - s² to 0 with s = 1; then s = 0.7 or -0.7, and y' = s + 0.3: |y'| is least with -0.7.
    for (const char* speed : {"s + 0.3", "s - 0.3", "-s + 0.3 + 0.1*x"})
      for (const double h : {0.03, 0.01})
        for (const bool split : {true, false}) {
          CAPTURE(speed);
          CAPTURE(h);
          CAPTURE(split);
          const std::string own = fmt::format("\"der(x) = 0.49 - s^2\", \"der(y) = {}\"", speed);
          const Vector alone = end(own, "", h, split);
          for (const char* more : {"w = x - t/4", "w = y", "w = y - t/4", "w = s", "w = s + y", "w = x*y + exp(s)", "w = 1e9*y"}) {
            CAPTURE(more);
            CHECK((end(own + fmt::format(", \"{}\"", more), "w = 0\n", h, split) - alone).cwiseAbs().maxCoeff() <= 1e-12);
          }
        }
  }

  TEST_CASE("a name for a multiplier does not change which solution keep_mode takes, which is that of least motion") {
    const Vector named = end("\"der(x) = 0.49 - s^2\", \"der(y) = z + 0.3\", \"z = s\"", "z = 1\n", 0.01, true);
    // At 0 from t = 0.1/0.51 on.
    const double t = 0.1 / 0.51, y = 1.3 * t - 0.4 * (1 - t);
    CHECK(std::abs(named[1] - y) < 1e-9);
  }
}
