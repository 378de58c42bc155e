#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>

// Diodes conduct almost nothing at 0 V: what derivatives there tell of the size of voltages is
// wrong by any factor.

using namespace perp;

TEST_SUITE("schemes/located/jets/nonlinear_units") {
  TEST_CASE("a load with a power of the voltage is followed to the tolerance from 0 V, where it has no slope") {
    // c v' = 1 - tanh(t/c)² + tanh(t/c)³ - v³ has the solution v = tanh(t/c).
    for (const double c : {1.0, 1e-3, 1e-9}) {
      const Model model = read_model_text(
          fmt::format("[variables]\nv = 0\n[model]\nequations = [\"{0:.17g}*der(v) = 1 - tanh(t/{0:.17g})^2 + "
                      "tanh(t/{0:.17g})^3 - v^3\"]\n[run]\nt = [0, 4]\n",
                      c),
          "power.toml");
      IntegrateOptions rows;
      for (const double t : {0.1, 0.5, 1.0, 2.0, 3.9}) rows.times.push_back(t * c);
      const Trajectory run =
          integrate(model.system.functions(), model.x0(), model.run.span, Located{.tol = 1e-10}, rows);
      CAPTURE(c);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      for (std::size_t k = 0; k < run.size(); ++k)
        CHECK(std::abs(run.x[k][0] - std::tanh(run.t[k] / c)) <= 1e-8);
    }
  }
}
