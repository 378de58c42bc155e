#include <doctest/doctest.h>
#include <algorithm>
#include <numeric>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/structure/triangular_form.hpp>
#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

/// Tanks of [WL] eq. (10)-(19) at one moment: the temperatures are known, asked are the binaries z
/// and what follows from them. Unknowns u = (ẋ_1, ..., ẋ_k, y); laws: z_1, z_2 of the first tank,
/// of the second, ..., each 0 or 1, then the two constraints of each tank,
///     (x - lower) (1 - z_1 + z_2) ≥ 0,   (upper - x) (1 - z_2 + z_1) ≥ 0.
/// y, the flow that the open valves share, is the number of them here, which keeps its equation
/// linear and its incidence.
struct Tank {
  double x, lower, upper;
};

Mlcp tanks(const std::vector<Tank>& list) {
  const int k = static_cast<int>(list.size()), p = k + 1, m = 4 * k;
  Mlcp problem{.M11 = Matrix::Zero(p, p),
               .M12 = Matrix::Zero(p, m),
               .q1 = Vector::Zero(p),
               .M21 = Matrix::Zero(m, p),
               .M22 = Matrix::Zero(m, m),
               .q2 = Vector::Zero(m),
               .laws = {}};
  const Law binary{"binary", {{0, 1, 0, {}, {}}, {0, 1, 1, {}, {}}}};
  const Law constraint{"constraint", {{0, 1, 0, {0, inf}, {}}}};
  for (int i = 0; i < k; ++i) {
    const auto [x, lower, upper] = list[static_cast<std::size_t>(i)];
    problem.M11(i, i) = 1;
    problem.M11(i, k) = x / 100;
    problem.M12(i, 2 * i) = x - 80;
    problem.M12(k, 2 * i) = -1;
    const int c = 2 * k + 2 * i;
    problem.M22(c, 2 * i) = -(x - lower);
    problem.M22(c, 2 * i + 1) = problem.q2[c] = x - lower;
    problem.M22(c + 1, 2 * i) = problem.q2[c + 1] = upper - x;
    problem.M22(c + 1, 2 * i + 1) = -(upper - x);
  }
  problem.M11(k, k) = 1;
  problem.laws.assign(static_cast<std::size_t>(2 * k), binary);
  problem.laws.insert(problem.laws.end(), static_cast<std::size_t>(2 * k), constraint);
  return problem;
}

/// A tank that is too cold opens its valve: z_1 = 1, z_2 = 0 is the only pair.
const Tank cold{24, 25, 35}, between{30, 25, 35};
/// No pair satisfies both constraints of a band without an inside.
const Tank impossible{30, 35, 25};

/// The tank of a binary or constraint, -1 for y, -2 for an ẋ.
int tank_of(int law, int k) { return law < 2 * k ? law / 2 : (law - 2 * k) / 2; }

}  // namespace

TEST_SUITE("lcp/three_tank") {
  TEST_CASE("the parts are the sub-problems of [WL] eq. (28): three pairs, y, three derivatives") {
    const int k = 3;
    const Mlcp problem = tanks({cold, between, between});
    CHECK(independent_blocks(problem).size() == 1);  // one sub-set
    const std::vector<Block> parts = triangular_parts(problem);
    std::vector<int> laws_of_tank(static_cast<std::size_t>(k), 0);
    std::vector<int> u_in_order;
    for (const Block& part : parts) {
      if (part.u.empty()) {  // binaries and constraints of one tank only
        REQUIRE_FALSE(part.lambda.empty());
        const int tank = tank_of(part.lambda[0], k);
        for (const int law : part.lambda) CHECK(tank_of(law, k) == tank);
        laws_of_tank[static_cast<std::size_t>(tank)] += static_cast<int>(part.lambda.size());
      } else {
        CHECK(part.u.size() == 1);
        CHECK(part.lambda.empty());
        u_in_order.push_back(part.u[0]);
      }
    }
    CHECK(laws_of_tank == std::vector<int>{4, 4, 4});
    REQUIRE(u_in_order.size() == 4);
    CHECK(u_in_order[0] == k);  // y before the derivatives that it enters
  }

  TEST_CASE("the binaries of a tank are tried for themselves: 3 × 2² combinations, not 2^6") {
    const SolutionSet set = enumerate(tanks({cold, cold, cold}));
    REQUIRE(set.complete);
    REQUIRE(count(set) == 1);
    const Piece piece = pieces(set, 10).at(0);
    CHECK(piece.modes.front() == Mode{1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0});
    CHECK(piece.vertices(3, 0) == 3);  // all three valves share the flow
    // Each further tank adds as many nodes as the last one: the search is a sum over the tanks.
    std::vector<long> nodes;
    for (int k = 3; k <= 30; ++k)
      nodes.push_back(enumerate(tanks(std::vector<Tank>(static_cast<std::size_t>(k), cold))).nodes);
    for (std::size_t i = 2; i < nodes.size(); ++i) CHECK(nodes[i] - nodes[i - 1] <= 40);
  }

  TEST_CASE("a binary affects its sub-problem only: an open pair leaves the others as they are") {
    const SolutionSet set = enumerate(tanks({cold, between, cold}));
    REQUIRE(count(set) == 4);
    for (const Piece& piece : pieces(set, 10)) {
      const Mode& mode = piece.modes.front();
      CHECK(mode[0] == 1);
      CHECK(mode[1] == 0);
      CHECK(mode[4] == 1);
      CHECK(mode[5] == 0);
    }
  }

  TEST_CASE("a sub-problem without a solution ends the search, whatever the others leave open") {
    for (std::size_t place = 0; place < 20; ++place) {
      std::vector<Tank> list(20, between);
      list[place] = impossible;
      const Mlcp problem = tanks(list);
      const SolutionSet set = enumerate(problem, {.max_nodes = 2000});
      CAPTURE(place);
      CHECK(set.complete);
      CHECK(multiplicity(set) == Multiplicity::none);
      CHECK(set.nodes < 600);
    }
  }

  TEST_CASE("in any order the solutions are those of rational arithmetic") {
    const std::vector<Tank> kinds{cold, between, impossible, {36, 25, 35}, {25, 25, 35}};
    for (unsigned seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      test::RandomProblems random(seed);
      std::vector<Tank> list;
      for (int i = 0; i < 3; ++i)
        list.push_back(kinds[static_cast<std::size_t>(random.integer(0, 4))]);
      Mlcp problem = tanks(list);
      std::vector<int> u, laws;
      random.permute(problem, u, laws);
      const SolutionSet found = enumerate(problem), exact = enumerate_exact(problem);
      CHECK(found.complete);
      CHECK(count(found) == count(exact));
      std::vector<Mode> here, there;
      for (const Piece& piece : pieces(found, 1000))
        here.insert(here.end(), piece.modes.begin(), piece.modes.end());
      for (const Piece& piece : pieces(exact, 1000))
        there.insert(there.end(), piece.modes.begin(), piece.modes.end());
      std::sort(here.begin(), here.end());
      std::sort(there.begin(), there.end());
      CHECK(here == there);
    }
  }
}
