#include <doctest/doctest.h>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>

#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

/// One step of [RAB] eq. (36), B = (-1, 1/2): three solutions, one of them sliding.
Mlcp sliding_step(double h) {
  return {.M11 = Matrix{{1, 0, h}, {0, 1, -0.5 * h}, {1, -1, 0}},
          .M12 = Matrix{{0, 0, 0}, {0, 0, 0}, {1, -1, 0}},
          .q1 = Vector{{0.01 - h, 0.99, 1}},
          .M21 = Matrix{{2, 0, 0}, {1, 0, 0}, {0, 0, 0}},
          .M22 = Matrix{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
          .q2 = Vector{{0, 0, 2}},
          .laws = {3, complementarity()}};
}

/// Every vertex of every block, as points of the whole problem (blocks of one problem only).
std::vector<std::pair<Vector, Vector>> vertices(const SolutionSet& set) {
  std::vector<std::pair<Vector, Vector>> points;
  for (const Piece& piece : pieces(set, 100))
    for (const auto& y : piece.vertices.colwise())
      points.emplace_back(y.head(set.p), y.tail(set.m));
  return points;
}

std::string message(const Mlcp& problem) {
  try {
    validate(problem);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_SUITE("lcp/mlcp") {
  TEST_CASE("wrong shapes and entries are refused with the member's name, found and wanted") {
    const Mlcp good = sliding_step(0.1);
    CHECK(message(good) == "accepted");
    Mlcp bad = good;
    bad.M21 = Matrix::Zero(2, 2);
    CHECK(message(bad) == "M21 must be 3x3 but is 2x2");
    bad = good;
    bad.q2 = Vector::Zero(1);
    CHECK(message(bad) == "q2 must have 3 entries but has 1");
    bad = good;
    bad.M22(1, 2) = perp::nan;
    CHECK(message(bad) == "M22(2, 3) must be finite but is nan");
    bad = good;
    bad.q1[2] = -inf;
    CHECK(message(bad) == "q1(3) must be finite but is -inf");
    bad = good;
    bad.laws[0].branches.clear();
    CHECK(message(bad).find("must have at least one branch") != std::string::npos);
    CHECK_THROWS_AS(residual(good, Vector::Zero(2), Vector::Zero(3)), InvalidInput);
    CHECK_THROWS_AS(residual(good, Vector::Zero(3), Vector::Zero(1)), InvalidInput);
  }

  TEST_CASE("the residual vanishes at solutions and sees a wrong digit anywhere") {
    test::RandomProblems random(11);
    int checked = 0;
    for (int k = 0; k < 200; ++k) {
      const Mlcp problem = random.make(k % 2 == 0 ? "index2_step" : "relay");
      for (const auto& [u, lambda] : vertices(enumerate_exact(problem))) {
        CHECK(residual(problem, u, lambda) <= 1e-14);
        for (int i = 0; i < lambda.size(); ++i) {
          Vector wrong = lambda;
          wrong[i] += lambda[i] >= 0 ? -1e-3 : 1e-3;
          const bool acts = problem.M12.col(i).any() || problem.M22.col(i).any();
          const Vector w = output(problem, u, wrong);
          const bool still_on_graph =
              distance(problem.laws[static_cast<std::size_t>(i)], w[i], wrong[i]) == 0;
          if (acts && !still_on_graph) {
            CHECK(residual(problem, u, wrong) > 1e-7);
            ++checked;
          }
        }
      }
    }
    CHECK(checked > 200);
  }

  TEST_CASE("the residual does not depend on the scaling of rows and on units") {
    test::RandomProblems random(12);
    for (int k = 0; k < 300; ++k) {
      const Mlcp problem = random.make(k % 2 == 0 ? "index2_step" : "mixed");
      Vector u = Vector::Random(problem.p()), lambda = Vector::Random(problem.m());
      Scaling units{Vector(problem.p()), Vector(problem.p()), Vector(problem.m()),
                    Vector(problem.m())};
      for (Vector* part : {&units.u_scale, &units.row_scale, &units.lambda_scale, &units.w_scale})
        for (double& factor : *part) factor = std::ldexp(1.0, random.integer(-20, 20));
      const double here = residual(problem, u, lambda);
      const double there = residual(scaled(problem, units), u.cwiseQuotient(units.u_scale),
                                    lambda.cwiseQuotient(units.lambda_scale));
      // the size σ is a power of two near the data: it may differ by a factor of about 2
      CHECK(there <= 1.05 * here);
      CHECK(here <= 1.05 * there);
    }
  }

  TEST_CASE("rounding in an unknown that vanishes by cancellation is no violation") {
    const Mlcp problem = sliding_step(0.1);
    // the sliding solution x = (0, -0.945), z = 0.9: there w1 = 2 x1 + λ1 and w2 = x1 + λ3
    Vector u{{-1e-17, -0.945, 0.9}};
    const Vector lambda{{0, 1.945, 1e-17}};
    CHECK(residual(problem, u, lambda) <= 1e-12);
    u[0] = -1e-6;
    CHECK(residual(problem, u, lambda) > 1e-7);
  }

  TEST_CASE("a point that is not finite has an infinite residual") {
    const Mlcp problem = sliding_step(0.1);
    CHECK(residual(problem, Vector{{perp::nan, 0, 0}}, Vector::Zero(3)) == inf);
    CHECK(residual(problem, Vector::Zero(3), Vector{{0, inf, 0}}) == inf);
    CHECK(residual(problem, Vector{{1e308, 1e308, 1e308}}, Vector{{1e308, 1e308, 1e308}}) > 0.01);
  }

  TEST_CASE("equilibrating undoes a change of units up to a factor of two") {
    test::RandomProblems random(13);
    for (int k = 0; k < 200; ++k) {
      Mlcp problem = random.dense(2, 3, 3, 1.0);
      problem.M11 += 4 * Matrix::Ones(2, 2);  // no zeros: the graph is connected
      problem.M22 += 4 * Matrix::Ones(3, 3);
      const Mlcp plain = scaled(problem, equilibrate(problem));
      random.change_units(problem, 20);
      const Mlcp again = scaled(problem, equilibrate(problem));
      const auto ratio = [](const Matrix& a, const Matrix& b) {
        double largest = 1;
        for (Eigen::Index i = 0; i < a.size(); ++i)
          if (a.data()[i] != 0)
            largest = std::max({largest, a.data()[i] / b.data()[i], b.data()[i] / a.data()[i]});
        return largest;
      };
      CHECK(ratio(plain.M11, again.M11) <= 2);
      CHECK(ratio(plain.M12, again.M12) <= 2);
      CHECK(ratio(plain.M21, again.M21) <= 2);
      CHECK(ratio(plain.M22, again.M22) <= 2);
    }
  }

  TEST_CASE("a scaled problem has the scaled solutions") {
    test::RandomProblems random(14);
    int solutions = 0;
    for (int k = 0; k < 100; ++k) {
      const Mlcp problem = random.make("laws");
      const Scaling scaling = equilibrate(problem);
      const Mlcp small = scaled(problem, scaling);
      for (const auto& [u, lambda] : vertices(enumerate_exact(small))) {
        ++solutions;
        CHECK(residual(problem, u.cwiseProduct(scaling.u_scale),
                       lambda.cwiseProduct(scaling.lambda_scale)) <= 1e-14);
      }
    }
    CHECK(solutions > 50);
  }

  TEST_CASE("an empty problem has residual 0") {
    const Mlcp problem{.M11 = Matrix(0, 0),
                       .M12 = Matrix(0, 0),
                       .q1 = Vector(0),
                       .M21 = Matrix(0, 0),
                       .M22 = Matrix(0, 0),
                       .q2 = Vector(0),
                       .laws = {}};
    CHECK_NOTHROW(validate(problem));
    CHECK(residual(problem, Vector(0), Vector(0)) == 0);
  }
}
