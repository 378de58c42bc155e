#include <doctest/doctest.h>
#include <array>
#include <cmath>
#include <string>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>

namespace {

using namespace perp;

/// A part of a model: its names end with a suffix, so that parts stand beside each other.
struct Part {
  std::string variables, binaries, equations, constraints;
};

std::string with_suffix(std::string text, const std::string& suffix) {
  for (std::size_t k = 0; (k = text.find('#', k)) != std::string::npos;) text.replace(k, 1, suffix);
  return text;
}

Part named(const Part& part, const std::string& suffix) {
  return {with_suffix(part.variables, suffix), with_suffix(part.binaries, suffix),
          with_suffix(part.equations, suffix), with_suffix(part.constraints, suffix)};
}

std::string text_of(const std::vector<Part>& parts) {
  Part all;
  for (const Part& part : parts) {
    all.variables += part.variables;
    all.binaries += part.binaries;
    all.equations += part.equations;
    all.constraints += part.constraints;
  }
  return "[variables]\n" + all.variables + "[binaries]\n" + all.binaries +
         "[model]\nequations = [\n" + all.equations + "]\nconstraints = [\n" + all.constraints +
         "]\n[run]\nt = [0, 8]\nh = 0.004\n";
}

// Two heaters with a tie at every switching on; the level of a vessel that overflows and drains.
const Part heaters{
    "T# = 21\n", "a# = 0\nb# = 0\n", "\"der(T#) = 5 - 0.5*T# + 7*a# + 8*b#\",\n",
    "\"(20 - T#)*(1 - a#)*(1 - b#) <= 0\",\n\"(T# - 22)*(1 - (1 - a#)*(1 - b#)) <= 0\",\n"};
const Part vessel{"x# = 1\ny# = 0\n", "s# = 0\n",
                  "\"der(x#) = 3 - t - 0.5*x# - y#\",\n\"(1 - s#)*y# + s#*(x# - 2) = 0\",\n",
                  "\"(1 - s#)*(x# - 2) - s#*y# <= 0\",\n"};

Trajectory run_of(const std::vector<Part>& parts, const std::string& name,
                  const std::vector<double>& times, Model& model) {
  ReadOptions known;
  known.hybrid = true;
  model = read_model_text(text_of(parts), "m.toml", {{"run.scheme", name}}, known);
  REQUIRE(model.hybrid != nullptr);
  IntegrateOptions options;
  options.times = times;
  options.only_times = true;
  return scheme(name).run(model, options);
}

/// Variables and binaries of the part with this suffix are those of its run alone.
void check_alone(const Part& part, const std::string& suffix, const Trajectory& together,
                 const Model& of_all, const std::string& name, const std::vector<double>& times,
                 double tolerance) {
  Model model;
  const Trajectory alone = run_of({named(part, suffix)}, name, times, model);
  REQUIRE(alone.status == Status::solved);
  REQUIRE(alone.t == together.t);
  for (std::size_t k = 0; k < alone.t.size(); ++k) {
    CAPTURE(alone.t[k]);
    for (std::size_t j = 0; j < model.variables.size(); ++j)
      for (std::size_t i = 0; i < of_all.variables.size(); ++i)
        if (of_all.variables[i].name == model.variables[j].name)
          CHECK(std::abs(alone.x[k][static_cast<Eigen::Index>(j)] -
                         together.x[k][static_cast<Eigen::Index>(i)]) <= tolerance);
    for (std::size_t j = 0; j < model.binaries.size(); ++j)
      for (std::size_t i = 0; i < of_all.binaries.size(); ++i)
        if (of_all.multipliers[i] == model.multipliers[j])
          CHECK(alone.lambda[k][static_cast<Eigen::Index>(j)] ==
                together.lambda[k][static_cast<Eigen::Index>(i)]);
  }
}

TEST_CASE("what stands beside a hybrid model does not change it, also where events coincide") {
  std::vector<double> times;
  for (int k = 0; k <= 63; ++k) times.push_back(k / 8.0 + 0.001 * (k > 0 ? 1 : 0));
  for (const std::string name : {"located", "backward_euler"}) {
    CAPTURE(name);
    // Backward Euler takes other steps where another part has an event.
    const double tolerance = name == "located" ? 1e-9 : 2e-2;
    Model model;
    const std::vector<Part> copies{named(heaters, "1"), named(heaters, "2"), named(vessel, "3")};
    const Trajectory together = run_of(copies, name, times, model);
    CHECK(together.status == Status::solved);
    CHECK(together.events.size() > 4);
    check_alone(heaters, "1", together, model, name, times, tolerance);
    check_alone(heaters, "2", together, model, name, times, tolerance);
    check_alone(vessel, "3", together, model, name, times, tolerance);
  }
}

}  // namespace
