// Sensitivities of whole runs against differences of whole runs, on variations of every model of
// the zoo.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;

namespace {

constexpr int variations = test::is_sanitized ? 1 : 10;

/// Ends of spans that would be chaotic, end at an event, or take long.
const std::map<std::string, double> shorter{
    {"buck_converter_pwm", 0.0037}, {"chua", 10},          {"diode_bridge_equations", 1e-3},
    {"gene_oscillator", 4},         {"predator_prey", 40}, {"predator_prey_shilnikov", 40},
    {"soft_drink_paired", 8}};

/// A start and parameters.
struct Point {
  Vector x;
  std::vector<double> p;
};

struct Variation {
  Dcs system;
  std::vector<int> starts;  // variables that are varied
  Point centre, direction;
  Span span;
  Located scheme;

  [[nodiscard]] Trajectory at(double h, const Located& options) const {
    Dcs moved = system;
    for (std::size_t k = 0; k < moved.parameters.size(); ++k)
      moved.parameters[k] = centre.p[k] + h * direction.p[k];
    return integrate(moved, centre.x + h * direction.x, span, options, {.keep = false});
  }
};

Variation vary(const Model& model, const std::string& name, std::mt19937& random) {
  std::uniform_real_distribution<double> within(-1, 1);
  Variation result;
  result.system = model.equations ? *model.equations : as_dcs(model.lcs());
  result.starts = model.differential_variables();
  result.span = model.run.span;
  if (shorter.contains(name)) result.span.end = shorter.at(name);
  result.centre = {model.x0(), result.system.parameters};
  result.direction = {Vector::Zero(model.x0().size()), result.system.parameters};
  for (const int j : result.starts) {
    result.centre.x[j] *= 1 + 0.02 * within(random);
    result.direction.x[j] = within(random) * result.centre.x[j];
  }
  for (std::size_t k = 0; k < result.centre.p.size(); ++k) {
    result.centre.p[k] *= 1 + 0.02 * within(random);
    result.direction.p[k] = within(random) * result.centre.p[k];
  }
  result.scheme = {.tol = 1e-11, .restitution = model.restitution};
  result.scheme.scale.resize(result.system.n());
  for (int j = 0; j < result.system.n(); ++j)
    result.scheme.scale[j] = model.variables[static_cast<std::size_t>(j)].nominal;
  return result;
}

/// What happens, in order: runs of which this differs have no common derivative.
std::vector<int> sequence(const Trajectory& run) {
  std::vector<int> list{static_cast<int>(run.status)};
  for (const Event& event : run.events)
    list.insert(list.end(), {static_cast<int>(event.kind), event.law, event.from, event.to});
  return list;
}

struct Slope {
  Vector x, dx;  ///< x(T), and ∂x(T)/∂q in the direction
  std::vector<int> events;
};

/// Empty: the run has none (no solution, one-sided derivatives).
std::optional<Slope> slope(const Variation& variation) {
  Located scheme = variation.scheme;
  scheme.sensitivities.starts = variation.starts;
  for (int k = 0; k < static_cast<int>(variation.centre.p.size()); ++k)
    scheme.sensitivities.parameters.push_back(k);
  const auto is_zero = [](double value) { return value == 0; };
  if (std::ranges::all_of(variation.direction.x, is_zero) &&
      std::ranges::all_of(variation.direction.p, is_zero))
    return std::nullopt;  // nothing to vary
  const Trajectory run = variation.at(0, scheme);
  if (run.status != Status::solved || run.counts.contains("one_sided")) return std::nullopt;
  if (run.counts.contains("captured_steps")) return std::nullopt;  // it has no sensitivities
  if (run.dx_dq.empty() || run.dx_dq.back().size() == 0) return std::nullopt;  // nor have two-sided starts
  Vector direction(scheme.sensitivities.columns());
  Eigen::Index column = 0;
  for (const int j : variation.starts) direction[column++] = variation.direction.x[j];
  for (const double p : variation.direction.p) direction[column++] = p;
  return Slope{run.x.back(), run.dx_dq.back() * direction, sequence(run)};
}

/// The same by a central difference of order four. Empty: the runs do not pass the same events.
std::optional<Vector> difference(const Variation& variation, double h,
                                 const std::vector<int>& events) {
  Vector sum = Vector::Zero(variation.system.n());
  for (const auto& [place, weight] :
       {std::pair{-2, 1.0}, std::pair{-1, -8.0}, std::pair{1, 8.0}, std::pair{2, -1.0}}) {
    const Trajectory run = variation.at(place * h, variation.scheme);
    if (sequence(run) != events) return std::nullopt;
    sum += weight * run.x.back();
  }
  return sum / (12 * h);
}

/// The distance of the two in units of the largest entry (or of 1 % of x); of the difference the
/// length that suits best (truncation or rounding). Empty: cannot be compared.
std::optional<double> deviation(const Variation& variation) {
  const std::optional<Slope> exact = slope(variation);
  if (!exact) return std::nullopt;
  const double of_x =
      std::max(exact->x.cwiseAbs().maxCoeff(), variation.centre.x.cwiseAbs().maxCoeff());
  const double size = std::max({exact->dx.cwiseAbs().maxCoeff(), 1e-2 * of_x, 1e-12});
  std::optional<double> least;
  for (const double h : {1e-4, 1e-3, 1e-5, 1e-6, 1e-7}) {
    const std::optional<Vector> approximate = difference(variation, h, exact->events);
    if (!approximate) continue;
    const double distance = (*approximate - exact->dx).cwiseAbs().maxCoeff() / size;
    if (!least || distance < *least) least = distance;
    if (*least < 1e-7) break;
  }
  return least;
}

}  // namespace

TEST_SUITE("schemes/located/sensitivity_variations") {
  TEST_CASE("sensitivities are the slopes of runs, on ten variations of every model of the zoo") {
    int compared = 0, models = 0;
    for (const std::string& name : zoo()) {
      ReadOptions known;
      known.hybrid = true;
      const Model model = read_model(find_model(name), {}, known);
      if (model.hybrid) continue;
      std::mt19937 random(7);
      int of_model = 0;
      for (int k = 0; k < variations; ++k) {
        const Variation variation = vary(model, name, random);
        const std::optional<double> found = deviation(variation);
        if (!found) continue;
        ++of_model;
        CAPTURE(name);
        CAPTURE(k);
        CHECK(*found < 1e-6);
      }
      compared += of_model;
      models += of_model > 0 ? 1 : 0;
    }
    MESSAGE(compared, " variations of ", models, " models were compared");
    CHECK(compared > 40 * variations);
  }
}
