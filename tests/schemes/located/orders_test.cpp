#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <perp/schemes/integrate.hpp>
#include <perp/tests/schemes/located/switching_solutions.hpp>

using namespace perp;
using namespace switching_solutions;

namespace {

/// Errors of one run: of x(T), of every event's time, and of their sensitivities; relative to the
/// size of what they are errors of, where that is above 1.
struct Errors {
  std::vector<double> all;
  static std::vector<std::string> names(std::size_t events) {
    std::vector<std::string> list{"x", "dx/dq"};
    for (std::size_t k = 0; k < events; ++k)
      for (const char* of : {"t of event ", "dt/dq of event "})
        list.push_back(of + std::to_string(k));
    return list;
  }
};

double relative(const Matrix& found, const Matrix& wanted) {
  return (found - wanted).cwiseAbs().maxCoeff() / std::max(1.0, wanted.cwiseAbs().maxCoeff());
}

/// Steps that divide every segment between two events into `steps` (the last a little shorter).
Errors errors(const Problem& problem, const Model& model, const Reference& known, int stages,
              int steps) {
  Located scheme{.stages = stages,
                 .fixed_step = static_cast<double>(1.001L * problem.segment / steps)};
  for (int j = 0; j < problem.differential; ++j) scheme.sensitivities.starts.push_back(j);
  for (int k = 0; k < static_cast<int>(model.parameters.size()); ++k)
    scheme.sensitivities.parameters.push_back(k);
  const Trajectory run =
      integrate(*model.equations, model.x0(), {0, problem.end()}, scheme, {.keep = false});
  INFO(run.message);
  REQUIRE(run.status == Status::solved);
  REQUIRE(static_cast<Eigen::Index>(run.events.size()) == known.events.size());
  const int n = problem.differential;
  Errors result;
  result.all.push_back(relative(run.x.back().head(n), known.x));
  result.all.push_back(relative(run.dx_dq.back().topRows(n), known.dx));
  for (Eigen::Index k = 0; k < known.events.size(); ++k) {
    const Event& event = run.events[static_cast<std::size_t>(k)];
    result.all.push_back(std::abs(event.t - known.events[k]));
    result.all.push_back(relative(event.dt_dq.transpose(), known.dt.row(k)));
  }
  return result;
}

/// The order at the finest halving whose errors are well above rounding; none: the errors are
/// rounding from the coarsest step on.
std::optional<double> order(const std::vector<Errors>& runs, const std::vector<int>& steps,
                            std::size_t quantity) {
  constexpr double above_rounding = 1e-13;
  std::optional<double> result;
  for (std::size_t k = 1; k < runs.size(); ++k)
    if (runs[k].all[quantity] > above_rounding)
      result = std::log(runs[k - 1].all[quantity] / runs[k].all[quantity]) /
               std::log(static_cast<double>(steps[k]) / steps[k - 1]);
  return result;
}

/// `superconvergent`: orders above 2s - 1 are no failure.
void check_orders(const Problem& problem, int stages, const std::vector<int>& steps,
                  bool superconvergent = false) {
  const Model model = read_model_text(problem.text, problem.name + ".toml");
  const Reference known = reference(problem);
  std::vector<Errors> runs;
  for (const int count : steps) runs.push_back(errors(problem, model, known, stages, count));
  const auto names = Errors::names(static_cast<std::size_t>(known.events.size()));
  int observed = 0;
  for (std::size_t quantity = 0; quantity < names.size(); ++quantity) {
    const std::optional<double> found = order(runs, steps, quantity);
    const double finest = runs.back().all[quantity];
    CAPTURE(problem.name);
    CAPTURE(stages);
    CAPTURE(names[quantity]);
    CAPTURE(finest);
    if (!found) {
      CHECK(finest < 1e-12);
      continue;
    }
    ++observed;
    CHECK(*found > 2 * stages - 1 - 0.3);
    if (!superconvergent) CHECK(*found < 2 * stages - 1 + 0.3);
  }
  CHECK(observed > 0);
}

}  // namespace

TEST_SUITE("schemes/located/orders") {
  TEST_CASE("crossing the unit circle: states, times and sensitivities are of order 2s - 1") {
    check_orders(oscillator(), 3, {8, 16, 32});
    check_orders(oscillator(), 5, {4, 8, 16}, true);  // the radius is of order 2s for five stages
    check_orders(oscillator(), 7, {4, 6});
  }

  TEST_CASE("entering, sliding on and leaving a curved surface is of order 2s - 1") {
    check_orders(arc(), 3, {16, 32, 64});
    check_orders(arc(), 5, {4, 8, 16});
    check_orders(arc(), 7, {2, 4});
  }

  TEST_CASE("leaving the sliding mode of [RAB] (37), index 2, is of order 2s - 1") {
    check_orders(variant37(), 3, {4, 8, 16});
    check_orders(variant37(), 5, {1, 2});
  }

  TEST_CASE("with seven stages one step of [RAB] (37) between events is exact to rounding") {
    const Problem problem = variant37();
    const Model model = read_model_text(problem.text, "variant37.toml");
    for (const double error : errors(problem, model, reference(problem), 7, 1).all)
      CHECK(error < 2e-13);
  }
}
