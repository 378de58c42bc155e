#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include <perp/analysis/sweep/kept_states.hpp>
#include <perp/analysis/sweep/sweep.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

SweepRequest decays(const std::vector<double>& rates) {
  SweepRequest request;
  request.read = [](const std::vector<Override>& set) {
    return read_model_text("[parameters]\nk = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = -k*x\"]\n"
                           "[run]\nt = [0, 2]\nh = 0.5\nscheme = \"located\"\ntol = 1e-11\n", "swept.toml", set);
  };
  request.points.axes = {{"k", rates}};
  request.points.prepare(request.read({}));
  request.keeps = true;
  return request;
}

}  // namespace

TEST_SUITE("analysis/sweep") {
  TEST_CASE("kept states are those of the run at the times, between steps too, or at every step") {
    SweepRequest request = decays({0.5, 2});
    request.times = {0, 0.123, 1, 2};
    request.measures = {"e=end(x)"};
    const SweepResult result = sweep(request);
    for (const SweepRun& run : result.runs) {
      REQUIRE(run.kept.size() == 4);
      for (std::size_t k = 0; k < 4; ++k) {
        CHECK(run.kept[k].t == request.times[k]);
        CHECK(run.kept[k].x[0] == doctest::Approx(std::exp(-run.values[0] * request.times[k])).epsilon(1e-9));
      }
      CHECK(run.kept.back().x[0] == doctest::Approx(*run.measures[0].value).epsilon(1e-14));
    }
    request.times.clear();
    const SweepResult steps = sweep(request);
    CHECK(steps.runs[0].kept.front().t == 0);
    CHECK(steps.runs[0].kept.back().t == 2);
    CHECK(steps.runs[0].measures[0].value == result.runs[0].measures[0].value);
    request.times = {3};
    CHECK_THROWS_AS(check_sweep(request), InvalidInput);
  }

  TEST_CASE("quantiles are linear between sorted values, and a fan counts the runs that came so far") {
    CHECK(quantile({1, 2, 3, 4, 5}, 0.5) == 3);
    CHECK(quantile({1, 2, 3, 4, 5}, 0.25) == 2);
    CHECK(quantile({0, 10}, 0.95) == doctest::Approx(9.5));
    CHECK(quantile({7}, 0.3) == 7);
    std::vector<std::vector<SectionPoint>> runs;
    for (int k = 0; k <= 20; ++k) {
      runs.push_back({{0, Vector::Constant(1, 20 - k)}});
      if (k > 0) runs.back().push_back({1, Vector::Constant(1, 2 * k)});
    }
    const std::vector<FanRow> rows = fan_of(runs, 0);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].runs == 21);
    CHECK(rows[0].lowest == doctest::Approx(1));
    CHECK(rows[0].median == 10);
    CHECK(rows[0].highest == doctest::Approx(19));
    CHECK(rows[1].runs == 20);
    CHECK(rows[1].lower == doctest::Approx(2 * 5.75));
  }
}
