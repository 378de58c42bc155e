#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>

#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/solver.hpp>

#include <perp/tests/lcp/compare_sets.hpp>
#include <perp/tests/lcp/random_problems.hpp>
#include <perp/tests/lcp/reference_problems.hpp>

using namespace perp;

namespace {

/// How one solver did on one family of problems.
struct Tally {
  int solved = 0;
  int none = 0;  // no solution, proved
  int gave_up = 0;
  int not_supported = 0;
};

class Table {
 public:
  Tally& at(const std::string& family, const std::string& method) {
    if (std::find(families_.begin(), families_.end(), family) == families_.end())
      families_.push_back(family);
    return tallies_[method][family];
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << "solved + proved to have no solution / gave up / not supported\n";
    for (const std::string& family : families_) out << "  " << family;
    for (const MlcpSolver* method : solvers()) {
      out << "\n" << method->name << ":";
      for (const std::string& family : families_) {
        const Tally& tally = tallies_.at(method->name).at(family);
        out << "  " << tally.solved << "+" << tally.none << "/" << tally.gave_up << "/"
            << tally.not_supported;
      }
    }
    return out.str();
  }

 private:
  std::vector<std::string> families_;
  std::map<std::string, std::map<std::string, Tally>> tallies_;
};

/// Distance of a solution from the set, in the problem's units.
double distance_from(const SolutionSet& set, const Mlcp& problem, const Solution& solution) {
  Vector y(problem.p() + problem.m());
  y << solution.u, solution.lambda;
  if (y.size() == 0) return 0;
  const Vector unit = test::units(problem);
  const Nearest found = nearest(problem, set, {unit.cwiseInverse().asDiagonal(), y});
  if (found.status != Status::solved) return inf;
  return found.norm / std::max(1.0, y.cwiseQuotient(unit).norm());
}

/// One solver on one problem whose complete set is known.
void check_one(const MlcpSolver& method, const Mlcp& problem, const SolutionSet& set,
               Tally& tally) {
  const bool solvable = multiplicity(set) != Multiplicity::none;
  const SolveResult result = solve(method, problem);
  CAPTURE(method.name);
  switch (result.status) {
    case Status::solved:
      ++tally.solved;
      CHECK(solvable);
      CHECK(result.solution.residual <= solution_tolerance);
      CHECK(residual(problem, result.solution.u, result.solution.lambda) ==
            result.solution.residual);
      CHECK(result.solution.mode.size() == problem.laws.size());
      CHECK(result.solution.w == output(problem, result.solution.u, result.solution.lambda));
      CHECK(distance_from(set, problem, result.solution) <= 1e-8);
      CHECK(result.message.empty());
      break;
    case Status::no_solution:
      ++tally.none;
      CHECK_FALSE(solvable);
      CHECK_FALSE(result.message.empty());
      break;
    case Status::not_supported:
      ++tally.not_supported;
      CHECK(result.message == method.unsupported(problem));
      CHECK_FALSE(result.message.empty());
      break;
    default:
      ++tally.gave_up;
      CHECK(result.status == Status::not_solved);
      CHECK_FALSE(result.message.empty());
  }
}

Mlcp one_pair() {
  return {.M11 = Matrix(0, 0),
          .M12 = Matrix(0, 1),
          .q1 = Vector(0),
          .M21 = Matrix(1, 0),
          .M22 = Matrix{{1}},
          .q2 = Vector{{-1}},
          .laws = {complementarity()}};
}

SolveResult claimed(const Vector& lambda) {
  SolveResult result;
  result.status = Status::solved;
  result.solution.u = Vector(0);
  result.solution.lambda = lambda;
  result.solution.residual = 0;
  return result;
}

std::string anything(const Mlcp& /*problem*/) { return {}; }
std::string nothing(const Mlcp& /*problem*/) { return "it is a test"; }

}  // namespace

TEST_SUITE("lcp/solver") {
  TEST_CASE("every solver has a name of its own and is found by it") {
    std::set<std::string> names;
    for (const MlcpSolver* method : solvers()) {
      CHECK(names.insert(method->name).second);
      CHECK(&solver(method->name) == method);
      CHECK(std::string(method->description).size() > 10);
    }
    for (const char* name : {"enumerate", "lemke", "mode_search", "newton_min"}) CHECK(names.count(name) == 1);
  }

  TEST_CASE("an unknown name is wrong input and the nearest name is proposed") {
    std::string names;
    for (const MlcpSolver* method : solvers())
      names += (names.empty() ? "" : ", ") + std::string(method->name);
    const std::string known = "'; expected one of " + names;
    CHECK_THROWS_WITH_AS(solver("lemkee"),
                         ("unknown solver 'lemkee" + known + "; did you mean 'lemke'?").c_str(),
                         InvalidInput);
    CHECK_THROWS_WITH_AS(solver(""), ("unknown solver '" + known).c_str(), InvalidInput);
  }

  TEST_CASE("a wrong shape is wrong input for every solver") {
    Mlcp problem = one_pair();
    problem.M22 = Matrix::Zero(1, 2);
    for (const MlcpSolver* method : solvers())
      CHECK_THROWS_WITH_AS(solve(*method, problem), "M22 must be 1x1 but is 1x2", InvalidInput);
  }

  TEST_CASE("an answer counts as solved only if its residual passes") {
    const MlcpSolver right{"right", "", anything,
                           [](const Mlcp&, const SolveOptions&) { return claimed(Vector{{1}}); }};
    const SolveResult result = solve(right, one_pair());
    CHECK(result.status == Status::solved);
    CHECK(result.solution.mode == Mode{1});
    CHECK(result.solution.w == Vector{{0}});
    const MlcpSolver wrong{"wrong", "", anything, [](const Mlcp&, const SolveOptions&) {
                             return claimed(Vector{{1.001}});
                           }};
    CHECK(solve(wrong, one_pair()).status == Status::not_solved);
    CHECK(solve(wrong, one_pair()).message.find("residual") != std::string::npos);
    CHECK(solve(wrong, one_pair(), {.tol = 0.01}).status == Status::solved);
    const MlcpSolver not_a_number{"nan", "", anything, [](const Mlcp&, const SolveOptions&) {
                                    return claimed(Vector{{perp::nan}});
                                  }};
    CHECK(solve(not_a_number, one_pair()).status == Status::not_solved);
    const MlcpSolver too_long{"long", "", anything, [](const Mlcp&, const SolveOptions&) {
                                return claimed(Vector{{1, 0}});
                              }};
    CHECK(solve(too_long, one_pair()).status == Status::not_solved);
  }

  TEST_CASE("a solver that does not apply is not run") {
    const MlcpSolver refuses{"refuses", "", nothing,
                             [](const Mlcp&, const SolveOptions&) { return claimed(Vector{{1}}); }};
    const SolveResult result = solve(refuses, one_pair());
    CHECK(result.status == Status::not_supported);
    CHECK(result.message == "it is a test");
  }

  TEST_CASE("every solver on every reference problem agrees with the enumeration") {
    Table table;
    int solvable = 0, problems = 0;
    for (const test::ReferenceProblem& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      const SolutionSet set = enumerate(reference.problem);
      REQUIRE(set.complete);
      ++problems;
      solvable += reference.solvable ? 1 : 0;
      for (const MlcpSolver* method : solvers())
        check_one(*method, reference.problem, set,
                  table.at(reference.solvable ? "solvable" : "without solution", method->name));
    }
    MESSAGE(table.text());
    CHECK(problems == 76);
    const Tally& enumeration = table.at("solvable", "enumerate");
    CHECK(enumeration.solved == solvable);
    CHECK(table.at("without solution", "enumerate").none == problems - solvable);
    CHECK(table.at("solvable", "mode_search").solved >= solvable - 2);
    CHECK(table.at("solvable", "lemke").solved >= solvable - 1);
    CHECK(table.at("without solution", "lemke").solved == 0);
  }

  TEST_CASE("newton_min solves P-matrices on which block steps alone go in circles") {
    for (const int n : {3, 5, 9, 31}) {
      CAPTURE(n);
      Mlcp problem = one_pair();  // M = I + 2 · a cyclic shift, q = -1: λ = 1/3
      problem.M12 = Matrix(0, n);
      problem.M21 = Matrix(n, 0);
      problem.M22 = Matrix::Identity(n, n);
      for (int i = 0; i < n; ++i) problem.M22(i, (i + n - 1) % n) = 2;
      problem.q2 = Vector::Constant(n, -1);
      problem.laws.assign(static_cast<std::size_t>(n), complementarity());
      const Mode half = [&] {
        Mode mode(static_cast<std::size_t>(n), 0);
        mode[0] = 1;
        return mode;
      }();
      const SolveResult result = solve(solver("newton_min"), problem, {.present = &half});
      REQUIRE(result.status == Status::solved);
      CHECK((result.solution.lambda.array() - 1 / 3.0).abs().maxCoeff() < 1e-12);
      CHECK(result.iterations < 20 * n);  // of 2^n modes
    }
  }

  TEST_CASE("a search over modes that finds none ends after as many as 1e9 multiplications allow, or where its thread is asked to stop") {
    // w = -1 in every mode: none has a point
    constexpr int m = 80;
    Mlcp problem;
    problem.M11 = Matrix::Zero(0, 0);
    problem.M12 = Matrix::Zero(0, m);
    problem.M21 = Matrix::Zero(m, 0);
    problem.M22 = Matrix::Zero(m, m);
    problem.q1 = Vector::Zero(0);
    problem.q2 = Vector::Constant(m, -1);
    problem.laws.assign(m, complementarity());
    const SolveResult result = solve(solver("mode_search"), problem);
    CHECK(result.status == Status::not_solved);
    CHECK(result.iterations <= 1'000'000'000 / (m * m * m) + 2 * m);  // those beside the last one, too
    const InterruptionWatch watch([] { return true; });
    for (const char* name : {"mode_search", "newton_min"}) CHECK_THROWS_AS(solve(solver(name), problem), Interrupted);
  }

  TEST_CASE("every solver on random problems of every family agrees with the enumeration") {
    Table table;
    test::RandomProblems random(20240612);
    std::map<std::string, int> solvable;
    constexpr int count = 60;
    for (const std::string& family : test::RandomProblems::families())
      for (int k = 0; k < count; ++k) {
        const Mlcp problem = random.make(family);
        CAPTURE(family);
        CAPTURE(k);
        const SolutionSet set = enumerate(problem);
        REQUIRE(set.complete);
        solvable[family] += multiplicity(set) == Multiplicity::none ? 0 : 1;
        for (const MlcpSolver* method : solvers())
          check_one(*method, problem, set, table.at(family, method->name));
      }
    MESSAGE(table.text());
    for (const std::string& family : test::RandomProblems::families()) {
      CAPTURE(family);
      CHECK(table.at(family, "enumerate").solved == solvable[family]);
      CHECK(table.at(family, "enumerate").none == count - solvable[family]);
      for (const char* name : {"mode_search", "newton_min"}) {
        CHECK(table.at(family, name).not_supported == 0);
        CHECK(table.at(family, name).solved == solvable[family]);
      }
    }
    // pure relays (no u) are always solved by Lemke's method; a singular M11 may stop it
    CHECK(table.at("relay", "lemke").solved >= solvable["relay"] * 9 / 10);
    CHECK(table.at("lcp", "lemke").solved >= solvable["lcp"] * 8 / 10);
    CHECK(table.at("index2_step", "lemke").solved >= solvable["index2_step"] * 9 / 10);
  }
}
