#include <doctest/doctest.h>
#include <cmath>
#include <string>

#include <perp/lcp/residual_gate.hpp>
#include <perp/lcp/solver.hpp>

using namespace perp;

namespace {

/// λ = max(w, 0)
Law positive_part() {
  return {.name = "positive part",
          .branches = {{.a = 0, .b = 1, .w = {-inf, 0}, .lambda = {0, 0}},
                       {.a = 1, .b = -1, .w = {0, inf}, .lambda = {0, inf}}}};
}

/// A step of length h of n tanks of which each flows into the next: v_i⁺ − v_i = h (λ_{i−1} − λ_i), λ_i = max(v_i⁺ − v_{i+1}⁺, 0);
/// the first holds 1, the others nothing.
Mlcp cascade(int n, double h) {
  Mlcp problem{.M11 = Matrix::Identity(n, n),
               .M12 = Matrix::Zero(n, n - 1),
               .q1 = Vector::Zero(n),
               .M21 = Matrix::Zero(n - 1, n),
               .M22 = Matrix::Zero(n - 1, n - 1),
               .q2 = Vector::Zero(n - 1),
               .laws = std::vector<Law>(static_cast<std::size_t>(n - 1), positive_part())};
  problem.q1[0] = -1;
  for (int i = 0; i < n - 1; ++i) {
    problem.M12(i, i) = h;
    problem.M12(i + 1, i) = -h;
    problem.M21(i, i) = 1;
    problem.M21(i, i + 1) = -1;
  }
  return problem;
}

/// Its solution, in which all flow: v_i = r_i v_{i−1} with r_n = h/(1 + h), r_i = h/(1 + 2h − h r_{i+1}).
Vector levels(int n, double h) {
  Vector ratio(n), v(n);
  ratio[n - 1] = h / (1 + h);
  for (int i = n - 2; i > 0; --i) ratio[i] = h / (1 + 2 * h - h * ratio[i + 1]);
  v[0] = 1 / (1 + h - h * ratio[1]);
  for (int i = 1; i < n; ++i) v[i] = ratio[i] * v[i - 1];
  return v;
}

}  // namespace

TEST_SUITE("lcp/residual_gate") {
  TEST_CASE("unknowns of many sizes, of which tolerances see the first ones only, are solved for to rounding") {
    for (const int n : {6, 12, 20, 30})
      for (const double h : {0.5, 0.05, 1e-3}) {
        const Mlcp problem = cascade(n, h);
        const Vector wanted = levels(n, h);
        const SolveResult result = solve(solver("lemke"), problem, {});
        CAPTURE(n);
        CAPTURE(h);
        REQUIRE_MESSAGE(result.status == Status::solved, result.message);
        for (int i = 0; i < n; ++i) CHECK(result.solution.u[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
      }
  }

  TEST_CASE("what is said of a point that is no solution does not say that it fits") {
    const Mlcp problem = cascade(4, 0.5);
    Solution point;
    point.u = levels(4, 0.5);
    point.lambda = problem.M21 * point.u;
    CHECK(describe_misfit(problem, point).find("no mode near it has a solution") != std::string::npos);
    point.u[0] *= 1 + 1e-9;
    CHECK(describe_misfit(problem, point).rfind("residual ", 0) == 0);
  }
}
