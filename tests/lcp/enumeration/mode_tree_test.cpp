#include <doctest/doctest.h>
#include <cmath>
#include <Eigen/LU>
#include <map>
#include <optional>
#include <random>

#include <perp/core/branches.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/enumeration/mode_tree.hpp>
#include <perp/tests/lcp/compare_sets.hpp>
#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

/// Dense w = M λ + q with normal entries; rank deficient by `deficit`, units spread by 2^±bits.
Mlcp gaussian(int m, int deficit, int bits, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  const auto draw = [&] { return normal(engine); };
  const Matrix left = Matrix::NullaryExpr(m, m - deficit, draw);
  const Matrix right = Matrix::NullaryExpr(m - deficit, m, draw);
  Mlcp problem{.M11 = Matrix(0, 0),
               .M12 = Matrix(0, m),
               .q1 = Vector(0),
               .M21 = Matrix(m, 0),
               .M22 = deficit == 0 ? Matrix(Matrix::NullaryExpr(m, m, draw)) : left * right,
               .q2 = Vector::NullaryExpr(m, draw),
               .laws = {}};
  problem.laws.assign(static_cast<std::size_t>(m), complementarity());
  test::RandomProblems random(seed);
  if (bits > 0) random.change_units(problem, bits);
  return problem;
}

/// A path of decisions, whatever they eliminate, and a claim about the node that it leads to.
struct RandomNode {
  std::vector<Decision> path;
  EmptinessClaim claim;

  RandomNode(test::RandomProblems& random, const Mlcp& problem) {
    std::vector<int> laws = shuffled(random, problem.m()), unknowns = shuffled(random, problem.m());
    const auto branch = [&](int law) {
      return random.integer(
          0, static_cast<int>(problem.laws[static_cast<std::size_t>(law)].branches.size()) - 1);
    };
    const auto take_unknown = [&] {
      const int unknown = unknowns.back();
      unknowns.pop_back();
      return problem.p() + unknown;
    };
    for (int count = random.integer(0, problem.m()); count > 0; --count) {
      path.push_back({laws.back(), branch(laws.back()), take_unknown()});
      laws.pop_back();
    }
    claim.quantity = random.integer(0, 2 * problem.m() - 1);
    if (!laws.empty() && random.chance(0.3)) {
      claim.quantity = -1;
      claim.equation = {laws.back(), branch(laws.back()), -1};
    }
    while (!unknowns.empty() && random.chance(0.5)) {
      claim.active.push_back(random.integer(0, 2 * problem.m() - 1));
      claim.replaced.push_back(take_unknown());
    }
  }

  static std::vector<int> shuffled(test::RandomProblems& random, int count) {
    std::vector<int> order;
    for (int i = 0; i < count; ++i) order.insert(order.begin() + random.integer(0, i), i);
    return order;
  }

  /// Has a mode of the node a solution, in rational arithmetic?
  [[nodiscard]] bool has_solution(const Mlcp& problem) const {
    std::vector<int> wanted(problem.laws.size(), -1);
    for (const Decision& decision : path)
      wanted[static_cast<std::size_t>(decision.law)] = decision.branch;
    if (claim.quantity < 0) wanted[static_cast<std::size_t>(claim.equation.law)] = claim.equation.branch;
    const AlgebraicProblem<Rational> exact(problem);
    ModePolyhedron<Rational> solutions(exact, generator_limit);
    Mode mode(problem.laws.size(), 0);
    do {
      bool overflow = false, inside = true;
      for (std::size_t i = 0; i < mode.size(); ++i)
        inside = inside && (wanted[i] < 0 || wanted[i] == mode[i]);
      if (inside && !solutions(mode, overflow).vertices.empty()) return true;
    } while (next_mode(mode, problem.laws));
    return false;
  }
};

/// Solutions by one factorisation for each of the 2^m modes; nothing if a mode is nearly singular
/// or a decision is close.
std::optional<long> count_by_brute_force(const Mlcp& given) {
  const Mlcp problem = scaled(given, equilibrate(given));
  const int m = problem.m();
  long count = 0;
  for (long mode = 0; mode < 1L << m; ++mode) {
    Matrix K = Matrix::Identity(m, m);  // column i: of w_i, or of λ_i where that is basic
    for (int i = 0; i < m; ++i)
      if (mode >> i & 1) K.col(i) = -problem.M22.col(i);
    const Eigen::PartialPivLU<Matrix> lu(K);
    if (lu.rcond() < 1e-9) return std::nullopt;
    const double least = lu.solve(problem.q2).minCoeff();
    if (std::abs(least) < 1e-7) return std::nullopt;
    count += least > 0;
  }
  return count;
}

}  // namespace

TEST_SUITE("lcp/mode_tree") {
  TEST_CASE("dense problems of up to twelve laws: as many solutions as modes solved one by one") {
    std::map<long, int> seen;
    for (unsigned seed = 0; seed < 180; ++seed) {
      CAPTURE(seed);
      const int m = 4 + static_cast<int>(seed % 9);
      Mlcp problem = gaussian(m, 0, seed % 2 == 0 ? 0 : 18, seed);
      if (seed % 3 == 0) problem.q2 = -problem.M22 * Vector::Ones(m);  // one solution is known
      const auto wanted = count_by_brute_force(problem);
      if (!wanted) continue;
      const SolutionSet set = enumerate(problem);
      CHECK(set.complete);
      CHECK(count(set) == *wanted);
      ++seen[std::min(*wanted, 3L)];
    }
    for (const long kind : {0, 1, 2, 3}) CHECK(seen[kind] > 4);
  }

  TEST_CASE("many solutions at once: no cut loses one of them") {
    for (unsigned seed = 0; seed < 60; ++seed) {
      CAPTURE(seed);
      const int m = 8 + static_cast<int>(seed % 3);
      Mlcp problem = gaussian(m, 0, 0, seed);
      problem.M22 = 0.02 * problem.M22 - Matrix::Identity(m, m);  // w = 1 - λ, weakly coupled
      problem.q2.setOnes();
      if (seed % 2 == 1) test::RandomProblems(seed).change_units(problem, 12);
      const auto wanted = count_by_brute_force(problem);
      if (!wanted) continue;
      CHECK(count(enumerate(problem)) == *wanted);
    }
  }

  TEST_CASE("small integers, singular and of low rank, up to seven laws: the exact set") {
    std::map<Multiplicity, int> seen;
    for (unsigned seed = 0; seed < 100; ++seed) {
      CAPTURE(seed);
      test::RandomProblems random(seed + 500);
      const int m = random.integer(5, 7);
      Mlcp problem = random.dense(0, m, 2, seed % 2 == 0 ? 0.9 : 0.5);
      if (seed % 3 == 0) problem.M22.row(m - 1) = problem.M22.row(0);
      if (seed % 5 == 0) problem.M22.col(m - 1) = -problem.M22.col(1);
      if (seed % 7 == 0) problem.q2.setZero();
      if (seed % 4 == 0) problem.q2 = problem.q2.cwiseAbs();
      const SolutionSet exact = enumerate_exact(problem);
      ++seen[multiplicity(exact)];
      const auto same = [&] {
        const SolutionSet found = enumerate(problem);
        CHECK(found.complete);
        CHECK(test::difference(found, seed % 2 == 0 ? exact : enumerate_exact(problem),
                               test::units(problem), 1e-11) == "");
      };
      same();
      if (seed % 2 == 0) continue;
      random.change_units(problem, 16);
      same();
    }
    for (const Multiplicity kind :
         {Multiplicity::none, Multiplicity::unique, Multiplicity::finite, Multiplicity::continuum})
      CHECK(seen[kind] > 4);
  }

  TEST_CASE("a P-matrix of 22 laws needs at most 2000 nodes") {
    for (unsigned seed = 0; seed < 5; ++seed) {
      CAPTURE(seed);
      std::mt19937 engine(seed);
      std::normal_distribution<double> normal;
      const auto draw = [&] { return normal(engine); };
      const int m = 22;
      const Matrix G = Matrix::NullaryExpr(m, m, draw), K = Matrix::NullaryExpr(m, m, draw);
      Mlcp problem = gaussian(m, 0, 0, seed);
      problem.M22 =
          G * G.transpose() / m + 0.1 * Matrix::Identity(m, m) + (K - K.transpose()) / std::sqrt(m);
      ModeTree tree(scaled(problem, equilibrate(problem)));
      int leaves = 0;
      CHECK(tree.search(2000, [&](const Mode&) { return ++leaves > 0; }));
      CHECK(tree.nodes() <= 2000);
      CHECK(leaves >= 1);
      const SolutionSet set = enumerate(problem);
      CHECK(set.complete);
      CHECK(count(set) == 1);
      CHECK(set.nodes <= tree.nodes());
      CHECK(set.certificate.find("at most one solution") != std::string::npos);
    }
  }

  TEST_CASE("what multipliers prove to be empty has no solution, whatever claim they start from") {
    int proved = 0, open = 0;
    for (const std::string& family : test::RandomProblems::families())
      for (unsigned seed = 0; seed < 150; ++seed) {
        CAPTURE(family);
        CAPTURE(seed);
        test::RandomProblems random(seed + 700);
        const Mlcp problem = random.make(family);
        if (problem.m() == 0) continue;
        std::vector<bool> free(static_cast<std::size_t>(problem.p()), false);
        free.resize(static_cast<std::size_t>(problem.p() + problem.m()), true);
        NodeProof<Bounded<double>> forms(problem, free);
        MultiplierProof multipliers(forms);
        for (int k = 0; k < 20; ++k) {
          const RandomNode node(random, problem);
          if (!multipliers.proves(node.path, node.claim)) {
            ++open;
            continue;
          }
          ++proved;
          CHECK_FALSE(node.has_solution(problem));
        }
      }
    CHECK(proved > 500);
    CHECK(open > 500);
  }

  TEST_CASE("what is solved in rational numbers takes from the nodes that a search may cost") {
    constexpr int laws = 4, variables = 32, most_nodes = (2 << laws) - 2;
    Mlcp problem = gaussian(laws, 0, 0, 1);
    problem.M22 = Matrix::Ones(laws, laws);
    problem.q2 = Vector::Constant(laws, -1);  // Σ λ = 1: each mode but one has solutions, most of them continua
    // The first multiplier is the mean of many variables.
    problem.M11 = -Matrix::Identity(variables, variables);
    problem.M12 = Matrix::Zero(variables, laws);
    problem.q1 = Vector::Zero(variables);
    problem.M21 = Matrix::Constant(laws, variables, 1.0 / variables);
    problem.M12.col(0).setOnes();
    problem.M22.col(0).setZero();
    CHECK(enumerate(problem).complete);
    const SolutionSet part = enumerate(problem, {.max_nodes = most_nodes});
    CHECK_FALSE(part.complete);
    CHECK(part.nodes < most_nodes);
  }
}
