#include <doctest/doctest.h>

#include <cmath>

#include <perp/analysis/phase/phase_plane.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

Model model_of(const std::string& equations, const std::string& variables = "x = 1\ny = 0\n") {
  return read_model_text("[variables]\n" + variables + "[model]\nequations = [" + equations + "]\n[run]\nt = [0, 1]\nh = 0.01\n", "plane.toml");
}

constexpr PhasePlaneGrid square{.horizontal = 0, .vertical = 1, .x = {-2, 2}, .y = {-2, 2}};

}  // namespace

TEST_SUITE("analysis/phase") {
  TEST_CASE("arrows are the rates of the equations on both sides of a surface") {
    const PhasePlane plane = phase_plane(model_of("\"der(x) = y\", \"der(y) = -x - 0.5*sign(y)\""), square);
    CHECK(plane.arrows.size() == 17 * 17);
    CHECK(plane.inconsistent == 0);
    for (const PhasePlane::Arrow& arrow : plane.arrows) {
      CHECK(std::abs(arrow.rate.x - arrow.at.y) < 1e-12);
      if (arrow.at.y == 0) {  // the middle row is the surface: it holds where |x| <= 0.5
        if (std::abs(arrow.at.x) < 0.5) CHECK(std::abs(arrow.rate.y) < 1e-12);
        continue;
      }
      CHECK(std::abs(arrow.rate.y - (-arrow.at.x - 0.5 * (arrow.at.y > 0 ? 1 : -1))) < 1e-12);
    }
  }

  TEST_CASE("surfaces are where the argument of a law is at an end of its branches, straight or curved") {
    const PhasePlane plane = phase_plane(model_of("\"der(x) = y\", \"der(y) = -x - sign(x^2 + y^2 - 1) + max(x - 1.5, 0)\""), square);
    REQUIRE(plane.surfaces.size() == 2);
    double circle = 0, line = 0;
    for (const PhasePlane::Surface& surface : plane.surfaces)
      for (const auto& [a, b] : surface.segments) {
        const bool is_line = std::abs(a.x - 1.5) < 1e-9 && std::abs(b.x - 1.5) < 1e-9;
        (is_line ? line : circle) += std::hypot(a.x - b.x, a.y - b.y);
        if (is_line) continue;
        for (const PlanePoint& point : {a, b}) CHECK(std::abs(std::hypot(point.x, point.y) - 1) < 1e-8);
      }
    CHECK(line == doctest::Approx(4));
    CHECK(circle == doctest::Approx(2 * 3.14159265358979).epsilon(1e-3));  // chords of a 48th
  }

  TEST_CASE("surfaces of laws within products are whole, however many starts they take") {
    for (const char* equation : {"\"der(y) = -x - 0.3*abs(x)*y\"", "\"der(y) = -x - sign(y)*abs(x)*y^2\""}) {
      const PhasePlane plane = phase_plane(model_of("\"der(x) = y\", " + std::string(equation)), square);
      double length = 0;
      for (const PhasePlane::Surface& surface : plane.surfaces)
        for (const auto& [a, b] : surface.segments)
          if (std::abs(a.x) + std::abs(b.x) < 1e-9) length += std::abs(a.y - b.y);
      CHECK(length == doctest::Approx(4));
    }
  }

  TEST_CASE("algebraic variables follow from the state") {
    const PhasePlane plane = phase_plane(model_of("\"der(x) = -z\", \"der(y) = z - y\", \"z = 2*x + abs(y)\"", "x = 1\ny = 0\nz = 0\n"), square);
    REQUIRE(plane.arrows.size() >= 17 * 16);
    for (const PhasePlane::Arrow& arrow : plane.arrows)
      CHECK(std::abs(arrow.rate.x + 2 * arrow.at.x + std::abs(arrow.at.y)) < 1e-9);
    REQUIRE(plane.surfaces.size() == 1);
    for (const auto& [a, b] : plane.surfaces[0].segments) CHECK(std::abs(a.y) + std::abs(b.y) < 1e-9);
  }

  TEST_CASE("the axes of a logarithmic plane are walked in equal factors") {
    PhasePlaneGrid grid{.horizontal = 0, .vertical = 1, .x = {0.01, 100}, .y = {1, 16}, .is_x_logarithmic = true, .is_y_logarithmic = true, .arrows = 4, .cells = 8};
    const PhasePlane plane = phase_plane(model_of("\"der(x) = -x\", \"der(y) = max(x - 1, 0)\"", "x = 1\ny = 2\n"), grid);
    REQUIRE(plane.arrows.size() == 16);
    CHECK(plane.arrows[0].at.x == doctest::Approx(0.01 * std::pow(10, 0.5)));
    CHECK(plane.arrows[4].at.y == doctest::Approx(std::pow(16, 0.375)));
    REQUIRE(plane.surfaces.size() == 1);
    for (const auto& [a, b] : plane.surfaces[0].segments) CHECK(std::abs(a.x - 1) + std::abs(b.x - 1) < 1e-7);
  }

  TEST_CASE("a state that is not the two variables is refused by its name") {
    const Model three = model_of("\"der(x) = y\", \"der(y) = z\", \"der(z) = -x\"", "x = 1\ny = 0\nz = 0\n");
    CHECK_THROWS_WITH_AS(phase_plane(three, square), doctest::Contains("z is a third one"), InvalidInput);
    const Model algebraic = model_of("\"der(x) = -y\", \"y = abs(x)\"");
    CHECK_THROWS_WITH_AS(phase_plane(algebraic, square), doctest::Contains("y is algebraic"), InvalidInput);
  }
}
