#include <doctest/doctest.h>
#include <chrono>
#include <cmath>
#include <string>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/thinned.hpp>

namespace {

using namespace perp;
using Clock = std::chrono::steady_clock;

constexpr int count = 34;

/// No sum of some of the weights lies in a gap of 1e-9, which bounds of sums see at the end only: 2^34
/// values of one sub-problem.
std::string subset_sums() {
  std::string sum = "0", binaries, rows;
  double half = 0;
  for (int i = 0; i < count; ++i) {
    const double weight = std::sqrt(i + 2.0) - std::floor(std::sqrt(i + 2.0)) + 1;
    const std::string z = "z" + std::to_string(i), next = "z" + std::to_string((i + 1) % count);
    sum += " + " + std::to_string(weight) + "*" + z;
    half += weight / 2;
    binaries += z + " = 0\n";
    if (i + 2 < count) rows += ", \"-1 - " + z + "*" + next + " <= 0\"";
  }
  const std::string middle = std::to_string(half);
  return "[variables]\nx = 0\n[binaries]\n" + binaries + "[model]\nequations = [\"der(x) = 1\"]\nconstraints = [\"" +
         sum + " - " + middle + " <= 0\", \"" + middle + " + 1e-9 - (" + sum + ") <= 0\"" + rows + "]\n[run]\nt = [0, 1]\n";
}

constexpr double asked_after = 0.3;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST_CASE("an interrupt stops the search of a run's first mode within a second, in every scheme") {
  const double most = test::is_sanitized ? 20 : 1;
  ReadOptions known;
  known.hybrid = true;
  for (const std::string name : {"located", "backward_euler", "theta"}) {
    CAPTURE(name);
    const Model model = read_model_text(subset_sums(), "m.toml", {{"run.scheme", name}, {"run.h", "0.01"}}, known);
    const Clock::time_point begin = Clock::now();
    const InterruptionWatch watch([begin] { return seconds_since(begin) > asked_after; });
    CHECK_THROWS_AS(scheme(name).run(model, {}), Interrupted);
    CHECK(watch.has_stopped());
    CHECK(seconds_since(begin) <= asked_after + most);
  }
}

TEST_CASE("an interrupt stops the search of perp modes within a second") {
  const HybridModel model = *read_hybrid_model_text(subset_sums(), "m.toml");
  HybridModes modes(model);
  const Clock::time_point begin = Clock::now();
  HybridModeOptions options;
  options.stop = [begin] { return seconds_since(begin) > asked_after; };
  const HybridContinuations found =
      modes.continuations(0, model.head.x0(), std::vector<double>(count, 0.0), options);
  CHECK_FALSE(found.chosen);
  CHECK(found.status != Status::no_solution);
  const double seconds = seconds_since(begin);
  CHECK(seconds >= asked_after);
  CHECK(seconds <= asked_after + (test::is_sanitized ? 20 : 1));
}

}  // namespace
