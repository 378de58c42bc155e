#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/schemes/located/models.hpp>

using namespace perp;

namespace {

/// A ball under a force that varies; times in units of 2^-time seconds, heights in 2^-length meters.
Trajectory bounce(int time, int length) {
  const Model model = read_model_text(R"toml(
    name = "a ball under a force that varies"
    [parameters]
    T = 1
    L = 1
    [variables]
    f = -1.557
    x = "0.825*L"
    v = "0.294*L/T"
    [model]
    laws = ["0 <= s perp x >= 0"]
    restitution = { s = 0.385 }
    equations = [
      "T*der(f) = 0.804 - 0.836*f",
      "der(x) = v",
      "T*der(v) = -5.18*L/T - 0.109*v - 0.899*f*L/T + s",
    ]
    [run]
    t = [0, "3.822*T"]
    h = 1)toml",
                                      "ball.toml",
                                      {{"T", fmt::format("{}", std::ldexp(1.0, time))},
                                       {"L", fmt::format("{}", std::ldexp(1.0, length))}});
  Located scheme{.tol = 1e-10, .restitution = model.restitution};
  return integrate(*model.equations, model.x0(), model.run.span, scheme);
}

}  // namespace

TEST_SUITE("schemes/located/accumulations") {
  // Impacts lose velocity by 0.385 each, so that the ball rests at the end of the series: no jump is
  // left to make there.
  TEST_CASE("a ball rests at the accumulation of its impacts, in every unit") {
    for (const auto& [time, length] : {std::pair{0, 0}, {29, -23}, {-30, 17}, {40, 40}}) {
      const auto& shown_time = time;
      CAPTURE(shown_time);
      const auto& shown_length = length;
      CAPTURE(shown_length);
      const Trajectory run = bounce(time, length);
      REQUIRE(run.status == Status::solved);
      const auto rest = std::find_if(run.events.begin(), run.events.end(), [](const Event& event) {
        return event.kind == EventKind::accumulation;
      });
      REQUIRE(rest != run.events.end());
      CHECK(rest->x_after[2] == 0);
      CHECK(std::none_of(rest + 1, run.events.end(),
                         [](const Event& event) { return event.kind == EventKind::jump; }));
    }
  }

  // x'' = -a sign(x) - b sign(x'), from (1, 0): extremes of x fall by q = (a - b)/(a + b), which take T q^(k/2) each.
  TEST_CASE("a twisting controller comes to rest at its accumulation, to rounding: x falls like the square of the time left") {
    for (const auto& [a, b] : {std::pair{2.0, 1.0}, {1.5, 1.4}, {20.0, 1.0}})
      for (const double tol : {1e-6, 1e-10}) {
        const double shown_a = a;
        CAPTURE(shown_a);
        CAPTURE(tol);
        const Trajectory run =
            test::run_located(fmt::format("[variables]\nx = 1\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = "
                                          "-{}*sign(x) - {}*sign(v)\"]\n[run]\nt = [0, 20]\n",
                                          a, b),
                              tol);
        REQUIRE(run.status == Status::solved);
        const double first = std::sqrt(2 / (a - b)) + std::sqrt(2 * (a - b)) / (a + b);
        const double rest = first / (1 - std::sqrt((a - b) / (a + b)));
        const auto zeno = std::ranges::find(run.events, EventKind::accumulation, &Event::kind);
        REQUIRE(zeno != run.events.end());
        CHECK(std::abs(zeno->t - rest) <= 1e-12 * rest);
        CHECK(std::abs(run.x.back()[0]) <= 1e-17);
        CHECK(std::abs(run.x.back()[1]) <= 1e-17);
      }
  }

  // Of such runs some lost the accumulation: behind an impact within the rounding of its moment no continuation was found,
  // and a jump to rest took its place.
  TEST_CASE("an accumulation is told wherever the run before it begins") {
    for (int k = 0; k < 40; ++k) {
      CAPTURE(k);
      const double left = 7.6e-4 * (1 + 0.02 * k), v = -6.3e-3 * (1 + 0.013 * k);
      const Model model = read_model_text(
          fmt::format("[variables]\nf = -1.98\ng = -1.74\nx = {}\nv = {}\n[model]\nlaws = [\"0 <= s perp x >= 0\"]\n"
                      "restitution = {{ s = 0.219 }}\nequations = [\"der(f) = 0.5*g - 1.69\", \"der(g) = -0.25*f - 0.4*g - 1.6\", "
                      "\"der(x) = v\", \"der(v) = -5.601 - 0.311*v + s\"]\n[run]\nt = [0.96421875, 2.25]\n",
                      4.876e-7 * (1 + 0.017 * k), v),
          "late.toml");
      Located options;
      options.restitution = model.restitution;
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, options);
      REQUIRE(run.status == Status::solved);
      const auto rest = std::ranges::find(run.events, EventKind::accumulation, &Event::kind);
      REQUIRE(rest != run.events.end());
      CHECK(rest->t - 0.96421875 < 2 * left);
      CHECK(rest + 1 == run.events.end());
    }
  }
}
