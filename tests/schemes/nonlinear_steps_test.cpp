#include <doctest/doctest.h>
#include <fmt/format.h>
#include <boost/multiprecision/cpp_int.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/newton/mode_newton.hpp>
#include <perp/schemes/step/step_solutions.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;

namespace {

constexpr Selector every_selector[] = {Selector::keep_mode, Selector::minimal_norm,
                                       Selector::first};

Model model_of(const std::string& name) {
  return read_model(perp::test::data_path("/hard_models/") + name + ".toml");
}

Trajectory run_of(const Model& model, Selector selector = Selector::keep_mode) {
  return integrate(model.system.functions(), model.x0(), model.run.span,
                   BackwardEuler{.h = model.run.h, .selector = selector});
}

Trajectory run_text(const std::string& text, double h, Span span,
                    Selector selector = Selector::keep_mode) {
  const Model model = read_model_text(text, "text");
  return integrate(model.system.functions(), model.x0(), span,
                   BackwardEuler{.h = h, .selector = selector});
}

/// Five relays on five surfaces, each field with a cubic term and a product of λ and x.
struct FiveRelays {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    for (std::size_t i = 0; i < 5; ++i)
      r[i] = xdot[i] - (0.3 - lambda[i] * (2 + 0.1 * x[i]) + 0.1 * x[i] * x[i] * x[i]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    for (std::size_t i = 0; i < 5; ++i) w[i] = x[i];
  }
};

/// ẋ = −x³ y, 0 = y² + y − 2 − x², and ż = cos t.
struct SmoothIndexOne {
  void residual(const auto& t, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + x[0] * x[0] * x[0] * x[1];
    r[1] = x[1] * x[1] + x[1] - 2 - x[0] * x[0];
    r[2] = xdot[2] - cos(t);
  }
};

/// ẋ = −x² with a law that watches x − c and does nothing.
struct WatchedDecay {
  double c;
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + x[0] * x[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0] - c; }
};

/// van der Pol's oscillator with the units of x, v and t as parameters.
std::string oscillator(double X, double V, double T) {
  return fmt::format(
      "[variables]\nx = {}\nv = {}\n[model]\nequations = [\n"
      "\"{}*der(x) = {}*v\", \"{}*der(v) = 0.75*(1 - {}*x*({}*x))*({}*v) - {}*x\"]\n"
      "[run]\nt = [0, 1]\n",
      2 * X, 0.25 * V, T / X, 1 / V, T / V, 1 / X, 1 / X, 1 / V, 1 / X);
}

}  // namespace

TEST_SUITE("schemes/nonlinear_steps") {
  TEST_CASE("Shockley's diode on 5 V charges to 2.63 V by steps of 0.1") {
    for (const Selector selector : every_selector) {
      const Trajectory run = run_of(model_of("exponential_diode"), selector);
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(2.634634405).epsilon(1e-9));
    }
  }

  TEST_CASE("two fields that agree on the threshold are crossed, no multiplier leaves its range") {
    for (const Selector selector : every_selector) {
      const Trajectory run = run_of(model_of("equal_fields"), selector);
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(0.3079).epsilon(5e-3));
      REQUIRE(run.events.size() == 1);
      CHECK(run.events[0].kind == EventKind::crossing);
      for (const Vector& lambda : run.lambda) {
        CHECK(lambda[0] >= 0);
        CHECK(lambda[0] <= 1);
      }
    }
  }

  TEST_CASE("a step without solution ends a run that blows up, all states before it kept") {
    for (const Selector selector : every_selector) {
      const Trajectory run = run_of(model_of("blow_up"), selector);
      CHECK(run.status == Status::not_solved);
      CHECK(run.t.back() > 0.9);
      CHECK(run.t.back() < 1);
      CHECK(run.size() > 90);
      CHECK(run.message.find("no step from here was solved") != std::string::npos);
      CHECK(run.message.find("Newton's method did not converge") != std::string::npos);
      CHECK(run.x.back()[0] > 10);  // it follows x = -log(1 - t) up to where its own end is
      CHECK(run.counts.at("newton_iterations") < 60'000);
    }
  }

  TEST_CASE("an algebraic variable does not jump to another branch unseen at a fold") {
    for (const Selector selector : every_selector) {
      const Trajectory run = run_of(model_of("fold"), selector);
      CHECK(run.status == Status::not_solved);
      CHECK(run.t.back() == doctest::Approx(3).epsilon(1e-3));
      CHECK(run.x.back()[1] > 0.99);
    }
  }

  TEST_CASE("no solution passes a pole") {
    for (const double unit : {1.0, 0x1p30, 1e-9})
      for (const Selector selector : every_selector) {
        const std::string text = fmt::format(
            "[variables]\nx = -1.005\ny = {}\n[model]\n"
            "equations = [\"der(x) = 1\", \"y*x = {}\"]\n[run]\nt = [0, 1]\n",
            -unit, unit);
        const Trajectory run = run_text(text, 0.01, {0, 2}, selector);
        CHECK(run.status == Status::not_solved);
        CAPTURE(unit);
        CAPTURE(to_string(selector));
        CHECK(run.t.back() == doctest::Approx(1.005).epsilon(1e-3));
        CHECK(run.x.back()[0] < 0);
      }
  }

  TEST_CASE("nor does an explicit formula, however long the steps are") {
    for (const double h : {0.01, 0.3, 1.0}) {
      CAPTURE(h);
      const Trajectory run = run_text(
          "[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"y = tan(x)\"]\n"
          "[run]\nt = [0, 4]\n",
          h, {0, 4});
      CHECK(run.status == Status::not_solved);
      CHECK(run.t.back() == doctest::Approx(std::acos(0.0)).epsilon(1e-6));
    }
    // A zero is none.
    const Trajectory run = run_text(
        "[variables]\nx = 0\ny = 1\n[model]\nequations = [\"der(x) = 1\", \"y = cos(x)\"]\n"
        "[run]\nt = [0, 4]\n",
        0.3, {0, 9});
    CHECK(run.status == Status::solved);
    CHECK(run.x.back()[1] == doctest::Approx(std::cos(9)));
  }

  TEST_CASE("a step with two roots stays on the branch of short steps") {
    for (const Selector selector : every_selector) {
      const Trajectory run = run_of(model_of("two_roots"), selector);
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(1));
      for (const Vector& x : run.x) CHECK(x[0] > 0);
    }
    for (const double guess : {0.3, -0.3}) {
      const Trajectory run =
          run_text(fmt::format("[variables]\nx = 0\ny = {}\n[model]\nequations = [\"der(x) = y\", "
                               "\"y^2 = 1\"]\n[run]\nt = [0, 1]\n",
                               guess),
                   0.1, {0, 1});
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(std::copysign(1, guess)));
    }
  }

  TEST_CASE("super-twisting crosses s = 0 ever faster and slides from 1.3335 on") {
    // By Runge-Kutta steps of 1e-5 that stop at each crossing: 1.02895, 1.24807, 1.32602, ...
    for (const double h : {0.03, 0.01, 0.003}) {
      CAPTURE(h);
      Model model = model_of("super_twisting");
      model.run.h = h;
      const Trajectory run = run_of(model);
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() >= 2);
      CHECK(run.events.front().kind == EventKind::crossing);
      CHECK(std::abs(run.events.front().t - 1.02895) < h);
      CHECK(run.events.back().kind == EventKind::sliding_entry);
      CHECK(std::abs(run.events.back().t - 1.3335) < 4 * h);
      CHECK(run.x.back()[0] == 0);
      CHECK(run.lambda.back()[0] == doctest::Approx(std::cos(10.0) / 1.1).epsilon(0.02));
    }
  }

  TEST_CASE("every solution of a step passes the gate, its multipliers are in their ranges") {
    const Model model = model_of("equal_fields");
    const StepSolutions found = solutions(model.system.functions(), Vector{{0.4}}, 0, 0.01);
    REQUIRE(!found.list.empty());
    for (const StepSolution& solution : found.list) {
      CHECK(solution.residual <= gate);
      CHECK(solution.lambda[0] >= 0);
      CHECK(solution.lambda[0] <= 1);
    }
  }

  TEST_CASE("a change of mode of five laws costs less than 200 iterations") {
    const Dcs system = make_dcs(FiveRelays{}, 5, std::vector<Law>(5, sign()));
    const Vector x0{{0.1, -0.23, 0.31, -0.42, 0.53}};
    const Trajectory run = integrate(system, x0, {0, 1}, BackwardEuler{.h = 1e-3});
    REQUIRE(run.status == Status::solved);
    const long changes = run.counts.at("mode_changes"), steps = run.counts.at("steps");
    CHECK(changes == 5);
    // Steps in a mode take two or three.
    CHECK(run.counts.at("newton_iterations") < 4 * steps + 200 * changes);
    CHECK(run.x.back().norm() < 1e-12);
  }

  TEST_CASE(
      "the theta method has order 2 for theta = 1/2 and 1 for theta = 1, algebraic rows too") {
    const Dcs system = make_dcs(SmoothIndexOne{}, 3);
    const Vector x0{{1, 1.3, 0}};
    const auto end = [&](double theta, double h) {
      const Trajectory run = integrate(system, x0, {0, 1}, Theta{.h = h, .theta = theta});
      REQUIRE(run.status == Status::solved);
      CHECK(run.provenance.at("scheme") ==
            (theta == 1 ? std::string("backward_euler") : fmt::format("theta = {}", theta)));
      return run.x.back();
    };
    for (const double theta : {0.5, 1.0}) {
      CAPTURE(theta);
      const Vector coarse = end(theta, 0.02), middle = end(theta, 0.01), fine = end(theta, 0.005);
      for (int j = 0; j < 3; ++j)
        CHECK(std::log2(std::abs((coarse - middle)[j] / (middle - fine)[j])) ==
              doctest::Approx(theta == 1 ? 1 : 2).epsilon(0.1));
    }
  }

  TEST_CASE("powers of two as units of variables and of time change no bit") {
    const Trajectory one = run_text(oscillator(1, 1, 1), 0.03125, {0, 4});
    REQUIRE(one.status == Status::solved);
    for (const auto& [X, V, T] :
         {std::array{0x1p30, 1.0, 1.0}, std::array{1.0, 0x1p-30, 1.0}, std::array{1.0, 1.0, 0x1p30},
          std::array{0x1p-30, 0x1p30, 1.0}, std::array{0x1p20, 0x1p-25, 0x1p-30}}) {
      const auto& shown_X = X;
      CAPTURE(shown_X);
      const auto& shown_V = V;
      CAPTURE(shown_V);
      const auto& shown_T = T;
      CAPTURE(shown_T);
      const Trajectory other = run_text(oscillator(X, V, T), 0.03125 * T, {0, 4 * T});
      REQUIRE(other.size() == one.size());
      int different = 0;
      for (std::size_t k = 0; k < one.size(); ++k) {
        different += other.x[k][0] != X * one.x[k][0];
        different += other.x[k][1] != V * one.x[k][1];
      }
      CHECK(different == 0);
    }
  }

  TEST_CASE("signs that doubles leave open are those of the exact step, theta below 1 too") {
    using Exact = boost::multiprecision::cpp_rational;
    const Law law = complementarity();
    int above = 0;  // the branch w ≥ 0
    while (law.branches[static_cast<std::size_t>(above)].a != 0) ++above;
    for (const double theta : {0.5, 0.75, 1.0}) {
      CAPTURE(theta);
      int inside = 0, outside = 0;
      for (int k = 0; k < 400; ++k) {
        // x⁺ + h θ x⁺² = x − h (1 − θ) x² with x⁺ = c but for the rounding of x
        const double c = 0.5 + k / 401.0, h = 0.125;
        double x = c;
        for (int i = 0; i < 50; ++i) x = c + h * theta * c * c + h * (1 - theta) * x * x;
        const auto left = [&](const Exact& end) { return Exact(end + Exact(h * theta) * end * end); };
        const Exact right = Exact(x) - Exact(h * (1 - theta)) * Exact(x) * Exact(x);
        const int sign = right.compare(left(Exact(c)));  // of x⁺ − c
        if (sign == 0) continue;
        const Dcs system = make_dcs(WatchedDecay{c}, 1, {law});
        ImplicitStep step(system);
        step.set_theta(theta);
        step.set_step(Vector{{x}}, h, h);
        step.set_mode({above});
        ModeNewton newton(step);
        Vector d = Vector::Zero(1), lambda = Vector::Zero(1), w = Vector::Zero(1);
        REQUIRE(newton.run(d, lambda) == NewtonEnd::converged);
        const Admission found = newton.admit(d, lambda, w);
        if (newton.refined_signs() == 0) continue;  // as it is rounded it lies on the branch
        CHECK(found == (sign > 0 ? Admission::inside : Admission::outside));
        ++(sign > 0 ? inside : outside);
      }
      CHECK(inside + outside > 0);
      MESSAGE(theta << ": " << inside << " inside and " << outside << " outside by 113 bits");
    }
  }
}

TEST_CASE("a step that is taken of several is counted where a search of some modes has found them") {
  const auto run_with = [](const std::string& laws, const std::string& force) {
    return run_of(read_model_text(fmt::format(R"(
name = "relays of one surface"
[variables]
x = 0.5
y = -0.5
z = 0
[model]
laws = [{}]
equations = ["der(x) = -x + {}", "der(y) = 1 - 2*s + 0.1*z", "0 = y - z - z*z*z"]
[run]
t = [0, 1]
h = 0.01
)",
                                              laws, force),
                                  "m.toml"));
  };
  // y comes to 0 and slides there by s = 1/2; a relay r beside it is open in [-1, 1] then, and moves x.
  const std::string s = "'s in relay(y, -1, 1)'";
  const Trajectory open = run_with("'r in relay(2*y, -1, 1)', " + s, "r"), alone = run_with(s, "s");
  for (const Trajectory* run : {&open, &alone}) {
    CHECK(run->status == Status::solved);
    CHECK(run->x.back()[1] == 0);
  }
  CHECK(open.counts.contains("several_solutions"));
  CHECK_FALSE(alone.counts.contains("several_solutions"));
}
