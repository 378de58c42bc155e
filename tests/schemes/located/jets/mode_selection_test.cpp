#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/located/jets/margins.hpp>
#include <perp/schemes/located/jets/mode_selection.hpp>

#include <perp/tests/schemes/located/lcs_system.hpp>
#include <perp/tests/schemes/located/switching_systems.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;
using namespace switching_systems;

namespace {

/// Every mode of every admissible continuation, in order.
std::vector<Mode> modes(const Selection& selection) {
  std::vector<Mode> list;
  for (const Continuation& c : selection.admissible) {
    list.push_back(c.mode);
    list.insert(list.end(), c.also.begin(), c.also.end());
  }
  std::sort(list.begin(), list.end());
  return list;
}

using Modes = std::vector<Mode>;

/// ẋ = λ1 λ2 exp(−λ1), λ1 ∈ sign(sin t), λ2 ∈ step(x).
struct SwitchedByTime {
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - lambda[0] * lambda[1] * exp(-lambda[0]);
  }
  void output(const auto& t, const auto& x, const auto&, auto& w) const {
    w[0] = sin(t);
    w[1] = x[0];
  }
};

/// ẋ = f(t, λ), λ ∈ sign(x): one law on the line.
template <class F>
struct OnTheLine {
  F rate;
  void residual(const auto& t, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - rate(t, lambda[0]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

template <class F>
Selection select_on_line(F rate, double t, int from, const Law& law = sign(), double x = 0) {
  ConsistentJets jets(make_dcs(OnTheLine<F>{rate}, 1, {law}));
  return select(jets, t, Vector{{x}}, Vector{{0}}, {from}, {0});
}

/// ẋ1 = −λ1, ẋ2 = λ2, λ1 ∈ sign(x1 − 0.4 λ1), that is sat(x1 / 0.4), λ2 ∈ step(λ1 + x2).
struct LawsThatReadMultipliers {
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] + lambda[0];
    r[1] = xdot[1] - lambda[1];
  }
  void output(const auto&, const auto& x, const auto& lambda, auto& w) const {
    w[0] = x[0] - 0.4 * lambda[0];
    w[1] = lambda[0] + x[1];
  }
};

Dcs tank(const std::string& name) { return read_model(find_model(name)).system.functions(); }

}  // namespace

TEST_SUITE("schemes/located/mode_selection") {
  TEST_CASE("laws that read their own multiplier, or that of a decided one, are decided by it") {
    ConsistentJets jets(make_dcs(LawsThatReadMultipliers{}, 2, {sign(), step()}));
    for (const double x1 : {-0.6, -0.3, 0.1, 0.39, 0.7})
      for (const double x2 : {-1.2, -0.8, -0.4, 0.3, 0.6, 1.1}) {
        CAPTURE(x1);
        CAPTURE(x2);
        const int first = x1 < -0.4 ? 0 : x1 > 0.4 ? 2 : 1;
        const int second = std::clamp(x1 / 0.4, -1.0, 1.0) + x2 < 0 ? 0 : 2;
        const Vector x{{x1, x2}};
        CHECK(jets.decided_branches(0, x, 1e-11, {-1, -1}, {}) == std::vector<int>{first, second});
        CHECK(modes(select(jets, 0, x, Vector{{0, 0}}, {1, 1}, {0, 1})) == Modes{{first, second}});
      }
    CHECK(jets.decided_branches(0, Vector{{0.1, -0.25}}, 1e-11, {-1, -1}, {}) == std::vector<int>{1, -1});
  }

  TEST_CASE("candidates of the switching DAE at (0, -1) and (0, 1) are those of [RAB]'s cones") {
    struct Row {
      double B1, B2;
      Modes minus, plus;  // 0: left, 1: sliding, 2: right
      bool strict;
    };
    const std::vector<Row> table{{-1, 0.5, {{0}, {1}}, {{2}}, true},
                                 {-0.5, 1, {{1}}, {{2}}, true},
                                 {2, 1, {}, {{1}}, true},
                                 {1, 2, {}, {{1}, {2}}, true},
                                 {-0.5, 0.5, {{1}}, {{2}}, true},
                                 {1, 0, {{0}, {1}}, {{1}, {2}}, false}};
    for (const Row& row : table)
      for (const double at : {-1.0, 1.0}) {
        CAPTURE(row.B1);
        CAPTURE(row.B2);
        CAPTURE(at);
        const Mode from{at < 0 ? 0 : 2};
        const Modes& wanted = at < 0 ? row.minus : row.plus;
        ConsistentJets own(test::dcs_of(switching_dae::own_law(row.B1, row.B2)));
        ConsistentJets relay(make_dcs(nonlinear_systems::RelayForm{row.B1, row.B2}, 3, {sign()}));
        for (ConsistentJets* jets : {&own, &relay}) {
          const Selection found = select(*jets, 0, Vector{{0, at, 0}}, Vector{{at}}, from, {0});
          CHECK(found.complete);
          CHECK(modes(found) == wanted);
          CHECK(found.rejected.size() == 3 - wanted.size());
          for (const auto& [mode, violation] : found.rejected) CHECK(violation > 1e-5);
          for (const Continuation& c : found.admissible) CHECK(c.strict == row.strict);
        }
        // Eq. (36): x₁ ≥ 0 or |x₁|+x₁ = 0; α = ±1 and x₁⁺, x₁⁻. Sliding lies on two corners.
        ConsistentJets pairs(test::dcs_of(switching_dae::lcp_form(row.B1, row.B2)));
        const Vector lambda{{0, at < 0 ? 2.0 : 0.0, 0}};
        const Selection found = select(pairs, 0, Vector{{0, at, 0}}, lambda,
                                       at < 0 ? Mode{0, 1, 1} : Mode{0, 0, 0}, {0, 1, 2});
        CHECK(found.admissible.size() == (row.strict ? wanted.size() : 1));
        std::vector<double> rates, exact;
        for (const Continuation& c : found.admissible) rates.push_back(c.jet.x(0, 1));
        for (const Mode& mode : row.strict ? wanted : Modes{Mode{1}})
          exact.push_back(
              mode[0] == 1 ? 0 : 1 - row.B1 / (mode[0] == 0 ? row.B1 + row.B2 : row.B1 - row.B2));
        std::sort(rates.begin(), rates.end());
        std::sort(exact.begin(), exact.end());
        REQUIRE(rates.size() == exact.size());
        for (std::size_t k = 0; k < rates.size(); ++k) CHECK(std::abs(rates[k] - exact[k]) < 1e-12);
      }
  }

  TEST_CASE("the four switching cases: crossing, sliding, leaving, spontaneous") {
    const auto crossing = [](const auto&, const auto& s) { return 1.1 - 0.9 * s; };
    const auto sliding = [](const auto&, const auto& s) { return -s; };
    const auto leaving = [](const auto& t, const auto& s) { return t - s; };
    const auto spontaneous = [](const auto&, const auto& s) { return 1 * s; };
    const auto check = [](const Selection& found, const Modes& wanted) {
      CHECK(modes(found) == wanted);
      CHECK(found.rejected.size() == 3 - wanted.size());
      for (const Continuation& c : found.admissible) CHECK(c.strict);
    };
    check(select_on_line(crossing, 0, 0), {{2}});
    check(select_on_line(sliding, 0, 0), {{1}});
    check(select_on_line(leaving, 0, 1), {{1}});
    check(select_on_line(leaving, 1, 1), {{2}});
    check(select_on_line(spontaneous, 0, 1), {{0}, {1}, {2}});
  }

  TEST_CASE("a touch of fourth order is weak at level two and decided at level four") {
    const Dcs system = make_dcs(Touch{}, 2, {sign()});
    ConsistentJets two(system, 2), four(system, 4);
    const Selection weak = select(two, 0, Vector{{0, 0}}, Vector{{1}}, {2}, {0}, {.most_levels = 2});
    CHECK(modes(weak) == Modes{{0}, {2}});
    for (const Continuation& c : weak.admissible) CHECK_FALSE(c.strict);
    REQUIRE(weak.rejected.size() == 1);
    CHECK(weak.rejected[0].second == inf);  // the jet does not determine λ
    const Selection sharp = select(four, 0, Vector{{0, 0}}, Vector{{1}}, {2}, {0});
    CHECK(modes(sharp) == Modes{Mode{2}});
    CHECK(sharp.admissible[0].strict);
    const Selection asked = select(two, 0, Vector{{0, 0}}, Vector{{1}}, {2}, {0});
    CHECK(modes(asked) == Modes{Mode{2}});
    CHECK(asked.admissible[0].strict);
    CHECK(asked.admissible[0].jet.x.cols() == 4);  // the series of two levels goes on
  }

  TEST_CASE("a branch that fixes w where time moves it is no mode, which no iteration has to tell") {
    // w1 = sin t at t = pi: products of multipliers, so that modes are looked for from several of them.
    const Dcs system = make_dcs(SwitchedByTime{}, 1, {sign(), step()});
    ConsistentJets jets(system);
    const double t = std::numbers::pi;
    const Selection found = select(jets, t, Vector{{1}}, Vector{{1, 1}}, {2, 2}, {0}, {.most_points = 40, .ended = {0}});
    CHECK(found.complete);
    CHECK(modes(found) == Modes{{0, 2}});
    REQUIRE(found.rejected.size() == 2);
    for (const auto& [mode, violation] : found.rejected) CHECK(std::isfinite(violation));
  }

  TEST_CASE("a touch of second order leads back to the side it came from") {
    ConsistentJets jets(make_dcs(Touch{2}, 2, {sign()}));
    const Selection found = select(jets, 0, Vector{{0, 0}}, Vector{{1}}, {2}, {0});
    CHECK(modes(found) == Modes{Mode{2}});
    CHECK(found.admissible[0].strict);
  }

  TEST_CASE("a ball rests with the force of its weight, leaves with a velocity, and else impacts") {
    ConsistentJets jets(make_dcs(Ball{}, 2, {complementarity()}));
    const Selection rest = select(jets, 0, Vector{{0, 0}}, Vector{{0}}, {0}, {0});
    REQUIRE(modes(rest) == Modes{Mode{1}});
    CHECK(rest.admissible[0].jet.lambda(0, 0) == doctest::Approx(9.81));
    CHECK(modes(select(jets, 0, Vector{{0, 2}}, Vector{{0}}, {1}, {0})) == Modes{Mode{0}});
    CHECK(select(jets, 0, Vector{{0, -2}}, Vector{{0}}, {0}, {0}).admissible.empty());
    ConsistentJets lifted(make_dcs(Ball{-1}, 2, {complementarity()}));
    const Selection leaves = select(lifted, 0, Vector{{0, 0}}, Vector{{0}}, {1}, {0});
    CHECK(modes(leaves) == Modes{Mode{0}});
    CHECK(leaves.admissible[0].strict);
  }

  TEST_CASE("two surfaces are entered together and left together") {
    ConsistentJets jets(make_dcs(TwoSurfaces{}, 3, {2, sign()}));
    const auto from = [&](double x1, const Mode& mode) {
      return select(jets, 0, Vector{{x1, 0.2, 0.4}}, Vector{{-x1, -x1}}, mode, {0, 1});
    };
    const Selection entry = from(0.3, {0, 0});
    REQUIRE(modes(entry) == Modes{Mode{1, 1}});
    CHECK(entry.admissible[0].jet.lambda(0, 0) == doctest::Approx(-0.3));
    const Selection exit = from(1, {1, 1});
    CHECK(modes(exit) == Modes{Mode{0, 0}});
    CHECK(exit.admissible[0].strict);
  }

  TEST_CASE("a product of two multipliers does not hide their sliding") {
    ConsistentJets jets(make_dcs(Bilinear{}, 3, {2, sign()}));
    const double t1 = 0.475062189439555, t2 = 1 / 0.7, t3 = 5.5;
    CHECK(modes(select(jets, t1, Vector{{0.6, 0, 1}}, Vector{{1, 1}}, {2, 2}, {1})) ==
          Modes{Mode{2, 1}});
    const Selection both = select(jets, t2, Vector{{0, 0, 2}}, Vector{{1, 0}}, {2, 1}, {0, 1});
    REQUIRE(modes(both) == Modes{Mode{1, 1}});
    CHECK(both.admissible[0].jet.lambda(0, 0) == doctest::Approx(0.3));
    CHECK(both.admissible[0].jet.lambda(1, 0) == doctest::Approx(0.2 * t2 - 0.1));
    CHECK(modes(select(jets, t3, Vector{{0, 0, 5}}, Vector{{0.3, 1}}, {1, 1}, {0, 1})) ==
          Modes{Mode{1, 2}});
  }

  TEST_CASE("two switches of an exclusive or at one moment have one continuation") {
    ConsistentJets jets(make_dcs(ExclusiveOr{}, 3, {2, step()}));
    const Selection found = select(jets, 0, Vector{{0, 0, 0}}, Vector{{0, 0}}, {0, 0}, {0, 1});
    REQUIRE(modes(found) == Modes{Mode{2, 2}});
    CHECK(found.admissible[0].jet.x(2, 1) == 0);
  }

  TEST_CASE("the soft drink tank enters sliding with the multiplier of its reading") {
    const std::map<std::string, double> entering{{"soft_drink_filippov", 0.533759831268},
                                                 {"soft_drink_paired", 0.00323969087318}};
    for (const auto& [name, lambda] : entering) {
      const auto& shown_name = name;
      CAPTURE(shown_name);
      ConsistentJets jets(tank(name));
      Vector x = read_model(find_model(name)).x0();
      x.head(3) << 0.3767995595486393, 112.49672851802278, 0.001046874232710858;
      CHECK(modes(select(jets, 0, x, Vector{{0}}, {0}, {0})) == Modes{Mode{2}});
      x.head(3) << 2.142570199535172, 112.48093305365549, 0.006101422830242619;
      x = jets.solve({2}, 0, x, Vector{{1}}).x.col(0);
      const Selection entry = select(jets, 0, x, Vector{{1}}, {2}, {0});
      REQUIRE(modes(entry) == Modes{Mode{1}});
      CHECK(entry.admissible[0].jet.lambda(0, 0) == doctest::Approx(lambda));
    }
  }

  TEST_CASE(
      "at the soft drink's pseudo-equilibrium a second sliding root and the exit are listed") {
    ConsistentJets jets(tank("soft_drink_paired"));
    Vector x = read_model(find_model("soft_drink_paired")).x0();
    x.head(3) << 1.18663831582730, 112.432329235283833, 0.0216546447091734;
    const double followed = 0.0338440226276223;
    const Selection found = select(jets, 0, x, Vector{{followed}}, {1}, {0});
    REQUIRE(modes(found) == Modes{{1}, {1}, {2}});
    CHECK(found.admissible[0].jet.lambda(0, 0) == doctest::Approx(followed));
    CHECK(found.admissible[0].jet.x.col(1).head(3).norm() < 1e-9);
    CHECK(found.admissible[1].jet.lambda(0, 0) == doctest::Approx(0.3718748174));
    CHECK(found.admissible[2].jet.lambda(0, 0) == 1);
  }

  TEST_CASE("a law with memory stays in its branch as long as it can") {
    const Law law = hysteresis(1, 2);
    const auto rises = [](const auto&, const auto& s) { return 1 - 2 * s; };
    const Selection inside = select_on_line(rises, 0, 0, law, 1.5);
    CHECK(modes(inside) == Modes{Mode{0}});
    REQUIRE(inside.rejected.size() == 1);
    CHECK(inside.rejected[0] == std::pair<Mode, double>{{1}, 0});
    CHECK(modes(select_on_line(rises, 0, 1, law, 1.5)) == Modes{Mode{1}});
    CHECK(modes(select_on_line(rises, 0, 0, law, 2)) == Modes{Mode{1}});
    CHECK(modes(select_on_line(rises, 0, 1, law, 1)) == Modes{Mode{0}});
  }

  TEST_CASE("kinks of continuous laws are passed in one way") {
    const auto rises = [](const auto&, const auto& s) { return 1 + 0 * s; };
    const auto falls = [](const auto&, const auto& s) { return -1 + 0 * s; };
    CHECK(modes(select_on_line(rises, 0, 0, saturation(-1, 1), -1)) == Modes{Mode{1}});
    CHECK(modes(select_on_line(rises, 0, 1, saturation(-1, 1), 1)) == Modes{Mode{2}});
    CHECK(modes(select_on_line(falls, 0, 2, saturation(-1, 1), 1)) == Modes{Mode{1}});
    CHECK(modes(select_on_line(rises, 0, 0, dead_zone(-1, 1), -1)) == Modes{Mode{1}});
    CHECK(modes(select_on_line(falls, 0, 2, dead_zone(-1, 1), 1)) == Modes{Mode{1}});
    CHECK(modes(select_on_line(falls, 0, 1, absolute(), 0)) == Modes{Mode{0}});
  }

  TEST_CASE("a solution that rests on a kink is one continuation with two modes") {
    const auto rests = [](const auto&, const auto& s) { return 0 * s; };
    const Selection found = select_on_line(rests, 0, 1, saturation(-1, 1), 1);
    REQUIRE(found.admissible.size() == 1);
    CHECK(found.admissible[0].mode == Mode{1});
    CHECK(found.admissible[0].also == Modes{Mode{2}});
    CHECK_FALSE(found.admissible[0].strict);
  }

  TEST_CASE("blocks of a chain stick or slip each by itself, however many start at once") {
    const Chain chain;
    ConsistentJets jets(make_dcs(chain, 16, std::vector<Law>(8, sign())));
    Vector x = Vector::Zero(16);
    x[3] = 1.3;  // the spring forces on blocks 2, 3 and 4 are 1.3, -2.6 and 1.3
    const Selection found =
        select(jets, 0, x, Vector::Zero(8), Mode(8, 1), {0, 1, 2, 3, 4, 5, 6, 7}, {.most = 60});
    CHECK(found.complete);
    REQUIRE(modes(found) == Modes{Mode{1, 1, 2, 0, 2, 1, 1, 1}});
    CHECK(found.admissible[0].jet.lambda(0, 0) == doctest::Approx(0.5));
  }

  TEST_CASE("groups give the same modes as trying every mode") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> number(-1, 1);
    int several = 0, none = 0;
    for (int trial = 0; trial < 60; ++trial) {
      CAPTURE(trial);
      // Laws 0 and 1 share variables, law 2 has its own; all arguments vanish at 0.
      Lcs lcs{.A = Matrix::Zero(3, 3),
              .B = Matrix::Zero(3, 3),
              .C = Matrix::Identity(3, 3),
              .laws = {sign(), complementarity(), relay(-1, 0.5)}};
      Vector b(3);
      for (int i = 0; i < 3; ++i) b[i] = number(random);
      for (const auto& [i, j] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 2}})
        lcs.B(i, j) = number(random);
      lcs.b = b;
      ConsistentJets jets(test::dcs_of(lcs));
      CHECK(jets.groups() == std::vector<int>{0, 0, 1});
      const Vector x = Vector::Zero(3), lambda = Vector::Zero(3);
      const Selection found = select(jets, 0, x, lambda, {1, 0, 1}, {0, 1, 2});
      Modes wanted;
      Mode mode(3, 0);
      do {
        const Jet jet = jets.solve(mode, 0, x, lambda);
        if (jet.consistent && jet.determined &&
            judge_margins(jet, lcs.laws, jets.scales(), {}).admissible)
          wanted.push_back(mode);
      } while (next_mode(mode, lcs.laws));
      CHECK(modes(found) == wanted);
      several += wanted.size() > 1;
      none += wanted.empty();
    }
    CHECK(several > 5);
    CHECK(none > 0);
  }

  TEST_CASE("too many candidates are said to be too many") {
    Lcs lcs{.A = Matrix::Zero(4, 4),
            .B = -Matrix::Ones(4, 4),
            .C = Matrix::Identity(4, 4),
            .laws = std::vector<perp::Law>(4, sign())};
    lcs.B.diagonal().setConstant(-5);
    ConsistentJets jets(test::dcs_of(lcs));
    const Vector zero = Vector::Zero(4);
    CHECK(select(jets, 0, zero, zero, Mode(4, 1), {0, 1, 2, 3}).complete);
    CHECK_FALSE(select(jets, 0, zero, zero, Mode(4, 1), {0, 1, 2, 3}, {.most = 20}).complete);
  }

  TEST_CASE("laws that are decided keep their branch, and their margins count") {
    // Both arguments vanish, but only law 0 is undecided; law 1 cannot stay in λ = −1.
    Lcs lcs{.A = Matrix::Zero(2, 2),
            .B = -Matrix::Identity(2, 2),
            .C = Matrix::Identity(2, 2),
            .laws = std::vector<perp::Law>(2, sign())};
    ConsistentJets jets(test::dcs_of(lcs));
    const Vector zero = Vector::Zero(2);
    CHECK(modes(select(jets, 0, zero, zero, {1, 1}, {0})) == Modes{Mode{1, 1}});
    CHECK(select(jets, 0, zero, zero, {1, 0}, {0}).admissible.empty());
  }

  TEST_CASE("laws that do not exist are refused") {
    ConsistentJets jets(make_dcs(Ball{}, 2, {complementarity()}));
    CHECK_THROWS_WITH_AS(select(jets, 0, Vector{{0, 0}}, Vector{{0}}, {0}, {1}),
                         "undecided must hold numbers of laws, 0 to 0", InvalidInput);
  }
}
