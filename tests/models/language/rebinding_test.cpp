#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/models/language/rebinding.hpp>

namespace {

using perp::Lcs;
using perp::Matrix;
using perp::Model;
using perp::ModelError;
using perp::ModelText;
using perp::Override;

/// p and k stand in matrices, with q, which is made of k; `more` holds what else there is.
std::string text_with(const std::string& more, const std::string& constant = "1", const std::string& law = "relay(-1, 1)",
                      const std::string& run = "t = [0, 1]") {
  return R"toml(
name = "p k"
[parameters]
p = 2
k = 3
q = "2*k"
)toml" + more + R"toml(
[variables]
x = "q"
y = { start = 1, bounds = [-9, 9] }
[system]
E = [[1, "1/p"], [0, 1]]
A = [["-p*k", 2], [3, "p + q"]]
B = [[1], ["sqrt(p)"]]
b = [)toml" + constant + R"toml(, "sin(t)"]
C = [[1, 0]]
laws = [")toml" + law + R"toml("]
[run]
)toml" + run;
}

bool are_equal(const Model& a, const Model& b) {
  for (Matrix Lcs::*matrix : {&Lcs::A, &Lcs::B, &Lcs::C, &Lcs::D, &Lcs::E})
    if (a.lcs().*matrix != b.lcs().*matrix) return false;
  if (a.lcs().b(0.75) != b.lcs().b(0.75) || a.laws()[0].branches[0].w.upper != b.laws()[0].branches[0].w.upper) return false;
  const bool have_equal_laws = a.laws()[0].branches[0].lambda.lower == b.laws()[0].branches[0].lambda.lower && a.laws()[0].branches[0].c == b.laws()[0].branches[0].c;
  const bool have_equal_runs = a.run.h == b.run.h && a.run.span.end == b.run.span.end;
  return have_equal_laws && have_equal_runs && a.hash == b.hash && a.x0() == b.x0() && a.parameters == b.parameters && a.exact.size() == b.exact.size() &&
         a.dependences.size() == b.dependences.size() && a.bounds().size() == b.bounds().size();
}

/// One text read with all of these, one after the other, is each time as if it was read once.
bool reads_as_anew(const std::string& text, const std::vector<std::vector<Override>>& all) {
  const ModelText again(text, "m.toml");
  for (const std::vector<Override>& set : all)
    if (!are_equal(again.read(set), perp::read_model_text(text, "m.toml", set))) return false;
  return true;
}

bool is_bound_again(const std::string& text, const Override& override) {
  const perp::reader::Document document(text, "m.toml", {override});
  return perp::Rebinding::of(document, perp::read_model_text(text, "m.toml", {override}), {true}) != nullptr;
}

TEST_SUITE("rebinding") {
  TEST_CASE("a text read with other numbers is what it is when it is read once") {
    CHECK(reads_as_anew(text_with(""), {{{"p", "1"}}, {{"p", "0.3"}}, {{"p", "7e-3"}}, {{"p", "2*0.1"}}, {{"p", "0.1"}}, {{"p", "4"}}}));
    CHECK(reads_as_anew(text_with(""), {{{"p", "1"}, {"y", "0"}}, {{"p", "2"}, {"y", "0"}}, {{"p", "3"}, {"y", "0"}}, {{"p", "1"}, {"y", "-1"}}, {{"p", "5"}, {"y", "2.5"}}}));
    CHECK(reads_as_anew(text_with(""), {{{"x", "1"}, {"variables.y", "0"}}, {{"x", "2"}, {"variables.y", "0.5"}}, {{"x", "-3"}, {"variables.y", "4"}}}));
    CHECK(reads_as_anew(text_with(""), {{{"p", "1"}}, {{"p", "2"}}, {}, {{"k", "2"}}, {{"k", "5"}}, {{"k", "6"}}, {{"p", "3"}}, {{"p", "4"}}, {{"p", "5"}}}));
    CHECK(reads_as_anew(text_with(""), {{{"p", "1"}, {"run.h", "0.1"}}, {{"p", "2"}, {"run.h", "0.2"}}, {{"p", "3"}, {"run.h", "0.1"}}}));
    CHECK(reads_as_anew(text_with(""), {{{"p", "1"}, {"k", "p"}}, {{"p", "2"}, {"k", "p"}}, {{"p", "3"}, {"k", "p"}}}));
  }

  TEST_CASE("so is one where parameters stand in functions of time, laws, other parameters, starts or the run") {
    const std::vector<std::vector<Override>> of_k{{{"k", "1"}}, {{"k", "2"}}, {{"k", "3"}}, {{"k", "1.5"}}};
    CHECK(reads_as_anew(text_with(""), of_k));
    const std::vector<std::vector<Override>> of_p{{{"p", "1"}}, {{"p", "2"}}, {{"p", "3"}}, {{"p", "1.5"}}};
    CHECK(reads_as_anew(text_with("", "\"p*t\""), of_p));
    CHECK(reads_as_anew(text_with("", "1", "relay(-p, 1)"), of_p));
    CHECK(reads_as_anew(text_with("r = \"p^2\""), of_p));
    CHECK(reads_as_anew(text_with("", "1", "relay(-1, 1)", "h = \"p/10\"\nt = [0, \"3*p\"]"), of_p));
  }

  TEST_CASE("so is one whose matrices are given by the places of their entries") {
    const std::string dense = text_with(""), row = R"(A = [["-p*k", 2], [3, "p + q"]])";
    const std::string text = std::string(dense).replace(dense.find(row), row.size(), R"(A = { entries = [[1, 1, "-p*k"], [1, 2, 2], [2, 1, 3], [2, 2, "p + q"]] })");
    CHECK(reads_as_anew(text, {{{"p", "1"}}, {{"p", "2"}}, {{"p", "3"}}, {{"p", "1.5"}}}));
  }

  TEST_CASE("what stands in entries of matrices alone is bound without reading") {
    CHECK(is_bound_again(text_with(""), {"p", "1"}));
    CHECK(is_bound_again(text_with(""), {"parameters.q", "1"}) == false);  // x starts at q
    CHECK(is_bound_again(text_with(""), {"k", "1"}) == false);
    CHECK(is_bound_again(text_with(""), {"x", "1"}));
    CHECK(is_bound_again(text_with(""), {"p", "2*3"}) == false);
    CHECK(is_bound_again(text_with("", "\"p*t\""), {"p", "1"}) == false);
  }

  TEST_CASE("an entry that other numbers make infinite is refused at its place") {
    const ModelText text(text_with(""), "m.toml");
    for (const char* p : {"1", "2", "3"}) CHECK(text.read({{"p", p}}).parameters[0].second > 0);
    CHECK_THROWS_WITH_AS((void)text.read({{"p", "0"}}), "m.toml:12:11: E(1,2) is inf; expected a finite number", ModelError);
    CHECK_THROWS_AS((void)text.read({{"p", "-1"}}), ModelError);
    CHECK(text.read({{"p", "4"}}).lcs().E(0, 1) == 0.25);
  }
}

}  // namespace
