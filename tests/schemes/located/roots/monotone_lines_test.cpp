#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/located/roots/monotone_lines.hpp>

using namespace perp;

namespace {

/// The way with y of the row r(y) = 0, with parameters a = -2 and b = 3.
Way way_of(const std::string& row) {
  const Model model = read_model_text(
      "[parameters]\na = -2\nb = 3\n[variables]\ny = 1\nx = 1\n[model]\nequations = [\"" + row +
          " = 0\", \"der(x) = y\"]\n[run]\nt = [0, 1]\n",
      "ways.toml");
  const Dcs& formulas = *model.equations;
  std::vector<double> values(static_cast<std::size_t>(formulas.parameter_input(0)), std::nan(""));
  values.insert(values.end(), formulas.parameters.begin(), formulas.parameters.end());
  return ways_with(formulas.tape, formulas.variable_input(0),
                   values)[static_cast<std::size_t>(formulas.F[0])];
}

bool is_known(const std::string& row) { return way_of(row) == Way::up || way_of(row) == Way::down; }

}  // namespace

TEST_SUITE("schemes/located/roots/monotone_lines") {
  TEST_CASE(
      "sums, positive and negative multiples and monotone functions of an unknown rise or fall "
      "with it") {
    for (const char* row :
         {"x - 1e-12*(exp(y/0.025) - 1) - y/b", "y^3 + tanh(b*y) - t", "sinh(y) - a*atan(y) + x*t",
          "a*(y + exp(y)) - sin(x)", "log(y) + sqrt(y) - x", "exp(-y) - y"}) {
      CAPTURE(std::string(row));
      CHECK(is_known(row));
    }
    CHECK(way_of("x - t") == Way::none);
    CHECK(way_of("y - x") != way_of("x - y"));
  }

  TEST_CASE("what may turn, or has a coefficient of an unknown sign, tells nothing") {
    for (const char* row :
         {"y^2 - x", "y^3 - y", "x*y - 1", "1/y - x", "sin(y) - x", "exp(y) + a*y", "y*exp(y) - x",
          "t*exp(y) - 1", "y^a - x", "y^x - 2", "cosh(y) - 2", "tan(y) - x"}) {
      CAPTURE(std::string(row));
      CHECK_FALSE(is_known(row));
    }
  }
}
