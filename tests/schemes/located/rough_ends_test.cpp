#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/core/recorder.hpp>
#include <perp/schemes/located/radau/branch_forms.hpp>
#include <perp/tests/schemes/located/models.hpp>

// Formulas without derivatives at the end of a branch: √h at h = 0, max(-x, 0)^1.5, √|s| sign(s).

using namespace perp;
using perp::test::is_captured;
using perp::test::run_located;

namespace {

std::string model(const std::string& variables, const std::string& equations, double end,
                  const std::string& more = {}) {
  return fmt::format("[variables]\n{}\n[model]\nequations = [{}]\n{}\n[run]\nt = [0, {:.17g}]\n",
                     variables, equations, more, end);
}

Trajectory solved(const std::string& text, double tol = 1e-10) {
  Trajectory run = run_located(text, tol);
  REQUIRE_MESSAGE(run.status == Status::solved, run.message);
  CHECK_FALSE(is_captured(run));
  CHECK(run.counts.at("steps") < 2000);
  return run;
}

long count(const Trajectory& run, EventKind kind) {
  return std::count_if(run.events.begin(), run.events.end(),
                       [kind](const Event& event) { return event.kind == kind; });
}

/// The super-twisting controller, its rows in units of their own:
///     ṡ = −1.5 √|s| λ + v,   v̇ = −1.1 λ + cos t,   λ ∈ sign(s)
struct Twisting {
  double first = 1, second = 1;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = first * (xdot[0] + 1.5 * sqrt(x[0] * lambda[0]) * lambda[0] - x[1]);
    r[1] = second * (xdot[1] + 1.1 * lambda[0] - cos(t));
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

}  // namespace

TEST_SUITE("schemes/located/rough_ends") {
  TEST_CASE("a root is crossed whatever the units of the rows") {
    const auto run_in = [](double first, double second) {
      const Dcs system = make_dcs(Twisting{first, second}, 2, {sign()});
      return integrate(system, Vector{{1, 0}}, {0, 2}, Located{.tol = 1e-10});
    };
    const Trajectory one = run_in(1, 1);
    REQUIRE_MESSAGE(one.status == Status::solved, one.message);
    for (const double factor : {1e-9, 1e9, 0x1p-35, 0x1p35}) {
      CAPTURE(factor);
      const Trajectory run = run_in(factor, 1 / factor);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(is_captured(run));
      CHECK(count(run, EventKind::accumulation) == 1);
      CHECK(std::abs(run.events.front().t - one.events.front().t) < 1e-9);
    }
  }

  TEST_CASE("a tank runs empty as its formula says, and stays empty until it is filled") {
    const Trajectory run = solved(model("h = 1", "\"der(h) = -sqrt(max(h, 0))\"", 4));
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == EventKind::kink);
    CHECK(std::abs(run.events[0].t - 2) < 1e-11);
    for (std::size_t k = 0; k < run.size(); ++k) {
      const double root = std::max(1 - run.t[k] / 2, 0.0);
      CHECK(std::abs(run.x[k][0] - root * root) < 1e-13);
      if (run.t[k] > 2.001) CHECK(run.x[k][0] == 0);
    }
    // 2 u u' = q - u for u = √h: t = 2 (q log(q/(q - u)) - u) from h = 0.
    const Trajectory filled =
        solved(model("h = 1", "\"der(h) = 0.5*step(t - 3) - sqrt(max(h, 0))\"", 5));
    CHECK(filled.events.size() == 3);
    const double u = std::sqrt(filled.x.back()[0]);
    CHECK(std::abs(2 * (0.5 * std::log(0.5 / (0.5 - u)) - u) - 2) < 1e-10);
  }

  TEST_CASE("units of height and time of a tank do not move a bit") {
    const auto tank = [](double unit, double rate) {
      return solved(model(fmt::format("h = {:.17g}", unit),
                          fmt::format("\"der(h) = -{:.17g}*sqrt(max(h, 0))\"",
                                      rate * std::sqrt(unit)),
                          4 / rate));
    };
    const Trajectory run = tank(1, 1);
    for (const double unit : {0x1p-60, 0x1p60})
      for (const double rate : {0x1p-30, 1.0, 0x1p30}) {
        CAPTURE(unit);
        CAPTURE(rate);
        const Trajectory other = tank(unit, rate);
        REQUIRE(other.size() == run.size());
        for (std::size_t k = 0; k < run.size(); ++k) {
          CHECK(other.t[k] * rate == run.t[k]);
          CHECK(other.x[k][0] == unit * run.x[k][0]);
        }
      }
  }

  TEST_CASE("two levels meet in finite time and stay together") {
    const std::string flow = "0.6*sqrt(abs(a - b))*sign(a - b)";
    const Trajectory run = solved(
        model("a = 2\nb = 1", "\"der(a) = -" + flow + "\", \"der(b) = " + flow + "/2\"", 5));
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == EventKind::sliding_entry);
    CHECK(std::abs(run.events[0].t - 2 / 0.9) < 1e-7);  // a - b is known to an ulp of a
    for (std::size_t k = 0; k < run.size(); ++k) {
      const double root = std::max(1 - 0.45 * run.t[k], 0.0);
      CHECK(std::abs(run.x[k][0] - (4 + 2 * root * root) / 3) < 1e-13);
      CHECK(std::abs(run.x[k][1] - (4 - root * root) / 3) < 1e-13);
    }
  }

  TEST_CASE("a contact with any exponent keeps its energy") {
    for (const double p : {0.3, 0.5, 1.1, 1.5, 2.5}) {
      CAPTURE(p);
      const Trajectory run = solved(
          model("x = 1\nv = 0",
                fmt::format("\"der(x) = v\", \"der(v) = 1000*max(-x, 0)^{} - 9.81\"", p), 3));
      CHECK(count(run, EventKind::kink) >= 5);
      for (std::size_t k = 0; k < run.size(); ++k) {
        const double x = run.x[k][0], v = run.x[k][1];
        const double energy =
            v * v / 2 + 9.81 * x + 1000 / (p + 1) * std::pow(std::max(-x, 0.0), p + 1);
        CHECK(std::abs(energy - 9.81) < 1e-8);
      }
    }
  }

  TEST_CASE("a contact with an exponent beside others, uncoupled, is what it is alone") {
    const std::string own = "\"der(x) = v\", \"der(v) = 1000*max(-x, 0)^1.5*(1 - 0.1*v) - 9.81\"";
    const Trajectory alone = solved(model("x = 1\nv = 0", own, 2));
    const Trajectory beside =
        solved(model("x = 1\nv = 0\nh = 1\ny = 1\nu = 0\nr = 1",
                     own + ", \"der(h) = -2*sqrt(max(h, 0))\", \"der(y) = u\", \"der(u) = -1 + c\", "
                           "\"der(r) = -sign(r) + 0.5*sin(t)\"",
                     2, "laws = [\"0 <= y perp c >= 0\"]"));
    for (int j = 0; j < 2; ++j)
      CHECK(std::abs(alone.x.back()[j] - beside.x.back()[j]) < 1e-9);
    CHECK(std::abs(beside.x.back()[2]) < 1e-20);
    CHECK(count(beside, EventKind::kink) == count(alone, EventKind::kink) + 1);
  }

  TEST_CASE("crossings that accumulate under a root are passed beside a ball that rebounds") {
    const std::string own =
        "\"der(s) = -1.5*sqrt(abs(s))*sign(s) + w\", \"der(w) = -1.1*sign(s) + 0.3*cos(t)\"";
    const Trajectory alone = solved(model("s = 1\nw = 0", own, 4));
    const Trajectory beside = solved(
        model("s = 1\nw = 0\nx = 1\nv = 0", own + ", \"der(x) = v\", \"der(v) = -9.81 + c\"", 4,
              "laws = [\"0 <= x perp c >= 0\"]\nrestitution = { c = 0.8 }"));
    for (const Trajectory* run : {&alone, &beside}) {
      CHECK(count(*run, EventKind::sliding_entry) == 1);
      for (int j = 0; j < 2; ++j) CHECK(std::abs(run->x.back()[j]) < 1e-12);
      const double lambda = run->lambda.back()[0];
      CHECK(std::min(std::abs(lambda - 0.3 / 1.1 * std::cos(4.0)),
                     std::abs(run->lambda.back().tail(1)[0] - 0.3 / 1.1 * std::cos(4.0))) < 1e-9);
    }
  }

  TEST_CASE("a law slides under a root where the relay beside it holds the surface") {
    const Trajectory run =
        solved(model("s = 1", "\"der(s) = -1.5*sqrt(abs(s))*sign(s) + 0.6 - step(s)\"", 5));
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == EventKind::sliding_entry);
    // With u = √s: 2 u u' = -1.5 u - 0.4.
    const double moment = 2 / 1.5 - 2 * 0.4 / 2.25 * std::log(1 + 1.5 / 0.4);
    CHECK(std::abs(run.events[0].t - moment) < 1e-9);
    CHECK(std::abs(run.x.back()[0]) < 1e-20);
  }

  TEST_CASE("roots of any order are crossed, left and reached") {
    // x^(2/3) falls by 2/3 per unit of time.
    const Trajectory reached = solved(model("x = -1", "\"der(x) = -abs(x)^(1/3)*sign(x)\"", 2));
    REQUIRE(reached.events.size() == 1);
    CHECK(std::abs(reached.events[0].t - 1.5) < 1e-6);
    CHECK(std::abs(reached.x.back()[0]) < 1e-10);
    // u = √|x|: 2 u u' = -(2 u + 1) below 0, 1 - 2 u above.
    const Trajectory crossed = solved(model("x = -1", "\"der(x) = -2*sqrt(abs(x))*sign(x) + 1\"", 2));
    REQUIRE(crossed.events.size() == 1);
    const double moment = 1 - std::log(3.0) / 2;
    CHECK(std::abs(crossed.events[0].t - moment) < 1e-9);
    const double u = std::sqrt(crossed.x.back()[0]);
    CHECK(std::abs(-u - std::log(1 - 2 * u) / 2 - (2 - moment)) < 1e-8);
    const Trajectory left = solved(model("h = 1", "\"der(h) = 0.2 - sqrt(max(h - 1, 0))\"", 2));
    const double r = std::sqrt(left.x.back()[0] - 1);
    CHECK(std::abs(2 * (-r - 0.2 * std::log(1 - r / 0.2)) - 2) < 1e-9);
  }

  TEST_CASE("a power of any order below 1 reaches its end in a few steps") {
    // x^(1-p) falls by 1 - p per unit of time: x = 0 at t = x0^(1-p) / (1 - p).
    for (const double p : {0.2, 0.5, 0.6, 0.7})
      for (const double unit : {1.0, 0x1p40, 0x1p-40}) {
        CAPTURE(p);
        CAPTURE(unit);
        const double end = 1 / (1 - p);
        const Trajectory run =
            solved(model(fmt::format("x = {:.17g}", unit),
                         fmt::format("\"der(x) = -{0:.17g}*pow(abs(x/{0:.17g}), {1})*sign(x)\"", unit, p),
                         end + 2));
        REQUIRE(run.events.size() == 1);
        CHECK(std::abs(run.events[0].t - end) < 2e-6);
        CHECK(run.x.back()[0] == 0);
        CHECK(run.counts.at("steps") < 1000);
      }
  }

  TEST_CASE("a finite-time controller of two roots comes to rest") {
    const Trajectory run = solved(model(
        "x = 1\nv = 0",
        "\"der(x) = v\", \"der(v) = -2*sign(v + abs(x)^0.6*sign(x))\"", 20));
    for (int j = 0; j < 2; ++j) CHECK(std::abs(run.x.back()[j]) < 1e-20);
  }

  TEST_CASE("sensitivities end where the equations have no derivatives, the states go on") {
    const std::string contact = "\"der(x) = v\", \"der(v) = 1000*max(-x, 0)^1.5 - 9.81\"";
    const std::string flow = "sqrt(abs(x - v))*sign(x - v)";
    for (const std::string& equations :
         {contact, std::string("\"der(x) = -sqrt(max(x, 0))\", \"der(v) = 0\""),
          "\"der(x) = -" + flow + "\", \"der(v) = " + flow + "\""}) {
      CAPTURE(equations);
      const Model file = read_model_text(model("x = 1\nv = 0", equations, 3), "rough.toml");
      Located scheme = test::located(file);
      const Trajectory states = test::run_located(file);
      scheme.sensitivities.starts = {0, 1};
      const Trajectory run = integrate(*file.equations, file.x0(), file.run.span, scheme);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.message.find("; no sensitivities from t = ") != std::string::npos);
      CHECK_FALSE(run.dx_dq.empty());
      CHECK(run.dx_dq.size() < run.t.size());
      for (const Matrix& S : run.dx_dq) CHECK(S.allFinite());
      CHECK((run.x.back() - states.x.back()).norm() < 1e-9);
    }
  }

  TEST_CASE("states as large and as small as doubles decay as others do") {
    for (const char* start : {"1e304", "1e200", "1e-200", "1e-300"}) {
      CAPTURE(start);
      const Trajectory run =
          solved(model(fmt::format("x = {}", start), "\"der(x) = -x\"", 3));
      CHECK(std::abs(run.x.back()[0] / std::stod(start) - std::exp(-3)) < 1e-10);
    }
  }

  TEST_CASE("a root without max ends where its domain does") {
    const Trajectory run = run_located(model("x = 1", "\"der(x) = -sqrt(x)\"", 3));
    CHECK(run.status == Status::not_solved);
    CHECK(std::abs(run.t.back() - 2) < 1e-12);
    CHECK(run.message.find("the domain of the equations ends") != std::string::npos);
  }

  TEST_CASE("the form of a branch holds formulas of its end alone") {
    const Model tank =
        read_model_text(model("h = 1", "\"der(h) = -sqrt(max(h, 0)) - h\"", 4), "tank.toml");
    BranchForms forms(*tank.equations);
    REQUIRE(forms.any());
    CHECK(forms.key({0}, {}) != forms.key({1}, {}));
    CHECK(forms.is_held(0, {1}, {0.0}));
    CHECK_FALSE(forms.is_held(0, {0}, {0.0}));  // λ = 0 there, whatever w is
    CHECK_FALSE(forms.is_held(0, {1}, {1.0}));  // no end of the branch
    const Model smooth =
        read_model_text(model("h = 1", "\"der(h) = -max(h, 0)^2\"", 4), "smooth.toml");
    CHECK_FALSE(BranchForms(test::system_of(smooth)).any());
    const Model levels = read_model_text(
        model("a = 2\nb = 1",
              "\"der(a) = -sqrt(abs(a - b))*sign(a - b)\", \"der(b) = sqrt(abs(a - b))*sign(a - b)\"", 4),
        "levels.toml");
    BranchForms of_levels(*levels.equations);
    CHECK(of_levels.of({1}, {}).inert == std::vector<char>{1});
    CHECK(of_levels.of({0}, {}).inert == std::vector<char>{0});
  }
}
