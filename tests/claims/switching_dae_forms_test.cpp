#include <Eigen/LU>

#include <perp/core/branches.hpp>
#include <perp/core/linearize.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/tests/claims/switching_dae_exact.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>

using namespace claims;
using nonlinear_systems::RelayForm;
using perp::BackwardEuler;
using perp::Status;

namespace {

/// w = M λ + q with these laws, no other unknowns.
perp::SolutionSet multipliers(const Matrix& M, const Vector& q, std::vector<perp::Law> laws) {
  const auto m = static_cast<int>(q.size());
  return perp::enumerate({.M11 = Matrix(0, 0),
                          .M12 = Matrix(0, m),
                          .q1 = Vector(0),
                          .M21 = Matrix(m, 0),
                          .M22 = M,
                          .q2 = q,
                          .laws = std::move(laws)});
}

bool is_solvable(const perp::SolutionSet& set) {
  REQUIRE(set.complete);
  return perp::multiplicity(set) != perp::Multiplicity::none;
}

/// Is (x1, x2) a point of the constraint, x2 ∈ |x1| + sign(x1)?
bool is_on_constraint(double x1, double x2) {
  return x1 == 0 ? std::abs(x2) <= 1 : x2 == std::abs(x1) + (x1 > 0 ? 1 : -1);
}

/// Eq. (11), (33): 0 = -x2 + (1 + x1) λ1, λ1 ∈ sign(x1). The second law is the equation.
bool holds_as_relay(double x1, double x2) {
  return is_solvable(multipliers(Matrix{{0, 0}, {1 + x1, 0}}, Vector{{x1, -x2}},
                                 {perp::sign(), perp::equality()}));
}

/// Eq. (36) with λ4 for the equation: 0 = x1 - x2 + 1 + λ1 - λ2.
perp::SolutionSet as_lcp(double x1, double x2) {
  return multipliers(Matrix{{1, 0, 0, 0}, {0, 0, 1, 0}, {0, -1, 0, 0}, {1, -1, 0, 0}},
                     Vector{{2 * x1, x1, 2, x1 - x2 + 1}},
                     {perp::complementarity(), perp::complementarity(), perp::complementarity(),
                      perp::equality()});
}

/// Eq. (35) in λ1 = |x1| - x1, λ2 = x1⁻, λ3 = x1⁺ and α = x2 - |x1|; λ4 for x1 = x1⁺ - x1⁻.
bool holds_as_mixed_lcp(double x1, double x2) {
  return is_solvable(multipliers(Matrix{{1, 0, 0, 0}, {-1, 0, 0, 0}, {1, 0, 0, 0}, {0, -1, 1, 0}},
                                 Vector{{2 * x1, x2 - x1 + 1, 1 - x2 + x1, -x1}},
                                 {perp::complementarity(), perp::complementarity(),
                                  perp::complementarity(), perp::equality()}));
}

template <class Check>
void for_each_point(const Check& check) {
  for (int i = -12; i <= 12; ++i)
    for (int j = -16; j <= 16; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      check(i / 4.0, j / 4.0);
    }
}

}  // namespace

TEST_SUITE("claims/switching_dae_forms") {
  TEST_CASE("[RAB] (11'), corrected: x2 in |x1| + sign(x1) iff x1 in N_[-1,1](x2 - |x1|)") {
    // printed: N_[-1,1](-x2 + |x1|), which (1, 2) does not satisfy
    for_each_point([](double x1, double x2) {
      const bool law = perp::distance(perp::abs_plus_sign(), x1, x2) == 0;
      CHECK(law == is_on_constraint(x1, x2));
      CHECK((perp::distance(perp::normal_cone(-1, 1), x1, x2 - std::abs(x1)) == 0) == law);
    });
    CHECK(is_on_constraint(1, 2));
    CHECK(perp::distance(perp::normal_cone(-1, 1), 1, -2 + std::abs(1)) > 0.5);
  }

  TEST_CASE("[RAB] (10), (11), (33): the relay form has the points of (11')") {
    for_each_point(
        [](double x1, double x2) { CHECK(holds_as_relay(x1, x2) == is_on_constraint(x1, x2)); });
  }

  TEST_CASE("[RAB] (9): off x1 = 0 the relaxed constraint is the active one of the two") {
    for_each_point([](double x1, double x2) {
      if (x1 != 0) CHECK(is_on_constraint(x1, x2) == ((x1 > 0 ? 1 + x1 - x2 : -1 - x1 - x2) == 0));
    });
    for (int j = -12; j <= 12; ++j)  // on it, the convex hull of {-1} and {1}
      CHECK(is_on_constraint(0, j / 4.0) == (j >= -4 && j <= 4));
  }

  TEST_CASE("[RAB] (35): the mixed LCP has the points of (11')") {
    for_each_point([](double x1, double x2) {
      CHECK(holds_as_mixed_lcp(x1, x2) == is_on_constraint(x1, x2));
    });
  }

  TEST_CASE("[RAB] (36): the LCP has the points of (11'), with λ = (|x1| - x1, 1 - α, x1-)") {
    for_each_point([](double x1, double x2) {
      const perp::SolutionSet set = as_lcp(x1, x2);
      CHECK(is_solvable(set) == is_on_constraint(x1, x2));
      if (!is_on_constraint(x1, x2)) return;
      const auto all = perp::pieces(set, 10);
      REQUIRE(all.size() == 1);
      const Vector lambda = all[0].vertices.col(0).head(3), size = Vector{{std::abs(x1)}};
      CHECK((lambda - Vector{{size[0] - x1, 1 - (x2 - size[0]), std::max(-x1, 0.0)}}).norm() <
            1e-12);
    });
  }

  TEST_CASE("[RAB] (34), (36): the steps of all three forms have the same solutions") {
    Draw draw(351);
    for (int k = 0; k < 150; ++k) {
      const B b = draw.any_B();
      const Vector x = draw.point(branches[k % 3]);
      const double h = draw.step();
      const OnLine wanted = after_step(b, x, h);
      if (wanted.is_continuum) continue;
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x.transpose());
      CAPTURE(h);
      const auto relay = perp::make_dcs(RelayForm{b.B1, b.B2}, 3, {perp::sign()});
      std::vector<Vector> found;
      for (const auto& solution : perp::solutions(relay, with_z(x), 0, h).list)
        found.push_back(solution.x.head(2));
      CHECK(same_points(found, wanted.points));
      CHECK(same_points(found_after_step(b.law(), x, h).points, wanted.points));
      CHECK(same_points(found_after_step(b.lcp(), x, h).points, wanted.points));
    }
  }

  TEST_CASE(
      "[RAB] Figure 6: with B = (-0.49,1) and (-0.5,1) the relay form (34) runs from (-3,2) "
      "and is exact at the grid points") {
    for (const double B1 : {-0.49, -0.5})
      for (const double h : {0.9, 0.3, 0.1, 0.01}) {
        const B b{B1, 1};
        const Solution exact = continuous_solution(b, Vector{{-3, 2}});
        const auto run = perp::integrate(perp::make_dcs(RelayForm{B1, 1}, 3, {perp::sign()}),
                                         Vector{{-3, 2, 0}}, {0, 6}, BackwardEuler{.h = h});
        REQUIRE(run.status == Status::solved);
        CHECK(run.t.back() == 6);
        for (std::size_t k = 0; k < run.size(); ++k)
          CHECK((run.x[k].head(2) - exact.at(run.t[k]).at(run.t[k])).norm() < 1e-10);
      }
  }

  TEST_CASE(
      "[RAB] Figure 6: Newton's matrices of (34) are regular in every mode: |B2 - B1 λ| with λ "
      "held, "
      "|B1| (1 + x1) on x1 = 0") {
    // With λ held: λ = ±1 are modes 1 and 2; B = (-0.5, 1) is singular at λ = -2 only, outside of
    // the law. With x1 = 0 held the multiplier stays an unknown, whose column is ∂/∂λ (1 + x1) λ.
    Draw draw(352);
    const auto at = [](const B& b, double x1, double lambda) {
      const auto system = perp::make_dcs(RelayForm{b.B1, b.B2}, 3, {perp::sign()});
      return perp::linearized(system, 0, {Vector::Zero(3), Vector{{x1, 2, 0}}, Vector{{lambda}}});
    };
    const auto held = [&](const B& b, double lambda, double h) {
      const Lcs lcs = at(b, -3, lambda);
      return std::abs((lcs.E - h * lcs.A).determinant());
    };
    const auto sliding_matrix = [&](const B& b, double x1, double h) {
      const Lcs lcs = at(b, x1, 0);
      Matrix whole(4, 4);
      whole << lcs.E - h * lcs.A, -h * lcs.B, lcs.C, lcs.D;
      return std::abs(whole.determinant());
    };
    for (int k = 0; k < 40; ++k) {
      const B b = draw.any_B();
      const double lambda = draw.number(-24, 24), h = draw.step(), x1 = draw.number(-7, 7);
      CHECK(held(b, lambda, h) == doctest::Approx(h * h * std::abs(b.B2 - b.B1 * lambda)));
      CHECK(sliding_matrix(b, x1, h) == doctest::Approx(h * h * std::abs(b.B1) * (1 + x1)));
    }
    CHECK(held({-0.5, 1}, -2, 0.25) < 1e-15);
    CHECK(held({-0.49, 1}, -2, 0.25) > 1e-4);
    CHECK(sliding_matrix({-0.5, 1}, 0, 0.25) > 0.01);
  }

  TEST_CASE(
      "[RAB] (37): with A the sliding mode is left at 2 log 2; short steps in it have two "
      "solutions, "
      "h = 0.9 one") {
    const Lcs lcs = own_law(-1, 0.5, 1, -1);
    const auto run = perp::integrate(lcs, Vector{{0, 0, 0}}, {0, 2}, BackwardEuler{.h = 1e-3});
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == perp::EventKind::sliding_exit);
    CHECK(run.events[0].t == doctest::Approx(2 * std::log(2)).epsilon(1e-3));
    for (const double h : {0.9, 0.3, 0.01})
      CHECK(found_after_step(lcs, Vector{{0, 0}}, h).points.size() == (h < 0.5 ? 2 : 1));
  }
}
