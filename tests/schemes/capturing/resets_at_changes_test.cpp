#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

using namespace perp;

namespace {

struct Run {
  Trajectory rows;
  std::vector<double> jumps;  ///< their moments
  double end(int variable) const { return rows.x.back()[variable]; }
};

Run run_text(const std::string& variables, const std::string& rest, double end, double h) {
  const Model model = read_model_text(
      fmt::format("[variables]\n{}\n[model]\n{}\n[run]\nt = [0, {}]\n", variables, rest, end), "changes");
  Run run{integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = h}), {}};
  for (const Event& event : run.rows.events)
    if (event.kind == EventKind::jump) run.jumps.push_back(event.t);
  REQUIRE_MESSAGE(run.rows.status == Status::solved, run.rows.message);
  return run;
}

}  // namespace

TEST_SUITE("schemes/resets_at_changes") {
  TEST_CASE("a reset behind a change of law in one step computes from the multiplier behind that change") {
    for (const char* law : {"step(x - 1.0025)", "hysteresis(x, 0.5, 1.0025)"})
      for (const double h : {0.01, 0.003}) {
        CAPTURE(law);
        const Run run = run_text("x = 0\ny = 0\nn = 0",
                                 fmt::format("equations = [\"der(x) = 1\", \"der(y) = L\", \"der(n) = 0\"]\nlaws = [\"L in {}\"]\n"
                                             "when = [{{ condition = \"x - 1.0075\", direction = 1, set = {{ n = \"n + 10*L + 1\", y = \"y + L\" }} }}]",
                                             law),
                                 2, h);
        CHECK(run.end(2) == 11);
        CHECK(std::abs(run.end(1) - 1.9975) < 1e-12);
      }
  }

  // c = t - 0.01 behind the dose; x gains the whole of the pulse
  TEST_CASE("a pulse behind a reset counts, however much shorter than the step it is") {
    for (const double width : {1e-4, 1e-6, 1e-9, 1e-10, 1e-12}) {
      CAPTURE(width);
      const Run run = run_text("c = 1\nx = 0",
                               fmt::format("equations = [\"der(c) = 1\", \"der(x) = if(c < {0:.17g}, {1:.17g}, 0)\"]\n"
                                           "when = [{{ condition = \"t - 0.01\", direction = 1, set = {{ c = \"0\" }} }}]",
                                           width, 1 / width),
                               0.05, 1e-3);
      CHECK(run.jumps.size() == 1);
      CHECK(run.end(1) == doctest::Approx(1).epsilon(1e-4));
    }
  }

  TEST_CASE("a law that a reset switches and that switches back within the step is off in between") {
    // A saw tooth from 3/4 to 5/2 at the rate 3, period 7/12; y falls at 1/2 below A = 7/4, rises at 1/2 above.
    for (const char* law : {"step(A - 1.75)", "hysteresis(A, 1.7499999, 1.75)"})
      for (const double h : {0.37, 0.2, 0.05, 0.011}) {
        CAPTURE(law);
        CAPTURE(h);
        const Run run = run_text("A = 0.75\ny = 0",
                                 fmt::format("equations = [\"der(A) = 3\", \"der(y) = L - 0.5\"]\nlaws = [\"L in {}\"]\n"
                                             "when = [{{ condition = \"A - 2.5\", direction = 1, set = {{ A = \"0.75\" }} }}]",
                                             law),
                                 7.0 / 12 * 6 + 0.1, h);
        CHECK(run.jumps.size() == 6);
        CHECK(std::abs(run.end(1) - (6 * (0.125 - 1.0 / 6) - 0.05)) < 1e-9);
      }
  }

  TEST_CASE("conditions on a multiplier fire where its law changes, as exactly as that is known") {
    for (const double h : {0.03, 0.17647058823529413, 0.0123}) {
      const Run run = run_text("x = -1\nn = 0",
                               "equations = [\"der(x) = 1\", \"der(n) = 0\"]\nlaws = [\"L in step(x)\"]\n"
                               "when = [{ condition = \"L - 0.5\", direction = 1, set = { n = \"n + 1\" } }]",
                               2, h);
      REQUIRE(run.jumps.size() == 1);
      CHECK(std::abs(run.jumps.front() - 1) < 1e-12);
    }
  }

  TEST_CASE("an algebraic variable that jumps over two conditions fires both, at one moment") {
    const Run run = run_text("x = -1\nu = 0\nn = 0\nm = 0",
                             "equations = [\"der(x) = 1\", \"u = L\", \"der(n) = 0\", \"der(m) = 0\"]\nlaws = [\"L in step(x)\"]\n"
                             "when = [{ condition = \"u - 0.3\", direction = 1, set = { n = \"n + 1\" } },\n"
                             "{ condition = \"u - 0.7\", direction = 1, set = { m = \"m + 1\" } }]",
                             2, 0.03);
    CHECK(run.end(2) == 1);
    CHECK(run.end(3) == 1);
    REQUIRE(run.jumps.size() == 1);
    CHECK(std::abs(run.jumps.front() - 1) < 1e-12);
  }

  TEST_CASE("a contact and a reset on one surface bounce as often as the reset alone") {
    const std::string reset = "when = [{ condition = \"x\", direction = -1, set = { v = \"-0.5*v\", n = \"n + 1\" } }]";
    const Run both = run_text("x = 1\nv = 0\nn = 0",
                              "equations = [\"der(x) = v\", \"der(v) = -9.81 + F\", \"der(n) = 0\"]\nlaws = [\"0 <= x perp F >= 0\"]\n" + reset,
                              1.2, 1e-3);
    const Run alone = run_text("x = 1\nv = 0\nn = 0", "equations = [\"der(x) = v\", \"der(v) = -9.81\", \"der(n) = 0\"]\n" + reset, 1.2, 1e-3);
    CHECK(both.end(2) == 3);
    CHECK(alone.end(2) == 3);
    CHECK(std::abs(both.end(0) - alone.end(0)) < 1e-9);
  }

  TEST_CASE("a reset at the very end of a run fires, whatever the steps there have rounded") {
    for (const double h : {0.01, 0.1, 1.0 / 3}) {
      const Run run = run_text("x = 0.3\nn = 0",
                               "equations = [\"der(x) = 0.1\", \"der(n) = 0\"]\n"
                               "when = [{ condition = \"x - 0.8\", direction = 1, set = { x = \"0\", n = \"n + 1\" } }]",
                               5, h);
      CHECK(run.end(1) == 1);
      CHECK(run.end(0) == 0);
    }
  }

  TEST_CASE("a hysteresis keeps its branch inside of its band where a tank beside it runs empty") {
    for (const double h : {0.03, 0.01, 0.001}) {
      const Run run = run_text("x = 0.7\nk = 1",
                               "equations = [\"der(x) = 0.25 - L + 0*k^2\", \"der(k) = -max(k, 0)^0.5\"]\n"
                               "laws = [\"L in hysteresis(2*x, -4, 0.5)\"]",
                               4, h);
      CHECK(std::abs(run.end(0) + 1.9) < 1e-9);  // down at 3/4 from 0.7 to −2 at 3.6, up at 1/4
    }
  }

  TEST_CASE("the fast motion of a stiff state is no jump, by steps that leave it out") {
    for (const double rate : {1e7, 1e9, 1e11, 1e13}) {
      const Run run = run_text("x = 0\ny = -0.503",
                               fmt::format("equations = [\"der(x) = -{0:g}*x + step(y)*{0:g}\", \"der(y) = 1\"]", rate), 2, 0.01);
      CHECK(run.jumps.empty());
      CHECK(std::abs(run.end(0) - 1) < 1e-9);
    }
  }

  TEST_CASE("a reset on an algebraic variable that is 0 at the start does not fire there, whatever its equation rounds") {
    for (const double h : {0.05, 0.052, 0.0606, 0.1071, 0.1102, 0.1195, 0.1815})
      for (const char* factor : {"2", "0.7", "1.3"}) {
        const Run run = run_text("x = -1\nn = 0\na = 0",
                                 fmt::format("equations = [\"der(x) = 2\", \"der(n) = 0\", \"a = {0}*x + {0}\"]\n"
                                             "when = [{{ condition = \"a\", direction = 1, set = {{ n = \"n + 1\" }} }},\n"
                                             "{{ condition = \"a - {0}\", direction = 1, set = {{ n = \"n + 2\" }} }}]",
                                             factor),
                                 1, h);
        CAPTURE(h);
        CAPTURE(factor);
        CHECK(run.end(1) == 2);
      }
  }
}
