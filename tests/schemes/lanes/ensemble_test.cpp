#include <doctest/doctest.h>
#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/lanes/ensemble.hpp>
#include <perp/schemes/lanes/lane_access.hpp>
#include <perp/schemes/lanes/lane_pool.hpp>
#include <perp/schemes/lanes/lane_run.hpp>
#include <perp/schemes/run/system_runs.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/schemes/lanes/drawn_models.hpp>

using namespace perp;
using test::Drawn;
using test::models_of;
using perp::eight::LaneAccess;

namespace {

const std::vector<Drawn> drawn{
    {"block on a belt",
     "[parameters]\nk = {p}\n[variables]\nx = 1\nv = 0\n[model]\nequations = [\"der(x) = v\", "
     "\"der(v) = -x + if(v - 1 > 0, -k/(1 + 3*(v - 1)), k/(1 - 3*(v - 1)))\"]\n[run]\nt = [0, 8]\nh = 0.004\n",
     0.2, 0.5},
    {"predator and prey",
     "[parameters]\np = {p}\n[variables]\nx = 1.2\ny = 0.8\n[model]\nequations = [\"der(x) = x*(1 - y) - if(x - p > 0, 0.3*x, 0)\", "
     "\"der(y) = y*(x - 1)\"]\n[run]\nt = [0, 10]\nh = 0.01\n",
     0.9, 1.6},
    {"no laws at all",
     "[parameters]\nr = {p}\n[variables]\nx = 1\ny = 1\nz = 20\n[model]\nequations = [\"der(x) = 10*(y - x)\", "
     "\"der(y) = x*(r - z) - y\", \"der(z) = x*y - 8/3*z\"]\n[run]\nt = [0, 2]\nh = 0.002\n",
     20, 30},
    {"an algebraic variable and functions of <cmath>",
     "[parameters]\np = {p}\n[variables]\nx = 1\ny = 0.5\n[model]\nequations = [\"der(x) = -y - p*sin(x)\", "
     "\"y = exp(-y)*x + 0.1*sin(3*t)\"]\n[run]\nt = [0, 3]\nh = 0.01\n",
     0.1, 2},
    {"dry friction on a pendulum",
     "[parameters]\nm = {p}\n[variables]\nx = 1.5\nv = 0\n[model]\nequations = [\"der(x) = v\", "
     "\"der(v) = -sin(x) - m*sign(v)\"]\n[run]\nt = [0, 10]\nh = 0.01\n",
     0.05, 0.6},
    {"some end before the others",
     "[parameters]\np = {p}\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = -p*sqrt(x)*abs(x + 1)\"]\n"
     "[run]\nt = [0, 2]\nh = 0.005\n",
     0.1, 2},
    {"some come to a pole",
     "[parameters]\np = {p}\n[variables]\nx = 0\n[model]\nequations = [\"der(x) = 1/(p - x)\"]\n[run]\nt = [0, 1]\nh = 0.002\n",
     1, 2},
    {"some grow beyond all numbers",
     "[parameters]\np = {p}\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = p*x^2\"]\n[run]\nt = [0, 1]\nh = 0.002\n",
     0.5, 1.5},
};

BackwardEuler scheme_of(const Model& model) { return {.h = model.run.h}; }

std::string bytes_of(Trajectory run) {
  Archive archive;
  archive(run);
  return archive.bytes() + run.message;
}

IntegrateOptions ends_only() {
  IntegrateOptions options;
  options.keep = false;
  return options;
}

/// The mode changes in the second step; y and z pass their pole in the sixth, where the determinant of the step keeps its sign.
constexpr const char* pole_behind_change =
    "[variables]\nx = 0\ny = -2\nz = -3\n[model]\nequations = [\"der(x) = 1 + if(x - 0.15 > 0, 1e-3, 0)\", \"y*(x - 0.55) = 1\", \"z*(x - 0.55) = 2\"]\n"
    "[run]\nt = [0, 1]\nh = 0.1\n";

Attempt advance(NonlinearCapturing& scheme, int step, double h) {
  const Attempt made = scheme.attempt(step * h, h);
  scheme.accept();
  return made;
}

}  // namespace

TEST_SUITE("schemes/lanes") {
  TEST_CASE("runs that are made together have the bits of those made alone, whatever becomes of their neighbours") {
    const IntegrateOptions options = ends_only();
    for (const Drawn& what : drawn) {
      CAPTURE(what.name);
      const std::vector<Model> models = models_of(what, 21, 7);
      std::vector<EnsembleRun> runs;
      for (const Model& model : models)
        runs.push_back({model.system.functions(), model.x0(), model.run.span, scheme_of(model), &options});
      const std::vector<Trajectory> together = integrate(runs);
      for (std::size_t k = 0; k < models.size(); ++k) {
        CAPTURE(k);
        const Trajectory alone = integrate(models[k].system, models[k].x0(), models[k].run.span, scheme_of(models[k]), options);
        CHECK(together[k].message == alone.message);
        CHECK(together[k].counts == alone.counts);
        CHECK(together[k].provenance == alone.provenance);
        CHECK(bytes_of(together[k]) == bytes_of(alone));
      }
    }
  }

  TEST_CASE("the moments that a run tells hold every change of its mode with the step before it") {
    const auto spans = [](const Model& model, bool is_together) {
      std::vector<std::pair<double, Mode>> told;
      IntegrateOptions options = ends_only();
      double last = 0;
      options.moments = [&](double t, const Mode& mode) {
        if (told.empty() || told.back().second != mode) {
          if (!told.empty()) told.emplace_back(last, told.back().second);
          told.emplace_back(t, mode);
        }
        last = t;
        return true;
      };
      const EnsembleRun one{model.system.functions(), model.x0(), model.run.span, scheme_of(model), &options};
      if (is_together)
        integrate(std::vector<EnsembleRun>{one});
      else
        integrate(model.system, model.x0(), model.run.span, scheme_of(model), options);
      return told;
    };
    for (const Model& model : models_of(drawn.front(), 3, 5)) CHECK(spans(model, true) == spans(model, false));
  }

  TEST_CASE("most steps of a run are made beside others, where the processor has lanes") {
    if (!eight::has_lanes()) return;
    const IntegrateOptions options = ends_only();
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
      const std::vector<Model> models = models_of(drawn[which], 9, 3);
      std::vector<CapturingFacts> facts(models.size());
      std::vector<std::unique_ptr<StepwiseRun>> runs;
      std::vector<StepwiseRun*> beside;
      for (std::size_t k = 0; k < models.size(); ++k) {
        runs.push_back(capturing_run(models[k].system.functions(), models[k].x0(), models[k].run.span,
                                     as_theta(scheme_of(models[k])), options, facts[k]));
        runs.back()->start();
        beside.push_back(runs.back().get());
      }
      eight::LanePool pool(beside);
      pool.finish();
      long steps = 0;
      for (auto& run : runs) steps += run->take().counts.at("steps");
      CHECK(pool.common_steps() > steps / 2);
    }
  }

  TEST_CASE("a state that was made beside others is none that a change of mode has led to: a pole behind it is one") {
    const Model model = read_model_text(pole_behind_change, "pole.toml");
    const double h = model.run.h;
    const Dcs system = model.system.functions();
    NonlinearCapturing alone(system, {.h = h}), beside(system, {.h = h});
    for (NonlinearCapturing* scheme : {&alone, &beside}) {
      std::vector<Event> events;
      REQUIRE(scheme->start(0, model.x0(), h, events).status == Status::solved);
      for (int step = 1; step <= 4; ++step) CHECK(advance(*scheme, step, h).kept_mode == (step != 2));
    }
    REQUIRE(advance(alone, 5, h).kept_mode);
    const Step now = alone.snapshot();
    const std::vector<double> errors = LaneAccess::last_errors(alone);
    const LaneAccess::State state{now.t, now.x.data(), LaneAccess::d(alone).data(), now.lambda.data(), now.w.data(),
                                  LaneAccess::state_residual(alone)};
    LaneAccess::take(beside, {1, 1, 0, errors.data()}, h, state, {}, {});
    CHECK(beside.x() == alone.x());
    CHECK_FALSE(alone.attempt(6 * h, h).kept_mode);
    CHECK_FALSE(beside.attempt(6 * h, h).kept_mode);
  }
}
