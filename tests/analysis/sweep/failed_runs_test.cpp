#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <perp/analysis/sweep/sweep.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

SweepRequest request_of(const std::string& text) {
  SweepRequest request;
  request.read = [text](const std::vector<Override>& set) { return read_model_text(text, "swept.toml", set); };
  return request;
}

SweepResult made(SweepRequest request) {
  request.points.prepare(request.read({}));
  return sweep(request);
}

}  // namespace

TEST_SUITE("analysis/sweep") {
  TEST_CASE("a run whose numbers are those of no model fails alone, the first one too, and the others have the same bits") {
    const std::string bounded =
        "[parameters]\na = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = sat(-x, -a, 1)\"]\n[run]\nt = [0, 2]\nh = 0.1\n";
    SweepRequest request = request_of(bounded);
    request.points.axes = {{"a", {-3, 0.1, -2, 0.5, 1, -1.5, 2}}};
    request.measures = {"e=end(x)"};
    const SweepResult result = made(request);
    CHECK(result.is_complete);
    for (const SweepRun& run : result.runs) {
      CAPTURE(run.values[0]);
      CHECK((run.status == Status::solved) == (run.values[0] >= -1));
      if (run.status != Status::solved) {
        CHECK(run.message.find("expected lower <= upper") != std::string::npos);
        CHECK_FALSE(run.measures[0].value);
        continue;
      }
      SweepRequest alone = request_of(bounded);
      alone.points.axes = {{"a", {run.values[0]}}};
      alone.measures = request.measures;
      CHECK(*made(alone).runs[0].measures[0].value == *run.measures[0].value);
    }
    // where there is none at all, it is the input that is wrong
    request.points.axes = {{"a", {-3, -2}}};
    CHECK_THROWS_AS(made(request), InvalidInput);
  }

  TEST_CASE("what is varied has no value besides") {
    SweepPoints points;
    points.axes = {{"k", {1, 2}}, {"x", {1}}};
    CHECK_NOTHROW(check_given_once(points, {{{"run.h", "0.1"}, "--h 0.1"}}));
    for (const WrittenOverride& given : std::vector<WrittenOverride>{{{"k", "2"}, "--set k=2"}, {{"parameters.k", "2"}, "--set parameters.k=2"}, {{"variables.x", "2"}, "--set variables.x=2"}})
      CHECK_THROWS_AS(check_given_once(points, {given}), InvalidInput);
  }

  TEST_CASE("a part that ends before the others ends with its own bits, whatever is measured") {
    // x falls to 0 and is pressed on: the law has no solution then
    SweepRequest request = request_of(
        "[parameters]\nc = 0.5\n[variables]\nx = 1\nz = 1\n[model]\nlaws = [\"0 <= x perp F >= 0\"]\n"
        "equations = [\"der(x) = -x + c*cos(2*t) - F\", \"der(z) = -z\"]\n[run]\nt = [0, 3]\nh = 0.1\n");
    request.points.axes = {{"c", {0.5, 0.65, 0.7, 1}}};
    request.measures = {"e=end(x)"};
    const SweepResult moments = made(request);
    request.measures = {"e=end(x)", "m=mean(x)"};
    const SweepResult steps = made(request);
    for (std::size_t k = 0; k < moments.runs.size(); ++k) {
      CHECK(moments.runs[k].status == Status::no_solution);
      CHECK(*moments.runs[k].measures[0].value == *steps.runs[k].measures[0].value);
    }
  }
}
