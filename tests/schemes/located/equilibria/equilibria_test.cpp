#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/located/equilibria/equilibria.hpp>

#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;

namespace {

Model model_of(const std::string& name) { return read_model(find_model(name)); }

Dcs system_of(const Model& model) {
  return model.equations ? *model.equations : as_dcs(model.lcs());
}

std::vector<Equilibrium> of_kind(const Equilibria& all, EquilibriumKind kind) {
  std::vector<Equilibrium> list;
  std::copy_if(all.found.begin(), all.found.end(), std::back_inserter(list),
               [&](const Equilibrium& e) { return e.kind == kind; });
  return list;
}

/// ẋ = x − x³ and ẏ = −y: three rests.
struct Pitchfork {
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - (x[0] - x[0] * x[0] * x[0]);
    r[1] = xdot[1] + x[1];
  }
};

/// A block on a floor with dry friction, on a spring: it rests wherever |x| ≤ 1.
struct RubbedBlock {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] + x[0] + lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[1]; }
};

/// A ball on a floor.
struct Ball {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] + 9.81 - lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// ẋ = c − λ, ẏ = y² − d − λ with λ ∈ sign(x): slides where |c| ≤ 1, on ẏ = y² − d − c.
struct BoundaryRelay {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] - (-x[0] + (1 - x[0]) * x[1] - 0.5 * lambda[0]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0] + x[1] - 0.5; }
};

struct Sliding {
  double c = 0.5, d = 0.5;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (c - lambda[0]);
    r[1] = xdot[1] - (x[1] * x[1] - d - lambda[0]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

}  // namespace

TEST_SUITE("schemes/located/equilibria") {
  TEST_CASE("a smooth system has its rests with their eigenvalues") {
    const Equilibria all = find_equilibria(make_dcs(Pitchfork{}, 2), 0, Vector{{0.3, 1}});
    REQUIRE(all.found.size() == 3);
    CHECK(all.complete);
    for (int k = 0; k < 3; ++k) {
      const Equilibrium& e = all.found[static_cast<std::size_t>(k)];
      CHECK(std::abs(e.x[0] - (k - 1)) < 1e-12);
      CHECK(std::abs(e.x[1]) < 1e-12);
      CHECK(e.kind == EquilibriumKind::regular);
      CHECK(e.stability == (k == 1 ? Stability::saddle : Stability::attracting));
      CHECK(e.eigenvalues[0].real() == doctest::Approx(k == 1 ? 1 : -1));
      CHECK(e.continuations.size() == 1);
    }
  }

  TEST_CASE("a rest that some solutions leave and none approaches is no saddle") {
    const Model model = read_model_text(
        "[variables]\nx = 1\ny = 1\n[model]\nequations = [\"der(x) = x - y\", \"der(y) = y - x\"]\n[run]\nt = [0, 1]\n",
        "line_of_rests.toml");
    const Equilibria all = find_equilibria(system_of(model), 0, model.x0());
    REQUIRE(all.found.size() == 1);
    CHECK_FALSE(all.found[0].isolated);
    CHECK(all.found[0].stability == Stability::unstable);  // eigenvalues 0 and 2
  }

  TEST_CASE("the soft drink tank rests at its pseudo-equilibria, in both readings") {
    for (const std::string reading : {"filippov", "paired"}) {
      CAPTURE(reading);
      const auto data = switching_dae::load("s004_soft_drink_" + reading)["pseudo_equilibrium"];
      const Model model = model_of("soft_drink_" + reading);
      const Equilibria all = find_equilibria(system_of(model), 0, model.x0());
      const auto found = of_kind(all, EquilibriumKind::pseudo);
      const double lambda = data["lambda"];
      const auto e = std::find_if(found.begin(), found.end(), [&](const Equilibrium& other) {
        return std::abs(other.lambda[0] - lambda) < 1e-9;
      });
      REQUIRE(e != found.end());
      for (int j = 0; j < 3; ++j) {
        const double wanted = data["x"][static_cast<std::size_t>(j)];
        CHECK(std::abs(e->x[j] - wanted) < 1e-9);
      }
      CHECK(e->isolated);
      CHECK(e->stability == Stability::attracting);
      // The reference lists the eigenvalues of the field in three coordinates: 0 is across.
      REQUIRE(e->eigenvalues.size() == 2);
      const double slow = data["eigenvalues_of_sliding_field"][1][0],
                   fast = data["eigenvalues_of_sliding_field"][0][0];
      CHECK(e->eigenvalues[0].real() == doctest::Approx(slow).epsilon(1e-8));
      CHECK(e->eigenvalues[1].real() == doctest::Approx(fast).epsilon(1e-8));
    }
  }

  TEST_CASE("Example 3.1 of [BJ] has a repelling pseudo-equilibrium at the origin") {
    const Model model = model_of("filippov_dae");
    const Equilibria all = find_equilibria(system_of(model), 0, model.x0());
    const auto found = of_kind(all, EquilibriumKind::pseudo);
    REQUIRE(found.size() == 1);
    CHECK(found[0].x.norm() < 1e-10);
    CHECK(found[0].lambda[0] == doctest::Approx(15.0 / 16));
    REQUIRE(found[0].eigenvalues.size() == 1);
    CHECK(found[0].eigenvalues[0].real() == doctest::Approx(7.0 / 8));
    CHECK(found[0].continuations.size() == 1);
  }

  TEST_CASE("beyond the range of its multiplier a rest is virtual, at the end it is a boundary") {
    const auto kinds = [](double c) {
      std::vector<EquilibriumKind> list;
      for (const Equilibrium& e :
           find_equilibria(make_dcs(Sliding{c, 1}, 2, {sign()}), 0, Vector{{0.1, 1}}).found)
        if (std::count(e.mode.begin(), e.mode.end(), 1)) list.push_back(e.kind);
      return list;
    };
    CHECK(kinds(0.5) == std::vector<EquilibriumKind>(2, EquilibriumKind::pseudo));
    CHECK(kinds(1.5) == std::vector<EquilibriumKind>(2, EquilibriumKind::outside));
    // c = 1: λ = 1 on sliding; the right mode rests on the whole line x > 0, y² = 2 as well
    const auto end = find_equilibria(make_dcs(Sliding{1, 1}, 2, {sign()}), 0, Vector{{0.1, 1}});
    for (const Equilibrium& e : end.found)
      if (e.mode == Mode{1}) CHECK(e.kind == EquilibriumKind::boundary);
  }

  TEST_CASE("a repulsive sliding set has rests from which other solutions start") {
    struct Case {
      double sign;
      std::size_t continuations;
    };
    for (const Case c : {Case{-1, 1}, Case{1, 3}}) {
      // ẋ = ±λ on sign(x)
      Lcs lcs{.A = Matrix{{0}}, .B = Matrix{{c.sign}}, .C = Matrix{{1}}, .laws = {sign()}};
      const auto found =
          of_kind(find_equilibria(as_dcs(lcs), 0, Vector{{0.2}}), EquilibriumKind::pseudo);
      REQUIRE(found.size() == 1);
      CHECK(found[0].continuations.size() == c.continuations);
    }
  }

  TEST_CASE("of a rest at a boundary the flow of one mode alone says nothing") {
    // x' = y, y' = -x + (1 - x) y - 0.5 sign(x + y - 0.5): at (0.5, 0) one mode spirals out, the other slides in.
    const auto found = of_kind(find_equilibria(make_dcs(BoundaryRelay{}, 2, {sign()}), 0, Vector{{0.5, 0.1}}), EquilibriumKind::boundary);
    REQUIRE(found.size() == 1);
    CHECK(found[0].overall == Stability::unknown);
    REQUIRE(found[0].in_also.size() == found[0].also.size());
    CHECK(found[0].stability != found[0].in_also.at(0));
  }

  TEST_CASE("a rest on a surface is what its flow and its sides are together: node, saddle, or left on both sides") {
    // x' = c - λ comes from both sides; y' = y² - 1.5 on the surface
    const auto node_and_saddle = of_kind(find_equilibria(make_dcs(Sliding{0.5, 1}, 2, {sign()}), 0, Vector{{0.1, 1}}), EquilibriumKind::pseudo);
    REQUIRE(node_and_saddle.size() == 2);
    for (const Equilibrium& e : node_and_saddle) {
      CHECK(e.stability == (e.x[1] > 0 ? Stability::repelling : Stability::attracting));
      CHECK(e.overall == (e.x[1] > 0 ? Stability::saddle : Stability::attracting));
      REQUIRE(e.sides.size() == 2);
      for (const Equilibrium::Side& side : e.sides) CHECK_FALSE(side.leaves);
      CHECK(e.sides[0].mode == Mode{0});
      CHECK(e.sides[1].mode == Mode{2});
    }
    for (const double direction : {-1.0, 1.0}) {  // ẋ = ±λ on sign(x): nothing moves on the surface
      Lcs lcs{.A = Matrix{{0}}, .B = Matrix{{direction}}, .C = Matrix{{1}}, .laws = {sign()}};
      const auto found = of_kind(find_equilibria(as_dcs(lcs), 0, Vector{{0.2}}), EquilibriumKind::pseudo);
      REQUIRE(found.size() == 1);
      CHECK(found[0].stability == Stability::rigid);
      CHECK(found[0].overall == (direction > 0 ? Stability::repelling : Stability::attracting));
      for (const Equilibrium::Side& side : found[0].sides) CHECK(side.leaves == (direction > 0));
    }
    // Two thresholds: from two of the four corners solutions come to their crossing, into the others they leave.
    const Model toggle = model_of("gene_toggle");
    const auto crossing = of_kind(find_equilibria(system_of(toggle), 0, toggle.x0()), EquilibriumKind::pseudo);
    REQUIRE(crossing.size() == 1);
    CHECK(crossing[0].overall == Stability::saddle);
    CHECK(std::ranges::count(crossing[0].sides, true, &Equilibrium::Side::leaves) == 2);
    CHECK(std::ranges::count(crossing[0].sides, false, &Equilibrium::Side::leaves) == 2);
  }

  TEST_CASE("a continuum of rests is one entry that is not isolated") {
    const auto found =
        of_kind(find_equilibria(make_dcs(RubbedBlock{}, 2, {sign()}), 0, Vector{{0.3, 0}}),
                EquilibriumKind::pseudo);
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].isolated);
    CHECK(found[0].x[0] == doctest::Approx(-found[0].lambda[0]));
    CHECK(found[0].x[0] > 0);  // near to x = 0.3, λ = 0
    CHECK(found[0].x[0] < 0.3);
    CHECK(found[0].stability == Stability::marginal);
  }

  TEST_CASE("a line of rests that repels is no saddle: nothing is drawn to it") {
    const Lcs lcs{.E = Matrix{{1, 0}, {0, 1}}, .A = Matrix{{1, -1}, {-1, 1}}, .B = Matrix(2, 0),
                  .C = Matrix(0, 2), .D = Matrix(0, 0)};
    const Equilibria all = find_equilibria(as_dcs(lcs), 0, Vector{{0.1, 2}});
    REQUIRE(all.found.size() == 1);
    CHECK(all.found[0].stability == Stability::unstable);
  }

  TEST_CASE("a ball rests on the floor with its weight, and its contact has no flow of its own") {
    const Equilibria all =
        find_equilibria(make_dcs(Ball{}, 2, {complementarity()}), 0, Vector{{1, 0}});
    REQUIRE(all.found.size() == 1);
    CHECK(all.found[0].mode == Mode{1});
    CHECK(all.found[0].kind == EquilibriumKind::regular);
    CHECK(all.found[0].lambda[0] == doctest::Approx(9.81));
    CHECK(all.found[0].eigenvalues.empty());
  }

  TEST_CASE("every rest solves its equations, whatever the seed") {
    const Model model = model_of("predator_prey");
    const Dcs system = system_of(model);
    for (const unsigned seed : {1U, 2U, 3U}) {
      const Equilibria all = find_equilibria(system, 0, model.x0(), {.seed = seed});
      CHECK(all.found.size() >= 2);
      for (const Equilibrium& e : all.found) CHECK(e.residual <= 1e-10);
    }
  }

  TEST_CASE("the same seed gives the same list") {
    const Model model = model_of("gene_toggle");
    const Dcs system = system_of(model);
    const Equilibria one = find_equilibria(system, 0, model.x0()),
                     two = find_equilibria(system, 0, model.x0());
    REQUIRE(one.found.size() == two.found.size());
    CHECK(one.found.size() > 0);
    for (std::size_t k = 0; k < one.found.size(); ++k) CHECK(one.found[k].x == two.found[k].x);
  }

  TEST_CASE("equations that change with time rest only for a moment") {
    const Model model = model_of("forced_dry_friction");
    const Equilibria all = find_equilibria(system_of(model), 0.5, model.x0());
    for (const Equilibrium& e : all.found) CHECK_FALSE(e.constant);
  }

  TEST_CASE("wrong sizes and too many modes are told") {
    const Dcs ball = make_dcs(Ball{}, 2, {complementarity()});
    CHECK_THROWS_WITH_AS(find_equilibria(ball, 0, Vector{{1}}), "x must have 2 entries but has 1",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(find_equilibria(ball, 0, Vector{{1, 0}}, {.starts = 0}),
                         "starts must be at least 1 but is 0", InvalidInput);
    CHECK_FALSE(find_equilibria(ball, 0, Vector{{1, 0}}, {.most_modes = 1}).complete);
  }
}
