// What a run writes does not depend on how many of its steps are told at once.
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/io/run_recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/cli/program.hpp>

using namespace perp;
using perp::io::Destinations;
using perp::io::RunRecorder;
using perp::test::Folder;
using perp::test::read_text;

namespace {

/// What a run has left, with the number of its steps that were told at once.
struct Left {
  std::string bytes, message;
  std::vector<double> ends;  // of modes
  double largest = 0;
  long states = 0, together = 0;
};

Left record(const Model& model, const Destinations& destinations, bool may_be_together) {
  Left left;
  RunRecorder recorder(model, destinations);
  IntegrateOptions options;
  options.keep = false;
  options.times = destinations.times;
  IntegrateOptions::Observer::Together together{.most = [&] { return recorder.most_together(); },
                                  .with_states = recorder.takes_states(),
                                  .take = [&](const IntegrateOptions::StepsInMode& steps) {
                                    left.together += steps.count;
                                    recorder.steps(steps);
                                    return true;
                                  }};
  if (!may_be_together) together = {};
  options.observer = {[&](const Step& step) { return recorder.step(step); }, together};
  const Trajectory run = scheme(model.run.scheme).run(model, options);
  recorder.close(run, {});
  left.bytes = read_text(destinations.data);
  left.message = run.message;
  for (const ModeSpan& span : recorder.history().resolved(run.events)) left.ends.push_back(span.end);
  left.largest = recorder.constraints().largest();
  left.states = recorder.constraints().states();
  return left;
}

/// Steps that were told at once.
long compare(const Model& model, const std::string& file, const std::vector<double>& times) {
  const Folder folder;
  const Destinations destinations{.data = folder / file, .times = times};
  const Left alone = record(model, destinations, false), together = record(model, destinations, true);
  CHECK(alone.together == 0);
  CHECK(!alone.bytes.empty());
  CHECK(alone.bytes == together.bytes);
  CHECK(alone.message == together.message);
  CHECK(alone.ends == together.ends);
  CHECK(alone.largest == together.largest);
  CHECK(alone.states == together.states);
  return together.together;
}

const char* const relay =
    "[variables]\nx = 1\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -x + 0.3*cos(t) - 0.2*sign(v)\"]\n"
    "[run]\nt = [0, 20]\nh = 0.0005\n";

}  // namespace

TEST_SUITE("io/run_recorder") {
  TEST_CASE("files of rows have the same bytes whether steps are told one by one or as many at once as keep their mode") {
    const Model crossing = read_model(find_model("switching_dae_crossing"), {{"run.h", "0.0003"}});
    const Model driven = read_model_text(relay, "relay.toml");
    for (const char* file : {"rows.csv", "rows.h5"})
      for (const Model* model : {&crossing, &driven}) {
        CAPTURE(file);
        CHECK(compare(*model, file, {}) > 10'000);
        CHECK(compare(*model, file, {0.5, 2.5, 7.1}) > 10'000);
      }
  }

  TEST_CASE("a run that ends by steps told at once ends with the last of them, whose state is theirs") {
    const Model model = read_model(find_model("switching_dae_crossing"), {{"run.h", "0.001"}});
    IntegrateOptions::StepsInMode told;
    const IntegrateOptions::Observer::Together together{.most = [] { return 100L; }, .with_states = true, .take = [&](const IntegrateOptions::StepsInMode& steps) {
                                            told = steps;
                                            return steps.t < 1;
                                          }};
    const Trajectory run = scheme("backward_euler").run(model, {.keep = false, .observer = {[](const Step&) { return true; }, together}});
    CHECK(run.status == Status::interrupted);
    REQUIRE(told.times.size() == static_cast<std::size_t>(told.count));
    CHECK(run.t.back() == told.times.back());
    CHECK(run.t.back() == told.t);
    for (int j = 0; j < 3; ++j) CHECK(run.x.back()[j] == told.x[told.x.size() - 3 + static_cast<std::size_t>(j)]);
    CHECK(run.lambda.back()[0] == told.lambda.back());
    CHECK(run.w.back()[0] == told.w.back());
  }

  TEST_CASE("steps with more in their rows than states are told one by one") {
    const Model model = read_model_text(std::string(relay).insert(std::string(relay).find("[run]"), "[model.outputs]\ne = \"x^2\"\n"), "relay.toml");
    CHECK(compare(model, "rows.csv", {}) == 0);
    CHECK(compare(model, "rows.csv", {3}) > 10'000);
  }
}
