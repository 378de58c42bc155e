#include <doctest/doctest.h>
#include <map>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/enumeration/point_maps.hpp>
#include <perp/lcp/enumeration/triangular_search.hpp>
#include <perp/lcp/structure/triangular_form.hpp>
#include <perp/tests/lcp/compare_sets.hpp>
#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

/// `parts` one after the other on the diagonal.
Mlcp stacked(const std::vector<Mlcp>& parts) {
  int p = 0, m = 0;
  for (const Mlcp& part : parts) {
    p += part.p();
    m += part.m();
  }
  Mlcp all{.M11 = Matrix::Zero(p, p),
           .M12 = Matrix::Zero(p, m),
           .q1 = Vector(p),
           .M21 = Matrix::Zero(m, p),
           .M22 = Matrix::Zero(m, m),
           .q2 = Vector(m),
           .laws = {}};
  int i = 0, j = 0;
  for (const Mlcp& part : parts) {
    all.M11.block(i, i, part.p(), part.p()) = part.M11;
    all.M12.block(i, j, part.p(), part.m()) = part.M12;
    all.M21.block(j, i, part.m(), part.p()) = part.M21;
    all.M22.block(j, j, part.m(), part.m()) = part.M22;
    all.q1.segment(i, part.p()) = part.q1;
    all.q2.segment(j, part.m()) = part.q2;
    all.laws.insert(all.laws.end(), part.laws.begin(), part.laws.end());
    i += part.p();
    j += part.m();
  }
  return all;
}

/// Parts of one family, each pushed by some unknowns of earlier ones with small integer factors.
Mlcp one_way(test::RandomProblems& random, const std::string& family, int count) {
  std::vector<Mlcp> parts;
  for (int k = 0; k < count; ++k) parts.push_back(random.make(family));
  Mlcp all = stacked(parts);
  int i = 0, j = 0;  // where the present part begins
  for (const Mlcp& part : parts) {
    const auto push = [&](auto&& row, int before) {
      if (before > 0 && random.chance(0.6))
        row[random.integer(0, before - 1)] = random.integer(-2, 2);
    };
    for (int k = i; k < i + part.p(); ++k) {
      push(all.M11.row(k), i);
      push(all.M12.row(k), j);
    }
    for (int k = j; k < j + part.m(); ++k) {
      push(all.M21.row(k), i);
      push(all.M22.row(k), j);
    }
    i += part.p();
    j += part.m();
  }
  return all;
}

/// w = 1 - λ: solved by λ = 0 and by λ = 1.
Mlcp two_points() {
  return {.M11 = Matrix(0, 0),
          .M12 = Matrix(0, 1),
          .q1 = Vector(0),
          .M21 = Matrix(1, 0),
          .M22 = Matrix{{-1}},
          .q2 = Vector{{1}},
          .laws = {complementarity()}};
}

int needed_rows(const Mlcp& problem, const std::vector<Block>& parts) {
  const int p = problem.p(), m = problem.m();
  std::vector<bool> known(static_cast<std::size_t>(p + m), false);
  int wrong = 0;
  for (const Block& part : parts) {
    for (const int j : part.u) known[static_cast<std::size_t>(j)] = true;
    for (const int j : part.lambda) known[static_cast<std::size_t>(p + j)] = true;
    for (int j = 0; j < p + m; ++j) {
      if (known[static_cast<std::size_t>(j)]) continue;
      for (const int i : part.equations)
        wrong += (j < p ? problem.M11(i, j) : problem.M12(i, j - p)) != 0;
      for (const int i : part.lambda)
        wrong += (j < p ? problem.M21(i, j) : problem.M22(i, j - p)) != 0;
    }
  }
  return wrong;
}

}  // namespace

TEST_SUITE("lcp/triangular_search") {
  TEST_CASE("each part of the triangular form needs earlier unknowns only, in any numbering") {
    int split = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
      CAPTURE(seed);
      test::RandomProblems random(seed);
      Mlcp problem = one_way(random, "index2_step", random.integer(1, 5));
      std::vector<int> u, laws;
      random.permute(problem, u, laws);
      const std::vector<Block> parts = triangular_parts(problem);
      CHECK(needed_rows(problem, parts) == 0);
      std::size_t unknowns = 0, equations = 0, all_laws = 0;
      for (const Block& part : parts) {
        CHECK(part.u.size() == part.equations.size());
        unknowns += part.u.size();
        equations += part.equations.size();
        all_laws += part.lambda.size();
      }
      CHECK(unknowns == u.size());
      CHECK(equations == u.size());
      CHECK(all_laws == laws.size());
      split += parts.size() > 1;
    }
    CHECK(split > 200);
  }

  TEST_CASE("a law whose w and λ are matched elsewhere stays one part with them") {
    // 0 = λ₁ - 1 fixes λ₁, w₁ = u: neither row holds the unknown of its own diagonal
    Mlcp problem = two_points();
    problem.M11 = Matrix{{0}};
    problem.M12 = Matrix{{1}};
    problem.q1 = Vector{{-1}};
    problem.M21 = Matrix{{1}};
    problem.M22 = Matrix{{0}};
    problem.q2 = Vector{{0}};
    CHECK(triangular_parts(problem).size() == 1);
    const SolutionSet set = enumerate(problem);
    REQUIRE(count(set) == 1);
    CHECK(set.blocks[0].pieces[0].vertices.col(0) == Vector{{0, 1}});
  }

  TEST_CASE("random one-way couplings: the same set as in rational arithmetic") {
    std::map<Multiplicity, int> seen;
    int split = 0;
    // without the family "scaled": couplings of size 1 between parts in units of their own have no
    // meaning; the units of the whole are changed instead
    for (const std::string family : {"index2_step", "lcp", "relay", "mixed", "degenerate", "laws"})
      for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(family);
        CAPTURE(seed);
        test::RandomProblems random(seed + 7000);
        const bool large = family == "index2_step" || family == "laws" || family == "lcp";
        Mlcp problem = one_way(random, family, large ? 2 : random.integer(2, 3));
        if (problem.m() > 7) continue;
        const auto compare = [&] {
          const SolutionSet exact = enumerate_exact(problem), found = enumerate(problem);
          CHECK(found.complete);
          CHECK(test::difference(found, exact, test::units(problem), 1e-12) == "");
          split += triangular_parts(problem).size() > 1;
          return multiplicity(found);
        };
        const Multiplicity first = compare();
        ++seen[first];
        std::vector<int> u, laws;
        random.permute(problem, u, laws);
        CHECK(compare() == first);
        random.change_units(problem, 20);
        CHECK(compare() == first);
      }
    CHECK(split > 300);
    for (const Multiplicity kind :
         {Multiplicity::none, Multiplicity::unique, Multiplicity::finite, Multiplicity::continuum})
      CHECK(seen[kind] > 10);
  }

  TEST_CASE("a chain of ten parts with two solutions each has 1024, found in few nodes") {
    std::vector<Mlcp> parts(10, two_points());
    Mlcp problem = stacked(parts);
    for (int i = 1; i < 10; ++i) problem.M22(i, i - 1) = 1.0 / 64;  // w_i = 1 - λ_i + λ_{i-1}/64
    const SolutionSet set = enumerate(problem);
    CHECK(set.complete);
    CHECK(set.blocks.size() == 1);
    CHECK(count(set) == 1024);
    CHECK(set.nodes < 5000);
    for (const Piece& piece : set.blocks[0].pieces)
      CHECK(residual(problem, Vector(0), piece.vertices.col(0)) <= 1e-15);
  }

  TEST_CASE("parts that need the same one only are solved once for each of its solutions") {
    std::vector<Mlcp> parts(9, two_points());
    Mlcp problem = stacked(parts);
    for (int i = 1; i < 9; ++i) problem.M22(i, 0) = 1.0 / 64;
    const SolutionSet set = enumerate(problem);
    CHECK(count(set) == 512);
    // two modes for each of the parts and right-hand sides, and the tree of their products
    CHECK(set.nodes <= 2 + 2 * 8 * 2 + 2 * 511);
  }

  TEST_CASE("a continuum in an early part is searched together with what needs it") {
    // λ₁ free on w₁ = 0 = λ₁ - λ₁; then w₂ = 1 - λ₂ + λ₁ and a third part that needs neither
    Mlcp problem = stacked({two_points(), two_points(), two_points()});
    problem.M22(0, 0) = 0;
    problem.q2[0] = 0;
    problem.M22(1, 0) = 1;
    problem.M22(2, 1) = 0.25;
    const SolutionSet set = enumerate(problem), exact = enumerate_exact(problem);
    CHECK(set.complete);
    CHECK(multiplicity(set) == Multiplicity::continuum);
    CHECK(test::difference(set, exact, test::units(problem), 1e-13) == "");
  }

  TEST_CASE("digits lost by cancellation between parts are no digits of the data") {
    // 3 u₁ = 1 and u₂ + u₃ = 1e-9 twice, up to rounding in rows of size 1: the doubles contradict
    Mlcp problem = two_points();
    problem.laws.clear();
    problem.M22 = Matrix(0, 0);
    problem.q2 = Vector(0);
    problem.M12 = Matrix(3, 0);
    problem.M21 = Matrix(0, 3);
    problem.M11 = Matrix{{3, 0, 0}, {1, 1, 1}, {-3, 3, 3}};
    problem.q1 = Vector{{-1, -1.0 / 3 - 1e-9, 1 - 3e-9 + 0x1p-50}};
    CHECK(triangular_parts(problem).size() == 2);
    CHECK(multiplicity(enumerate_exact(problem)) == Multiplicity::none);
    const SolutionSet set = enumerate(problem);
    CHECK(set.complete);
    CHECK(multiplicity(set) == Multiplicity::none);
    problem.q1 = Vector{{-1, -0.5, 0.5}};  // u₂ + u₃ = 1/6 twice, which no double is
    CHECK(multiplicity(enumerate(problem)) == Multiplicity::continuum);
  }

  TEST_CASE("rounding in one part does not decide whether the next one is singular") {
    // λ₃ acts on nothing and is free where w₃ = λ₄ - λ₅ = 0, which the parts before give as 0 = 0
    Mlcp problem{.M11 = Matrix{{-3}},
                 .M12 = Matrix{{0, 0, 0, -3, -3, 1}},
                 .q1 = Vector{{0}},
                 .M21 = Matrix{{-2}, {0}, {0}, {0}, {0}, {0}},
                 .M22 = Matrix{{3, -2, 0, 0, -3, 0},
                               {0, 0, 0, -1, 0, 0},
                               {0, 0, 0, 1, -1, 0},
                               {0, 0, 0, -2, 0, 0},
                               {0, 0, 0, 0, 0, 2},
                               {-1, 0, 0, -2, -2, 0}},
                 .q2 = Vector{{0, 3, 0, 0, 1, 2}},
                 .laws = std::vector<Law>(6, complementarity())};
    const SolutionSet exact = enumerate_exact(problem), found = enumerate(problem);
    CHECK(found.complete);
    CHECK(multiplicity(found) == Multiplicity::continuum);
    CHECK(test::difference(found, exact, test::units(problem), 1e-12) == "");
  }

  TEST_CASE("the limits of the search hold for all parts together") {
    std::vector<Mlcp> parts(10, two_points());
    Mlcp problem = stacked(parts);
    for (int i = 1; i < 10; ++i) problem.M22(i, i - 1) = 1.0 / 64;
    const long needed = enumerate(problem).nodes;
    CHECK(enumerate(problem, {.max_nodes = needed}).complete);
    CHECK_FALSE(enumerate(problem, {.max_nodes = needed / 2}).complete);
    const SolutionSet few = enumerate(problem, {.max_solutions = 100});
    CHECK_FALSE(few.complete);
    CHECK(count(few) == 100);
  }

  TEST_CASE("maps of points decide nothing where a singular mode may be consistent") {
    Mlcp problem = two_points();
    problem.M22(0, 0) = 0;  // w = q: λ is free where q = 0
    PointMaps maps(problem);
    REQUIRE(maps.usable());
    std::vector<ModalPoint> points;
    std::vector<Mode> undecided;
    maps.solve({1.0}, points, undecided);
    REQUIRE(points.size() == 1);
    CHECK(points[0].y[0].value == 0);
    CHECK(undecided.empty());
    for (const double none : {-1.0, -1e-9, -1e-300}) {
      maps.solve({none}, points, undecided);
      CHECK(points.empty());
      CHECK(undecided.empty());
    }
    maps.solve({0.0}, points, undecided);
    CHECK(points.empty());
    CHECK(undecided.size() == 2);
    maps.solve({{1e-18L, 1e-17L}}, points, undecided);  // 0 is within its error
    CHECK(undecided.size() == 2);
  }
}
