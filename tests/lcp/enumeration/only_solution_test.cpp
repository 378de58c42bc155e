#include <doctest/doctest.h>
#include <random>

#include <perp/lcp/enumeration/enumerate.hpp>

using namespace perp;

namespace {

/// w = M λ + q, 0 ≤ w ⊥ λ ≥ 0.
Mlcp without_u(const Matrix& M, const Vector& q) {
  const Eigen::Index m = q.size();
  return {.M11 = Matrix(0, 0),
          .M12 = Matrix(0, m),
          .q1 = Vector(0),
          .M21 = Matrix(m, 0),
          .M22 = M,
          .q2 = q,
          .laws = std::vector<Law>(static_cast<std::size_t>(m), complementarity())};
}

}  // namespace

TEST_SUITE("lcp/only solution") {
  TEST_CASE("the only solution of a definite problem is found without a tree, at corners with all modes there") {
    std::mt19937 engine(7);
    std::uniform_int_distribution<int> digit(-8, 8);
    for (int trial = 0; trial < 60; ++trial) {
      // M = A Aᵀ + I in whole numbers; each law is above its corner, behind it, or at it.
      const int m = 8 + trial % 23;
      const Matrix A = Matrix::NullaryExpr(m, m, [&] { return digit(engine) / 8.0; });
      const Matrix M = A * A.transpose() + Matrix::Identity(m, m);
      Vector w = Vector::Zero(m), lambda = Vector::Zero(m);
      std::size_t modes = 1;
      for (int i = 0; i < m; ++i) {
        const int side = digit(engine);
        if (side > 1) w[i] = side;
        if (side < 0) lambda[i] = -side;
        if (side >= 0 && side <= 1 && modes < 64)
          modes *= 2;
        else if (w[i] == 0 && lambda[i] == 0)
          w[i] = 1;
      }
      CAPTURE(trial);
      const SolutionSet set = enumerate(without_u(M, w - M * lambda));
      REQUIRE(set.complete);
      REQUIRE(count(set) == 1);
      const Piece& piece = set.blocks[0].pieces[0];
      CHECK((piece.vertices.col(0) - lambda).cwiseAbs().maxCoeff() <= 1e-14);
      CHECK(piece.modes.size() == modes);
      CHECK(set.nodes < 2 * m);
    }
  }

  TEST_CASE("a matrix that misses to be definite by little keeps its two solutions") {
    // [1 1+e; 1+e 1] on two laws has its minor -2e: q = -(1+e/2) (1, 1) is met by either λ alone, and by both.
    const int m = 10;
    for (const double e : {-0x1p-20, -0x1p-40, 0x1p-40, 0x1p-20}) {
      Matrix M = Matrix::Identity(m, m);
      M(0, 1) = M(1, 0) = 1 + e;
      for (int i = 2; i < m; ++i) M(i, i - 1) = M(i - 1, i) = 0x1p-30;  // one block
      Vector q = Vector::Ones(m);
      q.head(2).setConstant(-(1 + e / 2));
      const SolutionSet set = enumerate(without_u(M, q));
      CAPTURE(e);
      CHECK(set.complete);
      CHECK(count(set) == (e > 0 ? 3 : 1));
    }
  }
}
