#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>

// Models with more unknowns than dense matrices serve.
namespace {

using perp::Event;
using perp::EventKind;
using perp::Model;
using perp::Status;
using perp::Trajectory;

std::string number(double value) { return std::to_string(value); }

/// A chain of rooms, temperatures in units of `unit`, names with a prefix.
struct Texts {
  std::string variables, binaries, equations, constraints;
};

Texts rooms(int n, const std::string& prefix, double shift = 0) {
  Texts texts;
  const auto name = [&](const char* what, int i) { return prefix + what + std::to_string(i); };
  for (int i = 0; i < n; ++i) {
    texts.variables += name("x", i) + " = " + number(19.3 + 0.0041 * (37 * i % 101) + shift) + "\n";
    texts.binaries += name("z", i) + " = " + (i % 3 == 0 ? "1" : "0") + "\n";
    std::string flow;
    for (const int j : {i - 1, i + 1})
      if (j >= 0 && j < n) flow += (flow.empty() ? "(" : " + (") + name("x", j) + " - " + name("x", i) + ")";
    texts.equations += "\"der(" + name("x", i) + ") = -0.1*(" + name("x", i) + " - 5) + 0.2*(" + flow +
                       ") + 4*" + name("z", i) +
                       (i + 1 < n ? "*(1 - 0.3*" + name("z", i + 1) + ")" : "") + "\",\n";
    const std::string x = name("x", i), z = name("z", i);
    texts.constraints += "\"(" + number(19 + 0.01 * (3 * i % 7)) + " - " + x + ")*(1 - " + z + ") + (" + x +
                         " - " + number(20 + 0.01 * (3 * i % 7 + 2 * i % 5)) + ")*" + z + " <= 0\",\n";
  }
  return texts;
}

Model read(const std::vector<Texts>& parts, const std::string& scheme, const std::string& h, double end) {
  Texts all;
  for (const Texts& part : parts) {
    all.variables += part.variables;
    all.binaries += part.binaries;
    all.equations += part.equations;
    all.constraints += part.constraints;
  }
  perp::ReadOptions known;
  known.hybrid = true;
  return perp::read_model_text("[variables]\n" + all.variables + "[binaries]\n" + all.binaries +
                                   "[model]\nequations = [\n" + all.equations + "]\nconstraints = [\n" +
                                   all.constraints + "]\n[run]\nt = [0, " + number(end) + "]\nh = " + h + "\n",
                               "m.toml", {{"run.scheme", scheme}}, known);
}

Trajectory run(const Model& model) { return perp::scheme(model.run.scheme).run(model, {}); }

struct Change {
  int to;
  double t;
};

/// The changes of each binary, by its name.
std::map<std::string, std::vector<Change>> changes(const Model& model, const Trajectory& trajectory) {
  std::map<std::string, std::vector<Change>> result;
  for (const Event& event : trajectory.events)
    if (event.kind == EventKind::mode_change)
      result[model.multipliers[static_cast<std::size_t>(event.law)]].push_back({event.to, event.t});
  return result;
}

/// Rooms of a ring with an algebraic heat, of which rounding alone is left where the room's binary is 0.
Model ring_with_heats(int n, bool is_reversed, const std::string& scheme) {
  Texts all;
  std::vector<std::string> equations;
  for (int i = 0; i < n; ++i) {
    const std::string x = "x" + std::to_string(i), y = "y" + std::to_string(i), z = "z" + std::to_string(i),
                      other = "x" + std::to_string((i + 1) % n);
    all.variables += x + " = " + number(19.2 + 0.0041 * (37 * i % 101)) + "\n" + y + " = 0\n";
    all.binaries += z + " = " + (i % 3 == 0 ? "1" : "0") + "\n";
    equations.push_back("\"der(" + x + ") = -0.1*(" + x + " - 5) + " + y + "\",\n");
    equations.push_back("\"" + y + " = 4*" + z + " + 0.1*" + z + "*(25 - " + other + ")\",\n");
    all.constraints += "\"(19 - " + x + ")*(1 - " + z + ") + (" + x + " - 20)*" + z + " <= 0\",\n";
  }
  if (is_reversed) std::reverse(equations.begin(), equations.end());
  for (const std::string& equation : equations) all.equations += equation;
  return read({all}, scheme, "0.02", 1);
}

TEST_CASE("whole steps do not see the order of the equations, and are those of the grid where rows are 0 but for rounding") {
  const Model model = ring_with_heats(24, false, "backward_euler"), reversed = ring_with_heats(24, true, "backward_euler");
  const Trajectory run_of_model = run(model), run_of_reversed = run(reversed);
  REQUIRE(run_of_model.status == Status::solved);
  REQUIRE(run_of_reversed.status == Status::solved);
  CHECK(run_of_model.counts.at("steps") == 50);
  CHECK(run_of_reversed.counts.at("steps") == 50);
  const auto one = changes(model, run_of_model), other = changes(reversed, run_of_reversed);
  REQUIRE(one.size() == other.size());
  for (const auto& [name, own] : one) {
    const auto& shown_name = name;
    CAPTURE(shown_name);
    const auto& same = other.at(name);
    REQUIRE(own.size() == same.size());
    for (std::size_t k = 0; k < own.size(); ++k) CHECK(own[k].t == doctest::Approx(same[k].t).epsilon(1e-9));
  }
  for (int j = 0; j < 48; ++j) CHECK(run_of_model.x.back()[j] == doctest::Approx(run_of_reversed.x.back()[j]).epsilon(1e-9));
}

TEST_CASE("both schemes give every one of many binaries the same sequence of changes") {
  const double h = 0.0005;
  const Model located = read({rooms(60, "")}, "located", "0.5", 2);
  const Model captured = read({rooms(60, "")}, "backward_euler", number(h), 2);
  REQUIRE(located.hybrid != nullptr);
  REQUIRE(captured.hybrid != nullptr);
  const Trajectory exact = run(located), steps = run(captured);
  REQUIRE(exact.status == Status::solved);
  REQUIRE(steps.status == Status::solved);
  const auto a = changes(located, exact), b = changes(captured, steps);
  REQUIRE(a.size() == 60);
  REQUIRE(b.size() == 60);
  double latest = 0;
  for (const auto& [name, list] : a) {
    const auto& shown_name = name;
    CAPTURE(shown_name);
    const std::vector<Change>& other = b.at(name);
    REQUIRE(other.size() == list.size());
    for (std::size_t k = 0; k < list.size(); ++k) {
      CHECK(other[k].to == list[k].to);
      latest = std::max(latest, std::abs(other[k].t - list[k].t));
    }
  }
  CHECK(latest <= 10 * h);
  CHECK((steps.x.back() - exact.x.back()).cwiseAbs().maxCoeff() <= 40 * h);
}

TEST_CASE("event capturing with many binaries is of first order") {
  const Trajectory exact = run(read({rooms(40, "")}, "located", "0.5", 1.5));
  std::vector<double> errors;
  for (const double h : {1e-3, 5e-4}) {
    const Trajectory steps = run(read({rooms(40, "")}, "backward_euler", number(h), 1.5));
    REQUIRE(steps.status == Status::solved);
    errors.push_back((steps.x.back() - exact.x.back()).norm());
  }
  CHECK(errors[1] <= 0.7 * errors[0]);
  CHECK(errors[1] >= 0.3 * errors[0]);
}

TEST_CASE("two models that share nothing run beside each other as each does alone, to the bit") {
  const Texts one = rooms(12, "a"), other = rooms(9, "b", 0.137);
  const Model both = read({one, other}, "located", "0.5", 2), first = read({one}, "located", "0.5", 2),
              second = read({other}, "located", "0.5", 2);
  const auto together = changes(both, run(both)), left = changes(first, run(first)),
             right = changes(second, run(second));
  REQUIRE(left.size() + right.size() == together.size());
  for (const auto* part : {&left, &right})
    for (const auto& [name, list] : *part) {
      const auto& shown_name = name;
      CAPTURE(shown_name);
      REQUIRE(together.at(name).size() == list.size());
      for (std::size_t k = 0; k < list.size(); ++k) {
        CHECK(together.at(name)[k].to == list[k].to);
        CHECK(together.at(name)[k].t == list[k].t);
      }
    }
}

TEST_CASE("forty equal rooms change together") {
  // No coupling: each event is that of all.
  Texts all;
  for (int i = 0; i < 40; ++i) {
    const std::string x = "x" + std::to_string(i), z = "z" + std::to_string(i);
    all.variables += x + " = 20\n";
    all.binaries += z + " = 1\n";
    all.equations += "\"der(" + x + ") = 0.1*(10 - " + x + ") + 2*" + z + "\",\n";
    all.constraints += "\"(19 - " + x + ")*(1 - " + z + ") + (" + x + " - 21)*" + z + " <= 0\",\n";
  }
  // On: x = 30 - 10 exp(-t/10); off: x = 10 + 11 exp(-t/10).
  const double off = 10 * std::log(10.0 / 9), on = off + 10 * std::log(11.0 / 9);
  const Model captured = read({all}, "backward_euler", "0.001", 4);
  const Trajectory steps = run(captured);
  REQUIRE(steps.status == Status::solved);
  const auto list = changes(captured, steps);
  REQUIRE(list.size() == 40);
  for (const auto& [name, own] : list) {
    const auto& shown_name = name;
    CAPTURE(shown_name);
    REQUIRE(own.size() == 2);
    CHECK(own[0].t == doctest::Approx(off).epsilon(2e-3));
    CHECK(own[1].t == doctest::Approx(on).epsilon(2e-3));
  }
  const Trajectory exact = run(read({all}, "located", "0.5", 4));
  REQUIRE(exact.status == Status::solved);
  std::vector<double> times;
  for (const Event& event : exact.events)
    if (event.kind == EventKind::mode_change) times.push_back(event.t);
  REQUIRE(times.size() == 80);  // each has its own
  times.erase(std::unique(times.begin(), times.end()), times.end());
  REQUIRE(times.size() == 2);
  CHECK(times[0] == doctest::Approx(off).epsilon(1e-12));
  CHECK(times[1] == doctest::Approx(on).epsilon(1e-12));
}

}  // namespace
