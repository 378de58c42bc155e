#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/recorder.hpp>

#include <perp/core/interval/decimal.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::Enclosure;
using enclosure::ExactModel;
using enclosure::Interval;
using enclosure::read_exact_model;

namespace {

/// m v' = −k x, x' = v, written with the derivatives inside sums and products.
struct Spring {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = -(2.0 * (xdot[1] + x[0]) / 4.0) - 0.0 * x[1];
    r[1] = x[1] - xdot[0];
  }
};

/// x' + y from two equations that say the same: neither by itself.
struct Undetermined {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = exp(xdot[0] + x[1]) - x[0];
    r[1] = exp(2.0 * xdot[0] + 2.0 * x[1]) - x[0] * x[0];
  }
};

struct Algebraic {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + x[1];
    r[1] = x[0] - x[1];
  }
};

struct Twice {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + x[1];
    r[1] = xdot[0] - x[1];
  }
};

ExactModel model(const std::string& text) { return read_exact_model(text, "test.toml"); }

Enclosure run(const ExactModel& model) {
  return enclosure::enclose(model.system, model.start, model.values, model.span);
}

bool is_near(const Interval& found, const std::string& decimal, double widest) {
  return intersection(found, enclosure::enclose_decimal(decimal)).has_value() &&
         enclosure::width(found) < widest;
}

}  // namespace

TEST_SUITE("analysis/enclosure/system") {
  TEST_CASE("equations are solved for their derivatives by sums and products") {
    const Dcs system = make_dcs(Spring{}, 2);
    const Enclosure result = enclosure::enclose(system, {Interval(1), Interval(0)}, {}, {0, 3});
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(intersection(result.rows.back().box[0], cos(Interval(3))).has_value());
    CHECK(intersection(result.rows.back().box[1], -sin(Interval(3))).has_value());
    CHECK(enclosure::width(result.rows.back().box[0]) < 1e-14);
  }

  TEST_CASE("algebraic variables are enclosed with the states that give them") {
    // x' + z = 0, x = z
    const Enclosure index1 =
        enclosure::enclose(make_dcs(Algebraic{}, 2), {Interval(1), Interval(7)}, {}, {0, 2});
    REQUIRE_FALSE(index1.lost.has_value());
    CHECK(intersection(index1.rows.back().box[1], exp(Interval(-2))).has_value());
    CHECK(enclosure::width(index1.rows.back().box[1]) < 1e-15);
    // x' + z = 0, x' − z = 0
    const Enclosure still =
        enclosure::enclose(make_dcs(Twice{}, 2), {Interval(1), Interval(7)}, {}, {0, 2});
    REQUIRE_FALSE(still.lost.has_value());
    CHECK(still.rows.back().box[0] == Interval(1));
    CHECK(still.rows.back().box[1] == Interval(0));
  }

  TEST_CASE("unknowns that the equations do not determine are lost at the start, with the reason") {
    const Enclosure lost =
        enclosure::enclose(make_dcs(Undetermined{}, 2), {Interval(1), Interval(0)}, {}, {0, 1});
    REQUIRE(lost.lost.has_value());
    CHECK(lost.rows.empty());
    CHECK(lost.lost->reason.find("no root of its implicit equations") != std::string::npos);
  }

  TEST_CASE("starts and parameters of the wrong number are refused") {
    CHECK_THROWS_AS(enclosure::enclose(make_dcs(Spring{}, 2), {Interval(1)}, {}, {0, 1}),
                    InvalidInput);
    CHECK_THROWS_AS(enclosure::enclose(make_dcs(Spring{}, 2), {Interval(1), Interval(1)},
                                       {Interval(1)}, {0, 1}),
                    InvalidInput);
  }

  TEST_CASE("a model file gives the decimal numbers that stand in it") {
    const ExactModel roessler = model(R"toml(
[parameters]
a = 5.7
b = 0.2
[variables]
x1 = 0
x2 = -8.3809417428298
x3 = 0.029590060630665
[model]
equations = ["der(x1) = -(x2 + x3)", "der(x2) = x1 + b*x2", "der(x3) = 0.2 + x3*(x1 - a)"]
[run]
t = [0, 10]
)toml");
    CHECK(roessler.parameters == std::vector<std::string>{"a", "b", "0.2"});
    CHECK(roessler.values[1] == enclosure::enclose_decimal("0.2"));
    CHECK(roessler.values[2] == roessler.values[1]);
    CHECK(roessler.start[1] == enclosure::enclose_decimal("-8.3809417428298"));
    const Enclosure result = run(roessler);
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(is_near(result.rows.back().box[0], "-6.92762602532942391161148970389", 1e-10));
    CHECK(is_near(result.rows.back().box[2], "0.0161016140393240204659902348926", 1e-10));
  }

  TEST_CASE(
      "intervals of a file are states where they are parameters, and the start where they are "
      "starts") {
    const ExactModel decay = model(R"toml(
[parameters]
half = "1/2"
rate = "[2*half, 1.0625]"
[variables]
x = { start = "1 +- 0.125", unit = "m" }
[model]
equations = ["der(x) = -rate*x"]
[run]
t = [0, 1]
)toml");
    CHECK(decay.start[0] == Interval(0.875, 1.125));
    const Enclosure result = run(decay);
    REQUIRE_FALSE(result.lost.has_value());
    REQUIRE(result.rows.back().box.size() == 1);
    const Interval exact = Interval(0.875, 1.125) * exp(Interval(-1.0625, -1));
    CHECK(result.rows.back().box[0].contains(exact));
    CHECK(enclosure::width(result.rows.back().box[0]) < 1.3 * enclosure::width(exact));
  }

  TEST_CASE("a model that is not treated yet is refused by name") {
    const std::string head =
        "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x\"]\n[run]\nt = [0, 1]\n";
    CHECK_NOTHROW(model(head));
    CHECK_THROWS_AS(model("[variables]\nx = \"[2, 1]\"\n[model]\nequations = [\"der(x) = -x\"]\n"),
                    InvalidInput);
    CHECK_THROWS_WITH_AS(
        model("[variables]\nx = { start = 1, min = 0 }\n[model]\nequations = [\"der(x) = -x\"]\n"),
        doctest::Contains("'min'"), InvalidInput);
  }

  TEST_CASE(
      "blocks that leave their belts one after the other are enclosed to rounding, sets of them in "
      "two pieces at most") {
    const auto blocks = [](const std::string& force, const std::string& v,
                           const std::string& belt) {
      return model(
          "[parameters]\nF = " + force + "\n[variables]\nx1 = 0\nx2 = 0\nx3 = 0\nv1 = " + v +
          "\nv2 = " + v + "\nv3 = " + v + "\n[model]\nequations = [" + "\"der(x1) = v1 + 0.5 - " +
          belt + "\", \"der(x2) = v2 + 0.5 - " + belt + "\", \"der(x3) = v3 + 0.5 - " + belt +
          "\"," + "\"der(v1) = -1.5*x1 + x2 - F*sign(v1 - " + belt + ")\"," +
          "\"der(v2) = -2.5*x2 + x1 + x3 - 1.2*sign(v2 - " + belt + ")\"," +
          "\"der(v3) = -1.5*x3 + x2 - 0.9*sign(v3 - " + belt + ")\"]\n[run]\nt = [0, 10]\n");
    };
    // at belts of speed 0 the velocities are exactly 0 for a while
    for (const char* const belt : {"0.5", "0"}) {
      const Enclosure point = run(blocks("1", belt, belt)),
                      set = run(blocks("\"[0.99, 1.01]\"", belt, belt));
      REQUIRE(!point.lost);
      REQUIRE(!set.lost);
      CHECK(point.events.size() == 3);
      CHECK(set.pieces <= 2);
      for (std::size_t i = 0; i < 6; ++i) {
        CHECK(enclosure::width(point.rows.back().box[i]) < 1e-11);
        CHECK(enclosure::width(set.rows.back().box[i]) < 0.05);
        CHECK(set.rows.back().box[i].contains(point.rows.back().box[i]));
      }
    }
  }

  TEST_CASE("a product of unknowns has two roots, and the start tells which is meant") {
    // y (2 l − 1) = 0, l (y − 4) = −1: (0, 1/4) or (2, 1/2), and x' = y
    const auto from = [](const std::string& y, const std::string& l) {
      return run(model("[variables]\nx = 0\ny = " + y + "\nl = " + l +
                       "\n[model]\nequations = [\"der(x) = y\", \"0 = y*(2*l - 1)\", "
                       "\"l*(y - 4) = -1\"]\n[run]\nt = [0, 1]\n"));
    };
    const Enclosure rests = from("0", "0.25"), moves = from("2", "0.5"), both = from("3", "3");
    for (const Enclosure* one : {&rests, &moves, &both}) REQUIRE_FALSE(one->lost.has_value());
    REQUIRE(rests.rows.size() == 2);
    CHECK(rests.rows.back().box[0] == Interval(0));
    CHECK(rests.rows.back().flag == enclosure::Flag::unique);
    REQUIRE(moves.rows.size() == 2);
    CHECK(moves.rows.back().box[0] == Interval(2));
    CHECK(moves.rows.back().flag == enclosure::Flag::unique);
    // a start that belongs to neither: two branches, none of them unique
    REQUIRE(both.rows.size() == 4);
    for (const auto& row : both.rows) CHECK(row.flag == enclosure::Flag::all);
    CHECK(both.rows[2].branch != both.rows[3].branch);
  }

  TEST_CASE("nothing is proved where two roots of a product meet") {
    // y = 0, l = (1 + x)/4 comes to l = 1/2, the other root, at x = 1
    const Enclosure met = run(model(R"toml(
[variables]
x = 0
y = 0
l = 0.25
[model]
equations = ["der(x) = 1", "0 = y*(2*l - 1)", "l*(y - 4) = -1 - x"]
[run]
t = [0, 2]
)toml"));
    REQUIRE(met.lost.has_value());
    CHECK(met.lost->t.lo > 0.5);
    CHECK(met.lost->t.lo <= 1);
  }
}
