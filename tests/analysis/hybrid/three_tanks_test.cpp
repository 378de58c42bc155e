#include <doctest/doctest.h>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

// The three tanks of the source as matrices, as equations with six binaries, and as laws: one motion.
namespace {

using namespace perp;

constexpr double period = 279.7012144420435;  ///< of the limit cycle, computed apart in 40 digits

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

Model read(const std::string& text, const std::vector<Override>& set) {
  ReadOptions known;
  known.hybrid = true;
  return read_model_text(text, "m.toml", set, known);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

std::string equations() { return text_of(find_model("three_tank_binaries")); }

/// S and Phi alone, 43 columns.
std::string matrices() {
  const std::string folder = test::data_path("/multilinear/three_tank/");
  std::string text = equations();
  text.erase(text.find("[model]"), text.find("[run]") - text.find("[model]"));
  text.erase(text.find("[parameters]"), text.find("[inputs]") - text.find("[parameters]"));
  return text + "\n[multilinear]\nsignals = { states = [\"x1\", \"x2\", \"x3\"], inputs = [\"u1\", \"u2\", \"u3\", "
                "\"u4\", \"u5\", \"u6\", \"u7\", \"u8\"], algebraic = [\"y1\"], binaries = [\"z1\", \"z2\", \"z3\", "
                "\"z4\", \"z5\", \"z6\"] }\nS = \"" + folder + "S.mtx\"\nPhi_f = \"" + folder +
         "Phi_f.mtx\"\nPhi_g = \"" + folder + "Phi_g.mtx\"\n";
}

Trajectory run(const Model& model, const std::vector<double>& times) {
  IntegrateOptions options;
  options.times = times;
  options.only_times = true;
  return scheme(model.run.scheme).run(model, options);
}

const std::vector<Override> located{{"run.scheme", "located"}, {"run.tol", "1e-12"}};

TEST_CASE("an event tells how many values of the binaries continue and what decided: what the whole search finds there") {
  const Model model = read(equations(), located);
  const Trajectory run = scheme("located").run(model, {});
  HybridModes modes(*model.hybrid);
  std::vector<double> z;
  for (const Binary& binary : model.hybrid->binaries) z.push_back(*binary.start);
  HybridModeOptions options;
  options.share = share_of_computed;
  int counted = 0;
  for (const Event& event : run.events) {
    if (event.kind != EventKind::mode_change) continue;
    const HybridContinuations all = modes.continuations(event.t, event.x_before, z, options);
    CHECK(all.is_complete);
    CHECK(event.continuations == static_cast<int>(all.list.size()));
    CHECK(event.note.ends_with(all.decided_by));
    REQUIRE(all.chosen);
    z = all.list[static_cast<std::size_t>(*all.chosen)].z;
    ++counted;
  }
  CHECK(counted == 37);
}

TEST_CASE("three tanks as matrices, as equations with binaries and as laws have one course") {
  std::vector<double> times;
  for (int k = 0; k <= 40; ++k) times.push_back(10 * k + 0.25);
  times[0] = 0;
  // Closed valves, as laws of memory start between their ends.
  const Trajectory laws = run(read(text_of(find_model("three_tank")), located), times);
  const Trajectory binaries = run(read(equations(), located), times);
  const Trajectory columns = run(read(matrices(), located), times);
  REQUIRE(laws.t == binaries.t);
  REQUIRE(laws.t == columns.t);
  REQUIRE(laws.size() >= times.size());
  for (std::size_t k = 0; k < times.size(); ++k)
    for (int j = 0; j < 3; ++j) {
      CHECK(std::abs(laws.x[k][j] - binaries.x[k][j]) <= 1e-9);
      CHECK(std::abs(laws.x[k][j] - columns.x[k][j]) <= 1e-9);
    }
}

TEST_CASE("the three tanks reach one limit cycle from all eight positions of their valves") {
  for (int valves = 0; valves < 8; ++valves) {
    CAPTURE(valves);
    std::vector<Override> set{located[0]};
    const char* names[] = {"z1", "z3", "z5"};
    for (int i = 0; i < 3; ++i) set.push_back({names[i], std::to_string(valves >> i & 1)});
    set.push_back({"run.t", "[0, 3000]"});
    set.push_back({"run.tol", "1e-12"});
    const Model model = read(equations(), set);
    const Trajectory trajectory = run(model, {});
    REQUIRE(trajectory.status == Status::solved);
    std::vector<double> closings;  // of the second tank, once a period
    for (const Event& event : trajectory.events)
      if (event.kind == EventKind::mode_change && event.law == 2 && event.to == 0) closings.push_back(event.t);
    REQUIRE(closings.size() > 6);
    CHECK(std::abs(closings.back() - closings[closings.size() - 2] - period) <= 1e-9);
  }
}

TEST_CASE("declared binaries are the first mode in both schemes; free ones are chosen alike, with a warning") {
  std::string free = equations();
  for (const char* z : {"z1", "z3", "z5"})
    free = with(free, std::string(z) + " = { start = 0, ", std::string(z) + " = { ");
  for (const char* z : {"z2", "z4", "z6"}) free = with(free, std::string(z) + " = 1", std::string(z) + " = {}");
  const auto first = [](const std::string& text, std::vector<Override> set, const std::string& name, bool& warns) {
    set.push_back({"run.scheme", name});
    set.push_back({"run.t", "[0, 1]"});
    const Trajectory trajectory = run(read(text, set), {});
    REQUIRE(trajectory.status == Status::solved);
    warns = trajectory.provenance.contains("start");
    const Vector lambda = trajectory.lambda[0];
    return std::vector<double>(lambda.begin(), lambda.begin() + 6);
  };
  bool warns = false;
  for (int valves = 0; valves < 8; ++valves)
    for (const std::string name : {"located", "backward_euler"}) {
      CAPTURE(valves);
      CAPTURE(name);
      std::vector<Override> set;
      std::vector<double> wanted;
      for (int i = 0; i < 6; ++i) {
        wanted.push_back(i % 2 == 1 ? 1 : valves >> i / 2 & 1);
        set.push_back({"z" + std::to_string(i + 1), std::to_string(static_cast<int>(wanted.back()))});
      }
      CHECK(first(equations(), set, name, warns) == wanted);
      CHECK_FALSE(warns);
      if (valves > 1) continue;  // one that is declared beside five that are free keeps its value
      CHECK(first(free, {{"z3", std::to_string(valves & 1)}}, name, warns)[2] == (valves & 1));
      CHECK(warns);
    }
  const std::vector<double> chosen = first(free, {}, "located", warns);
  CHECK(warns);
  CHECK(first(free, {}, "backward_euler", warns) == chosen);
  CHECK(warns);
}

}  // namespace
