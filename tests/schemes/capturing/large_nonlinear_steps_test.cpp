#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

// Nonlinear steps of many unknowns, whose matrix is one of entries, against the same steps of few unknowns.

using namespace perp;

namespace {

/// n oscillators in a ring with springs that soften, whose starts repeat after four.
std::string ring(int n, const char* friction) {
  return fmt::format(
      "[parameters]\nN = {}\n[variables]\n"
      "x = {{ size = \"N\", start = \"0.3*cos(pi*i/2) + 0.1\" }}\n"
      "v = {{ size = \"N\", start = \"0.2*sin(pi*i/2)\" }}\n"
      "[model]\nequations = [\n\"for i in 1:N: der(x[i]) = v[i]\",\n"
      "\"for i in 1:N: der(v[i]) = -0.1*v[i] + sin(if(i < N, x[i+1], x[1]) - x[i]) + "
      "sin(if(i > 1, x[i-1], x[N]) - x[i]) - x[i]^3{}\",\n]\n[run]\nt = [0, 2]\nh = 0.02\n",
      n, friction);
}

Trajectory run(int n, const char* friction) {
  const Model model = read_model_text(ring(n, friction), "ring.toml");
  return integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = model.run.h}, {});
}

TEST_CASE("a ring of many oscillators whose starts repeat moves as the ring of one period, with dry friction too") {
  for (const char* friction : {"", " - 0.05*sign(v[i])"}) {
    CAPTURE(friction);
    const Trajectory few = run(4, friction), many = run(60, friction);
    REQUIRE(few.status == Status::solved);
    REQUIRE(many.status == Status::solved);
    REQUIRE(few.t.size() == many.t.size());
    double largest = 0;
    for (std::size_t k = 0; k < few.t.size(); ++k) {
      CHECK(std::abs(few.t[k] - many.t[k]) <= 1e-13);
      for (int i = 0; i < 60; ++i) {
        largest = std::max(largest, std::abs(few.x[k][i % 4] - many.x[k][i]));
        largest = std::max(largest, std::abs(few.x[k][4 + i % 4] - many.x[k][60 + i]));
      }
    }
    CHECK(largest <= 1e-13);
    CHECK(many.events.size() == 15 * few.events.size());
  }
}

Model large_model(const char* text) {
  ReadOptions known;
  known.hybrid = true;  // as perp run reads it
  return read_model_text(text, "large.toml", {}, known);
}

TEST_CASE("more unknowns than full matrices hold are stepped, and a singular step of them is no solution") {
  const Model model = large_model(
      "[parameters]\nN = 6000\n[variables]\nx = { size = \"N\", start = 1 }\n[model]\nequations = [\n"
      "\"for i in 1:N: der(x[i]) = if(i < N, x[i+1], x[1])^2 - x[i]^2\",\n]\n[run]\nt = [0, 1]\nh = 0.1\n");
  const Trajectory still = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = 0.1}, {});
  REQUIRE(still.status == Status::solved);
  CHECK(still.x.back() == Vector::Ones(6000));
  const Model open = large_model(
      "[parameters]\nN = 3000\n[variables]\nx = { size = \"N\", start = 1 }\ny = { size = \"N\", start = 1 }\n"
      "[model]\nequations = [\n\"for i in 1:N: der(x[i]) = -x[i]^3\",\n"
      "\"for i in 1:N: 0 = y[i] + if(i < N, y[i+1], y[1]) - 2*x[i]\",\n]\n[run]\nt = [0, 1]\nh = 0.1\n");
  CHECK(integrate(open.system, open.x0(), open.run.span, BackwardEuler{.h = 0.1}, {}).status != Status::solved);
}

}  // namespace
