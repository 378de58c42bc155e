#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/from_environment.hpp>
#include <perp/tests/run_by_name.hpp>
#include <perp/tests/thinned.hpp>

// ẋ = b + A sign(x) is homogeneous of degree 0: x(t; s x0) = s x(t/s; x0). Runs from starts next to all surfaces, or far
// from them, and to times far beyond, have the events of the run from x0.

using namespace perp;

namespace {

struct PiecewiseConstant {
  int n = 2;
  Matrix A;
  Vector b, x0;
};

/// With numbers of 16 bits: no event falls on another one.
PiecewiseConstant random_system(unsigned seed) {
  std::mt19937 random(seed);
  const auto number = [&] { return (static_cast<double>(random() % 65536) - 32767.5) / 32768; };
  PiecewiseConstant system;
  system.n = 2 + static_cast<int>(random() % 2);
  system.A.resize(system.n, system.n);
  system.b.resize(system.n);
  system.x0.resize(system.n);
  for (int i = 0; i < system.n; ++i) {
    for (int j = 0; j < system.n; ++j) system.A(i, j) = 2 * number();
    system.b[i] = number() / 2;
    system.x0[i] = number();
  }
  return system;
}

/// The system from s x0, until t_end.
Model model_of(const PiecewiseConstant& system, double s, double t_end) {
  std::string text = "[variables]\n";
  for (int i = 0; i < system.n; ++i) text += fmt::format("x{} = {:.17g}\n", i, s * system.x0[i]);
  text += "[model]\nequations = [\n";
  for (int i = 0; i < system.n; ++i) {
    text += fmt::format("  \"der(x{}) = {:.17g}", i, system.b[i]);
    for (int j = 0; j < system.n; ++j) text += fmt::format(" + {:.17g}*sign(x{})", system.A(i, j), j);
    text += "\",\n";
  }
  text += fmt::format("]\n[run]\nt = [0, {:.17g}]\n", t_end);
  return read_model_text(text, "homogeneous");
}

std::vector<Event> changes_until(const Trajectory& run, double t_end) {
  std::vector<Event> changes;
  for (const Event& event : run.events)
    if (event.law >= 0 && event.t <= t_end) changes.push_back(event);
  return changes;
}

/// The first change of branch that the run from s x0 has otherwise; empty: none.
std::string difference(const std::vector<Event>& of_one, const std::vector<Event>& scaled, double s) {
  for (std::size_t k = 0; k < std::min(of_one.size(), scaled.size()); ++k) {
    const Event &a = of_one[k], &b = scaled[k];
    if (a.law != b.law || a.from != b.from || a.to != b.to || std::abs(b.t / s - a.t) > 1e-9 * a.t)
      return fmt::format("event {}: law {} at {} beside law {} at {}", k, b.law, b.t / s, a.law, a.t);
    if ((b.x_after / s - a.x_after).cwiseAbs().maxCoeff() > 1e-9 * (1 + a.t)) return fmt::format("the state at event {}", k);
  }
  return of_one.size() == scaled.size() ? "" : fmt::format("{} events beside {}", scaled.size(), of_one.size());
}

/// x and its mode until the first surface at which it is not crossed, by hand.
struct Course {
  double t = 0;
  Vector x;
  std::vector<int> laws;
};

Course course_of(const PiecewiseConstant& system, double t_end) {
  Course course{0, system.x0, {}};
  Vector side = system.x0.cwiseSign();
  while (course.t < t_end) {
    const Vector rate = system.b + system.A * side;
    double length = t_end - course.t;
    int hit = -1;
    for (int i = 0; i < system.n; ++i) {
      const double time = -course.x[i] / rate[i];
      if (side[i] * rate[i] < 0 && time < length && (course.laws.empty() || course.laws.back() != i)) length = time, hit = i;
    }
    course.x += length * rate;
    course.t += length;
    if (hit < 0) break;
    course.x[hit] = 0;
    course.laws.push_back(hit);
    side[hit] = -side[hit];
    if ((system.b + system.A * side)[hit] * side[hit] <= 0) break;  // slides
  }
  return course;
}

}  // namespace

TEST_SUITE("relations/homogeneous_starts") {
  TEST_CASE("piecewise constant fields from s x0 have the run of x0 in units of s, however far the end is") {
    const unsigned first = test::from_environment("PERP_HOMOGENEOUS_SEED", 1U);
    const unsigned count = test::from_environment("PERP_HOMOGENEOUS_STARTS", test::is_sanitized ? 30U : 250U);
    int judged = 0;
    for (unsigned seed = first; seed < first + count; ++seed) {
      const PiecewiseConstant system = random_system(seed);
      const double t_end = 4;
      const Trajectory one = test::run_by_name(model_of(system, 1, t_end), "located", t_end);
      const std::vector<Event> events = changes_until(one, t_end);
      const bool has_corner = std::ranges::any_of(one.events, [](const Event& e) { return e.law < 0; });
      if (one.status != Status::solved || events.empty() || events.size() > 30 || has_corner) continue;
      const Course course = course_of(system, t_end);
      INFO("seed ", seed);
      CHECK(events.size() >= course.laws.size());
      for (std::size_t k = 0; k < std::min(course.laws.size(), events.size()); ++k) CHECK(events[k].law == course.laws[k]);
      std::mt19937 random(seed);
      for (const int beyond : {0, 12, 50}) {
        const double s = std::ldexp(1.0, static_cast<int>(random() % 81) - 40);
        const double far = std::ldexp(s * t_end, beyond);
        const Trajectory run = test::run_by_name(model_of(system, s, far), "located", far);
        INFO("s = ", s, ", to ", far);
        CHECK(difference(events, changes_until(run, s * t_end), s) == "");
        ++judged;
      }
    }
    MESSAGE(judged, " runs judged");
    CHECK(judged >= static_cast<int>(count));
  }
}
