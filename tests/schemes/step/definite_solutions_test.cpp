#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

using namespace perp;

namespace {

Trajectory run_text(const std::string& text, double h, double end) {
  const Model model = read_model_text(text, "definite");
  return integrate(model.system, model.x0(), {0, end}, BackwardEuler{.h = h});
}

Trajectory run_located(const std::string& text, double end) {
  const Model model = read_model_text(text, "definite");
  return integrate(model.system, model.x0(), {0, end}, Located{});
}

/// 0 = g(y), beside a state that moves.
std::string model_of(const std::string& equation, const std::string& guess) {
  return fmt::format("[variables]\nx = 0\ny = {}\n[model]\nequations = [\"der(x) = 1\", \"{}\"]\n[run]\nt = [0, 1]\n",
                     guess, equation);
}

/// Three steps of it.
Trajectory run_equation(const std::string& equation, const std::string& guess) {
  return run_text(model_of(equation, guess), 1e-3, 3e-3);
}

struct Case {
  std::string equation, guess;
};

}  // namespace

TEST_SUITE("schemes/definite_solutions") {
  TEST_CASE("an equation without a finite root is never solved, however far its rows round to 0") {
    for (const Case& one : std::vector<Case>{
             {"exp(y) = 0", "1"},
             {"exp(y) = 0", "-800"},
             {"exp(-y) = 0", "1"},
             {"exp(-y^2) = 0", "1"},
             {"tanh(y) = 1", "1"},
             {"tanh(y) = 1", "25"},
             {"tanh(y) = 1", "1e6"},
             {"atan(y) = pi/2", "3"},
             {"atan(y) = pi/2", "1e20"},
             {"1/y = 0", "1"},
             {"1/(1 + exp(-y)) = 1", "2"},
             {"y/(1 + y) = 1", "3"},
             {"exp(-1/y^2) = 0", "1"},
             {"sqrt(1 + y^2) = y", "1"},
             {"log(y) = -800", "1"},
             {"cosh(y) = sinh(y)", "1"},
             {"log(1 + y) = log(y)", "1"},
             {"log(1 + exp(y)) = 0", "-1"},
         }) {
      CAPTURE(one.equation);
      CAPTURE(one.guess);
      CHECK(run_equation(one.equation, one.guess).status != Status::solved);
      CHECK(run_located(model_of(one.equation, one.guess), 3e-3).status != Status::solved);
    }
  }

  TEST_CASE("a chain of delays beside a sine, whose last states are 1e-60 of the first, takes one iteration a step") {
    constexpr int stages = 20;
    std::string variables = "x = 1\n", equations = "\"der(x) = -x + sin(x)\"";
    for (int k = 1; k <= stages; ++k) {
      variables += fmt::format("c{} = 0\n", k);
      equations += fmt::format(", \"der(c{0}) = ({1} - c{0})/0.2\"", k, k == 1 ? "x" : fmt::format("c{}", k - 1));
    }
    const Trajectory run =
        run_text(fmt::format("[variables]\n{}[model]\nequations = [{}]\n[run]\nt = [0, 1]\n", variables, equations),
                 1e-4, 0.1);
    CHECK(run.status == Status::solved);
    CHECK(run.counts.at("newton_iterations") <= 1500);
    // The stages are linear: (1 + 5 h) c+ = c + 5 h x+, from the row of x.
    std::vector<double> stage(stages, 0);
    for (std::size_t step = 1; step < run.t.size(); ++step) {
      double input = run.x[step][0];
      for (int k = 0; k < stages; ++k) input = stage[k] = (stage[k] + 5e-4 * input) / (1 + 5e-4);
    }
    for (int k = 0; k < stages; ++k) CHECK(run.x.back()[1 + k] == doctest::Approx(stage[k]).epsilon(1e-11));
  }

  TEST_CASE("both ends of a source behind a bridge of four exponential diodes float in the middle of the charged capacitor") {
    for (const double amplitude : {5.0, 20.0, 40.0}) {
      const std::string text = fmt::format(
          "[parameters]\nV = {}\nIs = 1e-9\nvt = 0.044\n[variables]\nvc = 0\nva = 0\nvb = 0\ni = 0\n[model]\nequations = ["
          "\"1e-3*der(vc) = Is*(exp((va - vc)/vt) - 1) + Is*(exp((vb - vc)/vt) - 1) - vc/100\", "
          "\"va - vb = V*sin(314.159*t) - i\", \"i + Is*(exp(-va/vt) - 1) = Is*(exp((va - vc)/vt) - 1)\", "
          "\"-i + Is*(exp(-vb/vt) - 1) = Is*(exp((vb - vc)/vt) - 1)\"]\n[run]\nt = [0, 0.04]\n",
          amplitude);
      CAPTURE(amplitude);
      for (const Trajectory& run : {run_text(text, 1e-4, 0.04), run_located(text, 0.04)}) {
        REQUIRE(run.status == Status::solved);
        const Vector& end = run.x.back();  // no diode conducts there: exp(va - vc) + exp(vb - vc) = exp(-va) + exp(-vb)
        CHECK(end[0] > 0.6 * amplitude - 1);
        CHECK(end[1] + end[2] == doctest::Approx(end[0]).epsilon(1e-9));
      }
    }
  }

  TEST_CASE("rows of a floating source with leaks to ground, whose current rounds alike in both, balance the leaks") {
    const Trajectory run = run_text(
        "[variables]\nv = 0\np = 0\nn = 0\n[model]\nequations = ["
        "\"325*sin(314.159*t) - (p - n) + 1e-12*(exp(-p/0.025) - 1) = 1e-12*(exp((p - v)/0.025) - 1) + 1e-12*p\", "
        "\"-(325*sin(314.159*t) - (p - n)) + 1e-12*(exp(-n/0.025) - 1) = 1e-12*(exp((n - v)/0.025) - 1) + 1e-12*n\", "
        "\"1e-3*der(v) = 1e-12*(exp((p - v)/0.025) - 1) + 1e-12*(exp((n - v)/0.025) - 1) - v/100\"]\n"
        "[run]\nt = [0, 0.04]\n",
        1e-4, 0.01);
    CHECK(run.t.back() > 0.0098);
    for (std::size_t k = 80; k < run.t.size(); ++k) {  // no diode conducts there: exp(-p) + exp(-n) = p + n
      CAPTURE(run.t[k]);
      const double p = run.x[k][1], n = run.x[k][2];
      CHECK(std::exp(-p / 0.025) + std::exp(-n / 0.025) == doctest::Approx(p + n).epsilon(1e-6));
    }
  }

  TEST_CASE("two equations share a root at infinity: neither is solved") {
    const Trajectory run = run_text(
        "[variables]\ny = 3\na = 1\nv = 3\n[model]\nequations = [\"a = atan(y)\", \"a = pi/2\", "
        "\"v = y\"]\n[run]\nt = [0, 1]\n",
        1e-3, 3e-3);
    CHECK(run.status != Status::solved);
  }

  TEST_CASE("simple, double and triple roots, roots at 0 and beside cancellation are solved") {
    struct Root {
      std::string equation, guess;
      double root, tol;  ///< absolute, of equations in units of 1
    };
    for (const Root& one : std::vector<Root>{
             {"exp(y) = 2", "5", std::log(2.0), 1e-15},
             {"y + y^3 = 0.1 + 0.2 - 0.3", "1", 5.551115123125783e-17, 1e-30},
             {"y^2 - 2*y + 1 = 0", "0.3", 1, 1e-7},
             {"(y - 1)^3 = 0", "3", 1, 1e-9},
             {"y*log(y) = 0", "1.5", 1, 1e-15},
             {"sqrt(y) = 1e-100", "1e-190", 1e-200, 1e-213},
             {"y^3 = 1e-300", "1e-90", 1e-100, 1e-113},
             {"1e150*y^2 = 1e-150", "1e-140", 1e-150, 1e-163},
             {"y*exp(y) = exp(1)", "2", 1, 1e-14},
             {"sinh(y) = 1e100", "200", std::asinh(1e100), 1e-12},
             {"y^3 - y = 0", "0.1", 0, 1e-30},
             {"tanh(y) = 0.5", "0", std::atanh(0.5), 1e-15},
             {"y = 0*exp(700*y)", "0.1", 0, 0},
         }) {
      CAPTURE(one.equation);
      const Trajectory run = run_equation(one.equation, one.guess);
      CAPTURE(run.message);
      CHECK(run.status == Status::solved);
      CHECK(std::abs(run.x.back()[1] - one.root) <= one.tol);
    }
  }

  TEST_CASE("a root in units of 2^k is the one of units of 1, to the bit") {
    const double y = run_equation("exp(y) + y = 3", "1").x.back()[1];
    for (const int k : {-300, -30, 30, 300}) {
      const std::string unit = fmt::format("{:.17g}", std::ldexp(1.0, k));
      const Trajectory run = run_equation(fmt::format("exp(y/{0}) + y/{0} = 3", unit), unit);
      CHECK(run.status == Status::solved);
      CHECK(run.x.back()[1] == std::ldexp(y, k));
    }
  }

  TEST_CASE("a reset that sets what is no number ends the run, and so does a pole of its condition") {
    const auto run = [](const std::string& condition) {
      return run_text("[variables]\nx = 1\ny = 0\n[model]\nequations = [\"der(x) = -1\", \"der(y) = "
                      "0\"]\nwhen = [{ condition = \"" +
                          condition + "\", direction = -1, set = { y = \"1/x\" }, name = \"r\" }]\n[run]\nt = "
                          "[0, 2]\n",
                      0.1, 2);
    };
    const Trajectory at_zero = run("x");
    CHECK(at_zero.status == Status::not_solved);
    CHECK(at_zero.message.find("r fires where what it sets is no number") != std::string::npos);
    CHECK(at_zero.x.back()[1] == 0);
    CHECK(run("1/x").status == Status::not_solved);
    CHECK(run("x - 0.5").status == Status::solved);
  }

  TEST_CASE("a reset that starts on its surface starts behind it, and the run says so") {
    const auto run = [](double rate) {
      return run_text(fmt::format("[variables]\nx = 0\nn = 0\n[model]\nequations = [\"der(x) = {}\", "
                                  "\"der(n) = 0\"]\nwhen = [{{ condition = \"x\", direction = -1, set = "
                                  "{{ n = \"n + 1\" }}, name = \"r\" }}]\n[run]\nt = [0, 1]\n",
                                  rate),
                      0.1, 1);
    };
    const Trajectory falls = run(-1);
    CHECK(falls.x.back()[1] == 0);
    CHECK(falls.counts.at("resets_passed_at_start") == 1);
    CHECK(run(1).counts.count("resets_passed_at_start") == 0);
  }

  TEST_CASE("sat with bounds that change places ends the solution there, but where an if leaves it out") {
    const auto run = [](const std::string& right) {
      return run_text("[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"y = " + right +
                          "\"]\n[run]\nt = [0, 2]\n",
                      0.1, 2);
    };
    const Trajectory crossing = run("sat(x, 0, 1 - x)");
    CHECK(crossing.status == Status::no_solution);
    CHECK(crossing.t.back() == doctest::Approx(1).epsilon(1e-9));
    CHECK(crossing.message.find("0 <= 1 - x") != std::string::npos);
    CHECK(run("deadzone(2*x, 0, 1 - x)").status == Status::no_solution);
    CHECK(run("sat(x, 0, 3 - x)").status == Status::solved);
    CHECK(run("if(x < 0.75, sat(x, 0, 1 - x), 0)").status == Status::solved);
  }

  TEST_CASE("a bound of sat that is infinite bounds nothing, where the other one moves too") {
    const auto end = [](const std::string& right) {
      const Trajectory found = run_text("[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"y = " + right +
                                            "\"]\n[run]\nt = [0, 2]\n",
                                        0.1, 2);
      REQUIRE_MESSAGE(found.status == Status::solved, found.message);
      return found.x.back()[1];
    };
    CHECK(end("sat(x, -inf, 3 - x)") == doctest::Approx(1));
    CHECK(end("sat(x, 1.5*x, inf)") == doctest::Approx(3));
    CHECK(end("deadzone(x, -inf, 0.5*x)") == doctest::Approx(1));
  }
}
