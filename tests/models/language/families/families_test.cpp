#include <doctest/doctest.h>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/models/language/families/family_template.hpp>
#include <perp/models/language/families/family_text.hpp>
#include <perp/models/language/families/index_expression.hpp>
#include <perp/models/language/read_model.hpp>

namespace {

using perp::ExpandedText;
using perp::Families;
using perp::FamilyError;

Families families() {
  Families result;
  result.sizes = {{"x", {3}}, {"u", {2, 3}}};
  result.parameter = [](std::string_view name) {
    return name == "N" ? 3.0 : name == "a" ? 0.5 : perp::nan;
  };
  return result;
}

std::string expanded(const std::string& text) {
  std::string result;
  for (const ExpandedText& element : perp::expand_family(text, families()))
    result += (result.empty() ? "" : "; ") + element.text;
  return result;
}

std::string complaint(const std::string& text) {
  try {
    return "nothing wrong: " + expanded(text);
  } catch (const FamilyError& error) {
    return error.what();
  }
}

TEST_CASE("a family of lines is the lines that stand there one by one") {
  CHECK(expanded("for i in 1:N: der(x[i]) = a*x[i]") ==
        "der(x[1]) = a*x[1]; der(x[2]) = a*x[2]; der(x[3]) = a*x[3]");
  CHECK(expanded("for i in 1:2, j in i:N: u[i, j] = i - j") ==
        "u[1,1] = 1 - 1; u[1,2] = 1 - 2; u[1,3] = 1 - 3; u[2,2] = 2 - 2; u[2,3] = 2 - 3");
  CHECK(expanded("for i in 2:1: x[i] = 0").empty());
  CHECK(expanded("x[N-1] = 1e5") == "x[2] = 1e5");
}

TEST_CASE("a line that is read once for all indices is the line that is read for each") {
  const perp::Families known = families();
  for (const std::string line : {"der(x[i]) = a*x[i] - i*x[1]", "u[2, i] - x[N-i+1] + if(x[i] > 0, i, -i)",
                                 "if(i < N, x[i+1], 0) + if(1 >= i, 0, if(i = 2, i - 5, x[i]))*1e5", " x[ -1 + i + 1 ] ", "i - 3"}) {
    CAPTURE(line);
    std::string one_by_one;
    for (long i = 1; i <= 3; ++i) one_by_one += (i > 1 ? "; " : "") + std::string(perp::trimmed(perp::expand_indices(line, {{"i", i}}, known)));
    CHECK(expanded("for i in 1:N: " + line) == one_by_one);
    CHECK(perp::FamilyTemplate::of(line, {{"i", 1}}, known).has_value());
  }
  CHECK(expanded("for i in -1:0: x[i+2]*i") == "x[1]*(-1); x[2]*0");
  for (const char* other : {"x[2*i]", "sum(j in 1:i: x[j])", "mod(i, 2)", "x[i", "y[i]", "if(i < 2 or i = 3, 1, 0)", "x + i", "u[i]"})
    CHECK_FALSE(perp::FamilyTemplate::of(other, {{"i", 1}}, known).has_value());
}

TEST_CASE("sums and products of a family are one line, of no element 0 and 1") {
  CHECK(expanded("y = sum(j in 1:N: x[j]) + prod(j in 1:2: 1 - x[j])") ==
        "y = ((x[1]) + (x[2]) + (x[3])) + ((1 - x[1])*(1 - x[2]))");
  CHECK(expanded("sum(j in 2:1: x[j]) + prod(j in 2:1: x[j])") == "0 + 1");
}

TEST_CASE("conditions of indices are decided, the other branch is not looked at") {
  CHECK(expanded("for i in 1:2: if(i > 1, x[i-1], 0)") == "(0); (x[1])");
  CHECK(expanded("for i in 1:3: if(mod(i, 2) = 0 and not i > N, 1, 2)") == "(2); (1); (2)");
  CHECK(expanded("for i in 1:1: if(x[i] > a, 1, 2)") == "if(x[1] > a, 1, 2)");
}

TEST_CASE("what is wrong with an index is told with its value and its bounds") {
  CHECK(complaint("for i in 1:N: x[i+1]") == "index i+1 of 'x' is 4; expected 1 to 3 (i = 3)");
  CHECK(complaint("x + 1") == "'x' is a family; expected one of its elements, as in x[1]");
  CHECK(complaint("v[1]") == "'v' is no family; expected one of u, x; did you mean 'u'?");
  CHECK(complaint("u[1]") == "u[1] has 1 indices; expected 2");
  CHECK(complaint("x[a]") == "'a' is 0.5; expected a whole number");
  CHECK(complaint("for x in 1:2: 1") ==
        "'x' is the name of something else; expected another index");
  CHECK(complaint("for i in 1:2 x[i]").starts_with("'for' has no end of its indices"));
  CHECK(complaint("sum(x[1])").starts_with("'sum' has no index"));
}

TEST_CASE("a model with families is the model with all its lines") {
  const std::string run = "[run]\nt = [0, 1]\n";
  const perp::Model indexed = perp::read_model_text(
      "[parameters]\nN = 3\n[variables]\nx = { size = \"N\", start = \"i/2\" }\n[model]\nequations "
      "= "
      "[\"for i in 1:N: der(x[i]) = -i*x[i] + if(i > 1, x[i-1], 0)\"]\n" +
          run,
      "m.toml");
  const perp::Model written = perp::read_model_text(
      "[parameters]\nN = 3\n[variables]\nx1 = 0.5\nx2 = 1\nx3 = 1.5\n[model]\nequations = "
      "[\"der(x1) = "
      "-1*x1 + (0)\", \"der(x2) = -2*x2 + (x1)\", \"der(x3) = -3*x3 + (x2)\"]\n" +
          run,
      "m.toml");
  CHECK(indexed.lcs().A == written.lcs().A);
  CHECK(indexed.x0() == written.x0());
  CHECK(indexed.variables[2].name == "x[3]");
  const perp::Model other = perp::read_model_text(
      "[parameters]\nN = 3\n[variables]\nx = { size = \"N\", start = 0 }\n[model]\nequations = "
      "[\"for i in "
      "1:N: der(x[i]) = 0\"]\n" +
          run,
      "m.toml", {{"N", "2"}, {"x[2]", "7"}});
  CHECK(other.variables.size() == 2);
  CHECK(other.variables[1].start == 7);
}

TEST_CASE("a family without bounds is told as such, in models without indexed variables too") {
  const auto complaint = [](const std::string& equation) -> std::string {
    try {
      perp::read_model_text("[variables]\nx = 0\n[model]\nequations = [\"" + equation +
                                "\"]\n[run]\nt = [0, 1]\n",
                            "m.toml");
    } catch (const perp::ModelError& error) {
      return error.what();
    }
    return "none";
  };
  for (const char* wrong : {"for i: der(x) = 1", "for i in : der(x) = 1", "der(x) = sum(j: 1)"}) {
    CAPTURE(wrong);
    const std::string message = complaint(wrong);
    CHECK(message.starts_with("m.toml:4:"));
    CHECK(message.find("expected") != std::string::npos);
    CHECK(message.find("unknown name 'for'") == std::string::npos);
  }
  CHECK(complaint("for i in 1:1: der(x) = sum(j in 1:3: j)") == "none");
}

perp::Model with_laws(const std::string& variables, const std::string& equations, const std::string& laws) {
  return perp::read_model_text("[parameters]\nN = 3\n[variables]\n" + variables + "\n[model]\nequations = [" + equations +
                                   "]\nlaws = [" + laws + "]\n[run]\nt = [0, 1]\n",
                               "m.toml");
}

std::string complaint_of_laws(const std::string& equations, const std::string& laws) {
  try {
    with_laws("x = { size = \"N\", start = 1 }", equations, laws);
    return "none";
  } catch (const perp::ModelError& error) {
    return error.what();
  }
}

TEST_CASE("families of laws declare families of multipliers") {
  const std::string by_family = "\"for k in 1:N: der(x[k]) = -F[k] + 2*r[k]\"";
  const perp::Model family = with_laws(
      "x = { size = \"N\", start = 1 }", by_family,
      "\"for k in 1:N: 0 <= x[k] perp r[k] >= 0\", { law = \"for j in 1:N: F[j] in sign(x[j] - j)\", name = \"rub\" }");
  const perp::Model written = with_laws(
      "x1 = 1\nx2 = 1\nx3 = 1",
      "\"der(x1) = -F1 + 2*r1\", \"der(x2) = -F2 + 2*r2\", \"der(x3) = -F3 + 2*r3\"",
      "\"0 <= x1 perp r1 >= 0\", \"0 <= x2 perp r2 >= 0\", \"0 <= r3 perp x3 >= 0\", \"F1 in sign(x1 - 1)\", "
      "\"F2 in sign(x2 - 2)\", \"F3 in sign(x3 - 3)\"");
  CHECK(family.lcs().B == written.lcs().B);
  CHECK(family.lcs().C == written.lcs().C);
  CHECK(family.laws()[4].name.find("rub (j = 2)") != std::string::npos);
  // Either side of a law may be its multiplier, with an index that is computed and in two dimensions.
  const perp::Model square = with_laws("x = { size = \"N\", start = 1 }",
                                       "\"for k in 1:N: der(x[k]) = sum(j in 1:2: u[k, j + 1])\"",
                                       "\"for k in 1:N, j in 2:3: 0 <= u[k, j] perp x[k] + j >= 0\"");
  CHECK(square.laws().size() == 6);
  CHECK(square.lcs().B.row(1).sum() == 2);
}

TEST_CASE("a model keeps its laws once, and laws of one family their branches") {
  const perp::Model model = with_laws("x = { size = \"N\", start = 1 }", "\"for k in 1:N: der(x[k]) = r[k]\"",
                                      "\"for k in 1:N: 0 <= x[k] perp r[k] >= 0\"");
  const perp::Laws& laws = model.laws();
  REQUIRE(model.equations);
  CHECK(model.equations->laws.data() == laws.data());
  CHECK(perp::sparse(model.lcs()).laws.data() == laws.data());
  CHECK(laws[0].name != laws[2].name);
  CHECK(laws[0].branches.data() == laws[2].branches.data());
}

TEST_CASE("what is wrong with a family of laws is told with its place") {
  const std::string one = "\"for k in 1:N: der(x[k]) = r[k]\"";
  CHECK(complaint_of_laws("\"for k in 1:N: der(x[k]) = r[k + 1]\"", "\"for k in 1:N: 0 <= x[k] perp r[k] >= 0\"")
            .find("'r[4]'") != std::string::npos);
  CHECK(complaint_of_laws(one, "\"for k in 1:N: 0 <= x[k] perp r[k, 1] >= 0\"") ==
        "m.toml:6:41: r[k] has 1 indices; expected 2 (k = 1)");
  CHECK(complaint_of_laws(one, "\"for k in 1:N: 0 <= x[k] perp s[k] >= 0\"")
            .find("'r' is no family; expected one of x, s") != std::string::npos);
  CHECK(complaint_of_laws("\"for k in 1:N: 0 <= x[k] perp r[k] >= 0\"", "")
            .find("this is a law; expected it in 'laws' of [model], not among the equations") != std::string::npos);
}

}  // namespace
