// Laws with memory under solvers that know nothing of it.
#include <doctest/doctest.h>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

TEST_SUITE("schemes/capturing/first_with_memory") {
  TEST_CASE("whatever a solver finds first, a law with memory keeps its branch inside of its band") {
    const Model model = read_model_text(
        "[variables]\nx0 = -1.994\nx1 = 1.406\n[model]\nequations = [\n"
        "\"der(x0) = -1.941*x0 - 0.307*abs(-0.7*x0 + 0.869 + 0.5*sin(1.662*t)) + 2.261*L1 + 1.02*L2\",\n"
        "\"der(x1) = -0.567*x1 + 0.14\"]\n"
        "laws = [\"L1 in hysteresis(-x1 - 0.7*x0 - 0.907, -0.637, 0.875)\",\n"
        "\"L2 in hysteresis(-0.7*x0 - 0.02 + 0.5*sin(4.198*t), -0.395, 0.637)\"]\n[run]\nt = [0, 2]\n",
        "two_bands.toml");
    const auto run = [&](Selector selector, const std::string& solver) {
      return integrate(*model.system.affine(), model.x0(), model.run.span,
                       BackwardEuler{.h = 0.01, .selector = selector, .solver = solver});
    };
    const Trajectory kept = run(Selector::keep_mode, "newton_min");
    const Trajectory first = run(Selector::first, "enumerate");
    REQUIRE(first.events.size() == kept.events.size());
    for (std::size_t k = 0; k < kept.events.size(); ++k) CHECK(first.events[k].t == doctest::Approx(kept.events[k].t));
    CHECK((first.x.back() - kept.x.back()).norm() <= 1e-12);
  }
}
