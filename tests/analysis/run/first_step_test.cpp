#include <doctest/doctest.h>
#include <string>

#include <perp/analysis/run/first_step.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

/// Masses in a row that slide on a belt, with this force of friction.
ListedSolutions first_solutions(const std::string& force) {
  ReadOptions known;
  known.hybrid = true;  // as perp check reads it
  const std::string text =
      "[parameters]\nN = 700\n[variables]\nv = { size = \"N\", start = \"0.5 + 0.001*mod(7*i, 10)\" }\n"
      "x = { size = \"N\", start = 0 }\n[model]\nequations = [\n\"for i in 1:N: der(x[i]) = v[i]\",\n"
      "\"for i in 1:N: der(v[i]) = if(i > 1, x[i-1] - x[i], 0) + if(i < N, x[i+1] - x[i], 0) - " +
      force + "*sign(v[i] - 0.5)\",\n]\n[run]\nt = [0, 1]\nh = 0.01\n";
  const Model model = read_model_text(text, "row.toml", {}, known);
  const Trajectory run = first_step(model);
  REQUIRE(starts(model, run));
  return solutions_of_first_step(model, run, 50);
}

}  // namespace

TEST_SUITE("analysis/run/first_step") {
  TEST_CASE("a step of too many modes has one solution where a certificate says so, and one that was found where none does") {
    const ListedSolutions certified = first_solutions("1");
    CHECK_FALSE(certified.set.complete);
    CHECK(certified.has_one_x);
    const ListedSolutions open = first_solutions("-0.001");  // friction that drives: a step may have several
    CHECK_FALSE(open.has_one_x);
  }
}
