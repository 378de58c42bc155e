// Runs whose rows are kept in columns.
#include <doctest/doctest.h>

#include <perp/analysis/run/kept_run.hpp>
#include <perp/analysis/run/reading.hpp>
#include <perp/analysis/run/schemes.hpp>

using namespace perp;

namespace {

/// v' = -sign(v) from 1: slides from t = 1 on; the output is v².
Model friction(const std::vector<Override>& set = {}) {
  const ModelText text(
      "[variables]\nv = 1\n[model]\nequations = [\"der(v) = -sign(v)\"]\noutputs = { e = \"v^2\" }\n[run]\nt = [0, 2]\nh = 0.25\n",
      "friction.toml", known_names({}));
  return read_for_run(text, set);
}

}  // namespace

TEST_CASE("the rows of a kept run are the states of the run, its modes and outputs beside them") {
  const Model model = friction();
  const KeptRun kept = keep_run(model);
  const Trajectory run = scheme("backward_euler").run(model, {});
  REQUIRE(kept.rows() == run.size());
  CHECK(kept.is_every_step);
  for (std::size_t k = 0; k < run.size(); ++k) {
    const Step row = kept.row(k);
    CHECK(row.t == run.t[k]);
    CHECK(row.x == run.x[k]);
    CHECK(row.lambda == run.lambda[k]);
    CHECK(row.w == run.w[k]);
    CHECK(row.mode == run.mode[k]);
    CHECK(kept.output[k] == run.x[k][0] * run.x[k][0]);
  }
  REQUIRE(kept.modes.size() == 2);
  CHECK(kept.modes[1].start == doctest::Approx(1));
  CHECK(kept.run.status == Status::solved);
}

TEST_CASE("rows at given times are those of the run that hits them, and a limit of steps ends it") {
  const Model model = friction();
  const KeptRun some = keep_run(model, {.times = {0, 0.3, 2}});
  CHECK(some.t == std::vector<double>{0, 0.3, 2});
  CHECK(some.x[1] == doctest::Approx(0.7).epsilon(1e-14));
  CHECK_FALSE(some.is_every_step);

  const KeptRun limited = keep_run(model, {.most_steps = 3});
  CHECK(limited.run.status == Status::interrupted);
  CHECK(limited.t == std::vector<double>{0, 0.25, 0.5, 0.75});
  CHECK(limited.run.message == "stopped at t = 0.75: 3 steps, the most that were asked for");
  CHECK(keep_run(model, {.most_steps = 8}).run.status == Status::solved);  // as many as it takes
}

TEST_CASE("an observer ends a run, whose rows so far are kept") {
  const KeptRun kept = keep_run(friction(), {.observer = [](const Step& step) { return step.t < 0.5; }});
  CHECK(kept.run.status == Status::interrupted);
  CHECK(kept.t.back() == 0.5);
}

TEST_CASE("a row that is no number ends a run, not solved") {
  const ModelText text("[variables]\nx = 1\n[model]\nequations = [\"der(x) = -1\"]\noutputs = { y = \"log(x)\" }\n[run]\nt = [0, 2]\nh = 0.5\n",
                       "log.toml", known_names({}));
  const KeptRun kept = keep_run(read_for_run(text, {}));
  CHECK(kept.run.status == Status::not_solved);
  CHECK(kept.t.back() == 0.5);
  CHECK(kept.rows() == 2);
}

TEST_CASE("messages about overrides are in the words of the user") {
  const WrittenOverride h{{"run.h", "-1"}, "h=-1"};
  CHECK(in_users_words("--set run.h=-1:1:1: run.h is -1; expected a number > 0", {h}) == "h=-1: run.h is -1; expected a number > 0");
  CHECK(in_users_words("model.toml:1:1: wrong", {h}) == "model.toml:1:1: wrong");
  CHECK(same_key("x(0)", "variables.x"));
  CHECK_FALSE(same_key("parameters.x", "variables.x"));
  CHECK(friction().run.h == 0.25);
  CHECK(friction({{"v", "2"}}).x0()[0] == 2);
}
