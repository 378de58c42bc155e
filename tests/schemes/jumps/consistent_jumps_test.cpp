#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/schemes/step/step_equations.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;
using switching_dae::lcp_form;
using switching_dae::own_law;

namespace {

ConsistentJumps jumps(double B1, double B2, double x1, double x2) {
  return consistent_jumps(own_law(B1, B2), Vector{{x1, x2, 0}}, 0);
}

/// The points (x1, x2) of a list, smallest jump first.
std::vector<Vector> points(const ConsistentJumps& found) {
  std::vector<Vector> list;
  for (const ConsistentJump& jump : found.jumps) list.emplace_back(jump.x().head(2));
  return list;
}

bool is_only(const ConsistentJumps& found, double x1, double x2) {
  return found.status == Status::solved && found.jumps.size() == 1 &&
         !found.jumps[0].is_continuum && (points(found)[0] - Vector{{x1, x2}}).norm() < 1e-12;
}

/// Points of the constraint x2 ∈ |x1| + sign(x1): modes 1, 2, 3 with the corners A- and A+.
std::vector<Vector> constraint_points() {
  std::vector<Vector> list;
  for (const double x1 : {-3.0, -1.0, -0.25}) list.push_back(Vector{{x1, -x1 - 1}});
  for (const double x2 : {-1.0, -0.5, 0.0, 0.75, 1.0}) list.push_back(Vector{{0, x2}});
  for (const double x1 : {0.25, 1.0, 2.0}) list.push_back(Vector{{x1, x1 + 1}});
  return list;
}

/// The jump dynamics [RAB] eq. (18) alone: x⁺ - x⁻ = B σ, x2⁺ ∈ |x1⁺| + sign(x1⁺).
SolutionSet jump_dynamics(double B1, double B2, const Vector& x) {
  return enumerate({.M11 = Matrix{{1, 0, -B1}, {0, 1, -B2}, {0, -1, 0}},
                    .M12 = Matrix{{0}, {0}, {1}},
                    .q1 = Vector{{-x[0], -x[1], 0}},
                    .M21 = Matrix{{1, 0, 0}},
                    .M22 = Matrix{{0}},
                    .q2 = Vector{{0}},
                    .laws = {abs_plus_sign()}});
}

/// [RAB] eq. (21): 0 ∈ a x + |x| + c + sign(x), b = 1.
SolutionSet generalised_equation(double a, double c) {
  return enumerate({.M11 = Matrix{{a}},
                    .M12 = Matrix{{1}},
                    .q1 = Vector{{c}},
                    .M21 = Matrix{{1}},
                    .M22 = Matrix{{0}},
                    .q2 = Vector{{0}},
                    .laws = {abs_plus_sign()}});
}

}  // namespace

TEST_SUITE("schemes/consistent_jumps") {
  TEST_CASE("[RAB] Proposition 3: how many solutions the jump dynamics (18) have") {
    for (int i = -8; i <= 8; ++i)
      for (int j = -8; j <= 8; ++j) {
        const double B1 = i / 4.0, B2 = j / 4.0;
        if (i == 0 && j == 0) continue;
        for (const Vector& x : constraint_points()) {
          CAPTURE(B1);
          CAPTURE(B2);
          CAPTURE(x.transpose());
          const SolutionSet set = jump_dynamics(B1, B2, x);
          REQUIRE(set.complete);
          const Multiplicity kind = multiplicity_of_u(set);
          if (B1 == 0) {
            CHECK(kind == (x[0] == 0 ? Multiplicity::continuum : Multiplicity::unique));
          } else if (B2 / B1 < -1) {
            CHECK(kind == Multiplicity::unique);
          } else {
            CHECK(kind != Multiplicity::none);
          }
        }
      }
    // B1 = 0 and x1 = 0: all of [-1, 1]
    const SolutionSet set = jump_dynamics(0, 1, Vector{{0, 0.5}});
    const Matrix ends = pieces(set, 10).at(0).vertices;
    CHECK(ends.row(1).minCoeff() == -1);
    CHECK(ends.row(1).maxCoeff() == 1);
  }

  TEST_CASE("[RAB] 3.3.2 (a)-(d): solutions of 0 ∈ a x + |x| + c + sign(x)") {
    const auto number = [](double a, double c) { return count(generalised_equation(a, c)); };
    for (const double c : {-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0}) {
      CAPTURE(c);
      CHECK(number(2, c) == 1);                             // (a) a - b > 0, a + b > 0
      CHECK(number(0, c) == (c > 1 ? 0 : c == 1 ? 1 : 2));  // (b) a - b < 0 < a + b
      CHECK(number(0.5, c) == (c > 1 ? 0 : c == 1 ? 1 : 2));
      const bool inside = c >= -1 && c <= 1;  // (c), corrected: unique iff
      CHECK(number(-2, c) == (!inside ? 1 : std::abs(c) == 1 ? 2 : 3));  // c > 1 or c < -1
      // (d) one side of the constraint is parallel to B
      for (const double a : {1.0, -1.0})
        if (c > 1) CHECK(number(a, c) == 0);
      CHECK((number(1, c) == -1) == (c == 1));  // -1: a continuum, x <= 0 or x >= 0
      CHECK((number(-1, c) == -1) == (c == -1));
    }
  }

  TEST_CASE("[RAB] Definition 12: where a continuous solution starts, B1 + B2 = 0: modes 2 and 3") {
    for (const double B1 : {1.0, -2.0})
      for (const Vector& x : constraint_points()) {
        CAPTURE(x.transpose());
        CHECK(jumps(B1, -B1, x[0], x[1]).starts_continuously() == (x[0] >= 0));
      }
  }

  TEST_CASE("[RAB] Definition 12: B1 = B2: modes 1 and 3 without A-") {
    for (const double B1 : {1.0, -2.0})
      for (const Vector& x : constraint_points()) {
        CAPTURE(x.transpose());
        const bool corner = x[0] == 0 && x[1] == -1;
        CHECK(jumps(B1, B1, x[0], x[1]).starts_continuously() == (x[0] <= 0 && !corner));
      }
  }

  TEST_CASE("[RAB] Definition 12: B1 = 0: modes 1 and 2 with A+") {
    for (const double B2 : {1.0, -0.5})
      for (const Vector& x : constraint_points()) {
        CAPTURE(x.transpose());
        const bool wanted = x[0] != 0 || x[1] == 1;
        CHECK(jumps(0, B2, x[0], x[1]).starts_continuously() == wanted);
      }
  }

  TEST_CASE("[RAB] Definition 12: B2/B1 > 0 and B1 != B2: everywhere but in A-") {
    for (const auto& [B1, B2] : {std::pair{1.0, 2.0}, {2.0, 1.0}, {-1.0, -2.0}, {-2.0, -0.5}})
      for (const Vector& x : constraint_points()) {
        const auto& shown_B1 = B1;
        CAPTURE(shown_B1);
        CAPTURE(x.transpose());
        const bool corner = x[0] == 0 && x[1] == -1;
        CHECK(jumps(B1, B2, x[0], x[1]).starts_continuously() == !corner);
      }
  }

  TEST_CASE("[RAB] Proposition 2: with B2/B1 <= 0, B1 + B2 != 0 a solution starts everywhere") {
    for (int i = -6; i <= 6; ++i)
      for (int j = -6; j <= 6; ++j) {
        const double B1 = i / 3.0, B2 = j / 3.0;
        const bool global = B1 + B2 != 0 && B1 != 0 && B2 / B1 <= 0;
        bool everywhere = true;
        for (const Vector& x : constraint_points())
          everywhere = everywhere && jumps(B1, B2, x[0], x[1]).starts_continuously();
        CAPTURE(B1);
        CAPTURE(B2);
        CHECK(everywhere == global);
      }
  }

  TEST_CASE("[RAB] Remark 2: in A- of sliding-repulsive cases modes 1 and 3 start, of crossing 3") {
    const ConsistentJumps repulsive = jumps(-1, 0.5, 0, -1), crossing = jumps(-0.5, 1, 0, -1);
    REQUIRE(is_only(repulsive, 0, -1));
    CHECK(repulsive.jumps[0].continuations.size() == 2);
    REQUIRE(is_only(crossing, 0, -1));
    REQUIRE(crossing.jumps[0].continuations.size() == 1);
    CHECK(crossing.jumps[0].continuations[0].mode == Mode{1});
    CHECK(crossing.jumps[0].x()[2] == doctest::Approx(2));  // z = -1/B1 in mode 3
  }

  TEST_CASE("[RAB] 3.3.3: with B1 + B2 = 0 mode 1 has a unique consistent jump, to A-") {
    for (const double x1 : {-3.0, -1.0, -0.25}) {
      CHECK(is_only(jumps(1, -1, x1, -x1 - 1), 0, -1));
      CHECK(is_only(jumps(-2, 2, x1, -x1 - 1), 0, -1));
    }
  }

  TEST_CASE("[RAB] 3.3.3: with B1 = B2 mode 2 has two consistent jumps, to (0, 1) and (-1, 0)") {
    for (const double x1 : {0.25, 1.0, 3.0}) {
      const ConsistentJumps found = jumps(1, 1, x1, x1 + 1);
      REQUIRE(found.jumps.size() == 2);
      CHECK((points(found)[0] - Vector{{0, 1}}).norm() < 1e-12);
      CHECK((points(found)[1] - Vector{{-1, 0}}).norm() < 1e-12);
      CHECK(found.jumps[0].amplitude == doctest::Approx(std::sqrt(2) * x1));
      CHECK(found.jumps[1].impulse_x[2] == doctest::Approx(-1 - x1));
    }
    CHECK(jumps(1, 1, 0, -1).status == Status::no_solution);
  }

  TEST_CASE("[RAB] 3.3.3: with B1 = 0 every point of x1 = 0 jumps to (0, 1)") {
    for (const double x2 : {-1.0, -0.5, 0.0, 0.75, 1.0}) {
      const ConsistentJumps found = jumps(0, 2, 0, x2);
      CHECK(is_only(found, 0, 1));
      CHECK(found.jumps.at(0).impulse_x[2] == doctest::Approx((1 - x2) / 2));
    }
  }

  TEST_CASE("[RAB] 3.3.3, corrected: from A- with B2/B1 > 0 there is a jump iff B2/B1 > 1") {
    for (int i = -8; i <= 8; ++i)
      for (int j = -8; j <= 8; ++j) {
        if (i * j <= 0) continue;
        const double B1 = i / 4.0, B2 = j / 4.0;
        CAPTURE(B1);
        CAPTURE(B2);
        const ConsistentJumps found = jumps(B1, B2, 0, -1);
        if (B2 / B1 > 1)
          CHECK(is_only(found, 2 * B1 / (B2 - B1), (B1 + B2) / (B2 - B1)));
        else
          CHECK(found.status == Status::no_solution);
      }
    const ConsistentJumps published = jumps(1, 2, 0, -1);
    CHECK(is_only(published, 2, 3));
    CHECK(published.jumps[0].amplitude == doctest::Approx(std::sqrt(20)));  // 4.47
    CHECK(published.jumps[0].impulse_x[2] == doctest::Approx(2));
    CHECK(is_only(jumps(-1, -2, 0, -1), 2, 3));
    CHECK(jumps(2, 1, 0, -1).message ==
          "no jump leads to a state from which a continuous solution starts");
  }

  TEST_CASE("[RAB] Proposition 5: the jumps are the limits of all implicit Euler steps") {
    std::mt19937 engine(3);
    std::uniform_int_distribution<int> quarter(-8, 8);
    int with_jump = 0;
    for (int k = 0; k < 300; ++k) {
      const double B1 = quarter(engine) / 4.0, B2 = quarter(engine) / 4.0;
      const double a = quarter(engine) % 2, x1 = quarter(engine) / 4.0;
      const bool on = k % 3 > 0;  // on the constraint or off
      const double x2 = on ? (x1 == 0 ? quarter(engine) / 8.0 : std::abs(x1) + std::copysign(1, x1))
                           : quarter(engine) / 4.0;
      CAPTURE(k);
      const Lcs lcs = own_law(B1, B2, a, -a);
      const Vector x{{x1, x2, 0}};
      const ConsistentJumps found = consistent_jumps(lcs, x, 0);
      StepEquations equations(lcs, 1);
      const double h = 0x1p-16;
      const ParametricMlcp family = equations.family(h);
      Mlcp problem = family.base;
      Vector p(equations.parameters());
      equations.parameter(x, 0, h, p.data());
      problem.q1 += family.Q1 * p;
      problem.q2 += family.Q2 * p;
      const std::vector<Piece> steps = pieces(enumerate(problem), 100);
      bool bounded = true;
      for (const ConsistentJump& jump : found.jumps) bounded = bounded && !jump.is_continuum;
      if (!bounded) continue;
      std::size_t near = 0;
      for (const Piece& step : steps)
        for (const ConsistentJump& jump : found.jumps)
          near += (step.vertices.col(0).head(2) - jump.x().head(2)).norm() < 1e-2;
      const auto far = std::count_if(steps.begin(), steps.end(), [](const Piece& step) {
        return step.vertices.col(0).head(2).norm() > 1e3;  // grows like 1/h: no jump
      });
      CHECK(near + static_cast<std::size_t>(far) == steps.size());
      CHECK((found.jumps.empty() == (static_cast<std::size_t>(far) == steps.size())));
      with_jump += !found.jumps.empty() && found.jumps[0].amplitude > 0;
    }
    CHECK(with_jump > 50);
  }

  TEST_CASE("both forms of the constraint have the same jumps") {
    for (const auto& [B1, B2] :
         {std::pair{1.0, 2.0}, {2.0, 1.0}, {1.0, 1.0}, {-1.0, 0.5}, {0.0, 1.0}})
      for (Vector x : constraint_points()) {
        x.conservativeResizeLike(Vector::Zero(3));
        const ConsistentJumps law = consistent_jumps(own_law(B1, B2), x, 0);
        const ConsistentJumps lcp = consistent_jumps(lcp_form(B1, B2), x, 0);
        REQUIRE(law.jumps.size() == lcp.jumps.size());
        for (std::size_t k = 0; k < law.jumps.size(); ++k)
          CHECK((points(law)[k] - points(lcp)[k]).norm() < 1e-12);
      }
  }

  TEST_CASE("a multiplier can be the impulse: a capacitor shorted by an ideal diode") {
    const Lcs diode{
        .A = Matrix{{0}}, .B = Matrix{{2}}, .C = Matrix{{1}}, .laws = {complementarity()}};
    const ConsistentJumps found = consistent_jumps(diode, Vector{{-1}}, 0);
    REQUIRE(found.jumps.size() == 1);
    CHECK(found.jumps[0].x() == Vector{{0}});
    CHECK(found.jumps[0].amplitude == 1);
    CHECK(found.jumps[0].impulse_lambda == Vector{{0.5}});
    CHECK(consistent_jumps(diode, Vector{{1}}, 0).starts_continuously());
  }

  TEST_CASE("infinitely many jumps: a free algebraic variable moves the state along a line") {
    // ẋ1 = z, ẋ2 = -z, 0 = x1 + x2 - 1: nothing fixes z
    const Lcs line{.E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                   .A = Matrix{{0, 0, 1}, {0, 0, -1}, {1, 1, 0}},
                   .B = Matrix(3, 0),
                   .b = Vector{{0, 0, -1}},
                   .C = Matrix(0, 3)};
    const ConsistentJumps found = consistent_jumps(line, Vector{{0.25, 0.75, 0}}, 0);
    REQUIRE(found.jumps.size() == 1);
    CHECK(found.jumps[0].x().head(2) == Vector{{0.25, 0.75}});  // a point of the line, which has no end
    CHECK(found.jumps[0].is_continuum);
    REQUIRE(found.jumps[0].directions.cols() >= 1);
    const Vector direction = found.jumps[0].directions.col(0).head(2);
    CHECK(direction[0] == doctest::Approx(-direction[1]));
    CHECK(consistent_jumps(line, Vector{{1, 1, 0}}, 0).status == Status::no_solution);
  }

  TEST_CASE("infinitely many jumps with ends: the vertical branch of a law") {
    // ẋ1 = 0, ẋ2 = z, x2 ∈ sign(x1): at x1 = 0 the state can go to all of [-1, 1]
    const Lcs segment{.E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                      .A = Matrix{{0, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                      .B = Matrix{{0}, {0}, {1}},
                      .C = Matrix{{1, 0, 0}},
                      .laws = {sign()}};
    const ConsistentJumps found = consistent_jumps(segment, Vector{{0, 0.5, 0}}, 0);
    const auto continuum =
        std::find_if(found.jumps.begin(), found.jumps.end(),
                     [](const ConsistentJump& jump) { return jump.is_continuum; });
    REQUIRE(continuum != found.jumps.end());
    CHECK(continuum->vertices.row(1).minCoeff() == -1);
    CHECK(continuum->vertices.row(1).maxCoeff() == 1);
    CHECK(continuum->directions.cols() == 0);
  }

  TEST_CASE("a moving constraint is followed: the slope of b counts") {
    // ẋ = z, 0 = x - 3 sin t
    const Lcs moving{
        .E = Matrix{{1, 0}, {0, 0}},
        .A = Matrix{{0, 1}, {1, 0}},
        .B = Matrix(2, 0),
        .b = Signal(Vector{{0, 0}}, {1}, [](double t, Vector& b) { b[1] = -3 * std::sin(t); }),
        .C = Matrix(0, 2)};
    const ConsistentJumps found = consistent_jumps(moving, Vector{{0, 0}}, 0);
    REQUIRE(found.starts_continuously());
    CHECK(found.jumps[0].x()[1] == doctest::Approx(3).epsilon(1e-8));
    const ConsistentJumps off = consistent_jumps(moving, Vector{{1, 0}}, 0);
    REQUIRE(off.jumps.size() == 1);
    CHECK(off.jumps[0].amplitude == 1);
    CHECK(off.jumps[0].impulse_x[1] == -1);
  }

  TEST_CASE("a search that the budget ends is not called complete") {
    const ConsistentJumps found =
        consistent_jumps(lcp_form(1, 2), Vector{{0, -1, 0}}, 0, {.max_nodes = 3});
    CHECK(found.status == Status::not_enumerated);
    CHECK(found.message == "not proved complete: the search ended after 3 nodes");
  }

  TEST_CASE("a wrong state is refused") {
    CHECK_THROWS_WITH_AS(consistent_jumps(own_law(1, 2), Vector{{0, 1}}, 0),
                         "x must have 3 entries but has 2", InvalidInput);
    CHECK_THROWS_AS(consistent_jumps(own_law(1, 2), Vector{{0, perp::nan, 0}}, 0), InvalidInput);
  }
}
