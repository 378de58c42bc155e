#include <algorithm>
#include <cmath>
#include <string>

#include <perp/bench/switching.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp::bench {
namespace {

constexpr double pi = 3.14159265358979323846;

Model small_model(const std::string& variables, const std::string& equations) {
  return read_model_text("[variables]\n" + variables + "\n[model]\nequations = [" + equations +
                             "]\n[run]\nt = [0, 1]\n",
                         "bench.toml");
}

/// The fields of the two sides of H = β₁ x₁ - a_q β₂ x₂, and the sliding field between them.
struct PredatorPrey {
  double r1 = 0.836, r2 = 0.3, beta1 = 7.81, beta2 = 0.896, q1 = 0.772, q2 = 1.5, m = 0.79,
         e = 0.948, aq = 0.66;
  enum Mode { above, sliding, below };

  [[nodiscard]] double H(const double* x) const { return beta1 * x[0] - aq * beta2 * x[1]; }
  [[nodiscard]] double rate_above(const double* x) const {
    return beta1 * (r1 - beta1 * x[2]) * x[0] - aq * beta2 * r2 * x[1];
  }
  [[nodiscard]] double rate_below(const double* x) const {
    return beta1 * r1 * x[0] - aq * beta2 * (r2 - beta2 * x[2]) * x[1];
  }
  /// Weight of the field below, from Ḣ = 0.
  [[nodiscard]] double weight(const double* x) const {
    return rate_above(x) / (rate_above(x) - rate_below(x));
  }
  void rate(int mode, const double* x, double* xdot) const {
    const double a = mode == above ? 0 : (mode == below ? 1 : weight(x));
    xdot[0] = (r1 - (1 - a) * beta1 * x[2]) * x[0];
    xdot[1] = (r2 - a * beta2 * x[2]) * x[1];
    xdot[2] = ((1 - a) * e * q1 * beta1 * x[0] + a * e * q2 * beta2 * x[1] - m) * x[2];
  }
  void roots(int mode, const double* x, double* g) const {
    g[0] = mode == sliding ? weight(x) : (mode == above ? H(x) : -H(x));
    g[1] = mode == sliding ? 1 - weight(x) : 1;
  }
  [[nodiscard]] int next(int mode, int k, const double* x) const {
    if (mode == sliding) return k == 0 ? above : below;
    if (rate_above(x) < 0 && rate_below(x) > 0) return sliding;
    return mode == above ? below : above;
  }
};

}  // namespace

Switching predator_prey() {
  Switching problem;
  problem.model = read_model(std::string(PERP_MODELS) + "/predator_prey.toml");
  problem.end = 100;
  const PredatorPrey hand;
  problem.by_hand = {
      .n = 3,
      .x0 = {0.286975, 0.286975, hand.r1 - hand.r2},
      .mode0 = PredatorPrey::above,
      .rate = [=](int mode, double, const double* x, double* xdot) { hand.rate(mode, x, xdot); },
      .roots = [=](int mode, double, const double* x, double* g) { hand.roots(mode, x, g); },
      .next = [=](int mode, int k, double, const double* x) { return hand.next(mode, k, x); }};
  problem.x_end = {0.085869480385373, 0.846683257262577, 0.031713882063541};
  problem.event_times = {0.692620096135561,  5.967577150443152,  9.907470167626099,
                         17.151207530376276, 26.290947471892999, 54.675174091149486,
                         61.284040549929396, 69.290031285843315, 75.340227740773116,
                         82.803231846061387, 89.742586702174363, 98.334822036942464};
  return problem;
}

Switching relay_crossing() {
  Switching problem;
  problem.model = small_model("x = 0.5\nv = 0", R"eq("der(x) = v", "der(v) = -sign(x)")eq");
  problem.end = 2000;
  problem.by_hand = {.n = 2,
                     .x0 = {0.5, 0},
                     .mode0 = 1,
                     .rate =
                         [](int mode, double, const double* x, double* xdot) {
                           xdot[0] = x[1];
                           xdot[1] = -mode;
                         },
                     .roots =
                         [](int mode, double, const double* x, double* g) {
                           g[0] = mode * x[0];
                           g[1] = 1;
                         },
                     .next = [](int mode, int, double, const double*) { return -mode; }};
  problem.x_end = {0.5, 0};
  for (int k = 0; k < 1000; ++k) problem.event_times.push_back(2 * k + 1);
  return problem;
}

Switching relay_sliding() {
  Switching problem;
  problem.model = small_model("x = 0", R"eq("der(x) = 1.5*sin(t) - sign(x)")eq");
  problem.end = 2000;
  problem.by_hand = {
      .n = 1,
      .x0 = {0},
      .mode0 = 0,
      .rate = [](int mode, double t, const double*,
                 double* xdot) { xdot[0] = mode == 0 ? 0 : 1.5 * std::sin(t) - mode; },
      .roots =
          [](int mode, double t, const double* x, double* g) {
            g[0] = mode == 0 ? 1 - 1.5 * std::sin(t) : mode * x[0];
            g[1] = mode == 0 ? 1 + 1.5 * std::sin(t) : 1;
          },
      .next =
          [](int mode, int k, double t, const double*) {
            if (mode == 0) return k == 0 ? 1 : -1;
            const double drive = 1.5 * std::sin(t);
            if (drive > 1) return 1;
            return drive < -1 ? -1 : 0;
          },
      .max_step = 0.2};
  // Left at asin(2/3) + k π; back at 0 where the integral of 1.5 sin t - 1 from there vanishes.
  const double leave = std::asin(2.0 / 3.0);
  double back = 3.3;
  for (int i = 0; i < 50; ++i)
    back -=
        (1.5 * (std::cos(leave) - std::cos(back)) - (back - leave)) / (1.5 * std::sin(back) - 1);
  for (int k = 0; k < 600; ++k) {
    problem.event_times.push_back(leave + k * pi);
    problem.event_times.push_back(back + k * pi);
  }
  return problem;
}

Trajectory run_located(const Switching& problem, const Located& scheme) {
  return integrate(*problem.model.equations, problem.model.x0(), {0, problem.end}, scheme,
                   {.keep = false});
}

double end_error(const std::vector<double>& x, const Switching& problem) {
  double largest = 0, size = 0;
  for (std::size_t j = 0; j < problem.x_end.size(); ++j) {
    largest = std::max(largest, std::abs(x[j] - problem.x_end[j]));
    size = std::max(size, std::abs(problem.x_end[j]));
  }
  return size > 0 ? largest / size : 0;
}

double event_error(const std::vector<double>& times, const Switching& problem) {
  if (times.size() < problem.event_times.size()) return nan;
  double largest = 0;
  for (std::size_t k = 0; k < problem.event_times.size(); ++k)
    largest = std::max(largest, std::abs(times[k] - problem.event_times[k]));
  return largest;
}

std::vector<double> event_times(const Trajectory& run) {
  std::vector<double> times;
  for (const Event& event : run.events) times.push_back(event.t);
  return times;
}

}  // namespace perp::bench
