// Models on which programs of this kind go wrong, with what is right by hand or in closed form.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;

namespace {

struct HardModel {
  const char* name;
  int jumps;         ///< resets and impacts up to the end of the span
  int variable;      ///< that `end` is a value of
  double end;        ///< x at the end of the span
  double tolerance;  ///< of backward Euler at the file's h: its error of first order
};

/// End of x' = 2 − 3 λ in its band: rises 0.5 -> 1 in 1/4, then falls by 1 a unit of time.
constexpr double after_memory = 0.25;

const HardModel hard_models[] = {
    {"through", 1, 0, -0.9, 1e-12},
    {"dose", 1, 0, std::exp(-1.0) + std::exp(-2.0), 1e-2},
    {"counter", 2, 2, 2, 0},
    {"reset_keeps_condition", 1, 0, 1.5, 1e-12},
    // x = 1 − t − t²/20 reaches 0 at 10 (√1.2 − 1); there v = −√1.2 is halved.
    {"reset_on_a_law", 1, 0, -0.51801207018, 1e-3},
    {"rocking_block", 3, 0, -0.04420788407868, 1e-3},
    {"memory_start", 0, 0, after_memory, 1e-12},
    {"square_wave", 0, 0, 0.49944314368906, 1e-3},
    {"step_in_time", 0, 0, 1 - 2 * std::exp(std::sqrt(2.0) - 2) + 2 * std::exp(-2.0), 1e-3},
    {"eight_relays", 0, 0, 0.08 + 1.92 * std::exp(-1.0), 1e-2},
    {"equal_fields", 0, 0, 0.30791920381344, 2e-3},
    {"super_twisting", 0, 0, 0, 0},
    {"circuit_in_any_unit_of_time", 0, 0, 0, 0},
    {"two_roots", 0, 0, 1, 1e-12},
};

Model model_of(const std::string& name) {
  return read_model(test::data_path("/hard_models/") + name + ".toml");
}

Trajectory run_backward_euler(const Model& model) {
  return integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = model.run.h});
}

Trajectory run_located(const Model& model) {
  const Dcs system = model.equations ? *model.equations : as_dcs(model.lcs());
  return integrate(system, model.x0(), model.run.span,
                   Located{.tol = 1e-11, .restitution = model.restitution});
}

int jumps(const Trajectory& run) {
  return static_cast<int>(std::count_if(run.events.begin(), run.events.end(), [](const Event& event) {
    return event.kind == EventKind::jump;
  }));
}

}  // namespace

TEST_SUITE("schemes/hard_models") {
  TEST_CASE("both schemes come to the right end, with as many jumps as there are") {
    for (const HardModel& hard : hard_models) {
      INFO(hard.name);
      const Model model = model_of(hard.name);
      const Trajectory euler = run_backward_euler(model);
      REQUIRE_MESSAGE(euler.status == Status::solved, euler.message);
      CHECK(std::abs(euler.x.back()[hard.variable] - hard.end) <= hard.tolerance);
      CHECK(jumps(euler) == hard.jumps);

      const Trajectory located = run_located(model);
      REQUIRE_MESSAGE(located.status == Status::solved, located.message);
      CHECK(std::abs(located.x.back()[hard.variable] - hard.end) <= 1e-9);
      CHECK(jumps(located) == hard.jumps);
    }
  }

  TEST_CASE("restitution is honoured beside a relay: impacts at t1, t1 + 2 e t1, ..., then rest") {
    const Model model = model_of("restitution_beside_relay");
    const Trajectory run = run_located(model);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    double impact = std::sqrt(2 * 0.5 / 9.81), flight = impact;
    int seen = 0;
    for (const Event& event : run.events) {
      if (event.kind != EventKind::jump || seen >= 10) continue;
      CHECK(std::abs(event.t - impact) < 1e-9);
      flight *= seen == 0 ? 1 : 0.5;  // 2 e t1, then halved from impact to impact
      impact += flight;
      ++seen;
    }
    CHECK(seen == 10);
    CHECK(std::abs(run.x.back()[0]) < 1e-12);
    CHECK(run.x.back()[2] == doctest::Approx(1).epsilon(1e-12));
  }

  TEST_CASE("a solution that ends is not gone on with: a fold at t = 3, a blow-up at t = 1") {
    for (const bool is_located : {false, true}) {
      const auto end = [&](const char* name) {
        const Model model = model_of(name);
        const Trajectory run = is_located ? run_located(model) : run_backward_euler(model);
        CHECK(run.status != Status::solved);
        CHECK_FALSE(run.message.empty());
        return run.t.back();
      };
      CHECK(end("fold") == doctest::Approx(3).epsilon(1e-10));
      CHECK(end("blow_up") == doctest::Approx(1).epsilon(0.03));
    }
  }

  TEST_CASE("a diode on 5 V loads its capacitor to 2.7 V, whatever the exponential says of guesses") {
    const Model model = model_of("exponential_diode");
    const Trajectory euler = run_backward_euler(model), located = run_located(model);
    REQUIRE(euler.status == Status::solved);
    REQUIRE(located.status == Status::solved);
    CHECK(euler.x.back()[0] == doctest::Approx(2.63).epsilon(3e-3));
    CHECK(located.x.back()[0] == doctest::Approx(2.71).epsilon(1e-3));
  }
}
