#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::is_captured;
using perp::test::located_model;
using perp::test::run_located;

namespace {

/// An oscillator with dry friction against a belt, forced: time in units of 1/k, position and
/// velocity in units of 1/p and 1/q. It slides, leaves and crosses.
Trajectory oscillator(double k, double p, double q) {
  const std::string text = fmt::format(
      "[parameters]\nk = {}\np = {}\nq = {}\n[variables]\nx = \"1.25*p\"\nv = \"0.5*q\"\n[model]\n"
      "equations = [\"der(x) = k*p/q*v\", "
      "\"der(v) = -k*q/p*x - k*q*0.7*sign(v - 0.25*q) + k*q*0.5*cos(1.5*(k*t))\"]\n"
      "[run]\nt = [0, \"20/k\"]\n",
      k, p, q);
  return run_located(text, 1e-10);
}

/// The rectifier of the data in units of 1/k seconds.
Trajectory circuit(double k) {
  return run_located(located_model("circuit_in_any_unit_of_time", {{"k", fmt::format("{}", k)}}));
}

/// A ball that rebounds and comes to rest: time in units of 1/k, height and velocity in units of 1/p
/// and 1/q.
Trajectory ball(double k, double p, double q) {
  const std::string text = fmt::format(
      "[parameters]\nk = {}\np = {}\nq = {}\n[variables]\nx = \"0.75*p\"\nv = \"0.5*q\"\n"
      "[model]\nlaws = [\"0 <= x perp force >= 0\"]\nrestitution = {{ force = 0.5 }}\n"
      "equations = [\"der(x) = k*p/q*v\", \"der(v) = -k*q*9.75 + force\"]\n"
      "[run]\nt = [0, \"2/k\"]\n",
      k, p, q);
  const Model model = read_model_text(text, "a test");
  Located scheme = test::located(model);
  scheme.restitution = model.restitution;
  return integrate(test::system_of(model), model.x0(), model.run.span, scheme);
}

/// dx(T)/dx(0) of a ball that jumps on a curved floor, lengths in units of 1/p.
Matrix slopes_on_a_curved_floor(double p) {
  const std::string text = fmt::format(
      "[parameters]\np = {}\n[variables]\nx = \"0.25*p\"\ny = \"0.75*p\"\nvx = \"0.5*p\"\nvy = 0\n"
      "[model]\nlaws = [\"0 <= y - 0.25*p*sin(x/p) perp force >= 0\"]\n"
      "restitution = {{ force = 0.75 }}\n"
      "equations = [\"der(x) = vx\", \"der(y) = vy\", \"der(vx) = -0.25*cos(x/p)*force\", "
      "\"der(vy) = -9.75*p + force\"]\n[run]\nt = [0, 1]\n",
      p);
  const Model model = read_model_text(text, "a test");
  Located scheme = test::located(model);
  scheme.restitution = model.restitution;
  scheme.sensitivities.starts = {0, 1, 2, 3};
  const Trajectory run = integrate(test::system_of(model), model.x0(), model.run.span, scheme);
  REQUIRE_MESSAGE(run.status == Status::solved, run.message);
  REQUIRE(run.events.size() >= 2);
  return run.dx_dq.back();
}

void check_same(const Trajectory& run, const Trajectory& base, double k, const Vector& units,
                double tolerance) {
  REQUIRE_MESSAGE(run.status == Status::solved, run.message);
  CHECK_FALSE(is_captured(run));
  REQUIRE(run.events.size() == base.events.size());
  for (std::size_t e = 0; e < base.events.size(); ++e) {
    CHECK(run.events[e].kind == base.events[e].kind);
    CHECK(run.events[e].to == base.events[e].to);
    CHECK(std::abs(run.events[e].t * k - base.events[e].t) <= tolerance * base.events[e].t);
  }
  const Vector x = run.x.back().cwiseQuotient(units);
  CHECK((x - base.x.back()).norm() <= tolerance * base.x.back().norm());
}

}  // namespace

TEST_SUITE("schemes/located/units") {
  // The distance to the surface is known to the rounding of the offset, the rate with which it is passed or met is not.
  TEST_CASE("a surface far from the origin of its variable is passed, or slid on, in one way") {
    for (const double offset : {1e3, 1e6, 1e9}) {
      CAPTURE(offset);
      const std::string from = fmt::format("[variables]\nx = {:.17g}\ny = 0\n[model]\n", offset - 0.5), end = "[run]\nt = [0, 1]\n";
      const Trajectory passed =
          run_located(from + fmt::format("equations = [\"der(x) = 1\", \"der(y) = sign(x - {:.17g})\"]\n", offset) + end);
      const Trajectory slid =
          run_located(from + fmt::format("equations = [\"der(x) = -sign(x - {:.17g})\", \"der(y) = 1\"]\n", offset) + end);
      for (const Trajectory* run : {&passed, &slid}) {
        REQUIRE_MESSAGE(run->status == Status::solved, run->message);
        REQUIRE(run->events.size() == 1);
        CHECK(run->events[0].continuations <= 1);
        CHECK(std::abs(run->events[0].t - 0.5) < 1e-15 * offset + 1e-10);
      }
      CHECK(passed.events[0].kind == EventKind::crossing);
      CHECK(slid.events[0].kind == EventKind::sliding_entry);
    }
  }

  TEST_CASE("sensitivities through impacts are the same in every unit of length") {
    const Matrix base = slopes_on_a_curved_floor(1);
    for (const int bits : {-40, -20, 20}) {
      CAPTURE(bits);
      const Matrix other = slopes_on_a_curved_floor(std::ldexp(1, bits));
      CHECK((other - base).cwiseAbs().maxCoeff() <= 1e-9 * base.cwiseAbs().maxCoeff());
    }
  }

  TEST_CASE("units of time and of variables by powers of two change no bit of a located run") {
    const Trajectory base = oscillator(1, 1, 1);
    REQUIRE_MESSAGE(base.status == Status::solved, base.message);
    REQUIRE(base.events.size() > 6);
    const double up = std::ldexp(1.0, 30), down = std::ldexp(1.0, -30);
    for (const auto& [k, p, q] : {std::array{up, 1.0, 1.0},
                                  {down, 1.0, 1.0},
                                  {1.0, up, down},
                                  {1.0, down, 1.0},
                                  {up, down, up}}) {
      const auto& shown_k = k;
      CAPTURE(shown_k);
      const auto& shown_p = p;
      CAPTURE(shown_p);
      const auto& shown_q = q;
      CAPTURE(shown_q);
      check_same(oscillator(k, p, q), base, k, Vector{{p, q}}, 0);
    }
  }

  TEST_CASE("a contact without restitution is at rest behind its impact, whatever the units: not at rounding of its velocity") {
    for (const double b : {0.83, 1.27, 1.9, 2.41, 2.77}) {
      const Trajectory run = run_located(fmt::format(
          "[variables]\nx = 7\nv = 2\n[model]\nlaws = [\"0 <= s perp {}*x >= 0\"]\nequations = [\"1.7*der(x) = {}*v\", "
          "\"0.37*der(v) = -2.1 + {}*s\"]\n[run]\nt = [0, 9]\n", b / 7, b, 3 - b));
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      const auto impact = std::ranges::find(run.events, "impact", &Event::note);
      REQUIRE(impact != run.events.end());
      CAPTURE(b);
      CHECK(impact->x_before[1] < -1);
      CHECK(std::abs(impact->x_after[1]) < 1e-30);
    }
  }

  TEST_CASE("units of a height and of its velocity change no bit of impacts") {
    const Trajectory base = ball(1, 1, 1);
    REQUIRE_MESSAGE(base.status == Status::solved, base.message);
    CHECK(base.counts.at("impacts") > 5);
    const double up = std::ldexp(1.0, 20), down = std::ldexp(1.0, -20);
    for (const auto& [k, p, q] : {std::array{1.0, up, 1.0}, {1.0, 1.0, up}, {up, down, up}}) {
      const auto& shown_p = p;
      CAPTURE(shown_p);
      const auto& shown_q = q;
      CAPTURE(shown_q);
      check_same(ball(k, p, q), base, k, Vector{{p, q}}, 0);
    }
    const Trajectory other = ball(1, 1e3, 3.6);  // in other decimals: at rest all is rounding
    REQUIRE(other.events.size() == base.events.size());
    for (std::size_t e = 0; e < base.events.size(); ++e)
      CHECK(std::abs(other.events[e].t - base.events[e].t) <= 1e-9);
    CHECK(std::abs(other.x.back()[0]) <= 1e-9 * 1e3);
  }

  TEST_CASE("a contact under a force of other equations rebounds as under one of time") {
    const auto run = [](const std::string& variables, const std::string& force) {
      const Model model = read_model_text(
          "[variables]\nx = 0.75\nv = 0.5\n" + variables +
              "[model]\nlaws = [\"0 <= x perp push >= 0\"]\nrestitution = { push = 0.5 }\n"
              "equations = [\"der(x) = v\", \"der(v) = -9.75 + push + " + force +
              "]\n[run]\nt = [0, 2]\n",
          "a test");
      Located scheme = test::located(model);
      scheme.restitution = model.restitution;
      return integrate(test::system_of(model), model.x0(), model.run.span, scheme);
    };
    // z + z³ = 1 for ever, y = z t.
    const Trajectory base = run("", "0.5*0.6823278038280193*t\"");
    const Trajectory other = run("y = 0\nz = 0.5\n", "0.5*y\", \"der(y) = z\", \"0 = z + z^3 - 1\"");
    REQUIRE_MESSAGE(base.status == Status::solved, base.message);
    REQUIRE_MESSAGE(other.status == Status::solved, other.message);
    REQUIRE(base.counts.at("impacts") > 5);
    CHECK(other.counts.at("impacts") == base.counts.at("impacts"));
    for (std::size_t k = 0; k < std::min(base.events.size(), other.events.size()); ++k)
      CHECK(std::abs(other.events[k].t - base.events[k].t) < 1e-9);
    CHECK(std::abs(other.x.back()[0] - base.x.back()[0]) < 1e-9);
  }

  TEST_CASE("in every unit of time and of variables the same events happen, to 1e-11") {
    const Trajectory base = oscillator(1, 1, 1);
    for (const auto& [k, p, q] : {std::array{1e12, 1.0, 1.0},
                                  {1e-9, 1.0, 1.0},
                                  {1.0, 1e9, 1e-9},
                                  {31557600.0, 1e-9, 1e-9}}) {
      const auto& shown_k = k;
      CAPTURE(shown_k);
      const auto& shown_p = p;
      CAPTURE(shown_p);
      check_same(oscillator(k, p, q), base, k, Vector{{p, q}}, 1e-11);
    }
  }

  TEST_CASE("a circuit with a diode is solved alike in seconds, picoseconds and years") {
    const Trajectory base = circuit(1);
    REQUIRE_MESSAGE(base.status == Status::solved, base.message);
    for (const double k : {1e3, 1e6, 1e9, 1e12, 1e-9, 3e-8}) {
      CAPTURE(k);
      // u is driven by a ramp of slope k^2 against k: it is in units of 1.
      check_same(circuit(k), base, k, Vector::Ones(3), 1e-10);
    }
  }

  TEST_CASE("a fast pole beside a slow one is no singular mode, whatever the conductance") {
    for (const double g : {1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6}) {
      CAPTURE(g);
      const Trajectory run =
          run_located(located_model("stiff_diode", {{"g", fmt::format("{}", g)}}));
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(is_captured(run));
      // Kirchhoff's laws at the end, and the diode conducts: s = v, d = i - g s > 0.
      const Vector& x = run.x.back();
      CHECK(std::abs(x[2] - x[1]) <= 1e-12 * std::abs(x[1]));
      CHECK(std::abs(x[0] - x[3] - run.lambda.back()[0]) <= 1e-10 * std::abs(x[0]));
      CHECK(run.lambda.back()[0] > 0);
    }
  }
}
