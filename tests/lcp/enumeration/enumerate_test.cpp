#include <doctest/doctest.h>
#include <map>
#include <optional>
#include <random>

#include <Eigen/LU>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>

#include <perp/tests/lcp/compare_pieces.hpp>
#include <perp/tests/lcp/compare_sets.hpp>
#include <perp/tests/lcp/random_problems.hpp>
#include <perp/tests/lcp/reference_problems.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;

namespace {

bool close(const Vector& a, const Vector& b, double tol) {
  return (a - b).cwiseAbs().maxCoeff() <= tol * std::max(1.0, b.cwiseAbs().maxCoeff());
}

Mlcp lcp(const Matrix& M, const Vector& q) {
  const Eigen::Index m = q.size();
  return {.M11 = Matrix(0, 0),
          .M12 = Matrix(0, m),
          .q1 = Vector(0),
          .M21 = Matrix(m, 0),
          .M22 = M,
          .q2 = q,
          .laws = std::vector<Law>(static_cast<std::size_t>(m), complementarity())};
}

/// A Aᵀ/m + I/10 + (B - Bᵀ)/2: positive definite, hence a P-matrix.
Mlcp p_matrix(int m, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  const auto draw = [&] { return normal(engine); };
  const Matrix A = Matrix::NullaryExpr(m, m, draw), B = Matrix::NullaryExpr(m, m, draw);
  const Vector q = Vector::NullaryExpr(m, draw);
  return lcp(A * A.transpose() / m + 0.1 * Matrix::Identity(m, m) + (B - B.transpose()) / 2, q);
}

/// w_i = 1 - λ_i + λ_{i+1}/64: a solution for each choice of the λ that are 0.
Mlcp many_solutions(int m) {
  Matrix M = -Matrix::Identity(m, m);
  for (int i = 0; i < m; ++i) M(i, (i + 1) % m) += 1.0 / 64;
  return lcp(M, Vector::Ones(m));
}

/// One backward Euler step of [RAB] eq. (36) with A = 0.
Mlcp index2_step(double B1, double B2, double x1, double x2, double h) {
  return {.M11 = Matrix{{1, 0, -h * B1}, {0, 1, -h * B2}, {1, -1, 0}},
          .M12 = Matrix{{0, 0, 0}, {0, 0, 0}, {1, -1, 0}},
          .q1 = Vector{{-x1 - h, -x2, 1}},
          .M21 = Matrix{{2, 0, 0}, {1, 0, 0}, {0, 0, 0}},
          .M22 = Matrix{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
          .q2 = Vector{{0, 0, 2}},
          .laws = {3, complementarity()}};
}

/// The same step with the constraint in the paper's own words, x2 ∈ |x1| + sign(x1), eq. (11').
Mlcp index2_step_law(double B1, double B2, double x1, double x2, double h) {
  return {.M11 = Matrix{{1, 0, -h * B1}, {0, 1, -h * B2}, {0, 1, 0}},
          .M12 = Matrix{{0}, {0}, {-1}},
          .q1 = Vector{{-x1 - h, -x2, 0}},
          .M21 = Matrix{{1, 0, 0}},
          .M22 = Matrix{{0}},
          .q2 = Vector{{0}},
          .laws = {abs_plus_sign()}};
}

/// `copies` of one problem that do not know of each other.
Mlcp repeated(const Mlcp& one, int copies) {
  const auto diagonal = [&](const Matrix& M) {
    Matrix all = Matrix::Zero(copies * M.rows(), copies * M.cols());
    for (int k = 0; k < copies; ++k) all.block(k * M.rows(), k * M.cols(), M.rows(), M.cols()) = M;
    return all;
  };
  Mlcp all{.M11 = diagonal(one.M11),
           .M12 = diagonal(one.M12),
           .q1 = one.q1.replicate(copies, 1),
           .M21 = diagonal(one.M21),
           .M22 = diagonal(one.M22),
           .q2 = one.q2.replicate(copies, 1),
           .laws = {}};
  for (int k = 0; k < copies; ++k)
    all.laws.insert(all.laws.end(), one.laws.begin(), one.laws.end());
  return all;
}

/// Different solutions by brute force: one dense solve per mode. Nothing if a mode is singular.
std::optional<long> count_by_brute_force(const Mlcp& problem) {
  const int p = problem.p(), m = problem.m();
  std::vector<Vector> different;
  Mode mode(static_cast<std::size_t>(m), 0);
  for (;;) {
    Matrix A(p + m, p + m);
    Vector b(p + m);
    A << problem.M11, problem.M12, problem.M21, problem.M22;
    b << -problem.q1, -problem.q2;
    for (int i = 0; i < m; ++i) {
      const Branch& branch =
          problem.laws[static_cast<std::size_t>(i)]
              .branches[static_cast<std::size_t>(mode[static_cast<std::size_t>(i)])];
      A.row(p + i) *= branch.a;
      A(p + i, p + i) += branch.b;
      b[p + i] = branch.a * b[p + i] + branch.c;
    }
    const Eigen::FullPivLU<Matrix> lu(A);
    if (!lu.isInvertible()) return std::nullopt;
    const Vector y = lu.solve(b), w = output(problem, y.head(p), y.tail(m));
    bool admissible = true;
    for (int i = 0; i < m; ++i)
      admissible =
          admissible && distance(problem.laws[static_cast<std::size_t>(i)], w[i], y[p + i]) < 1e-9;
    if (admissible && std::none_of(different.begin(), different.end(),
                                   [&](const Vector& other) { return (other - y).norm() < 1e-9; }))
      different.push_back(y);
    int i = 0;  // next mode
    while (i < m && ++mode[static_cast<std::size_t>(i)] ==
                        static_cast<int>(problem.laws[static_cast<std::size_t>(i)].branches.size()))
      mode[static_cast<std::size_t>(i++)] = 0;
    if (i == m) return static_cast<long>(different.size());
  }
}

}  // namespace

TEST_SUITE("lcp/enumerate") {
  TEST_CASE("every reference problem is reproduced: class, counts, pieces with all their modes") {
    const auto problems = test::reference_problems();
    REQUIRE(problems.size() >= 76);
    for (const auto& reference : problems) {
      CAPTURE(reference.name);
      const SolutionSet set = enumerate(reference.problem);
      CHECK(set.complete);
      CHECK(to_string(multiplicity(set)) == reference.class_of_all);
      CHECK(count(set) == reference.count_of_all);
      CHECK(to_string(multiplicity_of_u(set)) == reference.class_of_u);
      CHECK(count_of_u(set) == reference.count_of_u);
      CHECK(test::difference(reference, pieces(set, 1000), 1e-12) == "");
    }
  }

  TEST_CASE(
      "random small integer problems: the same set as in rational arithmetic, in any order and "
      "units") {
    std::map<Multiplicity, int> seen;
    for (const std::string& family : test::RandomProblems::families()) {
      for (unsigned seed = 0; seed < 120; ++seed) {
        CAPTURE(family);
        CAPTURE(seed);
        test::RandomProblems random(seed);
        Mlcp problem = random.make(family);
        const auto compare = [&] {
          const SolutionSet exact = enumerate_exact(problem), found = enumerate(problem);
          CHECK(found.complete);
          CHECK(test::difference(found, exact, test::units(problem), 1e-12) == "");
          CHECK(count_of_u(found) == count_of_u(exact));
          return multiplicity(found);
        };
        const Multiplicity first = compare();
        ++seen[first];
        std::vector<int> u, laws;
        random.permute(problem, u, laws);
        CHECK(compare() == first);
        random.change_units(problem, 12);
        CHECK(compare() == first);
      }
    }
    for (const Multiplicity kind :
         {Multiplicity::none, Multiplicity::unique, Multiplicity::finite, Multiplicity::continuum})
      CHECK(seen[kind] > 80);
  }

  TEST_CASE("a permutation renumbers the solutions and changes nothing else") {
    for (unsigned seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      test::RandomProblems random(seed);
      const Mlcp problem = random.make("relay");
      Mlcp permuted = problem;
      std::vector<int> u, laws;
      random.permute(permuted, u, laws);
      const std::vector<Piece> here = pieces(enumerate(problem), 1000);
      const std::vector<Piece> there = pieces(enumerate(permuted), 1000);
      REQUIRE(here.size() == there.size());
      std::vector<int> order = u;
      for (const int i : laws) order.push_back(problem.p() + i);
      for (const Piece& piece : here) {
        const Matrix wanted = piece.vertices(order, Eigen::all);
        const Vector unit = Vector::Ones(wanted.rows());
        CHECK(std::any_of(there.begin(), there.end(), [&](const Piece& other) {
          return test::same_columns(wanted, other.vertices, unit, 1e-12);
        }));
      }
    }
  }

  TEST_CASE(
      "scaling of equations and of w by powers of two leaves the solutions of a complementarity problem") {
    for (unsigned seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      test::RandomProblems random(seed);
      const Mlcp problem = random.make(seed % 2 == 0 ? "index2_step" : "degenerate");
      Mlcp other = problem;
      for (int i = 0; i < problem.p(); ++i) {
        const double factor = std::ldexp(1, random.integer(-13, 13));
        other.M11.row(i) *= factor;
        other.M12.row(i) *= factor;
        other.q1[i] *= factor;
      }
      for (int i = 0; i < problem.m(); ++i) {
        const double factor = std::ldexp(1, random.integer(-13, 13));
        other.M21.row(i) *= factor;
        other.M22.row(i) *= factor;
        other.q2[i] *= factor;
      }
      const Vector unit = Vector::Ones(problem.p() + problem.m());
      CHECK(test::difference(enumerate(problem), enumerate(other), unit, 1e-11) == "");
    }
  }

  TEST_CASE("nonsingular modes solved one by one give the same number of solutions") {
    int compared = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
      CAPTURE(seed);
      test::RandomProblems random(seed);
      const auto& families = test::RandomProblems::families();
      const Mlcp problem = random.make(
          families[seed % families.size()] == "scaled" ? "laws" : families[seed % families.size()]);
      const auto wanted = count_by_brute_force(problem);
      if (!wanted) continue;
      CHECK(count(enumerate(problem)) == *wanted);
      ++compared;
    }
    CHECK(compared > 200);
  }

  TEST_CASE("single steps of the switching DAE: every solution, in both forms of the constraint") {
    std::ifstream stream(perp::test::data_path("/trajectories/s003_backward_euler_steps.json"));
    const nlohmann::json data = nlohmann::json::parse(stream);
    REQUIRE(data.at("steps").size() == 24);
    for (const auto& step : data.at("steps")) {
      const double B1 = step.at("B")[0], B2 = step.at("B")[1], h = step.at("h");
      const double x1 = step.at("xk")[0], x2 = step.at("xk")[1];
      CAPTURE(step.dump());
      for (const Mlcp& problem :
           {index2_step(B1, B2, x1, x2, h), index2_step_law(B1, B2, x1, x2, h)}) {
        const SolutionSet set = enumerate(problem);
        CHECK(set.complete);
        if (!step.at("n_solutions").is_number()) {
          CHECK(multiplicity_of_u(set) == Multiplicity::continuum);
          continue;
        }
        CHECK(count_of_u(set) == step.at("n_solutions").get<long>());
        for (const auto& wanted : step.at("solutions")) {
          const Vector u{{wanted.at("x")[0], wanted.at("x")[1], wanted.at("z")}};
          bool present = false;
          for (const Piece& piece : pieces(set, 100))
            present = present || close(piece.vertices.col(0).head(3), u, 1e-12);
          CHECK(present);
        }
      }
    }
  }

  TEST_CASE("a P-matrix has exactly one solution") {
    for (const int m : {1, 2, 5, 10, 14, 20})
      for (unsigned seed = 0; seed < 10; ++seed) {
        CAPTURE(m);
        CAPTURE(seed);
        const Mlcp problem = p_matrix(m, seed);
        const SolutionSet set = enumerate(problem);
        CHECK(set.complete);
        REQUIRE(count(set) == 1);
        const Vector lambda = set.blocks[0].pieces[0].vertices.col(0);
        CHECK(residual(problem, Vector(0), lambda) <= 1e-13);
      }
  }

  TEST_CASE("one block with a thousand solutions: all are found and told apart") {
    const SolutionSet set = enumerate(many_solutions(10));
    REQUIRE(set.blocks.size() == 1);
    CHECK(count(set) == 1024);
  }

  TEST_CASE("a corner on all branches is one solution with all its modes") {
    const int m = 8;
    const SolutionSet set =
        enumerate(lcp(Matrix::Identity(m, m) + Matrix::Ones(m, m), Vector::Zero(m)));
    REQUIRE(count(set) == 1);
    CHECK(set.blocks[0].pieces[0].modes.size() == 256);
    CHECK(set.blocks[0].pieces[0].vertices.isZero(0));
  }

  TEST_CASE("independent copies stay a product: 36 laws, 3^12 solutions") {
    const SolutionSet set = enumerate(repeated(index2_step(1, 2, -0.5, -0.5, 0.5), 12));
    CHECK(set.complete);
    CHECK(set.blocks.size() == 12);
    CHECK(count(set) == 531'441);
    CHECK(count_of_u(set) == 531'441);
    CHECK(set.nodes < 1000);
  }

  TEST_CASE("equations without laws: one solution, none, or a continuum") {
    Mlcp problem = lcp(Matrix(0, 0), Vector(0));
    problem.M12 = Matrix(2, 0);
    problem.M21 = Matrix(0, 2);
    problem.M11 = Matrix{{2, 1}, {1, 1}};
    problem.q1 = Vector{{-3, -2}};
    const SolutionSet one = enumerate(problem);
    REQUIRE(count(one) == 1);
    CHECK(one.blocks[0].pieces[0].vertices.col(0) == Vector{{1, 1}});
    problem.M11 = Matrix{{2, 1}, {4, 2}};
    CHECK(multiplicity(enumerate(problem)) == Multiplicity::none);
    problem.q1 = Vector{{-3, -6}};
    const SolutionSet line = enumerate(problem);
    CHECK(multiplicity(line) == Multiplicity::continuum);
    CHECK(line.blocks[0].pieces[0].lines.col(0) == Vector{{1, -2}});
    problem.M11.setZero();
    problem.q1.setZero();
    CHECK(enumerate(problem).blocks[0].pieces[0].dimension == 2);
    problem.q1[1] = 1;
    CHECK(multiplicity(enumerate(problem)) == Multiplicity::none);
    CHECK(count(enumerate(lcp(Matrix(0, 0), Vector(0)))) == 1);
  }

  TEST_CASE("a search that the budget ends says so and does not claim to be complete") {
    const Mlcp problem = many_solutions(14);
    const SolutionSet set = enumerate(problem, {.max_nodes = 20});
    CHECK_FALSE(set.complete);
    CHECK(set.nodes <= 20);
    CHECK(set.certificate.find("not proved complete: 0 of 1 blocks finished, ") == 0);
    CHECK(set.certificate.find(" % of the next one, 20 nodes of at most 20") != std::string::npos);
    CHECK_FALSE(enumerate_exact(problem, {.max_nodes = 20}).complete);
    CHECK(enumerate(problem, {.max_nodes = enumerate(problem).nodes}).complete);
    const Mlcp many = repeated(index2_step(1, 2, -0.5, -0.5, 0.5), 2);
    const SolutionSet all = enumerate(many);
    std::size_t modes = 0;
    for (const Block& block : all.blocks)
      for (const Piece& piece : block.pieces) modes += piece.modes.size();
    CHECK(enumerate(many, {.max_solutions = static_cast<long>(modes)}).complete);
    CHECK_FALSE(enumerate(many, {.max_solutions = static_cast<long>(modes) - 1}).complete);
  }

  TEST_CASE("a block too large to be enumerated is refused at once") {
    const SolutionSet set = enumerate(p_matrix(700, 1));
    CHECK_FALSE(set.complete);
    CHECK(set.nodes == 0);
  }

  TEST_CASE("a wrong problem is refused") {
    Mlcp problem = p_matrix(3, 1);
    problem.q2 = Vector::Zero(2);
    CHECK_THROWS_AS(enumerate(problem), InvalidInput);
    CHECK_THROWS_AS(enumerate_exact(problem), InvalidInput);
  }
}
