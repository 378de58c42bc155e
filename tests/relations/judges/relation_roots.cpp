// Equations whose roots are known, from guesses that may be far away: what is called solved is at a
// root, or the run says that it is not solved.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

/// An equation for y with a slow state x beside it, and the roots of y at x.
struct RootProblem {
  std::string text;
  std::function<std::vector<double>(double x)> roots;
};

double uniform(std::mt19937& random, double lower, double upper) {
  return std::uniform_real_distribution<double>(lower, upper)(random);
}

/// ±10^-k .. ±10^k.
double any_size(std::mt19937& random, double k) {
  const double size = std::pow(10.0, uniform(random, -k, k));
  return random() % 2 == 0 ? size : -size;
}

/// `nominal`: the size of y below which its relative error does not count.
std::string model_of(double x, double y, double nominal, const std::string& xdot,
                     const std::string& equation) {
  return fmt::format(
      "[variables]\nx = {}\ny = {{ start = {}, nominal = {} }}\n[model]\n"
      "equations = [\"der(x) = {}\", \"{}\"]\n[run]\nt = [0, 1]\nh = 0.05\n",
      x, y, nominal, xdot, equation);
}

/// (y - r1 s)(y - r2 s)(y - r3 s) = 0 in factors or multiplied out, s = 1 + x.
RootProblem polynomial(std::mt19937& random) {
  const double unit = std::pow(10.0, uniform(random, -6, 6));
  const double a = unit * uniform(random, -3, 3), b = unit * uniform(random, -3, 3);
  const bool is_quadratic = random() % 2 == 0;
  std::string equation =
      is_quadratic ? fmt::format("y^2 - ({})*(1 + x)*y + ({})*(1 + x)^2 = 0", a + b, a * b)
                   : fmt::format("(y - ({})*(1 + x))*(y^2 + {}) = 0", a, unit * unit);
  return {model_of(0, any_size(random, 8) * unit, unit, "0.3", equation), [=](double x) {
            return is_quadratic ? std::vector{a * (1 + x), b * (1 + x)}
                                : std::vector{a * (1 + x)};
          }};
}

/// exp(y/a) = c (1 + x).
RootProblem exponential(std::mt19937& random) {
  const double a = any_size(random, 3), c = std::pow(10.0, uniform(random, -6, 6));
  const double guess = a * uniform(random, -800, 800);
  return {model_of(0, guess, std::abs(a), "0.3", fmt::format("exp(y/({})) - {}*(1 + x) = 0", a, c)),
          [=](double x) { return std::vector{a * std::log(c * (1 + x))}; }};
}

/// No root: y² + c = 0, exp(y) + c = 0.
RootProblem rootless(std::mt19937& random) {
  const double c = std::pow(10.0, uniform(random, -12, 3));
  const std::string equation = random() % 2 == 0 ? fmt::format("y^2 + {} = 0", c)
                                                 : fmt::format("exp(y) + {} = 0", c);
  return {model_of(0, any_size(random, 3), 1, "0.3", equation),
          [](double) { return std::vector<double>{}; }};
}

/// The root of the increasing function f between two ends of its sign, to the last digits.
double bisected(const std::function<double(double)>& f, double lower, double upper) {
  for (int k = 0; k < 200; ++k) {
    const double middle = lower + (upper - lower) / 2;
    (f(middle) < 0 ? lower : upper) = middle;
  }
  return lower;
}

/// A diode on a source through a resistor into a capacitor, v = x, vd = y:
///     C v̇ = (V - vd - v)/R = I_s (exp(vd/V_t) - 1)
RootProblem diode(std::mt19937& random) {
  const double V = std::pow(10.0, uniform(random, 0, 3)), R = std::pow(10.0, uniform(random, -3, 6));
  const double Is = std::pow(10.0, uniform(random, -15, -6)), Vt = 0.025;
  const double C = std::pow(10.0, uniform(random, -1, 1)) / R;
  const double guess = V * uniform(random, -1, 2);
  const std::string equation =
      fmt::format("0 = {} - y - x - {}*(exp(y/{}) - 1)", V, R * Is, Vt);
  return {model_of(0, guess, Vt, fmt::format("({} - y - x)/{}", V, R * C), equation),
          [=](double x) {
            const auto f = [&](double y) { return y + x - V + R * Is * std::expm1(y / Vt); };
            // f < 0 where y and the current are below those without a drop, and f(V - x) ≥ 0.
            const double most = V - x;
            return std::vector{most >= 0 ? bisected(f, 0, most) : bisected(f, most, 0)};
          }};
}

/// Empty, or the first row that is called solved and is at no root.
std::string row_at_no_root(const Outcome& outcome, const RootProblem& problem) {
  for (std::size_t k = 0; k < outcome.run.size(); ++k) {
    const double x = outcome.run.x[k][0], y = outcome.run.x[k][1];
    const std::vector<double> roots = problem.roots(x);
    // A root of nearly equal ones is known to the square root of the precision.
    const double size = roots.empty() ? 0 : std::abs(*std::max_element(
        roots.begin(), roots.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const bool is_root = std::any_of(roots.begin(), roots.end(), [&](double root) {
      return std::abs(y - root) <= 1e-7 * size;
    });
    if (!is_root)
      return fmt::format("row at t = {:.6g}: y = {:.17g}, nearest of {} roots {:.17g}",
                         outcome.run.t[k], y, roots.size(), roots.empty() ? nan : roots[0]);
  }
  return {};
}

}  // namespace

Judgement judge_roots(Subject& /*subject*/, SchemeName scheme, std::mt19937& random) {
  RootProblem problem;
  switch (random() % 5) {
    case 0: problem = polynomial(random); break;
    case 1: problem = exponential(random); break;
    case 2: problem = rootless(random); break;
    default: problem = diode(random);
  }
  Judgement judgement;
  judgement.other = problem.text;
  const Outcome outcome = run(problem.text, scheme);
  if (!outcome.refusal.empty() || outcome.is_slow) return judgement;
  judgement.verdict = Verdict::same;
  judgement.what = row_at_no_root(outcome, problem);
  // A run that ends honestly may show the guess it was given as its only row.
  if (outcome.run.status != Status::solved && outcome.run.size() <= 1) judgement.what.clear();
  if (!judgement.what.empty()) judgement.verdict = Verdict::different;
  return judgement;
}

}  // namespace perp::relations
