#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/from_environment.hpp>
#include <perp/tests/relations/judges/planar_course.hpp>
#include <perp/tests/run_by_name.hpp>
#include <perp/tests/thinned.hpp>

// Runs of planar DAEs with jumps, sliding and ends beside their solutions in rational numbers: status, events, end state,
// and the algebraic variable in every row.

using namespace perp;
using namespace perp::relations;

namespace {

/// What a run says that its course does not; empty: nothing.
std::string difference(const PlanarCourse& course, const Trajectory& run, const PlanarUnits& units, bool is_affine) {
  if ((run.status == Status::solved) != course.goes_on) return "status: " + run.message;
  if (is_affine && !course.goes_on && run.status != Status::no_solution) return "status: " + run.message;
  const bool is_shown = is_affine || course.goes_on;  // else where the solution ends, only that none was found
  if (is_shown && run.message.find("first order") != std::string::npos) return run.message;
  const Vector& x = run.x.back();
  const double miss = std::max(std::abs(x[0] / units.x - static_cast<double>(course.x)),
                               std::abs(x[1] / units.y - static_cast<double>(course.y)));
  if (!(miss < 1e-7)) return fmt::format("state, by {}", miss);
  const auto jumps = std::ranges::count(course.events, true, &PlanarCourse::Event::is_jump);
  const auto told = std::ranges::count(run.events, EventKind::jump, &Event::kind);
  if (jumps != told) return fmt::format("{} jumps, {} told", jumps, told);
  if (!is_shown) return "";
  const double z = static_cast<double>(course.z), z_miss = std::abs(x[2] / units.z - z) / (1 + std::abs(z));
  return z_miss < 1e-6 ? "" : fmt::format("z, by {}", z_miss);
}

void check(bool is_affine, unsigned seeds) {
  const unsigned first = test::from_environment("PERP_PLANAR_SEED", 1U), count = test::from_environment("PERP_PLANAR_COURSES", seeds);
  int judged = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const PlanarModel model = random_planar_model(seed);
    const std::optional<PlanarCourse> course = planar_course(model);
    const bool is_trivial = course && course->events.empty() && course->goes_on;
    if (!course || is_trivial || course->closest < Rational(1, 50)) continue;
    std::mt19937 random(seed);
    const auto unit = [&] { return std::ldexp(1.0, std::vector<int>{0, 0, 0, 20, -20, 10}[random() % 6]); };
    const PlanarUnits units{unit(), unit(), unit(), unit()};
    const std::string text = planar_text(model, units, is_affine ? "" : " + 0*x1*x1");
    const Model read = read_model_text(text, "planar");
    for (const char* scheme : {"backward_euler", "theta", "located"}) {
      const Trajectory run = test::run_by_name(read, scheme, static_cast<double>(model.end) * units.t / 400);
      const std::string said = difference(*course, run, units, is_affine);
      INFO("seed ", seed, ", ", std::string(scheme), "\n", text);
      CHECK_MESSAGE(said.empty(), said);
      ++judged;
    }
  }
  MESSAGE(judged, " runs judged");
  CHECK(judged >= static_cast<int>(count) / 2);  // three of each of some 40 %
}

}  // namespace

TEST_SUITE("relations/planar_courses") {
  TEST_CASE("runs of planar DAEs are those in rational numbers, in units by powers of two, in every scheme") {
    check(true, test::is_sanitized ? 60 : 1000);
  }
  TEST_CASE("so are they where the model is not written as an affine one; what ends there may not be shown to end") {
    check(false, test::is_sanitized ? 40 : 500);
  }
}
