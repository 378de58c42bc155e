// A nonlinear model as a struct: the canonical example of [IFDIFF]. Its right-hand side switches on at x₁ = p₁
// and off at x₁ = p₁ + 0.5, which a long step may pass at once: the log names both switches all the same.
#include <cstdio>
#include <perp/perp.hpp>

struct Canonical {
  double p1 = 5.437;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (0.01 * t * t + x[1] * x[1] * x[1]);
    r[1] = xdot[1] - 5 * (lambda[0] - lambda[1]);  // 0, 5, 0 before, between and after the switches
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[0] - p1;
    w[1] = x[0] - (p1 + 0.5);
  }
};

int main() {
  using namespace perp;
  const Dcs system = make_dcs(Canonical{}, 2, {step(), step()});  // λ_i ∈ step(w_i)

  std::printf("%6s  %-8s %-9s %8s %8s  %8s %8s\n", "h", "first", "second", "t1", "t2", "x1(20)", "x2(20)");
  for (const double h : {0.1, 0.01, 0.001, 0.0001}) {
    const Trajectory run = integrate(system, Vector{{1, 0}}, {0, 20}, BackwardEuler{.h = h});
    std::printf("%6g  %-8s %-9s %8.4f %8.4f  %8.4f %8.4f\n", h, to_string(run.events.at(0).kind),
                to_string(run.events.at(1).kind), run.events[0].t, run.events[1].t, run.x.back()[0],
                run.x.back()[1]);
  }
}
