#include <doctest/doctest.h>
#include <cmath>

#include <perp/analysis/solutions/step_answer.hpp>
#include <perp/analysis/solutions/trees.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

/// ẋ = b λ, 0 ≤ w = x + d λ ⊥ λ ≥ 0.
Model ramp(const std::string& start, const std::string& d, const std::string& b = "0") {
  return read_model_text("name = \"ramp\"\n[variables]\nx = " + start +
                             "\n[system]\nE = [[1]]\nA = [[0]]\nB = [[" + b +
                             "]]\nb = [0]\nC = [[1]]\nD = [[" + d +
                             "]]\nq = [0]\nlaws = [\"complementarity\"]\n"
                             "[run]\nt = [0, 1]\nh = 0.5\nscheme = \"backward_euler\"\n",
                         "ramp.toml");
}

}  // namespace

TEST_SUITE("analysis/solutions") {
  TEST_CASE("a step with d > 0 has one solution, which the selector takes") {
    const Model model = ramp("-1", "2");
    const StepAnswer answer = answer_step(model, model.x0(), {.t = 0});
    REQUIRE(answer.solutions.listed.size() == 1);
    CHECK(answer.solutions.set.complete);
    CHECK(answer.choice.status == Status::solved);
    CHECK(answer.choice_is_listed);
    CHECK(answer.choice.lambda[0] == 0.5);  // w = 0: λ = -x / d
    CHECK(answer.present.mode.size() == 1);
  }

  TEST_CASE("a step with d < 0 from x > 0 has two, from x < 0 none, and says by how much") {
    const Model two = ramp("1", "-1");
    CHECK(answer_step(two, two.x0(), {.t = 0}).solutions.listed.size() == 2);
    const Model none = ramp("-1", "-1");
    const StepAnswer answer = answer_step(none, none.x0(), {.t = 0});
    CHECK(answer.has_none());
    CHECK(answer.choice.status == Status::no_solution);
    CHECK(answer.violations.size() == 2);
  }

  TEST_CASE("the choice of least norm is one of the exact step, whose rows may hold together before they are rounded") {
    // The second row is three times the first; h 7 and h 21 are not, when they are rounded.
    Model model = read_model_text(
        "name = \"twice\"\n[variables]\nx = 0\ny = 0\n[system]\nE = [[1, 0], [3, 0]]\nA = [[0, 0], [0, 0]]\n"
        "B = [[0], [0]]\nb = [7, 21]\nC = [[0, 1]]\nD = [[1]]\nq = [0]\nlaws = [\"complementarity\"]\n"
        "[run]\nt = [0, 1]\nh = 0.1\nscheme = \"backward_euler\"\nselector = \"minimal_norm\"\n",
        "twice.toml");
    const StepAnswer answer = answer_step(model, model.x0(), {.t = 0});
    CHECK(answer.solutions.set.complete);
    REQUIRE(answer.choice.status == Status::solved);
    CHECK(answer.choice_is_listed);
    CHECK(answer.choice.x[0] == doctest::Approx(0.7).epsilon(1e-15));
    CHECK(answer.choice.norm == doctest::Approx(0.7 * std::sqrt(10.0)).epsilon(1e-15));
  }

  TEST_CASE("the solutions of two steps are a tree whose ways are counted") {
    // λ = 0 leaves x, w = 0 doubles it: x + λ/2 - λ = 0.
    const Model model = ramp("1", "-1", "1");
    const MergedTree tree = merged_tree_of(model, model.x0(), 0, 2, 100);
    CHECK(tree.complete);
    CHECK(tree.paths == 4);
    CHECK(tree.ends == 3);  // 1, 2, 4: two ways meet in 2
  }

  TEST_CASE("steps of a scheme without a list of solutions are refused") {
    Model model = ramp("1", "1");
    model.run.scheme = "located";
    CHECK_THROWS_AS(merged_tree_of(model, model.x0(), 0, 2, 100), InvalidInput);
  }
}
