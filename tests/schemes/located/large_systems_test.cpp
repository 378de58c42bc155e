#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

/// n oscillators in a ring with springs that soften.
Trajectory ring(int n, const char* start, double end) {
  const Model model = read_model_text(
      fmt::format("[parameters]\nN = {}\n[variables]\nx = {{ size = \"N\", start = \"{}\" }}\nv = {{ size = \"N\", start = 0 }}\n"
                  "[model]\nequations = [\n\"for i in 1:N: der(x[i]) = v[i]\",\n"
                  "\"for i in 1:N: der(v[i]) = -0.1*v[i] + sin(if(i < N, x[i+1], x[1]) - x[i]) + "
                  "sin(if(i > 1, x[i-1], x[N]) - x[i]) - x[i]^3\",\n]\n[run]\nt = [0, {}]\nscheme = \"located\"\n",
                  n, start, end),
      "ring.toml");
  return integrate(model.system.functions(), model.x0(), model.run.span, Located{}, {});
}

TEST_CASE("many oscillators whose starts repeat after four move as four") {
  const char* start = "0.3*cos(pi*i/2) + 0.1";
  const Trajectory few = ring(4, start, 2), many = ring(60, start, 2);
  REQUIRE(few.status == Status::solved);
  REQUIRE(many.status == Status::solved);
  for (int i = 0; i < 60; ++i) {
    CHECK(std::abs(few.x.back()[i % 4] - many.x.back()[i]) <= 1e-9);
    CHECK(std::abs(few.x.back()[4 + i % 4] - many.x.back()[60 + i]) <= 1e-9);
  }
}

TEST_CASE("an oscillator that rests by symmetry holds no step up: others say how well it is known") {
  const Trajectory run = ring(20, "sin(2*pi*i/N)", 1);
  REQUIRE(run.status == Status::solved);
  CHECK(std::abs(run.x.back()[9]) <= 1e-14);
  CHECK(std::abs(run.x.back()[4] + run.x.back()[14]) <= 1e-13);
  CHECK(run.counts.at("rejected") == 0);
  CHECK_FALSE(run.counts.contains("rows_not_solved"));
}

}  // namespace
