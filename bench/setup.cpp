// From the text of a model to a stepper that is ready for its second step.
#include <fstream>
#include <sstream>

#include <perp/bench/measure.hpp>
#include <perp/bench/stepping.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp::bench {
namespace {

void setup(benchmark::State& state, const char* name) {
  std::ifstream file(std::string(PERP_MODELS) + "/" + name + ".toml");
  std::stringstream text;
  text << file.rdbuf();
  const auto ready = [&] {
    const Model model = read_model_text(text.str(), name);
    Capturing scheme(model.lcs(), Theta{.h = 1e-2, .theta = 1});
    std::vector<Event> events;
    if (scheme.start(model.run.span.start, model.x0(), 1e-2, events).status != Status::solved)
      return false;
    if (scheme.attempt(model.run.span.start + 1e-2, 1e-2).status != Status::solved) return false;
    scheme.accept();
    return scheme.x().allFinite();
  };
  try {
    if (!ready()) return state.SkipWithError("the model does not start");
  } catch (const std::exception& error) {
    return state.SkipWithError(error.what());
  }
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(ready());
  meter.report(state, 1);
}
// clang-format off
BENCHMARK_CAPTURE(setup, index2, "switching_dae_crossing");
// clang-format on

}  // namespace
}  // namespace perp::bench
