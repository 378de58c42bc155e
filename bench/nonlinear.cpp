// Systems written as equations: residual and Jacobian from the tape beside the same formulas and
// derivatives written by hand, steps of nonlinear capturing, and runs made together.
#include <fmt/format.h>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <perp/bench/measure.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/lanes/ensemble.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>

namespace perp::bench {
namespace {

/// One predator, two prey, [IFDIFF]: three states, one law.
struct PredatorPrey {
  double r1 = 0.836, r2 = 0.3, b1 = 7.81, b2 = 0.896, q1 = 0.772, q2 = 1.5, m = 0.79, e = 0.948,
         aq = 0.66;
  static constexpr int n = 3, laws = 1;

  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    const auto& a = lambda[0];
    r[0] = xdot[0] - (r1 - a * b1 * x[2]) * x[0];
    r[1] = xdot[1] - (r2 - (1 - a) * b2 * x[2]) * x[1];
    r[2] = xdot[2] - (a * (e * q1 * b1) * x[0] + (1 - a) * (e * q2 * b2) * x[1] - m) * x[2];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = b1 * x[0] - aq * b2 * x[1];
  }
  /// The same with its derivatives, row after row: by hand. Called, as a model is, not inlined
  /// into the loop that times it.
  [[gnu::noinline]] void linearise(const double* z, double* rows, double* J) const {
    const double *xdot = z + 1, *x = z + 4, a = z[7], c1 = e * q1 * b1, c2 = e * q2 * b2;
    const double f1 = r1 - a * b1 * x[2], f2 = r2 - (1 - a) * b2 * x[2];
    const double f3 = a * c1 * x[0] + (1 - a) * c2 * x[1] - m;
    rows[0] = xdot[0] - f1 * x[0];
    rows[1] = xdot[1] - f2 * x[1];
    rows[2] = xdot[2] - f3 * x[2];
    rows[3] = b1 * x[0] - aq * b2 * x[1];
    *J++ = 1, *J++ = -f1, *J++ = a * b1 * x[0], *J++ = b1 * x[2] * x[0];
    *J++ = 1, *J++ = -f2, *J++ = (1 - a) * b2 * x[1], *J++ = -b2 * x[2] * x[1];
    *J++ = 1, *J++ = -a * c1 * x[2], *J++ = -(1 - a) * c2 * x[2], *J++ = -f3;
    *J++ = -(c1 * x[0] - c2 * x[1]) * x[2];
    *J++ = b1, *J++ = -aq * b2;
  }
  static int entries() { return 15; }
};

/// Fifty oscillators in a ring, coupled by springs that harden: 100 states.
struct Ring {
  static constexpr int count = 50, n = 2 * count, laws = 0;
  double k = 1.5, c = 0.2, hard = 0.7, damping = 0.05;

  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& left = x[2 * ((i + count - 1) % count)];
      const auto& right = x[2 * ((i + 1) % count)];
      const auto &q = x[2 * i], &v = x[2 * i + 1];
      r[2 * i] = xdot[2 * i] - v;
      r[2 * i + 1] = xdot[2 * i + 1] + damping * v + k * q + hard * (q * q * q) -
                     c * (left - 2 * q + right) + sin(q);
    }
  }
  [[gnu::noinline]] void linearise(const double* z, double* rows, double* J) const {
    const double *xdot = z + 1, *x = z + 1 + n;
    for (int i = 0; i < count; ++i) {
      const int left = 2 * ((i + count - 1) % count), right = 2 * ((i + 1) % count);
      const double q = x[2 * i], v = x[2 * i + 1];
      rows[2 * i] = xdot[2 * i] - v;
      rows[2 * i + 1] = xdot[2 * i + 1] + damping * v + k * q + hard * (q * q * q) -
                        c * (x[left] - 2 * q + x[right]) + std::sin(q);
      *J++ = 1, *J++ = -1;
      *J++ = 1, *J++ = -c, *J++ = k + 3 * hard * q * q + 2 * c + std::cos(q), *J++ = damping,
      *J++ = -c;
    }
  }
  static int entries() { return 7 * count; }
};

template <class System>
std::vector<double> point() {
  std::vector<double> z(static_cast<std::size_t>(1 + 2 * System::n + System::laws));
  for (std::size_t k = 0; k < z.size(); ++k)
    z[k] = 0.3 + 0.5 * std::sin(1.7 * static_cast<double>(k));
  return z;
}

/// Residual and Jacobian from the tape; ratio_to_floor: beside the code written by hand.
template <class System>
void tape_linearize(benchmark::State& state) {
  const System system;
  DcsEvaluator tape(make_dcs(system, System::n, {System::laws, step()}));
  std::vector<double> z = point<System>();
  std::vector<double> rows(System::n + System::laws), by_hand(rows);
  std::vector<double> J(tape.entries().size());
  std::vector<double> J_by_hand(static_cast<std::size_t>(system.entries()));
  tape.linearize(z.data(), rows.data(), J.data());
  system.linearise(z.data(), by_hand.data(), J_by_hand.data());
  double difference = 0, sum = 0, sum_by_hand = 0;
  for (std::size_t k = 0; k < rows.size(); ++k)
    difference = std::max(difference, std::abs(rows[k] - by_hand[k]));
  for (const double value : J) sum += value * value;  // the order of the entries may differ
  for (const double value : J_by_hand) sum_by_hand += value * value;
  if (J.size() != J_by_hand.size() || difference > 1e-13 ||
      std::abs(sum - sum_by_hand) > 1e-12 * sum)
    return state.SkipWithError("tape and hand-written code differ");
  constexpr long calls = 2000;
  const double hand = ns_per_unit(calls, [&] {
    for (long i = 0; i < calls; ++i) {
      z[1] = 1e-3 * static_cast<double>(i);
      system.linearise(z.data(), by_hand.data(), J_by_hand.data());
      benchmark::DoNotOptimize(J_by_hand.data());
      benchmark::ClobberMemory();
    }
  });
  const Meter meter;
  for (auto _ : state)
    for (long i = 0; i < calls; ++i) {
      z[1] = 1e-3 * static_cast<double>(i);
      tape.linearize(z.data(), rows.data(), J.data());
      benchmark::DoNotOptimize(J.data());
      benchmark::ClobberMemory();
    }
  meter.report(state, calls, hand);
}
BENCHMARK(tape_linearize<PredatorPrey>);
BENCHMARK(tape_linearize<Ring>);

/// Steps of nonlinear capturing, the run again and again.
void step_nonlinear(benchmark::State& state, const Dcs& system, const Vector& x0, double h,
                    long steps) {
  NonlinearCapturing scheme(system, BackwardEuler{.h = h});
  long i = steps, kept = 0, made = 0;
  Cost aside;
  const auto advance = [&](long count) {
    for (long step = 0; step < count; ++step) {
      if (i == steps) {
        const long allocated = allocations();
        const double start = cpu_ns();
        std::vector<Event> events;
        if (scheme.start(0, x0, h, events).status != Status::solved) return false;
        i = 0;
        aside.ns += cpu_ns() - start;
        aside.allocations += allocations() - allocated;
      }
      ++i;
      const Attempt attempt = scheme.attempt(h * static_cast<double>(i), h);
      if (attempt.status != Status::solved) return false;
      kept += attempt.kept_mode;
      ++made;
      scheme.accept();
    }
    return true;
  };
  if (!advance(steps)) return state.SkipWithError("a step was not solved");
  constexpr long batch = 1000;
  const Cost before = aside;
  const Meter meter;
  for (auto _ : state)
    if (!advance(batch)) return state.SkipWithError("a step was not solved");
  meter.report(state, batch, 0, aside - before);
  state.counters["mode_changes_per_step"] =
      1 - static_cast<double>(kept) / static_cast<double>(made);
}

Dcs stick_slip() { return make_dcs(nonlinear_systems::StickSlip{}, 2, {sign()}); }
Dcs soft_drink() { return make_dcs(nonlinear_systems::SoftDrink{}, 9, {step()}); }
// clang-format off
BENCHMARK_CAPTURE(step_nonlinear, stick_slip, stick_slip(), Vector{{1, 0}}, 1e-3, 20'000);
BENCHMARK_CAPTURE(step_nonlinear, soft_drink, soft_drink(), nonlinear_systems::SoftDrink::start(), 2e-2, 10'000);
BENCHMARK_CAPTURE(step_nonlinear, predator_prey, make_dcs(PredatorPrey{}, 3, {step()}), Vector{{0.286975, 0.286975, 0.536}}, 1e-2, 10'000);
BENCHMARK_CAPTURE(step_nonlinear, ring, make_dcs(Ring{}, 100), Vector(Vector::LinSpaced(100, -1, 1)), 1e-2, 1'000);
// clang-format on

// Runs of one model made together: beside the same runs one by one, and beside their steps written by hand.

constexpr int runs_together = 32;

/// A block on a belt: the velocity of a step by Newton's method, in the branch that its sign says.
struct StickSlipByHand {
  static constexpr const char* model = "stick_slip";
  static constexpr const char* parameter = "Fs";
  static constexpr double least = 0.32, most = 0.38;

  [[gnu::noinline]] static double last(double Fs, double h, long steps) {
    double x = 1, v = 0;
    for (long k = 0; k < steps; ++k) {
      double now = v;
      for (int iteration = 0; iteration < 3; ++iteration) {
        const double slip = now - 1, divisor = slip > 0 ? 1 + 3 * slip : 1 - 3 * slip, f = (slip > 0 ? -Fs : Fs) / divisor;
        const double slope = (slip > 0 ? -3 : 3) * f / divisor;
        const double residual = now - v - h * (-(x + h * now) + f), change = residual / (1 + h * h - h * slope);
        now -= change;
        if (std::abs(change) <= 1e-15 * std::abs(now)) break;
      }
      if ((v < 1 && now > 1 && -x + Fs > 0) || (v == 1 && std::abs(x) < Fs)) now = 1;  // it sticks
      v = now;
      x += h * v;
    }
    return x;
  }
};

/// One predator, two prey: Newton's method in the mode before the step.
struct PredatorPreyByHand {
  static constexpr const char* model = "predator_prey";
  static constexpr const char* parameter = "r1";
  static constexpr double least = 0.8, most = 0.87;

  [[gnu::noinline]] static double last(double r1, double h, long steps) {
    constexpr double r2 = 0.3, b1 = 7.81, b2 = 0.896, q1 = 0.772, q2 = 1.5, m = 0.79, e = 0.948, aq = 0.66;
    std::array<double, 3> x{0.286975, 0.286975, 0.536};
    for (long k = 0; k < steps; ++k) {
      const double a = b1 * x[0] - aq * b2 * x[1] > 0 ? 1 : 0, c1 = a * e * q1 * b1, c2 = (1 - a) * e * q2 * b2;
      std::array<double, 3> y = x;
      for (int iteration = 0; iteration < 3; ++iteration) {
        const double f0 = r1 - a * b1 * y[2], f1 = r2 - (1 - a) * b2 * y[2], f2 = c1 * y[0] + c2 * y[1] - m;
        const double F0 = y[0] - x[0] - h * f0 * y[0], F1 = y[1] - x[1] - h * f1 * y[1], F2 = y[2] - x[2] - h * f2 * y[2];
        const double J00 = 1 - h * f0, J02 = h * a * b1 * y[0], J11 = 1 - h * f1, J12 = h * (1 - a) * b2 * y[1];
        const double J20 = -h * c1 * y[2], J21 = -h * c2 * y[2], J22 = 1 - h * f2;
        const double d2 = (F2 - J20 * F0 / J00 - J21 * F1 / J11) / (J22 - J20 * J02 / J00 - J21 * J12 / J11);
        const double d0 = (F0 - J02 * d2) / J00, d1 = (F1 - J12 * d2) / J11;
        y[0] -= d0, y[1] -= d1, y[2] -= d2;
        if (std::abs(d0) + std::abs(d1) + std::abs(d2) <= 1e-15) break;
      }
      x = y;
    }
    return x[0];
  }
};

template <class Hand>
std::vector<Model> models() {
  std::vector<Model> list;
  for (int k = 0; k < runs_together; ++k) {
    const double value = Hand::least + (Hand::most - Hand::least) * k / runs_together;
    list.push_back(read_model(fmt::format("{}/{}.toml", PERP_MODELS, Hand::model), {{Hand::parameter, fmt::format("{}", value)}}));
  }
  return list;
}

template <class Hand>
void batch_equations(benchmark::State& state) {
  const std::vector<Model> list = models<Hand>();
  IntegrateOptions options;
  options.keep = false;
  const BackwardEuler scheme{.h = list.front().run.h};
  std::vector<EnsembleRun> runs;
  for (const Model& model : list) runs.push_back({model.system.functions(), model.x0(), model.run.span, scheme, &options});
  const std::vector<Trajectory> together = integrate(runs);
  long steps = 0;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Trajectory alone = integrate(list[k].system, list[k].x0(), list[k].run.span, scheme, options);
    if (alone.x.back() != together[k].x.back() || alone.counts != together[k].counts)
      return state.SkipWithError("a run is another one beside others");
    steps += alone.counts.at("steps");
  }
  const double start = cpu_ns();
  for (const Model& model : list) integrate(model.system, model.x0(), model.run.span, scheme, options);
  state.counters["alone_ns"] = (cpu_ns() - start) / static_cast<double>(steps);
  const long of_one = steps / runs_together;
  const double hand = ns_per_unit(of_one, [&] { benchmark::DoNotOptimize(Hand::last(0.35, scheme.h, of_one)); });
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(integrate(runs).data());
  meter.report(state, steps, hand);
  gate(state, "ratio_to_floor", 1);
}
BENCHMARK(batch_equations<StickSlipByHand>)->Name("batch_equations/stick_slip");
BENCHMARK(batch_equations<PredatorPreyByHand>)->Name("batch_equations/predator_prey");

}  // namespace
}  // namespace perp::bench
