#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/paths.hpp>
#include <perp/tests/relations/models/model_transform.hpp>
#include <perp/tests/schemes/located/references/reference_cases.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using namespace perp::relations;

namespace {

/// The model in units of time of `unit` of its own, all else as it is.
Model in_time(const Model& model, double unit) {
  const std::size_t n = model.variables.size(), m = model.laws().size();
  const std::vector<double> variables(n, 1), laws(m, 1);
  return in_units(model, {variables, variables, laws, laws, unit});
}

Trajectory run_whole(const Model& model) {
  Located scheme{.tol = 1e-11, .restitution = model.restitution};
  scheme.scale = Vector(model.x0().size());
  for (Eigen::Index j = 0; j < scheme.scale.size(); ++j)
    scheme.scale[j] = model.variables[static_cast<std::size_t>(j)].nominal;
  return integrate(model.equations ? *model.equations : as_dcs(model.lcs()), model.x0(),
                   model.run.span, scheme);
}

}  // namespace

TEST_SUITE("relations/time_scales") {
  TEST_CASE("every reference trajectory is the same in picoseconds and in years") {
    for (const test::ReferenceCase& known : test::thinned(test::reference_cases, 4)) {
      CAPTURE(std::string(known.reference));
      const Model model = test::model_of(known, test::load_reference(known.reference));
      const Trajectory base = run_whole(model);
      const double span = model.run.span.end - model.run.span.start;
      CHECK_FALSE(base.provenance.contains("first order from"));
      for (const double unit : {1e-12, 31557600.0, 0x1p-40, 0x1p25}) {
        CAPTURE(unit);
        const Trajectory run = run_whole(in_time(model, unit));
        REQUIRE_MESSAGE(run.status == base.status, run.message);
        const bool is_binary = std::exp2(std::round(std::log2(unit))) == unit;
        // That there is no solution is a proof about the numbers of the model; rounded ones may leave it to the steps.
        const bool may_capture = run.status == Status::no_solution && !is_binary;
        CHECK((may_capture || !run.provenance.contains("first order from")));
        REQUIRE(run.events.size() == base.events.size());
        const double near = is_binary ? 0 : 1e-9;
        for (std::size_t k = 0; k < run.events.size(); ++k) {
          CHECK(run.events[k].kind == base.events[k].kind);
          CHECK(run.events[k].law == base.events[k].law);
          CHECK(run.events[k].to == base.events[k].to);
          CHECK(std::abs(run.events[k].t * unit - base.events[k].t) <= near * span);
        }
        const Vector& x = run.x.back();
        for (Eigen::Index j = 0; j < x.size(); ++j)
          CHECK(std::abs(x[j] - base.x.back()[j]) <=
                near * std::max(1.0, base.x.back().cwiseAbs().maxCoeff()));
        // As many steps: the order is that of the scheme.
        CHECK(std::abs(run.counts.at("steps") - base.counts.at("steps")) <=
              (is_binary ? 0 : base.counts.at("steps") / 50 + 2));
      }
    }
  }

  TEST_CASE("a root is crossed until its crossings accumulate, whatever the units of variables, rows and laws") {
    const Model model = read_model(test::data_path("/hard_models/super_twisting.toml"));
    const Model other = in_units(model, {{1e7, 1e-9}, {1e9, 1e-5}, {1e7}, {0.01}, 10});
    const auto moment = [](const Trajectory& run) {
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      const auto limit = std::find_if(run.events.begin(), run.events.end(), [](const Event& event) {
        return event.kind == EventKind::accumulation;
      });
      REQUIRE(limit != run.events.end());
      return limit->t;
    };
    CHECK(std::abs(10 * moment(run_whole(other)) - moment(run_whole(model))) < 1e-7);
  }
}
