#include <doctest/doctest.h>
#include <limits>

#include <perp/lcp/enumeration/enumerate.hpp>

#include <perp/tests/lcp/compare_sets.hpp>
#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

/// w_i = q - λ_i, 0 ≤ w ⊥ λ ≥ 0, q = 1: two solutions for every law, all independent.
Mlcp independent_pairs(int m) {
  return {.M11 = Matrix(0, 0),
          .M12 = Matrix(0, m),
          .q1 = Vector(0),
          .M21 = Matrix(m, 0),
          .M22 = -Matrix::Identity(m, m),
          .q2 = Vector::Ones(m),
          .laws = std::vector<Law>(static_cast<std::size_t>(m), complementarity())};
}

/// The problem of two independent problems.
Mlcp both(const Mlcp& a, const Mlcp& b) {
  const auto diagonal = [](const Matrix& left, const Matrix& right) {
    Matrix result = Matrix::Zero(left.rows() + right.rows(), left.cols() + right.cols());
    result.topLeftCorner(left.rows(), left.cols()) = left;
    result.bottomRightCorner(right.rows(), right.cols()) = right;
    return result;
  };
  Mlcp result{.M11 = diagonal(a.M11, b.M11),
              .M12 = diagonal(a.M12, b.M12),
              .q1 = Vector(a.p() + b.p()),
              .M21 = diagonal(a.M21, b.M21),
              .M22 = diagonal(a.M22, b.M22),
              .q2 = Vector(a.m() + b.m()),
              .laws = a.laws};
  result.q1 << a.q1, b.q1;
  result.q2 << a.q2, b.q2;
  result.laws.insert(result.laws.end(), b.laws.begin(), b.laws.end());
  return result;
}

long times(long a, long b) { return a == 0 || b == 0 ? 0 : a < 0 || b < 0 ? -1 : a * b; }

}  // namespace

TEST_SUITE("lcp/solution_set") {
  TEST_CASE("independent laws are counted in product form, saturating") {
    CHECK(count(enumerate(independent_pairs(3))) == 8);
    CHECK(count(enumerate(independent_pairs(40))) == 1L << 40);
    const SolutionSet set = enumerate(independent_pairs(70));
    CHECK(set.complete);
    CHECK(set.blocks.size() == 70);
    CHECK(count(set) == std::numeric_limits<long>::max());
    CHECK(multiplicity(set) == Multiplicity::finite);
    CHECK(pieces(set, 100).size() == 100);
    CHECK(pieces(enumerate(independent_pairs(3)), 100).size() == 8);
  }

  TEST_CASE("the set of two independent problems is the product of their sets") {
    test::RandomProblems random(21);
    for (int k = 0; k < 200; ++k) {
      const Mlcp a = random.make("mixed"), b = random.make("relay");
      const SolutionSet left = enumerate(a), right = enumerate(b), whole = enumerate(both(a, b));
      CHECK(count(whole) == times(count(left), count(right)));
      const long of_u = a.p() > 0 && b.p() > 0 ? times(count_of_u(left), count_of_u(right)) : -2;
      if (of_u >= -1) CHECK(count_of_u(whole) == of_u);
      for (const Piece& piece : pieces(whole, 1000)) {
        CHECK(piece.modes[0].size() == whole.m);
        for (const auto& y : piece.vertices.colwise())
          CHECK(residual(both(a, b), y.head(whole.p), y.tail(whole.m)) <= solution_tolerance);
      }
    }
  }

  TEST_CASE("blocks are a partition, and their problems contain every entry of the whole") {
    test::RandomProblems random(22);
    for (int k = 0; k < 300; ++k) {
      Mlcp problem = random.dense(random.integer(0, 5), random.integer(0, 5), 2, 0.2);
      const auto blocks = independent_blocks(problem);
      std::vector<int> u(static_cast<std::size_t>(problem.p())),
          laws(static_cast<std::size_t>(problem.m())),
          equations(static_cast<std::size_t>(problem.p()));
      double entries = 0;
      for (const Block& block : blocks) {
        CHECK(block.u.size() == block.equations.size());
        for (const int j : block.u) ++u[static_cast<std::size_t>(j)];
        for (const int j : block.equations) ++equations[static_cast<std::size_t>(j)];
        for (const int j : block.lambda) ++laws[static_cast<std::size_t>(j)];
        const Mlcp part = subproblem(problem, block);
        CHECK_NOTHROW(validate(part));
        for (const Matrix* M : {&part.M11, &part.M12, &part.M21, &part.M22})
          entries += M->cwiseAbs().sum();
      }
      CHECK(std::all_of(u.begin(), u.end(), [](int n) { return n == 1; }));
      CHECK(std::all_of(equations.begin(), equations.end(), [](int n) { return n == 1; }));
      CHECK(std::all_of(laws.begin(), laws.end(), [](int n) { return n == 1; }));
      CHECK(entries == problem.M11.cwiseAbs().sum() + problem.M12.cwiseAbs().sum() +
                           problem.M21.cwiseAbs().sum() + problem.M22.cwiseAbs().sum());
    }
  }

  TEST_CASE("a coupling joins blocks") {
    const Mlcp problem = independent_pairs(4);
    CHECK(independent_blocks(problem).size() == 4);
    Matrix coupling = Matrix::Zero(1, 4);
    coupling(0, 1) = coupling(0, 3) = 1;
    const auto blocks = independent_blocks(problem, coupling);
    REQUIRE(blocks.size() == 3);
    CHECK(blocks[1].lambda == std::vector<int>{1, 3});
  }

  TEST_CASE("u may be unique where lambda is not") {
    // 0 = u - λ1 - λ2, w = (u - 1, u - 1): the sum of the λ is fixed, their shares are free
    const Mlcp problem{.M11 = Matrix{{1}},
                       .M12 = Matrix{{-1, -1}},
                       .q1 = Vector{{0}},
                       .M21 = Matrix{{1}, {1}},
                       .M22 = Matrix::Zero(2, 2),
                       .q2 = Vector{{-1, -1}},
                       .laws = {2, complementarity()}};
    const SolutionSet set = enumerate(problem);
    CHECK(multiplicity(set) == Multiplicity::continuum);
    CHECK(count(set) == -1);
    CHECK(multiplicity_of_u(set) == Multiplicity::unique);
    CHECK(count_of_u(set) == 1);
  }

  TEST_CASE("letters of box branches, and of nothing else") {
    const auto word = [](const Law& law) {
      std::string letters;
      for (int k = 0; k < static_cast<int>(law.branches.size()); ++k)
        letters += active_set_letter(law, k);
      return letters;
    };
    CHECK(word(box(-1, 1)) == "LFU");
    CHECK(word(box(0, inf)) == "LF");
    CHECK(word(box(-inf, 2)) == "FU");
    CHECK(word(box(-inf, inf)) == "F");
    CHECK(word(box(1, 1)) == "X");
    CHECK(word(complementarity()) == "LF");
    CHECK(word(sign()) == "?F?");
    CHECK(word(absolute()) == "??");
  }
}
