#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <perp/core/base/error.hpp>

#include <perp/tests/analysis/enclosure/flows.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::enclose;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::Flow;
using enclosure::Interval;
using test::decimals;
using test::make_flow;

namespace {

/// The last row, which must hold the decimal numbers and be no wider than `widest`.
void check_end(const Enclosure& result, const std::vector<std::string>& exact, double widest) {
  REQUIRE_FALSE(result.lost.has_value());
  const Box& box = result.rows.back().box;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    CAPTURE(i);
    const Interval number = enclosure::enclose_decimal(exact[i]);
    CHECK(intersection(box[i], number).has_value());
    CHECK(enclosure::width(box[i]) <= widest);
  }
}

/// A trajectory in doubles by Runge and Kutta's method, right to 1e-11 here.
std::vector<double> follow(const Flow& flow, std::vector<double> x, double t, double end) {
  const int steps = 1 + static_cast<int>((end - t) * 2048);
  const double h = (end - t) / steps;
  std::vector<double> values(static_cast<std::size_t>(flow.tape.size())),
      inputs(flow.inputs.size());
  const auto rate = [&](double time, const std::vector<double>& at) {
    for (std::size_t k = 0; k < inputs.size(); ++k)
      inputs[k] = k == 0 ? time : (k <= at.size() ? at[k - 1] : middle(flow.inputs[k].value));
    flow.tape.evaluate(std::span<const double>(inputs), std::span<double>(values));
    std::vector<double> f;
    for (const int line : flow.rates) f.push_back(values[static_cast<std::size_t>(line)]);
    return f;
  };
  const auto moved = [](std::vector<double> at, const std::vector<double>& f, double length) {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] += length * f[i];
    return at;
  };
  for (int k = 0; k < steps; ++k, t += h) {
    const auto k1 = rate(t, x), k2 = rate(t + h / 2, moved(x, k1, h / 2)),
               k3 = rate(t + h / 2, moved(x, k2, h / 2)), k4 = rate(t + h, moved(x, k3, h));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  return x;
}

bool holds(const Box& box, const std::vector<double>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double slack = 1e-9 * std::abs(x[i]) + 1e-11;
    if (!(box[i].lo - slack <= x[i] && x[i] <= box[i].hi + slack)) return false;
  }
  return true;
}

const std::vector<std::string> lorenz{"10*(y - x)", "x*(28 - z) - y", "x*y - 8/3*z"};

}  // namespace

TEST_SUITE("analysis/enclosure") {
  TEST_CASE("exact solutions lie inside, in boxes as wide as rounding") {
    check_end(enclose(make_flow({"x"}, {"-x"}), {Interval(1)}, {0, 10}),
              {"4.5399929762484851535591515560550610237918088866565e-5"}, 2e-18);
    check_end(enclose(make_flow({"x"}, {"x"}), {Interval(1)}, {0, 10}),
              {"22026.465794806716516957900645284244366353512618556781"}, 5e-10);
    check_end(enclose(make_flow({"x", "y"}, {"y", "-x"}), {Interval(1), Interval(0)}, {0, 100}),
              {"0.86231887228768393410193851395084", "0.50636564110975879365655761045979"}, 5e-13);
    // x = 1/(1 + 9 e^−t) from x' = x (1 − x)
    const Interval growth = exp(Interval(10));
    const Enclosure logistic = enclose(make_flow({"x"}, {"x*(1 - x)"}), decimals({"0.1"}), {0, 10});
    REQUIRE_FALSE(logistic.lost);
    CHECK(intersection(logistic.rows.back().box[0], growth / (growth + Interval(9))).has_value());
    CHECK(enclosure::width(logistic.rows.back().box[0]) < 5e-15);
    // x = t² + 2^t/ln 2, y = √(1 + t)
    const Enclosure driven = enclose(make_flow({"x", "y"}, {"2*t + 2^t", "1/(2*y)"}),
                                     {Interval(0), Interval(1)}, {0, 3});
    REQUIRE_FALSE(driven.lost);
    CHECK(intersection(driven.rows.back().box[0], Interval(9) + Interval(7) / log(Interval(2)))
              .has_value());
    CHECK(driven.rows.back().box[1].contains(2.0));
    CHECK(enclosure::width(driven.rows.back().box[1]) < 1e-14);
  }

  TEST_CASE("the reference solutions of Lorenz, Rössler and van der Pol lie inside") {
    const Box start{Interval(15), Interval(15), Interval(36)};
    check_end(enclose(make_flow({"x", "y", "z"}, lorenz), start, {0, 5}),
              {"1.36592180489176094986402520761", "2.4089439093899657784102623362",
               "16.5371315454261173955000482931"},
              5e-9);
    check_end(enclose(make_flow({"x", "y", "z"}, lorenz), start, {0, 20}),
              {"14.3041462512760208207285232516", "9.57936907748280146818299204633",
               "39.0383251677392357914864186074"},
              0.01);
    check_end(enclose(make_flow({"x", "y", "z"}, {"-(y + z)", "x + 0.2*y", "0.2 + z*(x - 5.7)"}),
                      decimals({"0", "-8.3809417428298", "0.029590060630665"}), {0, 10}),
              {"-6.92762602532942391161148970389", "1.94903085486765098779679235085",
               "0.0161016140393240204659902348926"},
              1e-10);
    check_end(enclose(make_flow({"x", "y"}, {"y", "(1 - x^2)*y - x"}), {Interval(2), Interval(0)},
                      {0, 100}),
              {"2.00494201041100179413752157626", "-0.114192175392572561318145346643"}, 1e-11);
  }

  TEST_CASE("a box of Lorenz keeps close to the hull of its members") {
    const Interval tiny = enclosure::symmetric(5e-7);
    const Enclosure result =
        enclose(make_flow({"x", "y", "z"}, lorenz),
                {Interval(15) + tiny, Interval(15) + tiny, Interval(36) + tiny}, {0, 5});
    check_end(result, {"1.36592180489176094986402520761", "2.4089439093899657784102623362"}, 3e-4);
    check_end(result,
              {"1.36597551059057789418623317071", "2.40902983350858325368429238959",
               "16.5372438067305146307608593526"},
              3e-4);
  }

  TEST_CASE("members of wide boxes lie in rows and tubes, at every order and for long steps") {
    const std::vector<std::vector<std::string>> fields{{"y", "-x"},
                                                       {"y", "(1 - x^2)*y - x"},
                                                       {"x*(1 - y)", "y*(x - 1)"},
                                                       {"sin(y) + 0.3*t", "cos(x)*y"},
                                                       {"exp(-x) - y/2", "log(2 + x^2) - 0.1*y"},
                                                       {"-2*x + tanh(y)", "atan(x*t) - y^3"},
                                                       {"sqrt(2 + y) - x", "abs(x + 3) - 3*y"}};
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> unit(0, 1);
    for (const auto& texts : test::thinned(fields, 3)) {
      const Flow flow = make_flow({"x", "y"}, texts);
      for (int order = 1; order <= 9; order += order < 4 ? 1 : 2) {
        const double half = order < 3 ? 0.01 : 0.1;
        EncloseOptions options;
        options.step.order = order;
        options.step.share = order < 3 ? 1e-5 : 1e-3;
        options.times = {0, 0.2, 0.5, 0.75, 1};
        options.tube = true;
        const Box start{Interval(0.5) + enclosure::symmetric(half),
                        Interval(1) + enclosure::symmetric(half)};
        const Enclosure result = enclose(flow, start, {0, 1}, options);
        CAPTURE(texts[0]);
        CAPTURE(order);
        REQUIRE_FALSE(result.lost.has_value());
        REQUIRE(result.rows.size() == 5);
        CHECK(enclosure::width(result.rows.back().box[0]) < 1.5);
        for (int trial = 0; trial < 9; ++trial) {
          const auto pick = [&](const Interval& a, bool top) {
            return trial < 4 ? (top ? a.hi : a.lo)
                             : std::clamp(a.lo + unit(random) * (a.hi - a.lo), a.lo, a.hi);
          };
          const std::vector<double> x{pick(start[0], trial % 2 == 1), pick(start[1], trial > 1)};
          for (const auto& row : result.rows) CHECK(holds(row.box, follow(flow, x, 0, row.t)));
          for (std::size_t k = 0; k < result.tube.size(); k += 1 + result.tube.size() / 7) {
            const auto& piece = result.tube[k];
            CHECK(holds(piece.box,
                        follow(flow, x, 0, piece.from + unit(random) * (piece.to - piece.from))));
          }
        }
      }
    }
  }

  TEST_CASE("a remainder is that of a set which was proved to hold the solutions") {
    // x = t⁶, y = t¹³/13 in a long step of order 1: all coefficients at t = 0 vanish, and y's
    // remainder over the first guess of a tube, x ≈ 0, as well.
    EncloseOptions options;
    options.step = {1, 1e300, 0, std::numeric_limits<double>::infinity()};
    const Enclosure result = enclose(make_flow({"x", "y"}, {"6*t^5", "x^2"}),
                                     {Interval(0), Interval(0)}, {0, 1}, options);
    REQUIRE_FALSE(result.lost);
    CHECK(result.rows.back().box[0].contains(1.0));
    CHECK(result.rows.back().box[1].contains(1.0 / 13));
  }

  TEST_CASE("tubes have no gaps and hold the rows") {
    EncloseOptions options;
    options.tube = true;
    options.times = {0, 0.3, 1, 1.7, 2};
    const Enclosure result =
        enclose(make_flow({"x"}, {"cos(t)*x"}), {Interval(1, 1.5)}, {0, 2}, options);
    REQUIRE_FALSE(result.lost);
    CHECK(result.tube.front().from == 0);
    CHECK(result.tube.back().to == 2);
    for (std::size_t k = 1; k < result.tube.size(); ++k)
      CHECK(result.tube[k].from == result.tube[k - 1].to);
    for (const auto& row : result.rows)
      for (const auto& piece : result.tube)
        if (piece.from <= row.t && row.t <= piece.to)
          CHECK(intersection(piece.box[0], row.box[0]).has_value());
  }

  TEST_CASE("parameters are states that stay what they are") {
    const Enclosure result = enclose(make_flow({"x", "a"}, {"-a*x", "0*a"}),
                                     {Interval(1), Interval(1, 1.03125)}, {0, 2});
    REQUIRE_FALSE(result.lost);
    CHECK(result.rows.back().box[1] == Interval(1, 1.03125));
    const Interval exact = exp(Interval(-2.0625, -2));
    CHECK(result.rows.back().box[0].contains(exact));
    CHECK(enclosure::width(result.rows.back().box[0]) < 1.3 * enclosure::width(exact));
  }

  TEST_CASE("units of powers of two change nothing but the unit") {
    const Enclosure one =
        enclose(make_flow({"x", "y"}, {"y", "-4*x"}), {Interval(1, 1.125), Interval(0)}, {0, 3});
    const Enclosure other = enclose(make_flow({"x", "y"}, {"y*1048576", "-4*x/1048576"}),
                                    {Interval(1, 1.125), Interval(0)}, {0, 3});
    REQUIRE_FALSE(one.lost);
    REQUIRE_FALSE(other.lost);
    CHECK(one.rows.back().box[0] == other.rows.back().box[0]);
    CHECK(one.rows.back().box[1] == Interval(1048576) * other.rows.back().box[1]);
    CHECK(one.steps == other.steps);
  }

  TEST_CASE("where solutions end nothing is claimed, with the reason") {
    EncloseOptions options;
    options.times = {0, 0.5, 1, 1.5};
    const Enclosure blow_up = enclose(make_flow({"x"}, {"x^2"}), {Interval(1)}, {0, 2}, options);
    REQUIRE(blow_up.lost.has_value());
    CHECK(blow_up.lost->t.hi < 1);
    CHECK(blow_up.lost->t.lo > 0.99);
    CHECK(blow_up.rows.size() == 2);
    const Enclosure leaves = enclose(make_flow({"x"}, {"-1/sqrt(x)"}), {Interval(1)}, {0, 2});
    REQUIRE(leaves.lost.has_value());
    CHECK(leaves.lost->t.hi < 2.0 / 3);
    const Enclosure corner =
        enclose(make_flow({"x"}, {"1 - abs(x)"}), {Interval(-0.5, 0.5)}, {0, 1});
    REQUIRE(corner.lost.has_value());
    CHECK(corner.lost->t.lo == 0);
    CHECK(corner.lost->reason.find("no value") != std::string::npos);
    options.most_steps = 2;
    CHECK(enclose(make_flow({"x"}, {"x^2"}), {Interval(1)}, {0, 2}, options)
              .lost->reason.find("limit") != std::string::npos);
  }

  TEST_CASE("wrong input is refused by name") {
    const Flow flow = make_flow({"x"}, {"-x"});
    CHECK_THROWS_AS(enclose(flow, {}, {0, 1}), InvalidInput);
    CHECK_THROWS_AS(enclose(flow, {Interval(1, INFINITY)}, {0, 1}), InvalidInput);
    CHECK_THROWS_AS(enclose(flow, {Interval(1)}, {1, 1}), InvalidInput);
    EncloseOptions options;
    options.times = {0.5, 0.25};
    CHECK_THROWS_AS(enclose(flow, {Interval(1)}, {0, 1}, options), InvalidInput);
    options = {};
    options.step.order = 0;
    CHECK_THROWS_AS(enclose(flow, {Interval(1)}, {0, 1}, options), InvalidInput);
  }
}
