#include <doctest/doctest.h>
#include <algorithm>

#include <perp/core/base/error.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/models/language/exact_numbers.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;
using enclosure::enclose_decimal;
using enclosure::Interval;

namespace {

Model exact(const std::string& text) {
  ReadOptions known;
  known.exact = true;
  return read_model_text(text, "test.toml", {}, known);
}

std::string with_equations(const std::string& model, const std::string& parameters = "") {
  return "[parameters]\n" + parameters + "\n[variables]\nx = 1\n[model]\n" + model +
         "\n[run]\nt = [0, 1]\n";
}

/// The values of the lines at t, ẋ, x, λ, with the exact parameters.
std::vector<Interval> lines_at(const Model& model, double t, double xdot, double x,
                               const std::vector<Interval>& lambda) {
  std::vector<Interval> inputs{Interval(t), Interval(xdot), Interval(x)};
  inputs.insert(inputs.end(), lambda.begin(), lambda.end());
  const auto& values = model.exact_numbers->values;
  inputs.insert(inputs.end(), values.begin(), values.end());
  std::vector<Interval> lines(static_cast<std::size_t>(model.equations->tape.size()));
  model.equations->tape.evaluate(std::span<const Interval>(inputs), std::span<Interval>(lines));
  return lines;
}

Interval residual(const Model& model, double t, double xdot, double x,
                  const std::vector<Interval>& lambda = {}) {
  return lines_at(model, t, xdot, x, lambda)[static_cast<std::size_t>(model.equations->F[0])];
}

/// A law's multiplier as the file means it.
Interval multiplier(const Model& model, const Interval& lambda) {
  const auto [offset, scale] = model.exact_numbers->multipliers.at(0);
  if (scale < 0) return lambda;
  const auto& values = model.exact_numbers->values;
  return values[static_cast<std::size_t>(offset)] +
         values[static_cast<std::size_t>(scale)] * lambda;
}

bool holds(const Interval& found, const std::string& decimal) {
  return found.contains(enclose_decimal(decimal)) && width(found) < 1e-14;
}

/// A number that is no double, or was rounded, must not stand on the tape.
void check_constants(const Model& model) {
  for (int k = 0; k < model.equations->tape.size(); ++k)
    if (model.equations->tape[k].operation == Operation::constant) {
      const double value = model.equations->tape[k].value;
      CHECK(value * 1024 == std::round(value * 1024));
    }
  for (const Law& law : model.equations->laws)
    for (const Branch& branch : law.branches)
      for (const double value : {branch.a, branch.b, branch.c, branch.w.lower, branch.w.upper,
                                 branch.lambda.lower, branch.lambda.upper})
        CHECK((std::isinf(value) || value == std::round(value)));
}

}  // namespace

TEST_SUITE("models/exact numbers") {
  TEST_CASE("literals are parameters, also where the reader folds or recognises them") {
    const Model model = exact(with_equations("equations = [\"der(x) = 0.1*x + 1/3 - 2*0.3\"]"));
    check_constants(model);
    CHECK(model.exact_numbers->names == std::vector<std::string>{"0.1", "0.3"});
    // ẋ - (0.1 + 1/3 - 0.6) at ẋ = 0, x = 1
    const Interval value = residual(model, 0, 0, 1);
    CHECK(value.contains(Interval(1) / Interval(6)));
    CHECK(width(value) < 1e-15);
  }

  TEST_CASE("the same model with rounded numbers keeps its bits") {
    const std::string text = with_equations("equations = [\"der(x) = 0.1*x + a - sat(x, -0.2, b)\"]",
                                            "a = 0.7\nb = \"a/3\"");
    const Model rounded = read_model_text(text, "test.toml");
    CHECK(rounded.exact_numbers == nullptr);
    CHECK(rounded.parameters[1].second == 0.7 / 3);
    CHECK(rounded.equations->parameters.size() == 2);
    const Model both = exact(text);
    CHECK(both.parameters[1].second == 0.7 / 3);
    CHECK(both.exact_numbers->values[1].contains(enclose_decimal("0.7") / Interval(3)));
  }

  TEST_CASE("a kink stays a kink where its condition holds decimals") {
    const Model model = exact(with_equations("equations = [\"der(x) = if(x < 0.1, x, 0.1)\"]"));
    REQUIRE(model.equations->m() == 1);
    CHECK(model.equations->laws[0].branches.size() == 2);  // max(0, w), no sliding branch
    check_constants(model);
  }

  TEST_CASE("operators with decimal bounds: saturation, dead zone, pieces, max") {
    for (const char* right : {"sat(x, -0.1, 0.3)", "deadzone(x, -0.1, 0.3)",
                              "piecewise(x, -1, -0.1, 0.3, 0.7, 2, 1)", "max(x, 0.1)",
                              "if(x > 0.1, 0.2*x, 0.7)", "max(x/3, 1)", "abs(2*(x/3 + 1)/7)",
                              "sat(x/3 + 1/7, -1, 1)", "max(x, sqrt(2))",
                              "piecewise(x, -1, 0, 2, 1, 9, 5)", "sat(x, -1, 2)"}) {
      CAPTURE(right);
      const Model model = exact(with_equations("equations = [\"der(x) = " + std::string(right) +
                                               "\"]"));
      check_constants(model);
      CHECK(model.equations->m() > 0);
    }
  }

  TEST_CASE("data of stated laws are exact: the law is a unit law, its multiplier is scaled") {
    struct Stated {
      const char* law;
      double w;
      Interval mu;
      const char* lambda;
    };
    // Points of the unit laws and the multipliers that the stated ones have there.
    for (const Stated& stated :
         {Stated{"relay(x, -0.1, 0.3)", 1, Interval(1), "0.3"},
          Stated{"relay(x, -0.1, 0.3)", -1, Interval(0), "-0.1"},
          Stated{"box(x, 0.1, inf)", 0, Interval(2), "2.1"},
          Stated{"normal_cone(x, -inf, 0.1)", 0, Interval(-2), "-1.9"},
          Stated{"saturation(x, 0.1, 0.3)", 1, Interval(1), "0.3"}}) {
      CAPTURE(stated.law);
      const Model model = exact(with_equations("equations = [\"der(x) = f\"]\nlaws = [\"f in " +
                                               std::string(stated.law) + "\"]"));
      check_constants(model);
      CHECK(holds(multiplier(model, stated.mu), stated.lambda));
      CHECK(holds(-residual(model, 0, 0, stated.w, {stated.mu}), stated.lambda));
    }
  }

  TEST_CASE("thresholds of laws move their argument") {
    const Model model = exact(with_equations(
        "equations = [\"der(x) = f\"]\nlaws = [\"f in hysteresis(x, 0.1, 0.3)\"]"));
    check_constants(model);
    const auto w = lines_at(model, 0, 0, 0.25, {Interval(0)})[static_cast<std::size_t>(
        model.equations->G[0])];
    CHECK(holds(w, "0.75"));  // (0.25 - 0.1)/(0.3 - 0.1)
  }

  TEST_CASE("parameters whose sign is not certain decide no branch") {
    const Model certain =
        exact(with_equations("equations = [\"der(x) = sign(a)*x\"]", "a = \"[0.5, 1]\""));
    CHECK(certain.equations->m() == 0);
    const Model open =
        exact(with_equations("equations = [\"der(x) = sign(a) + sign(b)\"]",
                             "a = \"[-0.5, 1]\"\nb = \"[-0.25, 1]\""));
    CHECK(open.equations->m() == 2);
    CHECK_THROWS_AS(exact(with_equations("equations = [\"der(x) = sat(x, a, 0.5)\"]",
                                         "a = \"[0, 1]\"")),
                    ModelError);
  }

  TEST_CASE("matrices are equations of exact numbers") {
    const Model model = exact(R"toml(
[parameters]
k = "[1, 2]"
[variables]
x = 1
[system]
A = [["-0.1*k"]]
B = [[0.3]]
b = ["0.7*t"]
C = [[1]]
q = [-0.5]
laws = ["relay(-0.2, 0.2)"]
[run]
t = [0, 1]
)toml");
    check_constants(model);
    // ẋ + 0.1 k x - 0.3 λ - 0.7 t at ẋ = 0, x = 1, μ = 1, t = 1: 0.1 k - 0.06 - 0.7
    const Interval value = residual(model, 1, 0, 1, {Interval(1)});
    CHECK(value.contains(Interval(enclose_decimal("-0.66").hi, enclose_decimal("-0.56").lo)));
    CHECK(width(value) < 0.1 + 1e-14);
    CHECK(holds(multiplier(model, Interval(0)), "-0.2"));
    CHECK_THROWS_WITH_AS(
        exact("[variables]\nx = 1\n[system]\nA = [[1, 2]]\n[run]\nt = [0, 1]\n"),
        doctest::Contains("A must be 1x1 but is 1x2"), ModelError);
    CHECK_THROWS_WITH_AS(exact("[variables]\nx = 1\n[system]\nA = [[1]]\nB = [[1]]\nC = [[1]]\n"
                               "laws = [{ branches = [{ b = 1, c = 0.1 }] }]\n[run]\nt = [0, 1]\n"),
                         doctest::Contains("c of branch 1 of law 1 is no double"), ModelError);
  }

  TEST_CASE("resets and outputs are exact, also where a number stands for a formula") {
    const Model model = exact(with_equations(
        "equations = [\"der(x) = 1\"]\noutputs = { y = 0.1 }\nwhen = [{ condition = \"x - 0.3\", "
        "set = { x = 0.7 } }]"));
    check_constants(model);
    const auto lines = lines_at(model, 0, 1, 0, {});
    CHECK(holds(lines[static_cast<std::size_t>(model.equations->resets[0].values[0])], "0.7"));
    CHECK(holds(lines[static_cast<std::size_t>(model.equations->resets[0].condition)], "-0.3"));
    CHECK(holds(lines[static_cast<std::size_t>(model.outputs.lines[0])], "0.1"));
  }

  TEST_CASE("numbers of the file are read as they stand there") {
    const Model model = exact(R"toml(
[parameters]
a = 1_000.1
b = +0.1
c = 0x1F
d = "2*a"
e = "5.437 +- 0.01"
[variables]
x = { start = "[-0.1, 0.2]", nominal = 2 }
[model]
equations = ["der(x) = a + b + c + d + e"]
[run]
t = [0, 0.5]
)toml");
    const auto& values = model.exact_numbers->values;
    CHECK(values[0] == enclose_decimal("1000.1"));
    CHECK(values[1] == enclose_decimal("0.1"));
    CHECK(values[2] == Interval(31));
    CHECK(values[3].contains(enclose_decimal("2000.2")));
    CHECK(values[4].contains(Interval(enclose_decimal("5.427").hi, enclose_decimal("5.447").lo)));
    CHECK(model.exact_numbers->starts[0] ==
          Interval(enclose_decimal("-0.1").lo, enclose_decimal("0.2").hi));
  }

  TEST_CASE("where numbers are rounded an interval counts with its middle") {
    const Model model = read_model_text(
        with_equations("equations = [\"der(x) = a*x\"]", "a = \"[1, 2]\"\nb = \"3 +- 0.5\""),
        "test.toml");
    CHECK(model.parameters[0].second == 1.5);
    CHECK(model.parameters[1].second == 3);
    CHECK(model.midpoints == std::vector<std::string>{"a = [1, 2]", "b = 3 +- 0.5"});
  }

  TEST_CASE("an interval at every t is a function of time, and no number is made of it") {
    const std::string parameters = "a = \"[1, 2]\"\nd = \" 0 +- 0.5  at every t \"";
    const std::string equation = "equations = [\"der(x) = a*x + d\"]";
    const Model model = exact(with_equations(equation, parameters));
    CHECK(model.exact_numbers->disturbances == std::vector<int>{1});
    CHECK(model.exact_numbers->values[1] == Interval(-0.5, 0.5));
    const Model rounded = read_model_text(with_equations(equation, parameters), "test.toml");
    CHECK(rounded.parameters[1].second == 0);
    CHECK(rounded.midpoints.size() == 2);
    for (const auto& [more, message] :
         {std::pair{"\nb = \"2*d\"", "parameter 'b' holds 'd', which is a function of time"},
          {"\nb = \"[d, 1]\"", "which is a function of time"},
          {"\nb = \"1 at every t\"", "parameter 'b'"}}) {
      CHECK_THROWS_WITH_AS(exact(with_equations(equation, parameters + more)),
                           doctest::Contains(message), InvalidInput);
      CHECK_THROWS_AS(read_model_text(with_equations(equation, parameters + more), "test.toml"),
                      InvalidInput);
    }
    CHECK_THROWS_WITH_AS(
        exact("[variables]\nx = \"[0, 1] at every t\"\n[model]\nequations = [\"der(x) = x\"]\n"),
        doctest::Contains("start of variable 'x' is an interval at every t"), InvalidInput);
  }
}
