#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

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
}
