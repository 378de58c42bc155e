#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;

namespace {

/// Exponents of the powers of two by which the numbers of a system grow.
struct Units {
  std::vector<int> variable, equation, w, lambda;
  int time = 0;

  Units(int n, int m)
      : variable(static_cast<std::size_t>(n), 0),
        equation(static_cast<std::size_t>(n), 0),
        w(static_cast<std::size_t>(m), 0),
        lambda(static_cast<std::size_t>(m), 0) {}
};

double grown(double value, int exponent) { return std::ldexp(value, exponent); }

Vector grown(const Vector& values, const std::vector<int>& exponents) {
  Vector result = values;
  for (Eigen::Index i = 0; i < values.size(); ++i)
    result[i] = grown(values[i], exponents[static_cast<std::size_t>(i)]);
  return result;
}

Matrix grown(const Matrix& M, const std::vector<int>& rows, const std::vector<int>& columns,
             int all = 0) {
  Matrix result = M;
  for (Eigen::Index i = 0; i < M.rows(); ++i)
    for (Eigen::Index j = 0; j < M.cols(); ++j)
      result(i, j) = grown(M(i, j), rows[static_cast<std::size_t>(i)] -
                                        columns[static_cast<std::size_t>(j)] + all);
  return result;
}

Signal grown(const Signal& signal, const std::vector<int>& exponents, int time) {
  const Vector constant = grown(signal.constant(), exponents);
  if (signal.is_constant()) return constant;
  return {constant, signal.varying(), [=](double t, Vector& value) {
            const Vector all = grown(signal(grown(t, -time)), exponents);
            for (const int i : signal.varying()) value[i] = all[i];
          }};
}

Lcs in_units(const Lcs& given, const Units& units) {
  Lcs lcs = validated(given);
  const std::vector<int> none(lcs.laws.size(), 0);
  lcs.E = grown(lcs.E, units.equation, units.variable, units.time);
  lcs.A = grown(lcs.A, units.equation, units.variable);
  lcs.B = grown(lcs.B, units.equation, units.lambda);
  lcs.b = grown(lcs.b, units.equation, units.time);
  lcs.C = grown(lcs.C, units.w, units.variable);
  lcs.D = grown(lcs.D, units.w, units.lambda);
  lcs.q = grown(lcs.q, units.w, units.time);
  for (std::size_t i = 0; i < lcs.laws.size(); ++i)
    lcs.laws.changed(i).branches.change([&](std::vector<Branch>& branches) {
      for (Branch& branch : branches) {
        branch.a = grown(branch.a, -units.w[i]);
        branch.b = grown(branch.b, -units.lambda[i]);
        branch.w = {grown(branch.w.lower, units.w[i]), grown(branch.w.upper, units.w[i])};
        branch.lambda = {grown(branch.lambda.lower, units.lambda[i]),
                         grown(branch.lambda.upper, units.lambda[i])};
      }
    });
  return lcs;
}

struct Run {
  Lcs lcs;
  Vector x0;
  Span span;
  double h = 0;
  Selector selector = Selector::keep_mode;
  double theta = 1;
};

Trajectory solve(const Run& run) {
  return integrate(run.lcs, run.x0, run.span,
                   Theta{.h = run.h, .theta = run.theta, .selector = run.selector});
}

/// Every number of the run in other units is the one of `plain` times its power of two.
void check_same(const Trajectory& plain, const Trajectory& other, const Units& units) {
  CHECK(other.status == plain.status);
  REQUIRE(other.t.size() == plain.t.size());
  bool same = true;
  for (std::size_t k = 0; k < plain.t.size(); ++k)
    same = same && other.t[k] == grown(plain.t[k], units.time) &&
           other.x[k] == grown(plain.x[k], units.variable) &&
           other.lambda[k] == grown(plain.lambda[k], units.lambda) &&
           other.w[k] == grown(plain.w[k], units.w) && other.mode[k] == plain.mode[k];
  CHECK(same);
  REQUIRE(other.events.size() == plain.events.size());
  for (std::size_t k = 0; k < plain.events.size(); ++k) {
    CHECK(other.events[k].kind == plain.events[k].kind);
    CHECK(other.events[k].law == plain.events[k].law);
    CHECK(other.events[k].t == grown(plain.events[k].t, units.time));
  }
}

Units random_units(std::mt19937& random, int n, int m, bool equations) {
  std::uniform_int_distribution<int> exponent(-30, 30);
  Units units(n, m);
  for (std::vector<int>* list : {&units.variable, &units.w, &units.lambda})
    for (int& e : *list) e = exponent(random);
  if (equations)
    for (int& e : units.equation) e = exponent(random);
  units.time = exponent(random);
  return units;
}

void check_units(const Run& run, const Units& units) {
  // In its own units too, so that the inputs of both are functions whose formulas are not known.
  Run other = run;
  other.lcs = in_units(run.lcs, Units(run.lcs.n(), run.lcs.m()));
  const Trajectory plain = solve(other);
  other.lcs = in_units(run.lcs, units);
  other.x0 = grown(run.x0, units.variable);
  other.span = {grown(run.span.start, units.time), grown(run.span.end, units.time)};
  other.h = grown(run.h, units.time);
  check_same(plain, solve(other), units);
}

}  // namespace

TEST_SUITE("schemes/units") {
  TEST_CASE("affine models give the same numbers to the bit in units that are powers of two") {
    std::mt19937 random(30);
    int compared = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::models_path(""))) {
      if (entry.path().extension() != ".toml") continue;
      const Model model = read_model(entry.path().string(), {}, {.hybrid = true});
      const Lcs* lcs = model.system.affine();
      if (lcs == nullptr) continue;
      CAPTURE(entry.path().filename().string());
      const Span span = model.run.span;
      const double h = model.run.h > 0 ? model.run.h : (span.end - span.start) / 1000;
      const double end = std::min(span.end, span.start + 400 * h);
      for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm})
        for (const double theta : {1.0, 0.5}) {
          CAPTURE(theta);
          CAPTURE(to_string(selector));
          const bool equations = selector == Selector::keep_mode;
          check_units({*lcs, model.x0(), {span.start, end}, h, selector, theta},
                      random_units(random, lcs->n(), lcs->m(), equations));
          ++compared;
        }
    }
    CHECK(compared > 60);
  }

  // A flat root that is passed: near x = 0 the slope of z³ - x vanishes.
  TEST_CASE("Newton's method takes the same steps to the bit in units that are powers of two") {
    const auto run = [](double X, double Z, double row, double T) {
      const std::string text = fmt::format(
          "name = \"cubic\"\n[variables]\nx = {0:.17g}\nz = {1:.17g}\ny = 0.0\n[model]\n"
          "laws = [\"s in sign({2:.17g}*x - 0.3)\"]\n"
          "equations = [\"der(x) = {5:.17g}*cos({4:.17g}*t) - {5:.17g}*s\",\n"
          "\"0 = {6:.17g}*({3:.17g}*z)^3 - {6:.17g}*{2:.17g}*x\",\n"
          "\"der(y) = {4:.17g}*{3:.17g}*z - {4:.17g}*y*y\"]\n[run]\nt = [0, {7:.17g}]\n",
          -0.9 / X, -0.96 / Z, X, Z, T, T / X, row, 6 / T);
      const Model model = read_model_text(text, "text");
      return integrate(model.system.functions(), model.x0(), model.run.span,
                       BackwardEuler{.h = 0x1p-6 / T});
    };
    const Trajectory plain = run(1, 1, 1, 1);
    REQUIRE(plain.status == Status::solved);
    CHECK(plain.events.size() > 0);
    std::mt19937 random(7);
    std::uniform_int_distribution<int> exponent(-30, 30);
    for (int k = 0; k < 20; ++k) {
      const double X = std::ldexp(1.0, exponent(random)), Z = std::ldexp(1.0, exponent(random));
      const double row = std::ldexp(1.0, exponent(random)), T = std::ldexp(1.0, exponent(random));
      const Trajectory other = run(X, Z, row, T);
      REQUIRE(other.size() == plain.size());
      bool same = true;
      for (std::size_t i = 0; i < plain.size(); ++i)
        same = same && other.t[i] * T == plain.t[i] && other.x[i][0] * X == plain.x[i][0] &&
               other.x[i][1] * Z == plain.x[i][1] && other.x[i][2] == plain.x[i][2];
      CHECK(same);
      CHECK(other.counts.at("newton_iterations") == plain.counts.at("newton_iterations"));
    }
  }
}
