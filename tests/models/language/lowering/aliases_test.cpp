#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/models/equation_models.hpp>
#include <perp/tests/run_by_name.hpp>

namespace {

using perp::Model;
using perp::Trajectory;

/// Laws of equations in x, y, z, of which der(x) and der(y) are given and z is algebraic.
int laws_of(const std::string& z, const std::string& x) {
  return lower(perp::test::equation_model({"x", "y", "z"}, {{"p", 3}}, {"der(x) = " + x, "der(y) = -y", z})).system.m();
}

/// A mass pushed across the surface x = -1/4, on which two jumps stand, to rest at x = 0:
/// ẋ = -1 - 4 x + 0.4 sign(w) - 1.5 sign(w) - 1.5 sign(x), w = -2 x - 1/2.
Model two_jumps(const std::string& more, const std::string& equations, const std::string& first,
                const std::string& second) {
  return perp::read_model_text("[variables]\nx = -0.3\n" + more + "[model]\nequations = [\"der(x) = -1 - 4*x + 0.4*sign(" +
                                   first + ") - 1.5*sign(" + second + ") - 1.5*sign(x)\"" + equations +
                                   "]\n[run]\nt = [0, 1]\n",
                               "two_jumps.toml");
}

}  // namespace

TEST_SUITE("models/lowering") {
  TEST_CASE("operators of one surface share a law under every name that algebraic equations give it") {
    for (const char* z : {"z = x - y", "0 = x - y - z", "2*z + x = 3*x - 2*y", "p*z = p*x - p*y", "z/3 = (x - y)/3"}) {
      CAPTURE(z);
      CHECK(laws_of(z, "-sign(z) - sign(x - y)") == 1);
      CHECK(laws_of(z, "-sign(x - y) - abs(7*z)") == 1);
      CHECK(laws_of(z, "-sign(y - z) + if(x < 2*y, 1, 2)") == 1);
      CHECK(laws_of(z, "if(z > 0, 3*z, 0) + max(x, y)") == 1);
    }
  }

  TEST_CASE("what no affine equation without operators gives is a surface of its own") {
    CHECK(laws_of("z = x - y", "-sign(z) - sign(x + y)") == 2);
    CHECK(laws_of("z = x - y + abs(x)", "-sign(z) - sign(x - y)") == 3);
    CHECK(laws_of("z = x - y + z^3", "-sign(z) - sign(x - y)") == 2);
    CHECK(laws_of("z = der(x) - y", "-sign(z) - sign(x - y)") == 2);
    CHECK(laws_of("0 = x - y", "-z - sign(z) - sign(x)") == 2);
  }

  TEST_CASE("numbers with a sign and factors that are no power of two keep one surface one") {
    for (const char* factor : {"3", "1e9", "(1/7)", "p", "-5"}) {
      CAPTURE(factor);
      const std::string w = "-2*y + 2*x - 0.5*t";
      CHECK(laws_of("z = 0", "-sign(" + std::string(factor) + "*(" + w + ")) - sign(" + w + ")") == 1);
      CHECK(laws_of("z = 0", "-sign(" + w + ") - sign(" + std::string(factor) + "*(" + w + "))") == 1);
    }
  }

  TEST_CASE("factors within products keep one surface one") {
    for (const char* other : {"3*x*y + 3", "x*(3*y) + 3", "-y*x - 1", "p*y*x + p", "(x/2)*(y/2) + 0.25", "x*3*y/3 + 1"}) {
      CAPTURE(other);
      CHECK(laws_of("z = 0", "-sign(x*y + 1) - sign(" + std::string(other) + ")") == 1);
      CHECK(laws_of("z = 0", "-sign(" + std::string(other) + ") - abs(x*y + 1)") == 1);
    }
    CHECK(laws_of("z = 0", "-sign(x*y + 1) - sign(3*x*y + 2)") == 2);
    CHECK(laws_of("z = 0", "if(2*x*y > 1, 6*x*y, 3)") == 1);
  }

  TEST_CASE("a run is the same whichever name a surface has in two jumps") {
    const Model plain = two_jumps("", "", "-2*x - 0.5", "-2*x - 0.5");
    const std::vector<Model> others{
        two_jumps("a = 0\n", ", \"a = -2*x - 0.5\"", "a", "-2*x - 0.5"),
        two_jumps("a = 0\n", ", \"0 = 3*a + 6*x + 1.5\"", "-2*x - 0.5", "5*a"),
        // names that two equations give together
        two_jumps("a = 0\nb = 0\n", ", \"a + b = -4*x - 1\", \"a - b = 0\"", "a", "-2*x - 0.5"),
        two_jumps("a = 0\nb = 0\n", ", \"b = 2*a + 2*x + 0.5\", \"a = 2*b + 2*x + 0.5\"", "-2*x - 0.5", "a"),
        two_jumps("a = 0\nb = 0\n", ", \"b = (-4*x - 1 - a)/7\", \"a = 7*b\"", "b", "-2*x - 0.5"),
        two_jumps("a = 0\nc = 1\n", ", \"a = -2*x - 0.5\", \"der(c) = -c^3 + 0.1*x\"", "-2*x - 0.5", "a")};
    for (const char* scheme : {"backward_euler", "located"}) {
      CAPTURE(scheme);
      const Trajectory expected = perp::test::run_by_name(plain, scheme, 0.015);
      REQUIRE(expected.status == perp::Status::solved);
      CHECK(std::abs(expected.x[expected.size() - 1][0]) < 1e-12);
      for (const Model& other : others) {
        const Trajectory found = perp::test::run_by_name(other, scheme, 0.015);
        REQUIRE(found.events.size() == expected.events.size());
        for (std::size_t k = 0; k < found.events.size(); ++k)
          CHECK(found.events[k].t == doctest::Approx(expected.events[k].t).epsilon(1e-9));
        CHECK(std::abs(found.x[found.size() - 1][0]) < 1e-12);
      }
    }
  }
}
