#include <doctest/doctest.h>
#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/lanes/affine/affine_pool.hpp>
#include <perp/schemes/lanes/ensemble.hpp>
#include <perp/schemes/lanes/lane_run.hpp>
#include <perp/schemes/run/system_runs.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/schemes/lanes/drawn_models.hpp>

using namespace perp;
using test::Drawn;
using test::models_of;

namespace {

const std::vector<Drawn> drawn{
    {"two numbers, a mode with a multiplier between two without",
     "[parameters]\np = {p}\n[variables]\nx1 = -5\nx2 = 4\nz = 0\n[system]\nE = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]\n"
     "A = [[0, 0, \"p\"], [0, 0, 1], [0, -1, 0]]\nB = [[0], [0], [1]]\nb = [1, 0, 0]\nC = [[1, 0, 0]]\nlaws = [\"abs_plus_sign\"]\n"
     "[run]\nt = [0, 10]\nh = 0.02\n",
     -0.6, 0.6},
    {"one number",
     "[parameters]\np = {p}\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = -p*x - sign(x)\"]\n[run]\nt = [0, 4]\nh = 0.01\n", 0.1, 2},
    {"three numbers, and margins of two laws",
     "[parameters]\np = {p}\n[variables]\nx = 1\nv = 0\ny = 2\n[model]\nequations = [\"der(x) = v\", \"der(v) = -x - p*sign(v) + max(y, 0)\", \"der(y) = -x\"]\n"
     "[run]\nt = [0, 10]\nh = 0.01\n",
     0.05, 0.3},
    {"no laws at all, and numbers that grow beyond all doubles",
     "[parameters]\np = {p}\n[variables]\nx = 1\ny = 1\n[model]\nequations = [\"der(x) = p*x + y\", \"der(y) = p*y - x\"]\n[run]\nt = [0, 60]\nh = 0.05\n", 15, 19},
    {"five numbers are too many",
     "[parameters]\np = {p}\n[variables]\na = 1\nb = 0\nc = 0\nd = 0\ne = 0\n[model]\nequations = [\"der(a) = b\", \"der(b) = c - sign(a)\", \"der(c) = d - p*b\", "
     "\"der(d) = e\", \"der(e) = -a - e\"]\n[run]\nt = [0, 3]\nh = 0.02\n",
     0.1, 1},
    {"a function of time",
     "[parameters]\np = {p}\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = -p*x + sin(3*t) - sign(x)\"]\n[run]\nt = [0, 4]\nh = 0.01\n", 0.1, 2},
    {"some end where no solution goes on",
     "[parameters]\np = {p}\n[variables]\nx = 1\nl = 0\n[model]\nequations = [\"der(x) = -p\", \"abs(x) = x + l*x\"]\n[run]\nt = [0, 2]\nh = 0.01\n", 0.1, 2},
    {"two parts are two runs",
     "[parameters]\np = {p}\n[variables]\nx = 1\ny = 2\n[model]\nequations = [\"der(x) = -p*sign(x)\", \"der(y) = -sign(y)\"]\n[run]\nt = [0, 4]\nh = 0.01\n", 0.2, 2},
};

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

}  // namespace

TEST_SUITE("schemes/lanes/affine") {
  TEST_CASE("runs of affine systems that are made together have the bits of those made alone") {
    const IntegrateOptions options = ends_only();
    for (const Drawn& what : drawn)
      for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm}) {
        CAPTURE(what.name);
        const std::vector<Model> models = models_of(what, 21, 7);
        std::vector<EnsembleRun> runs;
        for (const Model& model : models)
          runs.push_back({model.system, model.x0(), model.run.span, {.h = model.run.h, .selector = selector}, &options});
        const std::vector<Trajectory> together = integrate(runs);
        for (std::size_t k = 0; k < models.size(); ++k) {
          CAPTURE(k);
          const Trajectory alone = integrate(models[k].system, models[k].x0(), models[k].run.span, runs[k].scheme, options);
          CHECK(together[k].message == alone.message);
          CHECK(together[k].counts == alone.counts);
          CHECK(together[k].provenance == alone.provenance);
          CHECK(bytes_of(together[k]) == bytes_of(alone));
        }
      }
  }

  TEST_CASE("so have runs of several lengths, spans and systems beside each other") {
    const IntegrateOptions options = ends_only();
    std::vector<Model> models;
    for (const Drawn& what : drawn)
      for (Model& model : models_of(what, 3, 11)) models.push_back(std::move(model));
    std::vector<EnsembleRun> runs;
    for (std::size_t k = 0; k < models.size(); ++k) {
      const Model& model = models[k];
      runs.push_back({model.system, model.x0(), {model.run.span.start, model.run.span.end / static_cast<double>(1 + k % 3)}, {.h = model.run.h / static_cast<double>(1 + k % 2)}, &options});
    }
    const std::vector<Trajectory> together = integrate(runs);
    for (std::size_t k = 0; k < models.size(); ++k)
      CHECK(bytes_of(together[k]) == bytes_of(integrate(runs[k].system, runs[k].x0, runs[k].span, runs[k].scheme, options)));
  }

  TEST_CASE("a run whose numbers grow beyond all doubles ends before, with its last state") {
    const IntegrateOptions options = ends_only();
    for (const Model& model : models_of(drawn[3], 3, 7)) {
      const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = model.run.h}, options);
      CHECK(run.status == Status::not_solved);
      CHECK(run.message.ends_with("the state is not finite"));
      CHECK(run.x.back().allFinite());
    }
  }

  TEST_CASE("most of their steps are made beside others, where the processor has lanes") {
    if (!eight::has_lanes()) return;
    const IntegrateOptions options = ends_only();
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
      const std::vector<Model> models = models_of(drawn[which], 9, 3);
      std::vector<CapturingFacts> facts(models.size());
      std::vector<std::unique_ptr<StepwiseRun>> runs;
      std::vector<StepwiseRun*> beside;
      for (std::size_t k = 0; k < models.size(); ++k) {
        runs.push_back(capturing_run(*as_sparse_lcs(models[k].system.functions()), models[k].x0(), models[k].run.span, Theta{.h = models[k].run.h, .theta = 1}, options, facts[k]));
        runs.back()->start();
        beside.push_back(runs.back().get());
      }
      eight::AffinePool pool(beside);
      pool.finish();
      long steps = 0;
      for (auto& run : runs) steps += run->take().counts.at("steps");
      CHECK(pool.common_steps() > steps / 2);
    }
  }
}
