#include <perp/tests/schemes/nonlinear_systems.hpp>

#include <doctest/doctest.h>
#include <string>
#include <variant>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;
using namespace nonlinear_systems;

namespace {

const std::string canonical_text = R"toml(
name = "canonical"
source = "[IFDIFF]"
[parameters]
p1 = 5.437
[variables]
x1 = 1
x2 = 0
[model]
laws = ["theta1 in step(x1 - p1)", "theta2 in step(x1 - (p1 + 0.5))"]
equations = [
  "der(x1) = 0.01*t*t + x2*x2*x2",
  "der(x2) = 5*(theta1 - theta2)",
]
[run]
t = [0, 20]
h = 0.01
)toml";

const std::string stick_slip_text = R"toml(
name = "stick-slip"
source = "[IFDIFF]"
[parameters]
k = 1
m = 1
Fs = 0.35
vb = 1
delta = 3
[variables]
x1 = 1
x2 = 0
[model]
laws = ["s in sign(x2 - vb)"]
equations = [
  "der(x1) = x2",
  "m*der(x2) + k*x1 = 0.5*(1 - s)*Fs/(1 - delta*(x2 - vb)) - 0.5*(1 + s)*Fs/(1 + delta*(x2 - vb))",
]
[run]
t = [0, 20]
h = 0.01
)toml";

void check_same(const Dcs& given, const std::string& text) {
  const Model model = read_model_text(text, "text.toml");
  REQUIRE(model.system.affine() == nullptr);
  const BackwardEuler scheme{.h = 0.01};
  const Trajectory one = integrate(given, model.x0(), {0, 20}, scheme);
  const Trajectory other = integrate(model.system.functions(), model.x0(), {0, 20}, scheme);
  REQUIRE(one.status == Status::solved);
  REQUIRE(one.size() == other.size());
  bool same = one.events.size() == other.events.size();
  for (std::size_t k = 0; k < one.size(); ++k)
    same = same && one.x[k] == other.x[k] && one.lambda[k] == other.lambda[k] &&
           one.mode[k] == other.mode[k];
  CHECK(same);
}

}  // namespace

TEST_SUITE("schemes/struct_and_text") {
  TEST_CASE("a struct and a text with the same formulas have the same trajectory bit by bit") {
    check_same(make_dcs(Canonical{}, 2, {step(), step()}), canonical_text);
    check_same(make_dcs(StickSlip{}, 2, {sign()}), stick_slip_text);
  }
}
