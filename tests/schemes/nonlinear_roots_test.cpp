#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

using namespace perp;

namespace {

/// Number of random cases: PERP_NONLINEAR_CASES in the environment, else a slice.
int cases(int slice) {
  const char* asked = std::getenv("PERP_NONLINEAR_CASES");
  return asked == nullptr ? slice : std::atoi(asked);
}

struct Outcome {
  int right = 0, honest = 0;
};

Trajectory run_text(const std::string& text, double h, double end) {
  const Model model = read_model_text(text, "random");
  return integrate(model.system.functions(), model.x0(), {0, end}, BackwardEuler{.h = h});
}

/// 0 = g(y) from a guess: solved only at a root, up to the square root of rounding at double ones.
void check_root(const std::string& equation, double guess, const std::vector<double>& roots,
                double tol, Outcome& outcome) {
  const std::string text = fmt::format(
      "[variables]\nx = 0\ny = {}\n[model]\nequations = [\"der(x) = y\", \"0 = {}\"]\n[run]\nt = "
      "[0, 1]\n",
      guess, equation);
  CAPTURE(text);
  const Trajectory run = run_text(text, 1e-3, 3e-3);
  if (run.status != Status::solved) {
    CHECK(run.status == Status::not_solved);
    ++outcome.honest;
    return;
  }
  const double y = run.x.back()[1];
  double nearest = inf;
  for (const double root : roots)
    nearest = std::min(nearest, std::abs(y - root) / std::max(std::abs(root), tol));
  CAPTURE(y);
  CHECK(nearest <= tol);
  ++outcome.right;
}

/// The root in [0, 3] of an increasing function.
template <class Function>
double root_by_bisection(const Function& f) {
  double low = 0, high = 3;
  for (int k = 0; k < 200; ++k) {
    const double middle = (low + high) / 2;
    (f(middle) < 0 ? low : high) = middle;
  }
  return low;
}

/// Shockley's diode from a source V through R into C, from rest; the steps of backward Euler by
/// bisection of the voltage of the diode, on which every term is monotone.
struct DiodeCircuit {
  double V = 5, R = 1, C = 1, Is = 1e-12, vt = 0.025;

  [[nodiscard]] std::string text() const {
    return fmt::format(
        "[variables]\nv = 0\nvd = 0\n[model]\nequations = [\"{}*der(v) = {}*(exp(vd/{}) - 1)\", "
        "\"{} - vd - v = {}*({}*(exp(vd/{}) - 1))\"]\n[run]\nt = [0, 1]\n",
        C, Is, vt, V, R, Is, vt);
  }
  /// v after a step of length h from v.
  [[nodiscard]] long double step(long double v, long double h) const {
    const auto current = [this](long double vd) { return Is * std::expm1(vd / vt); };
    long double low = -V, high = V;
    for (int k = 0; k < 300; ++k) {
      const long double vd = (low + high) / 2;
      const long double i = current(vd);
      (V - vd - (v + h / C * i) > R * i ? low : high) = vd;
    }
    return v + h / C * current((low + high) / 2);
  }
};

}  // namespace

TEST_SUITE("schemes/nonlinear_roots") {
  TEST_CASE("a law of rates with several roots is started at one of them and followed") {
    // ẋ³ − ẋ = c(t): ẋ from −1.32 at c = −1, along its branch up to c = 0.38, where it ends.
    for (const double start : {0.0, 3.0}) {
      const std::string text = fmt::format(
          "[variables]\nx = 0\n[model]\nequations = [\"der(x)^3 - der(x) = 0.3*t - 1\"]\n[run]\n"
          "t = [{}, {}]\n",
          start, start + 1);
      const Model model = read_model_text(text, "cubic");
      const double h = 0.01;
      const Trajectory run = integrate(model.system.functions(), model.x0(), {start, start + 1},
                                       BackwardEuler{.h = h});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      double before = 0;
      for (std::size_t k = 1; k < run.size(); ++k) {
        const double rate = (run.x[k][0] - run.x[k - 1][0]) / (run.t[k] - run.t[k - 1]);
        CHECK(std::abs(rate * rate * rate - rate - (0.3 * run.t[k] - 1)) <= 1e-10);
        if (k > 1) CHECK(std::abs(rate - before) <= 0.02);  // one branch
        before = rate;
      }
    }
  }

  TEST_CASE("a motion that ends on the edge of a square root comes to rest there") {
    // ẋ = −√x: x = (1 − t/2)², then 0. Where steps of high order end, they say so at t = 2.
    const Model model = read_model_text(
        "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -sqrt(x)\"]\n[run]\nt = [0, 3]\n", "root");
    const Dcs& system = model.system.functions();
    for (const double h : {0.1, 0.03, 0.001}) {
      const Trajectory run = integrate(system, model.x0(), {0, 3}, BackwardEuler{.h = h});
      CAPTURE(h);
      CHECK_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.x.back()[0] >= 0);
      CHECK(run.x.back()[0] <= 1e-100);
      for (std::size_t k = 0; k < run.size(); ++k)
        CHECK(std::abs(run.x[k][0] - std::pow(std::max(0.0, 1 - run.t[k] / 2), 2)) <= h);
    }
    const Trajectory located = integrate(system, model.x0(), {0, 3}, Located{.tol = 1e-10});
    CHECK(located.x.back()[0] >= 0);
    CHECK(located.x.back()[0] <= 1e-20);
    CHECK(std::abs(located.t.back() - 2) <= 1e-9);
    CHECK(located.status == Status::not_solved);
    CHECK(located.message.find("the domain of the equations ends") != std::string::npos);
  }

  TEST_CASE("a tank that runs empty takes no search: its level falls with the square of a step's length, and the branch is followed") {
    // k̇ = −√max(k, 0) empties at t = 2; what stands beside it is not held up.
    const Model model = read_model_text(
        "[variables]\nk = 1\ny = 1\n[model]\nequations = [\"der(k) = -max(k, 0)^0.5\", \"der(y) = -y^2 + exp(-y)\"]\n"
        "[run]\nt = [0, 4]\n",
        "tank");
    for (const double h : {0.1, 0.03125, 0.01, 0.003}) {
      const Trajectory run = integrate(model.system.functions(), model.x0(), {0, 4}, BackwardEuler{.h = h});
      CAPTURE(h);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      for (std::size_t k = 0; k < run.size(); ++k)
        CHECK(std::abs(run.x[k][0] - std::pow(std::max(0.0, 1 - run.t[k] / 2), 2)) <= h);
      CHECK(run.x.back()[0] <= 1e-100);
      CHECK(run.counts.at("newton_iterations") <= 24 * run.counts.at("steps"));  // the last levels are told to their own rounding
    }
  }

  TEST_CASE("equations without a root are not solved, where they overflow before they are told from 0, nor where sines have no digits") {
    for (const char* start : {"1e-9", "0.3", "-1", "10", "700"})
      for (const char* text : {"cosh(y) - sinh(y)", "sin(y + 1e150) - 2"}) {
        const Model model = read_model_text(fmt::format("[variables]\ny = {}\n[model]\nequations = [\"{} = 0\"]\n[run]\nt = [0, 1]\n",
                                                        start, text),
                                            "rootless");
        CAPTURE(text);
        CAPTURE(start);
        CHECK(integrate(model.system.functions(), model.x0(), {0, 1}, BackwardEuler{.h = 0.5}).status != Status::solved);
        CHECK(integrate(model.system.functions(), model.x0(), {0, 1}, Located{.tol = 1e-8}).status != Status::solved);
      }
  }

  TEST_CASE("starts beyond the squares of doubles: the step is made, and no end is claimed") {
    // ẋ = −e^x from 700: x = −log(t + e^−700), reached by steps that are 10^304 times too long.
    const Model model = read_model_text(
        "[variables]\nx = 700\n[model]\nequations = [\"der(x) = -exp(x)\"]\n[run]\nt = [0, 3]\n", "fast");
    const Trajectory run = integrate(model.system.functions(), model.x0(), {0, 3},
                                     BackwardEuler{.h = 0.001});
    CHECK_MESSAGE(run.status == Status::solved, run.message);
    CHECK(std::abs(run.x.back()[0] + std::log(3)) <= 0.01);
    const Model linear = read_model_text(
        "[variables]\nx = 1e304\n[model]\nequations = [\"der(x) = -x\"]\n[run]\nt = [0, 3]\n", "large");
    const Trajectory located =
        integrate(*linear.equations, linear.x0(), {0, 3}, Located{.tol = 1e-8});
    CHECK(located.status != Status::no_solution);
  }

  TEST_CASE("a scalar equation with known roots is solved at a root or not at all") {
    std::mt19937 random(21);
    const auto number = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    Outcome outcome;
    for (int k = 0; k < cases(250); ++k) {
      const double unit = std::pow(10, number(-9, 9)), c = std::pow(10, number(-6, 6));
      const double r = number(-3, 3), s = number(-3, 3);
      switch (k % 7) {
        case 0:
          check_root(fmt::format("exp(y/{}) - {}", unit, c), number(-700, 700) * unit,
                     {unit * std::log(c)}, 1e-9, outcome);
          break;
        case 1:
          check_root(fmt::format("(y - {})*(y - {})", r * unit, s * unit), number(-1e6, 1e6) * unit,
                     {r * unit, s * unit}, 1e-6, outcome);
          break;
        case 2:
          check_root(fmt::format("y^3 - {}", c), number(-1e3, 1e3) * std::cbrt(c), {std::cbrt(c)},
                     1e-9, outcome);
          break;
        case 3: check_root(fmt::format("y^2 + {}", c), number(-10, 10), {}, 0, outcome); break;
        case 4:
          check_root(fmt::format("atan(y/{}) - {}", unit, r / 3), number(-100, 100) * unit,
                     {unit * std::tan(r / 3)}, 1e-9, outcome);
          break;
        case 5:
          check_root(
              fmt::format("y + {}*(exp(y) - 1) - {}", c, std::abs(r)), number(-700, 700),
              {root_by_bisection([&](double y) { return y + c * std::expm1(y) - std::abs(r); })},
              1e-7, outcome);
          break;
        default:
          check_root(fmt::format("log(y/{}) - {}", unit, r), unit * std::exp(r + number(-0.9, 8)),
                     {unit * std::exp(r)}, 1e-9, outcome);
      }
    }
    MESSAGE("roots found ", outcome.right, ", not solved ", outcome.honest);
    CHECK(outcome.right > outcome.honest);
  }

  TEST_CASE("from afar the root of exp(y) = 2 is found, whatever the unit of y") {
    for (const double unit : {1.0, 0x1p30, 0x1p-30, 1e9, 1e-9})
      for (const double guess : {unit < 1 ? 680.0 : 705.0, unit > 1 ? -680.0 : -700.0, 40.0, 0.0}) {
        Outcome outcome;
        check_root(fmt::format("exp(y/{}) - 2", unit), guess * unit, {unit * std::log(2)}, 1e-14,
                   outcome);
        CHECK(outcome.right == 1);
      }
  }

  TEST_CASE("steps of random diode circuits from rest are those of backward Euler") {
    std::mt19937 random(22);
    const auto power = [&](double low, double high) {
      return std::pow(10, std::uniform_real_distribution<double>(low, high)(random));
    };
    Outcome outcome;
    for (int k = 0; k < cases(150); ++k) {
      const DiodeCircuit circuit{.V = power(0, 3),
                                 .R = power(-3, 6),
                                 .C = power(-12, 0),
                                 .Is = power(-15, -6),
                                 .vt = power(-1.7, -1)};
      const double h = power(-9, 0);
      CAPTURE(circuit.text());
      CAPTURE(h);
      const Trajectory run = run_text(circuit.text(), h, 4 * h);
      if (run.status != Status::solved) {
        CHECK(run.status == Status::not_solved);
        ++outcome.honest;
        continue;
      }
      ++outcome.right;
      long double v = 0;
      for (std::size_t i = 1; i < run.size(); ++i) {
        const double length = run.t[i] - run.t[i - 1];
        if (!run.counts.contains("refined")) {
          v = circuit.step(v, length);
          CHECK(std::abs(run.x[i][0] - static_cast<double>(v)) <=
                1e-9 * std::abs(static_cast<double>(v)));
          continue;
        }
        // The current falls on the way and backward Euler takes that at the end of a step: the more
        // steps, the larger v. One passed in shorter ones ends between the whole step and the
        // exact motion, here by 16 steps for each doubling of the time.
        const auto before = static_cast<long double>(run.x[i - 1][0]);
        const auto whole = static_cast<double>(circuit.step(before, length));
        long double exact = before, from = 0;
        for (int j = -16 * 60; j <= 0; ++j) {
          const long double to = length * std::exp2(static_cast<long double>(j) / 16);
          exact = circuit.step(exact, static_cast<double>(to - from));
          from = to;
        }
        const double slack = 0.05 * circuit.vt;
        CHECK(run.x[i][0] >= whole - 1e-9 * std::abs(whole));
        CHECK(run.x[i][0] <= static_cast<double>(exact) + slack);
      }
    }
    MESSAGE("circuits solved ", outcome.right, ", not solved ", outcome.honest);
    CHECK(outcome.right > 9 * outcome.honest);
  }

  // z goes from -0.0016 through 0 and comes back to 5e-5 within the step.
  TEST_CASE("an algebraic variable that passes 0 and turns back within a step has no pole") {
    const Model model = read_model_text(R"toml(
[variables]
x1 = 0.445
x2 = -1.288
z = 1
[model]
equations = [
  "der(x1) = -0.954*x1 + 1.387*x2 - 1.088*sin(4.716*t + 0.3) + 0.953*abs(1.376*x1 - 1.186) - 0.2*x1*x1*x1",
  "der(x2) = -0.461*x2 + 1.341 + 1.454*abs(1.376*x1 - 1.186) - 0.409*sign(-1.527*x2 + 0.9*x1 - 0.729) + 0.7*z",
  "0 = -0.9*z - 0.711*x1",
]
[run]
t = [0, 4]
)toml",
                                        "turns_back.toml");
    const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = 0.02771875});
    REQUIRE(run.status == Status::solved);
    CHECK(run.counts.count("refined") == 0);
  }

  TEST_CASE("a guess that is a root where its equation divides by an argument of a law is the start, in both schemes") {
    struct Guess {
      const char* equation;
      double root;
    };
    const Guess guesses[] = {{"y^2 = 1/(abs(t-1)+0.25)", std::sqrt(0.8)},
                             {"y^2 = 1/max(1 - t, t - 1)", 1},
                             {"y^2*(abs(t-1)+1e-9) = 1", 1 / std::sqrt(1 + 1e-9)},
                             {"y^2*max(0.01, abs(t-1)) = 1", 1}};
    for (const auto& [equation, root] : guesses)
      for (const double side : {1.0, -1.0}) {
        CAPTURE(equation);
        CAPTURE(side);
        const std::string text = fmt::format(
            "[variables]\nx = 0\ny = {:.17g}\n[model]\nequations = [\"der(x) = y\", \"{}\"]\n[run]\nt = [0, 1]\n", side * root, equation);
        const Model model = read_model_text(text, "guess.toml");
        const Trajectory steps = integrate(model.system, model.x0(), {0, 0.1}, BackwardEuler{.h = 0.05});
        const Trajectory located = integrate(model.system, model.x0(), {0, 0.1}, Located{});
        for (const Trajectory* run : {&steps, &located}) {
          REQUIRE(run->status == Status::solved);
          CHECK(std::abs(run->x.front()[1] - side * root) <= 1e-12);
          CHECK(run->x.back()[1] * side > 0);
        }
      }
  }

  TEST_CASE("a start keeps its root where a multiplier cancels a large argument, whatever the slope of the law and the unit of y") {
    for (const double slope : {1e4, 1e6, 1e8, 1e10})
      for (const double unit : {1.0, 0x1p-30, 1e9}) {
        CAPTURE(slope);
        CAPTURE(unit);
        const auto start = [&](const char* equation, double root) {
          const Model model = read_model_text(
              fmt::format("[variables]\ny = {:.17g}\nw = 0\n[model]\nequations = [\"der(w) = y/{:.17g} - 3\", \"{}\"]\n"
                          "[parameters]\nS = {:.17g}\nk = {:.17g}\n[run]\nt = [0, 1]\n",
                          unit * root, unit, equation, unit, slope),
              "start.toml");
          const Trajectory run = integrate(model.system, model.x0(), {0, 0.4}, BackwardEuler{.h = 0.2});
          REQUIRE(run.status == Status::solved);
          CHECK(std::abs(run.x.front()[0] - unit * root) <= 1e-6 * unit);
          CHECK(std::abs(run.x.back()[0] - unit * root) <= 1e-6 * unit);
        };
        start("(y/S)*(y/S + 0.5) = 1/(0.1 - min(0, k*(1.05 - t)))", (-0.5 - std::sqrt(40.25)) / 2);
        start("sin(y/S) = 0.95*(2/(1.5 - min(0, k*(1.05 - t))) - 1)", std::asin(0.95 / 3));
      }
  }
}
