#include <doctest/doctest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/enclosure/inclusion/deviation.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureRow;
using enclosure::Flag;
using enclosure::How;
using enclosure::Interval;
using enclosure::IntervalMatrix;

namespace {

Enclosure run(const std::string& text, std::vector<double> times, bool tube = false) {
  EncloseOptions options;
  options.times = std::move(times);
  options.tube = tube;
  return enclosure::read_exact_model(text, "test.toml").enclose(options);
}

std::string model(const std::string& parameters, const std::string& variables,
                  const std::string& equations, const std::string& more = "") {
  return "[parameters]\n" + parameters + "\n[variables]\n" + variables +
         "\n[model]\nequations = [" + equations + "]\n" + more + "[run]\nt = [0, 2]\n";
}

bool holds(const Enclosure& result, double t, const std::vector<double>& x, double accuracy) {
  return std::any_of(result.rows.begin(), result.rows.end(), [&](const EnclosureRow& row) {
    if (row.t != t) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] < row.box[i].lo - accuracy || row.box[i].hi + accuracy < x[i]) return false;
    return true;
  });
}

using Point = std::array<double, 2>;
using Field = std::function<Point(double t, const Point& x, double d)>;

/// A solution under a disturbance that is constant between random times: Runge and Kutta's method.
std::vector<Point> follow(const Field& f, Point x, double radius, std::mt19937& random,
                          const std::vector<double>& times) {
  std::uniform_real_distribution<double> number(-radius, radius);
  std::vector<Point> found;
  double t = 0, d = radius, until = 0;
  for (const double end : times) {
    while (t < end) {
      if (t >= until) {
        d = random() % 2 == 0 ? number(random) : (random() % 2 == 0 ? radius : -radius);
        until = t + 0.4 * static_cast<double>(random() % 1000) / 1000;
      }
      const double h = std::min({1.0 / 512, end - t, std::max(until - t, 1e-9)});
      const auto moved = [&x](const Point& k, double by) {
        return Point{x[0] + by * k[0], x[1] + by * k[1]};
      };
      const Point a = f(t, x, d), b = f(t + h / 2, moved(a, h / 2), d),
                  c = f(t + h / 2, moved(b, h / 2), d), e = f(t + h, moved(c, h), d);
      for (std::size_t i = 0; i < 2; ++i) x[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + e[i]);
      t += h;
    }
    found.push_back(x);
  }
  return found;
}

const std::vector<double> quarters{0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2};
const std::string tenth = "d = \"[-0.125, 0.125] at every t\"";

}  // namespace

TEST_SUITE("analysis/enclosure/disturbance") {
  TEST_CASE("monotone systems fill their exact bounds") {
    // x = e^−t ± r (1 − e^−t)
    const Enclosure decay = run(model(tenth, "x = 1", "\"der(x) = -x + d\""), quarters, true);
    REQUIRE_FALSE(decay.lost.has_value());
    for (const EnclosureRow& row : decay.rows) {
      const double e = std::exp(-row.t), r = 0.125 * (1 - e);
      CHECK(row.flag == Flag::unique);
      CHECK(row.how == How::inclusion);
      CHECK(row.box[0].lo <= e - r);
      CHECK(row.box[0].hi >= e + r);
      CHECK(enclosure::width(row.box[0]) < 2 * r * 1.001);
    }
    for (const auto& piece : decay.tube) {
      const double e = std::exp(-piece.to), r = 0.125 * (1 - e);
      CHECK(piece.box[0].lo <= e - r);
      CHECK(piece.box[0].hi >= std::exp(-piece.from) + 0.125 * (1 - std::exp(-piece.from)));
    }
    // x = r t²/2, v = r t
    const Enclosure twice =
        run(model(tenth, "x = 0\nv = 0", "\"der(x) = v\", \"der(v) = d\""), quarters);
    REQUIRE_FALSE(twice.lost.has_value());
    for (const EnclosureRow& row : twice.rows) {
      CHECK(row.box[0].contains(Interval(-0.0625, 0.0625) * Interval(row.t * row.t)));
      CHECK(row.box[1].contains(Interval(-0.125, 0.125) * Interval(row.t)));
      CHECK(enclosure::width(row.box[0]) < 0.125 * row.t * row.t * 1.05);
      CHECK(enclosure::width(row.box[1]) < 0.25 * row.t * 1.001);
    }
    // x = e^(−(1 ± r) t): as a factor
    const Enclosure factor = run(model(tenth, "x = 1", "\"der(x) = -(1 + d)*x\""), quarters);
    REQUIRE_FALSE(factor.lost.has_value());
    for (const EnclosureRow& row : factor.rows) {
      CHECK(row.box[0].lo <= std::exp(-1.125 * row.t));
      CHECK(row.box[0].hi >= std::exp(-0.875 * row.t));
      CHECK(enclosure::width(row.box[0]) <
            1.5 * (std::exp(-0.875 * row.t) - std::exp(-1.125 * row.t)));
    }
  }

  TEST_CASE("an oscillator under the worst of all disturbances comes to the end of its bounds") {
    // x(t) = r ∫ |sin|, v(t) = r ∫ |cos|, each by a disturbance of its own
    const Enclosure result =
        run(model(tenth, "x = 0\nv = 0", "\"der(x) = v\", \"der(v) = -x + d\""), quarters);
    REQUIRE_FALSE(result.lost.has_value());
    for (const EnclosureRow& row : result.rows) {
      const double x = 0.125 * (1 - std::cos(row.t));  // t < π
      const double v = 0.125 * (row.t < M_PI / 2 ? std::sin(row.t) : 2 - std::sin(row.t));
      CHECK(row.box[0].hi >= x);
      CHECK(row.box[0].lo <= -x);
      CHECK(row.box[1].hi >= v);
      CHECK(row.box[1].lo <= -v);
      CHECK(row.box[1].hi < 1.5 * v);
    }
  }

  TEST_CASE("solutions under piecewise constant disturbances lie inside") {
    struct Known {
      const char* equations;
      Field field;
    };
    const std::vector<Known> list{
        {"\"der(x) = y\", \"der(y) = (1 - x^2)*y - x + d\"",
         [](double, const Point& x, double d) {
           return Point{x[1], (1 - x[0] * x[0]) * x[1] - x[0] + d};
         }},
        {"\"der(x) = sin(y) + d*x\", \"der(y) = cos(t)*x - d\"",
         [](double t, const Point& x, double d) {
           return Point{std::sin(x[1]) + d * x[0], std::cos(t) * x[0] - d};
         }},
        {"\"der(x) = x*(1 - y + d)\", \"der(y) = y*(x - 1)*exp(d)\"",
         [](double, const Point& x, double d) {
           return Point{x[0] * (1 - x[1] + d), x[1] * (x[0] - 1) * std::exp(d)};
         }},
        // functions with kinks: right-hand sides stay Lipschitz
        {"\"der(x) = -abs(x - 0.5) + y + d\", \"der(y) = max(x, y) - 2*y\"",
         [](double, const Point& x, double d) {
           return Point{-std::abs(x[0] - 0.5) + x[1] + d, std::max(x[0], x[1]) - 2 * x[1]};
         }},
    };
    std::mt19937 random(3);
    for (const Known& known : list) {
      CAPTURE(known.equations);
      const Enclosure result = run(
          model(tenth, "x = \"[0.75, 0.8125]\"\ny = 0.5", known.equations), quarters, true);
      REQUIRE_FALSE(result.lost.has_value());
      for (const EnclosureRow& row : result.rows) CHECK(row.flag == Flag::unique);
      CHECK(enclosure::width(result.rows.back().box[0]) < 6);
      for (int sample = 0; sample < 40; ++sample) {
        const double x0 = sample % 2 == 0 ? 0.75 : 0.8125;
        const auto found = follow(known.field, {x0, 0.5}, 0.125, random, quarters);
        for (std::size_t k = 0; k < quarters.size(); ++k)
          CHECK(holds(result, quarters[k], {found[k][0], found[k][1]}, 1e-5));
      }
    }
  }

  TEST_CASE("sliding goes on under a disturbance, which the multiplier undoes") {
    const Enclosure result = run(
        model(tenth, "x = 0.5\ny = 0", "\"der(x) = d - sign(x)\", \"der(y) = x + 1\""), quarters);
    REQUIRE_FALSE(result.lost.has_value());
    for (const EnclosureRow& row : result.rows) {
      if (row.t < 0.4) {
        CHECK(row.flag == Flag::unique);
        CHECK(row.box[0].contains(Interval(0.5) - Interval(row.t) * Interval(0.875, 1.125)));
      }
      if (row.t < 0.7) continue;
      CHECK(row.flag == Flag::unique);  // the relay pushes every two solutions together
      CHECK(row.box[0] == Interval(0));
      CHECK(row.multipliers[0].contains(Interval(-0.125, 0.125)));
      CHECK(enclosure::width(row.multipliers[0]) < 0.2501);
    }
    CHECK(std::any_of(result.events.begin(), result.events.end(), [](const auto& event) {
      return event.type == "sliding_entry" && !event.unique && event.t.contains(0.5 / 1.125) &&
             event.t.contains(0.5 / 0.875);
    }));
  }

  TEST_CASE("a relay is crossed by each solution in its own time") {
    const Enclosure result =
        run(model(tenth, "x = -0.5\ny = 0", "\"der(x) = 1 + d\", \"der(y) = step(x)\""), quarters);
    REQUIRE_FALSE(result.lost.has_value());
    for (const double d : {-0.125, 0.0, 0.125})
      for (const double t : quarters)
        CHECK(holds(result, t, {-0.5 + (1 + d) * t, std::max(0.0, t - 0.5 / (1 + d))}, 1e-12));
    CHECK(enclosure::width(result.rows.back().box[1]) < 0.3);
  }

  TEST_CASE("the argument of a law may jump with the disturbance") {
    // y' = step(x − d): open while x ∈ [−0.125, 0.125]
    const Enclosure result = run(
        model(tenth, "x = -0.5\ny = 0", "\"der(x) = 1\", \"der(y) = step(x - d)\""), quarters);
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(holds(result, 2, {1.5, 1.375}, 0));
    CHECK(holds(result, 2, {1.5, 1.625}, 0));
    CHECK(holds(result, 0.5, {0, 0.125}, 0));
    CHECK(holds(result, 0.5, {0, 0}, 0));
    CHECK(enclosure::width(result.rows.back().box[1]) < 0.3);
    // x follows d wherever it goes
    const Enclosure pressed =
        run(model(tenth, "x = 0", "\"der(x) = -sign(x - d)\""), {0, 0.125});
    REQUIRE_FALSE(pressed.lost.has_value());
    for (const double x : {-0.125, 0.0, 0.125}) CHECK(holds(pressed, 0.125, {x}, 0));
  }

  TEST_CASE("what is a constant for one solution is a function for another: the rows hold both") {
    const std::string equations = "\"der(x) = y*d\", \"der(y) = -x - sat(y, -0.5, 0.5)\"";
    const std::string variables = "x = 1\ny = 0";
    const Enclosure constant = run(model("d = \"[0.875, 1]\"", variables, equations), quarters);
    const Enclosure function =
        run(model("d = \"[0.875, 1] at every t\"", variables, equations), quarters);
    REQUIRE_FALSE(function.lost.has_value());
    for (const double t : quarters)
      for (const EnclosureRow& row : constant.rows)
        if (row.t == t)
          CHECK(std::any_of(function.rows.begin(), function.rows.end(), [&](const auto& other) {
            return other.t == t && intersection(other.box[0], row.box[0]).has_value();
          }));
    const Enclosure point = run(model("d = \"[1, 1] at every t\"", variables, equations), quarters);
    REQUIRE_FALSE(point.lost.has_value());
    CHECK(enclosure::width(point.rows.back().box[0]) < 1e-6);
  }

  TEST_CASE("where a disturbance would have to be differentiated nothing is claimed") {
    CHECK(run(model(tenth, "x = 0\ny = 0", "\"der(x) = y\", \"x = d\""), {0, 2}).lost.has_value());
    const Enclosure reset =
        run(model(tenth, "x = 0.5", "\"der(x) = d - 1\"",
                  "when = [{ condition = \"x\", direction = -1, set = { x = \"1\" } }]\n"),
            {0.25, 2});
    REQUIRE(reset.lost.has_value());
    CHECK(reset.lost->t.lo <= 0.5 / 0.875);
    CHECK(reset.rows.size() == 1);
  }

  TEST_CASE("a start on a surface is followed by all that may be") {
    const Enclosure result =
        run(model(tenth, "x = 0", "\"der(x) = sign(x) + d\""), {0, 1});
    REQUIRE_FALSE(result.lost.has_value());
    for (const double x : {-1.125, -0.875, 0.0, 0.5, 1.125}) CHECK(holds(result, 1, {x}, 0));
    for (const EnclosureRow& row : result.rows)
      if (row.t == 1) CHECK(row.flag == Flag::all);
  }

  TEST_CASE("what functions within bounds add to a linear system is exact where signs are known") {
    // e' = −e + v: ± (1 − e^−h) r;  e1' = e2, e2' = v: h²/2, h
    IntervalMatrix A(1, 1), B(1, 1);
    A(0, 0) = Interval(-1);
    B(0, 0) = Interval(1);
    const Interval h(0.5);
    const Box e = enclosure::deviation(A, B, {Interval(-1, 1)}, {Interval(-1, 1)}, h);
    CHECK(e[0].contains(enclosure::symmetric(1 - std::exp(-0.5))));
    CHECK(e[0].hi < (1 - std::exp(-0.5)) * (1 + 1e-7));
    IntervalMatrix chain(2, 2), last(2, 1);
    chain(0, 1) = Interval(1);
    last(1, 0) = Interval(1);
    const Box x = enclosure::deviation(chain, last, {Interval(0, 2)},
                                       {Interval(0, 1), Interval(0, 2)}, h);
    CHECK(x[0].contains(Interval(0, 0.25)));
    CHECK(x[0].hi < 0.25 + 1e-15);
    CHECK(x[1].contains(Interval(0, 1)));
    CHECK(x[1].hi < 1 + 1e-15);
    // e1' = e2, e2' = −e1 + v turns until the kernel cos τ of e2 has changed its sign
    chain(1, 0) = Interval(-1);
    const Box turned = enclosure::deviation(chain, last, {Interval(-1, 1)},
                                            {Interval(-1, 1), Interval(-1, 1)}, Interval(2));
    CHECK(turned[1].hi >= 2 - std::sin(2.0));
    CHECK(turned[1].hi < 1.06 * (2 - std::sin(2.0)));
    // the last term counts: with A = 0 but D too small nothing would hold e' = L e + v, L = 8
    A(0, 0) = Interval(8);
    const Box fast = enclosure::deviation(
        A, B, {Interval(0, 1)}, {Interval(0, (std::exp(4.0) - 1) / 8 / 0.5)}, h);
    CHECK(fast[0].hi >= (std::exp(4.0) - 1) / 8);
  }
}
