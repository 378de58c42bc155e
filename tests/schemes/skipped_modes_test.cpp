#include <doctest/doctest.h>
#include <cmath>

#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/run_by_name.hpp>

using namespace perp;

namespace {

/// [IFDIFF], canonical example: ẋ₂ = 5 between p1 and p1 + 1/2, else 0.
struct Canonical {
  double p1 = 5.437;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda,
                auto& r) const {
    r[0] = xdot[0] - (0.01 * t * t + x[1] * x[1] * x[1]);
    r[1] = xdot[1] - 5 * lambda[1] * (1 - lambda[0]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = p1 - x[0];
    w[1] = p1 + 0.5 - x[0];
  }
};

/// ẋ₂ = 1, ẋ₁ = 1/width while x₂ is between 1/2 and 1/2 + width.
struct Pulse {
  double width;
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - lambda[0] * lambda[1] / width;
    r[1] = xdot[1] - 1;
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[1] - 0.5;
    w[1] = 0.5 + width - x[1];
  }
};

/// ẋ₂ = 1, ẋ₁ = 1/width while |x₂| < width/2: a law within a law, which changes in between.
struct PulseOfSize {
  double width;
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - lambda[1] / width;
    r[1] = xdot[1] - 1;
  }
  void output(const auto&, const auto& x, const auto& lambda, auto& w) const {
    w[0] = x[1];
    w[1] = width / 2 - lambda[0];
  }
};

/// ẋ = 1, ẏ = 1 between x = a and x = b: affine, y(end) = b - a.
Lcs gate(double a, double b) {
  return {.A = Matrix::Zero(2, 2),
          .B = Matrix{{0, 0}, {1, -1}},
          .b = Vector{{1, 0}},
          .C = Matrix{{1, 0}, {1, 0}},
          .q = Vector{{-a, -b}},
          .laws = {step(), step()}};
}

}  // namespace

TEST_SUITE("schemes/skipped_modes") {
  TEST_CASE("the canonical example passes both thresholds one after the other, whatever the step") {
    const Dcs system = make_dcs(Canonical{}, 2, {step(), step()});
    for (const double h : {4.0, 2.0, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3}) {
      const Trajectory run = integrate(system, Vector{{1, 0}}, {0, 20}, BackwardEuler{.h = h});
      CAPTURE(h);
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == 2);
      for (int k : {0, 1}) {
        const Event& event = run.events[static_cast<std::size_t>(k)];
        CHECK(event.kind == EventKind::crossing);
        CHECK(event.law == k);
      }
      CHECK(run.events[0].t <= run.events[1].t);
      // 1.3488...: the time between the thresholds is known to a step or two
      CHECK(std::abs(run.x.back()[1] - 1.348824242280012) <= 5 * std::min(2 * h, 0.2) + 0.05);
    }
  }

  TEST_CASE("a gate much shorter than the step is not missed") {
    for (const double h : {1.0, 0.4, 0.1}) {
      const Trajectory run =
          integrate(gate(1.03, 1.07), Vector{{0, 0}}, {0, 3}, BackwardEuler{.h = h});
      CAPTURE(h);
      REQUIRE(run.status == Status::solved);
      CHECK(run.x.back()[0] == doctest::Approx(3));
      CHECK(run.x.back()[1] == doctest::Approx(0.04).epsilon(1e-6));
      CHECK(run.events.size() == 2);
    }
  }

  TEST_CASE("a gate shorter than a thousandth of the step, which moves what nothing else moves, is not missed") {
    for (const double h : {1.0, 0.1, 0.01, 1e-3})
      for (const double width : {1e-4, 1e-6, 1e-8}) {
        const Trajectory run = integrate(gate(1.03, 1.03 + width), Vector{{0, 0}}, {0, 3}, BackwardEuler{.h = h});
        CAPTURE(h);
        CAPTURE(width);
        REQUIRE(run.status == Status::solved);
        // y(end) = width, as exactly as 1.03 + width and the state are known
        CHECK(std::abs(run.x.back()[1] - width) < 1e-13);
        CHECK(run.events.size() == 2);
      }
  }

  TEST_CASE("an impulse of unit area is integrated whatever its width, by equations with products of laws too") {
    for (const double width : {1e-3, 1e-5, 1e-7, 1e-9}) {
      const Dcs system = make_dcs(Pulse{width}, 2, {step(), step()});
      for (const double h : {0.1, 0.01, 0.007}) {
        const Trajectory run = integrate(system, Vector{{0, 0}}, {0, 1}, BackwardEuler{.h = h});
        CAPTURE(width);
        CAPTURE(h);
        REQUIRE(run.status == Status::solved);
        // The ends of the pulse are known to an ulp of x₂.
        CHECK(std::abs(run.x.back()[0] - 1) < 1e-14 / width + 1e-11);
        CHECK(run.events.size() == 2);
      }
    }
  }

  TEST_CASE("a pulse whose end is led by a law that changes within it has its whole area") {
    for (const double width : {0.1, 1e-3, 1e-5, 1e-7}) {
      const Dcs system = make_dcs(PulseOfSize{width}, 2, {absolute(), step()});
      for (const double h : {0.1, 0.02, 0.013}) {
        const Trajectory run = integrate(system, Vector{{0, -1}}, {0, 2}, BackwardEuler{.h = h});
        CAPTURE(width);
        CAPTURE(h);
        REQUIRE(run.status == Status::solved);
        CHECK(std::abs(run.x.back()[0] - 1) < 1e-13 / width + 1e-10);
        CHECK(run.events.size() == 3);
      }
    }
  }

  TEST_CASE("every threshold within one long step is passed at its own time") {
    // ẋ = 1, ẏ = the number of thresholds passed, weighted by 1, 2, 3, ...
    const Vector thresholds{{0.13, 0.21, 0.34, 0.5, 0.62, 0.87}};
    const Eigen::Index m = thresholds.size();
    Lcs lcs{.A = Matrix::Zero(2, 2),
            .B = Matrix::Zero(2, m),
            .b = Vector{{1, 0}},
            .C = Matrix::Zero(m, 2),
            .q = Vector(-thresholds),
            .laws = std::vector<Law>(static_cast<std::size_t>(m), step())};
    double expected = 0;
    for (Eigen::Index i = 0; i < m; ++i) {
      lcs.B(1, i) = static_cast<double>(i + 1);
      lcs.C(i, 0) = 1;
      expected += static_cast<double>(i + 1) * (1 - thresholds[i]);
    }
    for (const double h : {1.0, 0.3, 0.07}) {
      CAPTURE(h);
      const Trajectory run = integrate(lcs, Vector{{0, 0}}, {0, 1}, BackwardEuler{.h = h});
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == static_cast<std::size_t>(m));
      for (Eigen::Index i = 0; i < m; ++i) {
        const Event& event = run.events[static_cast<std::size_t>(i)];
        CHECK(event.law == i);
        CHECK(event.kind == EventKind::crossing);
        CHECK(event.t == doctest::Approx(thresholds[i]).epsilon(2e-3));
      }
      CHECK(run.x.back()[1] == doctest::Approx(expected).epsilon(2e-3));
      CHECK(run.counts.count("refined") == 0);  // and not by bisection
    }
  }

  // The step to the switch of a law of time stops some roundings before it: behind these the contact is still away.
  TEST_CASE("a contact that a law of time leads to is reached after the switch, in whatever units of time") {
    const Model model = read_model_text(R"toml(
[variables]
x1 = { start = 0.007120771555523902, nominal = 0.07120771555523901 }
x2 = { start = 2.548219362425123, nominal = 2.548219362425123 }
[model]
laws = ["0 <= s1 perp -5.602179469866616*x2 + 26.53099106815119 >= 0"]
equations = [
  "0.17834068790579086*der(x1) = -4.210529744416942*x1 + 0.5996444087546295*sin(106.10097389220242*t + 0.3)",
  "0.01078233358301946*der(x2) = -0.254565218956156*x2 - 0.583819217949661 - 0.006653174189032088*s1 + 0.583819217949661*sign(0.029859551242484815*x2) + 0.04269622132650108*abs(482.8311722548042*x1 - 9.041740523004894*x2 - 17.92026309946828) - 0.8179955931494692*sign(sin(110.25624122754458*t + 0.837))",
]
[run]
t = [0, 0.084711757774549]
)toml",
                                        "units.toml");
    const Trajectory run = test::run_by_name(model, "backward_euler", 0.0007385806380968492);
    REQUIRE(run.status == Status::solved);
    REQUIRE(run.events.size() == 6);
    CHECK(run.events[4].kind == EventKind::crossing);
    CHECK(run.events[5].law == 0);
    CHECK(run.events[5].t - run.events[4].t == doctest::Approx(4.3e-5).epsilon(0.01));
  }
}
