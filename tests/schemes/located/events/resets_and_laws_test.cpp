// Resets beside changes of mode at one moment.
#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

Trajectory run_of(const std::string& text, double tol = 1e-10) {
  const Model model = read_model_text(text, "resets.toml");
  return integrate(*model.equations, model.x0(), model.run.span, Located{.tol = tol, .restitution = model.restitution});
}

}  // namespace

TEST_SUITE("schemes/located/resets_and_laws") {
  TEST_CASE("a condition that jumps with a law passes 0 where the law changes: each passage fires once") {
    // x = cos t; the law switches on at x = 1/2 (rising) and off at -1/2, or at 0.
    for (const auto& [law, first] : {std::pair("L in hysteresis(x, -0.5, 0.5)", 5.235987755982989), std::pair("L in relay(x, 0, 1)", 4.71238898038469),
                                     std::pair("L in step(x)", 4.71238898038469), std::pair("L in relay(x, -3, 7)", 4.71238898038469)})
      for (const char* condition : {"heat > 50", "100*L - 50", "L*(1 + 0.001*x) - 0.6"}) {
        const std::string shown_law = law;
        CAPTURE(shown_law);
        CAPTURE(std::string(condition));
        const std::string direction = std::string(condition).find('>') == std::string::npos ? ", direction = 1" : "";
        const Trajectory run = run_of(std::string("[variables]\nx = 1\nv = 0\nn = 0\nheat = 0\n[model]\n"
                                                  "equations = [\"der(x) = v\", \"der(v) = -x\", \"der(n) = 0\", \"heat = 100*L\"]\nlaws = [\"") + law +
                                      "\"]\nwhen = [{ condition = \"" + condition + "\"" + direction + ", set = { n = \"n + 1\" } }]\n[run]\nt = [0, 20]\n");
        REQUIRE(run.status == Status::solved);
        CHECK(run.x.back()[2] == 3);
        std::vector<double> times;
        for (const Event& event : run.events)
          if (event.kind == EventKind::jump) times.push_back(event.t);
        REQUIRE(times.size() == 3);
        for (std::size_t k = 0; k < 3; ++k) CHECK(times[k] == doctest::Approx(first + 6.283185307179586 * static_cast<double>(k)).epsilon(1e-9));
      }
  }

  TEST_CASE("a reset on the surface of a contact resets from the state before, one event for each time") {
    const std::string head = "[variables]\nx = 1\nv = 0\nn = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -9.81 + F\", \"der(n) = 0\"]\n"
                             "laws = [\"0 <= x perp F >= 0\"]\n";
    const Trajectory run = run_of(head + "when = [{ condition = \"x\", direction = -1, set = { v = \"-0.5*v\", n = \"n + 1\" } }]\n[run]\nt = [0, 1.2]\n");
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.back()[2] == 3);
    const double fall = std::sqrt(2 / 9.81);
    REQUIRE(run.events.size() == 3);
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(run.events[k].t == doctest::Approx(fall * (k == 0 ? 1 : k == 1 ? 2 : 2.5)).epsilon(1e-9));
      CHECK(run.events[k].x_after[1] == doctest::Approx(-0.5 * run.events[k].x_before[1]));
    }
    // With a coefficient of restitution the contact rebounds, and a count of it is exact.
    const Trajectory counted = run_of(head + "restitution = { F = 0.5 }\nwhen = [{ condition = \"x\", direction = -1, set = { n = \"n + 1\" } }]\n[run]\nt = [0, 1.2]\n");
    REQUIRE(counted.status == Status::solved);
    CHECK(counted.x.back()[2] == 3);
    CHECK(counted.x.back()[1] == doctest::Approx(run.x.back()[1]).epsilon(1e-8));
  }
}
