#include <doctest/doctest.h>
#include <cmath>
#include <numbers>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/events/time_switches.hpp>

using namespace perp;

namespace {

/// ẋ = -x + b(t) in the matrix form, where b stays a function of time.
Model driven(const std::string& b) {
  return read_model_text(
      "[variables]\nx = 1\n[system]\nA = [[-1]]\nb = [\"" + b + "\"]\n[run]\nt = [0, 10]\n",
      "driven.toml");
}

std::vector<double> switches(const std::string& b, double start, double end) {
  TimeSwitches search(as_dcs(driven(b).lcs()));
  std::vector<double> times;
  for (double t = start;;) {
    const auto found = search.next(t, end);
    if (!found) return times;
    CHECK(found->before < found->after);
    CHECK(found->after - found->before <= 1e-15 * std::max(1.0, found->after));
    times.push_back(found->after);
    t = found->after;
  }
}

/// x(t) of ẋ = -x + sign(sin(π t)) from x(0) = 1: b is 1, -1, 1, ... on intervals of length 1.
double square_wave(double t) {
  double x = 1, b = 1;
  for (; t > 1; t -= 1, b = -b) x = b + (x - b) * std::exp(-1.0);
  return b + (x - b) * std::exp(-t);
}

}  // namespace

TEST_SUITE("schemes/located/time_switches") {
  TEST_CASE("the moments at which functions of time are not smooth are found to rounding") {
    const auto check = [](const std::string& b, const std::vector<double>& wanted) {
      CAPTURE(b);
      const std::vector<double> found = switches(b, 0.1, 10);
      REQUIRE(found.size() == wanted.size());
      for (std::size_t k = 0; k < wanted.size(); ++k)
        CHECK(std::abs(found[k] - wanted[k]) <= 4e-15 * std::max(1.0, wanted[k]));
    };
    check("sin(t)", {});
    check("sign(2 + sin(t))", {});
    check("sign(sin(pi*t))", {1, 2, 3, 4, 5, 6, 7, 8, 9});
    check("abs(t - 3.25)*max(t, 7)", {3.25, 7});
    check("min(exp(t), 100) + sign(t^3 - 8)", {2, std::log(100.0)});
    check("sign(sign(t - 1) + sign(t - 4))", {1, 4});
    check("abs((t - 5)^2)", {});  // touches
    const std::vector<double> pulses = switches("sign(cos(2*pi*t/1e-3) - cos(pi*0.3))", 5, 5.01);
    REQUIRE(pulses.size() == 20);
    for (std::size_t k = 0; k < 20; ++k) {
      const double edge = static_cast<double>(k / 2) + (k % 2 == 0 ? 0.15 : 0.85);
      CHECK(std::abs(pulses[k] - (5 + 1e-3 * edge)) < 1e-14);
    }
  }

  TEST_CASE("steps end where the right-hand side jumps: full order through every edge") {
    const Model model = driven("sign(sin(pi*t))");
    IntegrateOptions options;
    options.times = {0.5, 3, 3.5, 7.25};
    options.only_times = true;
    const Trajectory run =
        integrate(as_dcs(model.lcs()), model.x0(), {0, 10}, Located{.tol = 1e-12}, options);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK(run.t == std::vector<double>{0, 0.5, 3, 3.5, 7.25, 10});
    for (std::size_t k = 0; k < run.size(); ++k)
      CHECK(std::abs(run.x[k][0] - square_wave(run.t[k])) < 1e-11);
    CHECK(run.counts.at("rejected") < 50);
    CHECK(run.counts.at("steps") < 120);
    CHECK(run.events.empty());
  }

  TEST_CASE("a law of the multiplier of a law of time is one of time: pulses have their whole width in steps of any length") {
    // 1e8 wherever |w| < e, or the saturated w is: by hand from the zeros of both sides
    const auto end_of = [](const std::string& rate, const auto& run) {
      const Model model = read_model_text("[variables]\nx = 0\n[model]\nequations = [\"der(x) = " + rate +
                                              "\"]\n[run]\nt = [0, 4]\n", "pulse.toml");
      const Trajectory made = run(model);
      REQUIRE_MESSAGE(made.status == Status::solved, made.message);
      return made.x.back()[0];
    };
    const auto check = [&](const std::string& rate, double wanted, double error) {
      CAPTURE(rate);
      for (const double h : {1.0, 0.7, 0.5, 0.25, 0.1}) {
        CAPTURE(h);
        CHECK(std::abs(end_of(rate, [&](const Model& model) {
                return integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = h});
              }) - wanted) <= error);
      }
      CHECK(std::abs(end_of(rate, [](const Model& model) {
              return integrate(*model.equations, model.x0(), model.run.span, Located{.tol = 1e-12});
            }) - wanted) <= error);
    };
    const double rounding = 1e8 * 4 * 4.5e-16;  // of the times of both sides, times the rate
    check("if(abs(t^3 - 8) < 1e-8, 1e8, 0)", 1e8 * (std::cbrt(8 + 1e-8) - std::cbrt(8 - 1e-8)), 2 * rounding);
    check("if(abs(abs(t - 2) - 1) < 2e-9, 1e8, 0)", 1e8 * 8e-9, 2 * rounding);
    // a kink of what it depends on just before the pulse
    check("if(abs(deadzone(abs(2*(t - 0.23)), 0, 0.75) - 0.015) < 0.005, 1000, 0)", 5, 1e-10);
    check("if(abs(sat(sat(t - 1.5, -1, 0.5), -0.5, 0) + 0.5 - 2e-6) < 1e-6, 1, 0)", 2e-6, 1e-13);
    check("if(abs(sat(t - 1.5, 0, 1) - 2e-8) < 1e-8, 1, 0)", 2e-8, 1e-13);
    check("if(sign(t - 1.5)*abs(t - 1.5) > 0, 1, 0)", 2.5, 1e-13);
    check("if(max(t - 2, 0) - max(t - 2 - 2^-28, 0) + sign(t - 3) > 2^-30 - 1, if(t < 2.5, 1e8, 0), 0)",
          1e8 * (0.5 - 0x1p-30), 1e8 * 1e-14);
  }

  TEST_CASE("sensitivities go through an edge that does not depend on them") {
    const Model model = driven("sign(sin(pi*t))");
    Located scheme{.tol = 1e-12};
    scheme.sensitivities.starts = {0};
    const Trajectory run = integrate(as_dcs(model.lcs()), model.x0(), {0, 5}, scheme);
    REQUIRE(run.status == Status::solved);
    CHECK(std::abs(run.dx_dq.back()(0, 0) - std::exp(-5.0)) < 1e-11);
  }

  TEST_CASE("a law that an edge pushes off its branch leaves it at the edge") {
    const Model model = read_model(find_model("buck_converter"));
    const auto end = [&](double tol) {
      const Trajectory run = integrate(as_dcs(model.lcs()), model.x0(), model.run.span,
                                       Located{.tol = tol}, {.keep = false});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.message.find("backward_euler") == std::string::npos);
      int conducts = 0;
      for (const Event& event : run.events) {
        CHECK(event.kind == EventKind::mode_change);
        if (event.to != 0) continue;
        // The supply is on for the middle 30 % of each period of 1e-5, seen from its whole
        // multiples.
        const double period = std::round(event.t / 1e-5);
        CHECK(std::abs(event.t - (period - 0.15) * 1e-5) < 1e-17);
        ++conducts;
      }
      CHECK(conducts == 98);
      return run.x.back();
    };
    const Vector fine = end(1e-12);
    CHECK((end(1e-8) - fine).norm() < 1e-6 * fine.norm());
    for (const double h : {1e-8, 5e-9}) {  // first order
      const Trajectory captured = integrate(model.lcs(), model.x0(), model.run.span,
                                            BackwardEuler{.h = h}, {.keep = false});
      CHECK((captured.x.back() - fine).norm() < 4e4 * h * fine.norm());
    }
  }
}
