// The equations of a mode are solved in the same order whatever the units of the variables are.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::Enclosure;
using enclosure::ExactModel;

namespace {

/// Factors of three variables from one unit to another.
struct Units {
  std::string x, y, z;     ///< what a number of the model is in its old unit: x factor
  std::string x0, y0, z0;  ///< the start in the new ones
};

Enclosure run(const std::string& text) {
  const ExactModel model = enclosure::read_exact_model(text, "units.toml");
  return enclosure::enclose(model.system, model.start, model.values, model.span);
}

/// Two preys x, y and a predator z that switches between them: slides from t = 0.69 to 5.97.
Enclosure predator(const Units& in) {
  const std::string x = fmt::format("(x*{})", in.x), y = fmt::format("(y*{})", in.y),
                    z = fmt::format("(z*{})", in.z);
  const std::string first = fmt::format("7.81*{} - 0.66*0.896*{} > 0", x, y);
  return run(fmt::format(
      "[variables]\nx = \"{}\"\ny = \"{}\"\nz = \"{}\"\n[model]\nequations = [\n"
      "\"der(x)*{} = if({}, (0.836 - 7.81*{})*{}, 0.836*{})\",\n"
      "\"der(y)*{} = if({}, 0.3*{}, (0.3 - 0.896*{})*{})\",\n"
      "\"der(z)*{} = if({}, (5.72*{} - 0.79)*{}, (1.27*{} - 0.79)*{})\"]\n[run]\nt = [0, 4]\n",
      in.x0, in.y0, in.z0, in.x, first, z, x, x, in.y, first, y, z, y, in.z, first, x, z, y, z));
}

/// Slides on x = 0 with y = 0, one of two roots; z is algebraic.
Enclosure dae(const Units& in) {
  const std::string x = fmt::format("(x*{})", in.x), y = fmt::format("(y*{})", in.y),
                    z = fmt::format("(z*{})", in.z);
  return run(fmt::format(
      "[variables]\nx = \"{}\"\ny = \"{}\"\nz = \"{}\"\n[model]\nlaws = [\"lambda in step({})\"]\n"
      "equations = [\n"
      "\"der(x)*{} = (1 - lambda)*(-{} - 3*{} + {} + 15) + lambda*({} + 3*{} + 2*{} - 1)\",\n"
      "\"der(y)*{} = (1 - lambda)*(3*{} - {} - 2*{}) + lambda*(3*{} + {} - 3*{})\",\n"
      "\"0 = (1 - lambda)*({} - {}) + lambda*({} + {})\"]\n[run]\nt = [0, 1]\n",
      in.x0, in.y0, in.z0, x, in.x, x, y, z, x, y, z, in.y, x, y, z, x, y, z, x, z, x, z));
}

void check_alike(const Enclosure& found, const Enclosure& plain) {
  REQUIRE_FALSE(plain.lost.has_value());
  REQUIRE_FALSE(found.lost.has_value());
  CHECK(found.rows.back().flag == enclosure::Flag::unique);
  CHECK(found.events.size() == plain.events.size());
  CHECK(found.pieces <= plain.pieces);
  CHECK(found.steps <= 1.2 * plain.steps + 2);
}

}  // namespace

TEST_SUITE("analysis/enclosure/modes/units") {
  TEST_CASE("a sliding mode costs as many steps in all units") {
    const Enclosure plain = predator(
        {"1", "1", "1", "[0.2869, 0.287]", "[0.2869, 0.287]", "[0.5359, 0.5361]"});
    CHECK(plain.events.size() == 1);
    check_alike(predator({"0.001", "1000", "0.001", "[286.9, 287]", "[0.0002869, 0.000287]",
                          "[535.9, 536.1]"}),
                plain);
    check_alike(predator({"1000", "0.001", "1000", "[0.0002869, 0.000287]", "[286.9, 287]",
                          "[0.0005359, 0.0005361]"}),
                plain);
    check_alike(predator({"1", "1073741824", "1", "[0.2869, 0.287]",
                          "[2.672e-10, 2.6728e-10]", "[0.5359, 0.5361]"}),
                plain);
  }

  TEST_CASE("the root that keeps algebraic variables is found in all units") {
    const Enclosure plain = dae({"1", "1", "1", "-1", "0.2", "-1"});
    check_alike(dae({"0.001", "1000", "0.001", "-1000", "0.0002", "-1000"}), plain);
    check_alike(dae({"1000", "0.001", "1000", "-0.001", "200", "-0.001"}), plain);
    check_alike(dae({"1073741824", "1", "1073741824", "-0.000000000931322574615478515625", "0.2",
                     "-0.000000000931322574615478515625"}),
                plain);
  }

  TEST_CASE("nothing is divided by a parameter that may be 0") {
    const std::string text =
        "[parameters]\np = \"{}\"\n[variables]\nx = 1\ny = 0\n[model]\nequations = "
        "[\"der(x) = y - x\", \"p*y = 0\"]\n[run]\nt = [0, 1]\n";
    CHECK_FALSE(run(fmt::format(fmt::runtime(text), "[0.5, 1]")).lost.has_value());
    CHECK(run(fmt::format(fmt::runtime(text), "[-0.5, 1]")).lost.has_value());
  }
}
