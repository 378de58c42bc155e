#include <doctest/doctest.h>
#include <cmath>
#include <limits>

#include <perp/core/base/error.hpp>
#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::system_of;

namespace {

constexpr double ulp = std::numeric_limits<double>::epsilon();  // of 1

/// Dry friction that switches with time and with its state, and an algebraic variable.
const char* const text =
    "[variables]\nx = 0.5\nu = 1\n[model]\n"
    "equations = [\"der(x) = -sign(x) - 0.3*sign(t - 1) + u\", \"u = x*x\"]\n"
    "when = [{ condition = \"x - 0.5\", direction = 0, set = { x = \"-x\" }, name = \"turn\" }]\n"
    "[run]\nt = [0, 1]\nh = 0.1\n";

}  // namespace

TEST_SUITE("schemes/located/short_spans") {
  TEST_CASE("a run over a few units in the last place of t ends, at the end of its span") {
    const Model model = read_model_text(text, "a test");
    for (const double start : {1.0, -1.0, 0x1p10, 1 - 4 * ulp})
      for (const int count : {1, 2, 3, 8, 40, 1000}) {
        CAPTURE(start);
        CAPTURE(count);
        double end = start;
        for (int k = 0; k < count; ++k) end = std::nextafter(end, inf);
        const Trajectory run =
            integrate(system_of(model), model.x0(), {start, end}, test::located(model));
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(run.t.back() == end);
        CHECK(run.size() < 60);
        CHECK(std::abs(std::abs(run.x.back()[0]) - 0.5) <= 2 * (end - start) + 1e-12);
      }
  }

  TEST_CASE("steps and rows below the units in the last place of t are refused, others end") {
    const Model model = read_model_text(text, "a test");
    Located scheme = test::located(model);
    const Span span{1, 1 + 64 * ulp};
    for (double Located::*const option : {&Located::output_step, &Located::fixed_step}) {
      scheme.*option = ulp;
      CHECK_THROWS_AS(integrate(system_of(model), model.x0(), span, scheme), InvalidInput);
      scheme.*option = 16 * ulp;
      const Trajectory run = integrate(system_of(model), model.x0(), span, scheme);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.t.back() == span.end);
      CHECK(run.size() < 60);
      scheme.*option = 0;
    }
    scheme.output_step = 1e-300;
    CHECK_THROWS_AS(integrate(system_of(model), model.x0(), {0, 1}, scheme), InvalidInput);
  }
}
