#include <doctest/doctest.h>
#include <cmath>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/recorder.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

#include <perp/tests/schemes/located/lcs_system.hpp>
#include <perp/tests/schemes/located/switching_systems.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;
using switching_systems::Ball;

namespace {

constexpr double tight = 1e-12;

void check_series(const Matrix& found, Eigen::Index row, const std::vector<double>& wanted) {
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    CAPTURE(k);
    CHECK(std::abs(found(row, static_cast<Eigen::Index>(k)) - wanted[k]) < tight);
  }
}

/// ẋ = x, written as a system without laws.
struct Growth {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - x[0];
  }
};

/// A bead on the circle x² + y² = 1 held by the force λ along the radius: an index-3 constraint.
struct Bead {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[2];
    r[1] = xdot[1] - x[3];
    r[2] = xdot[2] + lambda[0] * x[0];
    r[3] = xdot[3] + lambda[0] * x[1] + 1;
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[0] * x[0] + x[1] * x[1] - 1;
  }
};

/// (ẋ + ẏ) e^(ẋ+ẏ) = t e^t  and  x − y = cos t: fully implicit; x + y is differential, x − y not.
struct Implicit {
  void residual(const auto& t, const auto& xdot, const auto& x, const auto&, auto& r) const {
    const auto rate = xdot[0] + xdot[1];
    r[0] = rate * exp(rate) - t * exp(t);
    r[1] = x[0] - x[1] - cos(t);
  }
};

/// Index 1: y³ + y = x + λ, ẋ = −y; w = y − t holds λ and y in the same equations.
struct Algebraic {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] + x[1];
    r[1] = x[1] * x[1] * x[1] + x[1] - x[0] - lambda[0];
  }
  void output(const auto& t, const auto& x, const auto& lambda, auto& w) const {
    w[0] = x[1] - t + 0 * lambda[0];
  }
};

/// λ in [0, 1] on a slope: λ = saturation(2 λ + x), so w holds λ.
struct Loop {
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - lambda[0];
  }
  void output(const auto&, const auto& x, const auto& lambda, auto& w) const {
    w[0] = x[0] + 0.5 * lambda[0];
  }
};

/// y² = −1.
struct None {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = x[1] * x[1] + 1;
  }
};

}  // namespace

TEST_SUITE("schemes/located/consistent_jet") {
  TEST_CASE("an ordinary differential equation gives the Taylor series of its solution") {
    for (int levels = 1; levels <= 4; ++levels) {
      ConsistentJets jets(make_dcs(Growth{}, 1), levels);
      const Jet jet = jets.solve({}, 3, Vector{{2}}, Vector());
      CHECK(jet.consistent);
      CHECK(jet.determined);
      CHECK(jet.x_known[0] == levels + 2);
      double wanted = 2;
      for (int k = 0; k <= levels + 1; ++k, wanted /= k)
        CHECK(jet.x(0, k) == doctest::Approx(wanted));
    }
  }

  TEST_CASE("the modes of the switching DAE have the jets that [RAB] states") {
    const double B1 = -0.5, B2 = 1;
    ConsistentJets jets(test::dcs_of(switching_dae::own_law(B1, B2)));
    const Vector x{{0, -1, 0}}, lambda{{-1}};
    const Jet left = jets.solve({0}, 0, x, lambda);
    CHECK(left.consistent);
    CHECK(left.determined);
    check_series(left.x, 0, {0, 2});
    check_series(left.x, 1, {-1, -2});
    CHECK(left.x(2, 0) == doctest::Approx(-1 / (B1 + B2)));
    const Jet sliding = jets.solve({1}, 0, x, lambda);
    CHECK(sliding.consistent);
    CHECK(sliding.determined);
    CHECK(sliding.x(2, 0) == doctest::Approx(-1 / B1));
    check_series(sliding.lambda, 0, {-1, 2, 0});
    const Jet right = jets.solve({2}, 0, x, lambda);
    CHECK_FALSE(right.consistent);
    CHECK(right.residual > 0.1);
  }

  TEST_CASE("the index-2 sliding of variant (37) has the series of its exponentials") {
    // A = [0 1; -1 0] on the sliding branch x₁ = 0: z = −(1 + x₂)/B₁, ẋ₂ = B₂ z
    const double B1 = -1, B2 = 0.5;
    ConsistentJets jets(test::dcs_of(switching_dae::own_law(B1, B2, 1, -1)));
    const Jet jet = jets.solve({1}, 0, Vector{{0, 0.2, 0}}, Vector{{0}});
    CHECK(jet.consistent);
    CHECK(jet.determined);
    const double r = B2 / B1, y = 1.2;  // (x₂ + 1)' = −r (x₂ + 1)
    check_series(jet.x, 1, {y - 1, -r * y, r * r * y / 2});
    check_series(jet.lambda, 0, {y - 1, -r * y, r * r * y / 2});
    CHECK(jet.x(2, 0) == doctest::Approx(-y / B1));
  }

  TEST_CASE("a contact of relative degree two is resolved at level two and not at level one") {
    const Dcs ball = make_dcs(Ball{}, 2, {complementarity()});
    ConsistentJets jets(ball, 2), low(ball, 1);
    const Jet rest = jets.solve({1}, 0, Vector{{0, 0}}, Vector{{0}});
    CHECK(rest.consistent);
    CHECK(rest.determined);
    CHECK(rest.lambda(0, 0) == doctest::Approx(9.81));
    CHECK(rest.lambda_known[0] == 1);
    CHECK_FALSE(low.solve({1}, 0, Vector{{0, 0}}, Vector{{0}}).determined);
    const Jet flight = jets.solve({0}, 0, Vector{{0, 3}}, Vector{{1}});
    check_series(flight.w, 0, {0, 3, -9.81 / 2});
    CHECK(flight.lambda(0, 0) == 0);
  }

  TEST_CASE("a velocity into the contact violates its hidden constraint") {
    ConsistentJets jets(make_dcs(Ball{}, 2, {complementarity()}));
    const Jet impact = jets.solve({1}, 0, Vector{{0, -1}}, Vector{{0}});
    CHECK_FALSE(impact.consistent);
    CHECK(impact.residual == doctest::Approx(1));
  }

  TEST_CASE("a nonlinear constraint of index three gives the force of the bead") {
    ConsistentJets jets(make_dcs(Bead{}, 4, {equality()}));
    const double angle = 0.7, speed = 1.3;
    const Vector x{
        {std::sin(angle), -std::cos(angle), speed * std::cos(angle), speed * std::sin(angle)}};
    const Jet jet = jets.solve({0}, 0, x, Vector{{0}});
    CHECK(jet.consistent);
    CHECK(jet.determined);
    CHECK(jet.lambda(0, 0) == doctest::Approx(speed * speed + std::cos(angle)));
    // ẍ of the pendulum: φ'' = −sin φ
    const double second = -std::sin(angle);
    CHECK(jet.x(2, 1) ==
          doctest::Approx(second * std::cos(angle) - speed * speed * std::sin(angle)));
  }

  TEST_CASE("a fully implicit system keeps what its derivatives see and computes the rest") {
    ConsistentJets jets(make_dcs(Implicit{}, 2));
    const double t = 0.8;
    const Jet jet = jets.solve({}, t, Vector{{1, 1}}, Vector(), Vector{{0.3, 0.3}});
    CHECK(jet.consistent);
    CHECK(jet.determined);
    const double sum = 2, difference = std::cos(t);
    check_series(jet.x, 0, {(sum + difference) / 2, (t - std::sin(t)) / 2});
    check_series(jet.x, 1, {(sum - difference) / 2, (t + std::sin(t)) / 2});
    CHECK(2 * jet.x(0, 2) == doctest::Approx((1 - std::cos(t)) / 2));
    const Matrix P = jets.differential_projection(t, Vector{{1, 1}}, Vector());
    CHECK((P - Matrix::Constant(2, 2, 0.5)).norm() < tight);
  }

  TEST_CASE("algebraic variables and multipliers of one loop are found together, t explicit") {
    ConsistentJets jets(make_dcs(Algebraic{}, 2, {equality()}));
    const double t = 1.5, x = 0.3;
    const Jet jet = jets.solve({0}, t, Vector{{x, 0}}, Vector{{0}});
    CHECK(jet.consistent);
    CHECK(jet.determined);
    check_series(jet.x, 1, {t, 1, 0});
    // λ = t³ + t − x, ẋ = −t
    check_series(jet.lambda, 0, {t * t * t + t - x, 3 * t * t + 1 + t});
  }

  TEST_CASE("a sloped branch whose argument holds its own multiplier is solved for both") {
    ConsistentJets jets(make_dcs(Loop{}, 1, {saturation(-1, 1)}));
    const Jet jet = jets.solve({1}, 0, Vector{{0.2}}, Vector{{0}});
    CHECK(jet.consistent);
    check_series(jet.lambda, 0, {0.4, 0.8, 0.8});  // λ = 2 x, ẋ = λ
    check_series(jet.w, 0, {0.4, 0.8, 0.8});
  }

  TEST_CASE("multipliers that the equations do not tell apart are reported as undetermined") {
    Lcs lcs{.A = Matrix{{0}}, .B = Matrix{{1, 1}}, .C = Matrix{{1}, {1}}, .laws = std::vector<perp::Law>(2, equality())};
    lcs.E = Matrix{{1}};
    ConsistentJets jets(test::dcs_of(lcs));
    const Jet jet = jets.solve({0, 0}, 0, Vector{{0}}, Vector{{0, 0}});
    CHECK(jet.consistent);
    CHECK_FALSE(jet.determined);
    CHECK(jet.lambda_known == std::vector<int>{0, 0});
    CHECK(jet.x_known[0] >= 2);
    CHECK(std::abs(jet.lambda.col(0).sum()) < tight);
  }

  TEST_CASE("units do not matter: sizes from 1e-9 to 1e9 give the same verdicts") {
    for (const double unit : {1e-9, 1.0, 1e9}) {
      CAPTURE(unit);
      Ball ball{9.81 * unit};
      ConsistentJets jets(make_dcs(ball, 2, {complementarity()}));
      jets.set_scales({1, Vector{{unit, unit}}, Vector{{unit}}});
      const Jet rest = jets.solve({1}, 0, Vector{{0, 0}}, Vector{{0}});
      CHECK(rest.determined);
      CHECK(rest.lambda(0, 0) == doctest::Approx(9.81 * unit));
      CHECK_FALSE(jets.solve({1}, 0, Vector{{0, -unit}}, Vector{{0}}).consistent);
      // The same in other units of time.
      ConsistentJets slow(make_dcs(Ball{9.81 * unit * unit}, 2, {complementarity()}));
      slow.set_scales({1 / unit, Vector{{1, unit}}, Vector{{unit * unit}}});
      CHECK(slow.solve({1}, 0, Vector{{0, 0}}, Vector{{0}}).determined);
    }
  }

  TEST_CASE("a guess far away finds the algebraic variables of the soft drink tank") {
    Dcs tank = make_dcs(nonlinear_systems::SoftDrink{}, 9, {step()});
    ConsistentJets jets(tank);
    Vector x = nonlinear_systems::SoftDrink::start();
    x.head(3) << 0.3767995595486393, 112.49672851802278, 0.001046874232710858;
    const Jet gas = jets.solve({0}, 0, x, Vector{{0}});
    CHECK(gas.consistent);
    CHECK(gas.determined);
    CHECK(gas.x(6, 0) ==
          doctest::Approx(gas.x(7, 0) * 1640 / (gas.x(7, 0) + gas.x(1, 0) + gas.x(2, 0))));
  }

  TEST_CASE("equations without a solution are not consistent") {
    ConsistentJets jets(make_dcs(None{}, 2));
    const Jet jet = jets.solve({}, 0, Vector{{0, 1}}, Vector());
    CHECK_FALSE(jet.consistent);
    CHECK(jet.residual > 0.1);
  }

  TEST_CASE("wrong sizes, modes, scales and levels are refused by name") {
    const Dcs ball = make_dcs(Ball{}, 2, {complementarity()});
    ConsistentJets jets(ball);
    CHECK_THROWS_WITH_AS(jets.solve({0}, 0, Vector{{0}}, Vector{{0}}),
                         "x must have 2 entries but has 1", InvalidInput);
    CHECK_THROWS_WITH_AS(jets.solve({0}, 0, Vector{{0, 0}}, Vector()),
                         "lambda must have 1 entries but has 0", InvalidInput);
    CHECK_THROWS_WITH_AS(jets.solve({2}, 0, Vector{{0, 0}}, Vector{{0}}),
                         "mode[0] must be a branch of law 'complementarity' but is 2",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(jets.set_scales({0}), "scales.time must be positive but is 0",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(ConsistentJets(ball, 9), "levels must be between 1 and 8 but is 9",
                         InvalidInput);
  }
}
