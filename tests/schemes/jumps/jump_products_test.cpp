#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <perp/core/base/error.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;
using switching_dae::own_law;

namespace {

/// Systems side by side that know nothing of each other; the variables of all stand in `order`.
Lcs side_by_side(const std::vector<Lcs>& systems, const std::vector<int>& order) {
  int n = 0, m = 0;
  for (const Lcs& system : systems) {
    n += system.n();
    m += system.m();
  }
  Matrix E = Matrix::Zero(n, n), A = E, B = Matrix::Zero(n, m), C = Matrix::Zero(m, n),
         D = Matrix::Zero(m, m);
  Vector b = Vector::Zero(n), q = Vector::Zero(m);
  std::vector<Law> laws;
  int at = 0, law = 0;
  for (const Lcs& system : systems) {
    const int k = system.n(), l = system.m();
    E.block(at, at, k, k) = system.E;
    A.block(at, at, k, k) = system.A;
    B.block(at, law, k, l) = system.B;
    C.block(law, at, l, k) = system.C;
    D.block(law, law, l, l) = system.D;
    b.segment(at, k) = system.b(0);
    q.segment(law, l) = system.q(0);
    laws.insert(laws.end(), system.laws.begin(), system.laws.end());
    at += k;
    law += l;
  }
  return {.E = E(Eigen::all, order),
          .A = A(Eigen::all, order),
          .B = B,
          .b = b,
          .C = C(Eigen::all, order),
          .D = D,
          .q = q,
          .laws = laws};
}

std::vector<int> in_order(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Points of x2 ∈ |x1| + sign(x1) and beside it.
const std::vector<std::pair<double, double>> starts{{0, -1}, {0, 1}, {0, 0.5}, {-1, 0},
                                                    {2, 3},  {1, 2}, {0, 0},   {-0.5, 1.5}};
const std::vector<std::pair<double, double>> fields{{1, 2}, {2, 1},      {-1, 0.5},
                                                    {1, 1}, {0.5, 0.25}, {-0.5, 1}};

/// The states of a list, each of x with a column of E, sorted.
std::vector<std::vector<double>> states(const ConsistentJumps& found, const Matrix& E) {
  std::vector<std::vector<double>> list;
  for (const ConsistentJump& jump : found.jumps) {
    list.emplace_back();
    for (Eigen::Index j = 0; j < E.cols(); ++j)
      if (!E.col(j).isZero(0)) list.back().push_back(std::round(1e9 * jump.x()[j]) * 1e-9 + 0.0);
  }
  std::sort(list.begin(), list.end());
  return list;
}

/// ‖E (x⁺ - x⁻)‖, where algebraic variables may be unknown.
double way(const Vector& after, const Vector& before, const Matrix& E) {
  Vector change = after - before;
  for (Eigen::Index j = 0; j < change.size(); ++j)
    if (E.col(j).isZero(0)) change[j] = 0;
  return (E * change).norm();
}

/// ẋ = λ - 1/2 with w = x: a two-point controller without a rest.
Lcs controller() {
  return {.E = Matrix{{1}},
          .A = Matrix{{0}},
          .B = Matrix{{1}},
          .b = Vector{{-0.5}},
          .C = Matrix{{1}},
          .D = Matrix{{0}},
          .q = Vector{{0}},
          .laws = {hysteresis(-1, 1)}};
}

/// z moves x1 onto x1 = λ, the value of a two-point controller of x2, ẋ2 = 0: jumps to 0 or to 1.
Lcs follower() {
  return {.E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
          .A = Matrix{{0, 0, 1}, {0, 0, 0}, {-1, 0, 0}},
          .B = Matrix{{0}, {0}, {1}},
          .b = Vector{{0, 0, 0}},
          .C = Matrix{{0, 1, 0}},
          .D = Matrix{{0}},
          .q = Vector{{0}},
          .laws = {hysteresis(-1, 1)}};
}

std::vector<Mode> modes(const ConsistentJumps& found) {
  std::vector<Mode> list;
  for (const ConsistentJump& jump : found.jumps)
    for (const ContinuousStart& start : jump.continuations) list.push_back(start.mode);
  return list;
}

}  // namespace

TEST_SUITE("schemes/jump_products") {
  TEST_CASE("ten independent copies have the jumps of the single systems, in product form") {
    std::vector<Lcs> systems;
    Vector x(30);
    Integer count = 1;
    double least = 0;
    long nodes = 0;
    std::vector<ConsistentJumps> single;
    for (int k = 0; k < 10; ++k) {
      const Vector start{{0, k % 2 == 0 ? -1.0 : 1.0, 0}};
      systems.push_back(own_law(-1 - 0.25 * k, 0.5));
      x.segment(3 * k, 3) = start;
      single.push_back(consistent_jumps(systems.back(), start, 0));
      REQUIRE(single.back().status == Status::solved);
      count *= single.back().jumps.size();
      nodes += single.back().nodes;
      least = std::hypot(least, single.back().jumps[0].amplitude);
    }
    const ConsistentJumps found = consistent_jumps(side_by_side(systems, in_order(30)), x, 0);
    CHECK(found.status == Status::solved);
    CHECK((found.count() == count));
    CHECK(found.nodes == nodes);
    CHECK(found.jumps[0].amplitude == doctest::Approx(least));
    for (std::size_t k = 0; k < 10; ++k) {
      std::size_t matches = 0;
      for (const JumpBlock& block : found.blocks) {
        if (block.x[0] != static_cast<int>(3 * k)) continue;
        REQUIRE(block.jumps.size() == single[k].blocks[0].jumps.size());
        for (std::size_t j = 0; j < block.jumps.size(); ++j) {
          CHECK(block.jumps[j].x() == single[k].blocks[0].jumps[j].x());
          CHECK(block.jumps[j].amplitude == single[k].blocks[0].jumps[j].amplitude);
          ++matches;
        }
      }
      CHECK(matches == single[k].blocks[0].jumps.size());
    }
  }

  TEST_CASE("2^100 jumps of a hundred copies are counted and the smallest listed") {
    std::vector<Lcs> systems(100, own_law(1, 1));
    Vector x(300);
    for (int k = 0; k < 100; ++k) x.segment(3 * k, 3) = Vector{{2, 3, 0}};
    const ConsistentJumps one = consistent_jumps(own_law(1, 1), Vector{{2, 3, 0}}, 0);
    REQUIRE(one.jumps.size() == 2);
    const ConsistentJumps found =
        consistent_jumps(side_by_side(systems, in_order(300)), x, 0, {.most_listed = 102});
    CHECK(found.status == Status::solved);
    CHECK(found.count().str() == "1267650600228229401496703205376");  // 2^100
    CHECK_FALSE(found.all_listed);
    REQUIRE(found.jumps.size() == 102);
    // all small ones, then one of the large ones in each copy, then two
    const double small = one.jumps[0].amplitude, large = one.jumps[1].amplitude;
    const auto together = [&](int number) {
      return std::sqrt((100 - number) * small * small + number * large * large);
    };
    CHECK(found.jumps[0].amplitude == doctest::Approx(together(0)).epsilon(1e-12));
    for (std::size_t k = 1; k <= 100; ++k)
      CHECK(found.jumps[k].amplitude == doctest::Approx(together(1)).epsilon(1e-12));
    CHECK(found.jumps[101].amplitude == doctest::Approx(together(2)).epsilon(1e-12));
  }

  TEST_CASE("the products are the jumps that a search of everything at once finds") {
    // Sums of equations couple the blocks without changing what they say.
    std::mt19937 random(7);
    std::uniform_int_distribution<std::size_t> field(0, fields.size() - 1),
        start(0, starts.size() - 1);
    int with_products = 0, without = 0;
    for (int instance = 0; instance < 60; ++instance) {
      CAPTURE(instance);
      std::vector<Lcs> systems;
      Vector x(6);
      for (int k = 0; k < 2; ++k) {
        const auto [B1, B2] = fields[field(random)];
        systems.push_back(own_law(B1, B2));
        const auto [x1, x2] = starts[start(random)];
        x.segment(3 * k, 3) = Vector{{x1, x2, 0}};
      }
      std::vector<int> order = in_order(6);
      std::shuffle(order.begin(), order.end(), random);
      const Lcs lcs = side_by_side(systems, order);
      const Vector shuffled = x(order);
      const ConsistentJumps found = consistent_jumps(lcs, shuffled, 0);
      Matrix mix = Matrix::Identity(6, 6);
      mix.topRightCorner(3, 3).setIdentity();
      Lcs coupled = lcs;
      coupled.E = mix * lcs.E;
      coupled.A = mix * lcs.A;
      coupled.B = mix * lcs.B;
      coupled.b = Vector(mix * lcs.b(0));
      const ConsistentJumps judge = consistent_jumps(coupled, shuffled, 0);
      CHECK(found.blocks.size() == 2);
      REQUIRE(judge.blocks.size() == 1);
      CHECK(found.status == judge.status);
      CHECK(found.has_continuum() == judge.has_continuum());
      if (judge.has_continuum()) continue;
      CHECK(states(found, lcs.E) == states(judge, coupled.E));
      for (const ConsistentJump& jump : found.jumps)
        CHECK(jump.amplitude == doctest::Approx(way(jump.x(), shuffled, lcs.E)));
      with_products += found.jumps.size() > 1;
      without += found.jumps.empty();
    }
    CHECK(with_products > 5);
    CHECK(without > 5);
  }

  TEST_CASE("modes, multipliers and impulses stand at their places among all variables") {
    const std::vector<int> order{4, 0, 3, 2, 5, 1};
    const Lcs lcs = side_by_side({own_law(1, 2), own_law(2, 1)}, order);
    Vector x(6);
    x << 0, -1, 0, -1, 0, 0;
    const ConsistentJumps found = consistent_jumps(lcs, Vector(x(order)), 0);
    REQUIRE(found.jumps.size() == 2);
    // the first copy jumps from (0, -1) to (2, 3) by z: 2, the second one goes on from (-1, 0) or
    // jumps farther
    const ConsistentJump& jump = found.jumps[0];
    CHECK(jump.continuations.size() == 1);
    CHECK(jump.continuations[0].mode == Mode{2, 0});
    CHECK(jump.x()[1] == doctest::Approx(2));
    CHECK(jump.x()[5] == doctest::Approx(3));
    CHECK(jump.x()[2] == doctest::Approx(-1));
    CHECK(jump.impulse_x[3] == doctest::Approx(2));
    CHECK(jump.impulse_x[4] == doctest::Approx(0));
    CHECK(jump.continuations[0].lambda[0] == doctest::Approx(3));
    CHECK(jump.amplitude == doctest::Approx(std::sqrt(20)));
  }

  TEST_CASE("one block without a jump: there is none, however far another is searched") {
    const Lcs lcs = side_by_side({own_law(2, 1), own_law(-1, 0.5)}, in_order(6));
    Vector x(6);
    x << 0, -1, 0, 0, -1, 0;
    const long first = consistent_jumps(own_law(2, 1), Vector{{0, -1, 0}}, 0).nodes;
    const ConsistentJumps found = consistent_jumps(lcs, x, 0, {.max_nodes = first + 1});
    CHECK(found.status == Status::no_solution);
    CHECK(found.jumps.empty());
    CHECK_FALSE(found.blocks[1].complete);
    const Lcs other = side_by_side({own_law(-1, 0.5), own_law(-1, 0.5)}, in_order(6));
    const ConsistentJumps ended = consistent_jumps(other, x, 0, {.max_nodes = first + 1});
    CHECK(ended.status == Status::not_enumerated);
  }

  TEST_CASE("a continuum of one block has the other's point in its ends and directions") {
    // x2 on the vertical branch of sign(x1) at x1 = 0 beside a system that jumps
    const Lcs segment{.E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                      .A = Matrix{{0, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                      .B = Matrix{{0}, {0}, {1}},
                      .b = Vector{{0, 0, 0}},
                      .C = Matrix{{1, 0, 0}},
                      .D = Matrix{{0}},
                      .q = Vector{{0}},
                      .laws = {sign()}};
    const Lcs lcs = side_by_side({segment, own_law(1, 2)}, in_order(6));
    const ConsistentJumps found = consistent_jumps(lcs, Vector{{0, 0.5, 0, 0, -1, 0}}, 0);
    CHECK(found.has_continuum());
    const auto continuum =
        std::find_if(found.jumps.begin(), found.jumps.end(),
                     [](const ConsistentJump& jump) { return jump.is_continuum; });
    REQUIRE(continuum != found.jumps.end());
    REQUIRE(continuum->vertices.cols() == 2);
    CHECK(continuum->vertices.row(1).minCoeff() == -1);
    CHECK(continuum->vertices.row(1).maxCoeff() == 1);
    for (Eigen::Index k = 0; k < 2; ++k) {
      CHECK(continuum->vertices(3, k) == doctest::Approx(2));
      CHECK(continuum->vertices(4, k) == doctest::Approx(3));
    }
  }

  TEST_CASE(
      "a system without laws and one without equations are products of nothing or of points") {
    const Lcs decay{.E = Matrix{{1, 0}, {0, 1}},
                    .A = Matrix{{-1, 0}, {0, -2}},
                    .B = Matrix(2, 0),
                    .b = Vector{{0, 0}},
                    .C = Matrix(0, 2)};
    const ConsistentJumps found = consistent_jumps(decay, Vector{{1, 2}}, 0);
    CHECK(found.blocks.size() == 2);
    REQUIRE(found.jumps.size() == 1);
    CHECK(found.starts_continuously());
    CHECK(found.jumps[0].x() == Vector{{1, 2}});
  }

  TEST_CASE("a law with memory goes on in its present branch where it can") {
    for (const double x : {-0.5, 0.0, 0.5}) {
      const ConsistentJumps any = consistent_jumps(controller(), Vector{{x}}, 0);
      CHECK(any.starts_continuously());
      CHECK(modes(any) == std::vector<Mode>{{0}, {1}});
      for (const int present : {0, 1})
        CHECK(modes(consistent_jumps(controller(), Vector{{x}}, 0, {.present = {present}})) ==
              std::vector<Mode>{{present}});
    }
    // At its end the branch is left: x falls while λ = 0 and grows while λ = 1.
    CHECK(modes(consistent_jumps(controller(), Vector{{1}}, 0, {.present = {1}})) ==
          std::vector<Mode>{{1}});
    CHECK(modes(consistent_jumps(controller(), Vector{{2}}, 0, {.present = {0}})) ==
          std::vector<Mode>{{1}});
    CHECK(modes(consistent_jumps(controller(), Vector{{-2}}, 0, {.present = {1}})) ==
          std::vector<Mode>{{0}});
  }

  TEST_CASE(
      "a jump respects the memory: a longer one in the present branch counts, others do not") {
    // From x1 = 3/4 to 0 in the first branch, to 1 in the second.
    for (const double x2 : {-0.5, 0.5}) {
      const Vector x{{0.75, x2, 0}};
      const ConsistentJumps any = consistent_jumps(follower(), x, 0);
      REQUIRE(any.jumps.size() == 2);
      CHECK(any.jumps[0].x()[0] == doctest::Approx(1));
      const ConsistentJumps first = consistent_jumps(follower(), x, 0, {.present = {0}});
      REQUIRE(first.jumps.size() == 1);
      CHECK(first.jumps[0].x()[0] == doctest::Approx(0));
      CHECK(first.jumps[0].amplitude == doctest::Approx(0.75));
      const ConsistentJumps second = consistent_jumps(follower(), x, 0, {.present = {1}});
      REQUIRE(second.jumps.size() == 1);
      CHECK(second.jumps[0].x()[0] == doctest::Approx(1));
    }
    // Beyond the band there is one branch, whatever was before.
    const ConsistentJumps beyond =
        consistent_jumps(follower(), Vector{{0.75, 2, 0}}, 0, {.present = {0}});
    REQUIRE(beyond.jumps.size() == 1);
    CHECK(beyond.jumps[0].x()[0] == doctest::Approx(1));
  }

  TEST_CASE("each block keeps what it can of its own memory") {
    const Lcs lcs = side_by_side({follower(), controller(), follower()}, in_order(7));
    const Vector x{{0.75, 0, 0, 0, 0.25, 2, 0}};
    const ConsistentJumps any = consistent_jumps(lcs, x, 0);
    CHECK((any.count() == 2));
    CHECK(modes(any).size() == 4);
    const ConsistentJumps found = consistent_jumps(lcs, x, 0, {.present = {0, 1, 0}});
    CHECK(modes(found) == std::vector<Mode>{{0, 1, 1}});
  }

  TEST_CASE("a present mode that does not fit the laws is refused") {
    CHECK_THROWS_WITH_AS(consistent_jumps(controller(), Vector{{0}}, 0, {.present = {0, 1}}),
                         "present must have 1 entries or none but has 2", InvalidInput);
    CHECK_THROWS_AS(consistent_jumps(controller(), Vector{{0}}, 0, {.present = {2}}), InvalidInput);
  }
}
