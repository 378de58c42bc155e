#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/recorder.hpp>

using namespace perp;

namespace {

/// [RAB] eq. (9) with the constraint (11') as one law: x = (x1, x2, z), 0 = λ - x2, w = x1.
struct SwitchingDae {
  double B1 = -0.5, B2 = 1;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda,
                auto& r) const {
    r[0] = xdot[0] - (1 + B1 * x[2]) - 0 * t;
    r[1] = xdot[1] - B2 * x[2] - sin(3.0 * t);
    r[2] = x[1] - lambda[0];
  }
  void output(const auto& t, const auto& x, const auto&, auto& w) const { w[0] = x[0] + t; }
};

/// [IFDIFF], canonical example.
struct Canonical {
  double p1 = 5.437;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda,
                auto& r) const {
    r[0] = xdot[0] - (0.01 * t * t + x[1] * x[1] * x[1]);
    r[1] = xdot[1] - 5 * (lambda[0] - lambda[1]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[0] - p1;
    w[1] = x[0] - p1 - 0.5;
  }
};

struct WithoutOutput {
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - lambda[0];
  }
};

/// 0 = ẋ + x, which writes and reads where it is told.
struct Careless {
  int writes = 0, reads = 0;
  bool with_output = false;
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[writes] = xdot[0] + x[reads];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    if (with_output) w[0] = x[0];
  }
};

/// ẋ1 = -1, x2 a function of x1 whose derivative is 0 or constant by its form.
struct Steep {
  int kind;
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + 1.0;
    using std::atan2, std::log, std::sin, std::exp;
    const auto of_x = [&]() -> std::decay_t<decltype(x[0] * 1.0)> {
      switch (kind) {
        case 0: return atan2(x[0], 0 * x[1]);     // ±π/2
        case 1: return log(x[0]) - log(x[0]);     // 0 for x > 0
        case 2: return 0 / x[0];                  // none at 0
        case 3: return 0 * log(x[0]);
        case 4: return 0 * sin(x[0]) + 0 * x[0];  // 0
        default: return 0 * (x[0] * x[1]) + 2 * x[0];
      }
    };
    r[1] = x[1] - of_x();
  }
};

}  // namespace

TEST_SUITE("core/dcs") {
  TEST_CASE("a struct that writes or reads beyond its rows, or leaves one out, is told which") {
    CHECK(make_dcs(Careless{}, 1).n() == 1);
    CHECK_THROWS_WITH_AS(make_dcs(Careless{.writes = 5}, 1),
                         "residual writes r[5], but there is 1 equation", InvalidInput);
    CHECK_THROWS_WITH_AS(make_dcs(Careless{.writes = -1}, 2),
                         "residual writes r[-1], but there are 2 equations", InvalidInput);
    CHECK_THROWS_WITH_AS(make_dcs(Careless{.reads = 3}, 2),
                         "the system reads x[3], but there are 2 variables", InvalidInput);
    CHECK_THROWS_WITH_AS(make_dcs(Careless{}, 2), "residual does not write r[1], one of 2 equations",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(make_dcs(Careless{}, 1, {perp::sign()}),
                         "output does not write w[0], one of 1 law", InvalidInput);
    CHECK(make_dcs(Careless{.with_output = true}, 1, {perp::sign()}).m() == 1);
  }

  TEST_CASE("an affine system is recognised, with its matrices and its functions of time") {
    const Dcs system = make_dcs(SwitchingDae{}, 3, {abs_plus_sign()});
    const auto lcs = as_lcs(system);
    REQUIRE(lcs);
    CHECK(lcs->E == Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}});
    CHECK(lcs->A == Matrix{{0, 0, -0.5}, {0, 0, 1}, {0, -1, 0}});
    CHECK(lcs->B == Matrix{{0}, {0}, {1}});
    CHECK(lcs->C == Matrix{{1, 0, 0}});
    CHECK(lcs->D == Matrix{{0}});
    CHECK(lcs->laws == std::vector{abs_plus_sign()});
    CHECK(lcs->b(0.5) == Vector{{1, std::sin(1.5), 0}});
    CHECK(lcs->b.varying() == std::vector{0, 1});  // 0 t is a term with time
    CHECK(lcs->q(0.5) == Vector{{0.5}});
  }

  TEST_CASE("a product of unknowns is not affine, nor is a coefficient of time") {
    CHECK_FALSE(as_lcs(make_dcs(Canonical{}, 2, {step(), step()})));
    Dcs system = make_dcs(SwitchingDae{}, 3, {abs_plus_sign()});
    const int product = system.tape.apply(Operation::multiply, system.tape.input(0),
                                          system.tape.input(system.variable_input(1)));
    system.F[0] = system.tape.apply(Operation::add, system.F[0], product);
    CHECK_FALSE(as_lcs(system));
  }

  TEST_CASE("a function whose derivative is 0 by its form is not affine") {
    for (int kind = 0; kind < 6; ++kind) {
      CAPTURE(kind);
      CHECK(as_lcs(make_dcs(Steep{kind}, 2)).has_value() == (kind > 3));
    }
  }

  TEST_CASE("the evaluator gives F, G and every derivative") {
    const Dcs system = make_dcs(Canonical{}, 2, {step(), step()});
    DcsEvaluator evaluator(system);
    // t, ẋ, x, λ
    const std::vector<double> z{2, 0.3, 0.4, 5.6, 1.5, 1, 0.25};
    std::vector<double> rows(4), derivatives(evaluator.entries().size());
    evaluator.linearize(z.data(), rows.data(), derivatives.data());
    CHECK(rows[0] == 0.3 - (0.01 * 2 * 2 + 1.5 * 1.5 * 1.5));
    CHECK(rows[1] == 0.4 - 5 * 0.75);
    CHECK(rows[2] == 5.6 - 5.437);
    Matrix J = Matrix::Zero(4, 7);
    for (std::size_t k = 0; k < derivatives.size(); ++k)
      J(evaluator.entries()[k].row, evaluator.entries()[k].column) = derivatives[k];
    const Matrix wanted{{-0.04, 1, 0, 0, -3 * 1.5 * 1.5, 0, 0},
                        {0, 0, 1, 0, 0, -5, 5},
                        {0, 0, 0, 1, 0, 0, 0},
                        {0, 0, 0, 1, 0, 0, 0}};
    CHECK((J - wanted).cwiseAbs().maxCoeff() < 1e-14);
    CHECK(derivatives.size() == 8);  // no zero is stored
    std::vector<double> again(4);
    evaluator.evaluate(z.data(), again.data());
    CHECK(again == rows);
    CHECK(evaluator.is_differential(1));
  }

  TEST_CASE("parameters are inputs of the tape and are bound by value") {
    Dcs system;
    system.F = {0};
    system.parameters = {3};
    Tape& tape = system.tape;
    const int p = tape.input(system.parameter_input(0)), x = tape.input(system.variable_input(0));
    const int square = tape.apply(Operation::power, p, tape.constant(2));
    system.F[0] = tape.apply(Operation::add, tape.input(system.derivative_input(0)),
                             tape.apply(Operation::multiply, square, x));
    const auto lcs = as_lcs(system);
    REQUIRE(lcs);
    CHECK(lcs->A(0, 0) == -9);
  }

  TEST_CASE("a system that does not fit together is refused") {
    CHECK_THROWS_AS(make_dcs(WithoutOutput{}, 1, {sign()}), InvalidInput);
    Dcs system = make_dcs(Canonical{}, 2, {step(), step()});
    system.G.pop_back();
    CHECK_THROWS_AS(validate(system), InvalidInput);
    system = make_dcs(Canonical{}, 2, {step(), step()});
    system.F[1] = 1000;
    CHECK_THROWS_AS(validate(system), InvalidInput);
    system = make_dcs(Canonical{}, 2, {step(), step()});
    system.tape.input(7);
    CHECK_THROWS_AS(validate(system), InvalidInput);
  }
}
