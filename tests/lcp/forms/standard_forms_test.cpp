#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <Eigen/QR>

#include <perp/core/branches.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/forms/standard_forms.hpp>
#include <perp/lcp/parametric/curve.hpp>

#include <perp/tests/lcp/compare_sets.hpp>
#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

Law stairs() {
  return {"stairs",
          {{0, 1, -2, {-inf, -1}, {}},
           {1, 0, -1, {}, {-2, 0}},
           {0, 1, 0, {-1, 1}, {}},
           {-2, 1, -2, {1, 2}, {}},
           {0, 1, 2, {2, inf}, {}}}};
}

std::vector<Law> curve_laws() {
  return {complementarity(),
          sign(),
          relay(-3, 0.5),
          step(),
          normal_cone(-inf, 2),
          normal_cone(-1, inf),
          normal_cone(-1, 1),
          normal_cone(1, 1),
          box(-1, 2),
          box(0, inf),
          box(-inf, 3),
          box(-inf, inf),
          box(0.1, 0.1),
          equality(),
          saturation(-0.3, 0.7),
          dead_zone(-0.1, 0.2),
          dead_zone(1, 1),
          absolute(),
          abs_plus_sign(),
          stairs()};
}

/// Points of the curve: two per branch, one of them well inside.
std::vector<CurvePoint> points_of(const Curve& curve, std::size_t k) {
  const bool first = k == 0;
  const bool single = curve.directions.size() == 1;
  const CurvePoint& corner = curve.corners[first ? 0 : k - 1];
  const double length = std::isfinite(curve.lengths[k]) ? curve.lengths[k] : 2.0;
  std::vector<CurvePoint> points;
  for (const double part : {0.0, 0.375, 1.0}) {
    const double way = (first && !single ? -1 : 1) * part * length;
    points.push_back(
        {corner.w + way * curve.directions[k].w, corner.lambda + way * curve.directions[k].lambda});
  }
  return points;
}

/// One law alone with w given: M22 = 0, q2 = w.
Mlcp given_w(const Law& law, double w) {
  return {.M11 = Matrix(0, 0),
          .M12 = Matrix(0, 1),
          .q1 = Vector(0),
          .M21 = Matrix(1, 0),
          .M22 = Matrix::Zero(1, 1),
          .q2 = Vector::Constant(1, w),
          .laws = {law}};
}

/// A box form is a mixed complementarity problem itself.
Mlcp as_problem(const BoxForm& form) {
  const int n = form.n();
  Mlcp problem{.M11 = Matrix(0, 0),
               .M12 = Matrix(0, n),
               .q1 = Vector(0),
               .M21 = Matrix(n, 0),
               .M22 = form.N,
               .q2 = form.r,
               .laws = {}};
  for (int i = 0; i < n; ++i) problem.laws.push_back(box(form.lower[i], form.upper[i]));
  return problem;
}

/// Did no division leave more bits than a double has?
bool has_few_bits(const BoxForm& form) {
  const auto few = [](double value) { return value * 0x1p20 == std::round(value * 0x1p20); };
  return std::all_of(form.N.reshaped().begin(), form.N.reshaped().end(), few) &&
         std::all_of(form.r.begin(), form.r.end(), few);
}

/// Distance of a point (u, λ) from a solution set that is mapped by back y + back0.
double distance_from(const Mlcp& problem, const SolutionSet& set, const Matrix& back,
                     const Vector& back0, const Vector& point) {
  if (back.cols() == 0) return (back0 - point).norm();
  const Vector center = back.completeOrthogonalDecomposition().solve(Vector(point - back0));
  const Nearest found = nearest(problem, set, {back, center});
  return found.status == Status::solved ? found.norm + (back * center + back0 - point).norm() : inf;
}

/// Largest distance of the vertices of `from` from the set `to`; inf if one of them only is empty.
double excess(const SolutionSet& from, const Matrix& from_back, const Vector& from_back0,
              const Mlcp& to_problem, const SolutionSet& to, const Matrix& to_back,
              const Vector& to_back0) {
  double largest = 0;
  for (const Piece& piece : pieces(from, 10'000))
    for (Eigen::Index k = 0; k < piece.vertices.cols(); ++k)
      largest = std::max(largest, distance_from(to_problem, to, to_back, to_back0,
                                                from_back * piece.vertices.col(k) + from_back0));
  return largest;
}

/// Do problem and form have the same solutions (u, λ)?
void check_same_solutions(const Mlcp& problem, const BoxForm& form) {
  const SolutionSet set = enumerate(problem);
  const Mlcp other = as_problem(form);
  const SolutionSet others = enumerate(other);
  REQUIRE(set.complete);
  REQUIRE(others.complete);
  const int size = problem.p() + problem.m();
  const Matrix identity = Matrix::Identity(size, size);
  const Vector zero = Vector::Zero(size);
  CHECK((multiplicity(set) == Multiplicity::none) == (multiplicity(others) == Multiplicity::none));
  CHECK(excess(set, identity, zero, other, others, form.back, form.back0) <= 1e-9);
  CHECK(excess(others, form.back, form.back0, problem, set, identity, zero) <= 1e-9);
}

}  // namespace

TEST_SUITE("lcp/standard_forms") {
  TEST_CASE("every law whose graph is one curve without ends has a box form") {
    for (const Law& law : curve_laws()) {
      CAPTURE(law.name);
      CHECK(no_curve(law).empty());
    }
  }

  TEST_CASE("other graphs are refused with the place that is wrong") {
    CHECK(no_curve(hysteresis(-1, 1)) == "its graph ends at w = 1, lambda = 0");
    CHECK(no_curve({"segment", {{1, 1, 0, {0, 1}, {}}}}) == "its graph is bounded");
    CHECK(no_curve({"parallel lines", {{0, 1, 0, {}, {}}, {0, 1, 1, {}, {}}}}) ==
          "its graph consists of separate parts");
    CHECK(no_curve({"cross",
                    {{1, 0, 0, {}, {0, inf}},
                     {1, 0, 0, {}, {-inf, 0}},
                     {0, 1, 0, {0, inf}, {}},
                     {0, 1, 0, {-inf, 0}, {}}}}) ==
          "more than two branches meet at w = 0, lambda = 0");
    const Mlcp problem = given_w(hysteresis(-1, 1), 0);
    CHECK(no_box_form(problem) ==
          "law 1 ('hysteresis') has no complementarity form: its graph ends at w = 1, lambda = 0");
  }

  TEST_CASE("the order of the branches in the data does not matter") {
    for (const Law& law : curve_laws()) {
      Law turned = law;
      turned.branches.change([](std::vector<Branch>& branches) { std::reverse(branches.begin(), branches.end()); });
      const Curve curve = curve_of(law), other = curve_of(turned);
      CAPTURE(law.name);
      CHECK(other.reason.empty());
      CHECK(other.order.size() == curve.order.size());
    }
  }

  TEST_CASE("relays and complementarity take one unknown, a law of K branches at most K") {
    const auto unknowns = [](const Law& law) { return box_form(given_w(law, 0)).n(); };
    CHECK(unknowns(complementarity()) == 1);
    CHECK(unknowns(sign()) == 1);
    CHECK(unknowns(saturation(-1, 1)) == 1);
    CHECK(unknowns(equality()) == 1);
    CHECK(unknowns(box(2, 2)) == 0);         // λ is known
    CHECK(unknowns(dead_zone(-1, 1)) == 2);  // λ besides the box: no end is horizontal
    CHECK(unknowns(abs_plus_sign()) == 3);   // λ and two pairs
    CHECK(unknowns(stairs()) == 4);
  }

  TEST_CASE("every point of a law's graph is a complementary point of its form, and no other") {
    for (const Law& law : curve_laws()) {
      const Curve curve = curve_of(law);
      for (std::size_t k = 0; k < curve.directions.size(); ++k)
        for (const CurvePoint& point : points_of(curve, k)) {
          CAPTURE(law.name);
          CAPTURE(point.w);
          CAPTURE(point.lambda);
          REQUIRE(distance(law, point.w, point.lambda) <= 1e-12);
          check_same_solutions(given_w(law, point.w), box_form(given_w(law, point.w)));
        }
    }
  }

  TEST_CASE("problem and box form have the same solutions, all of them") {
    test::RandomProblems random(20240611);
    for (const char* family : {"laws", "mixed", "relay", "degenerate"})
      for (int k = 0; k < 60; ++k) {
        const Mlcp problem = random.make(family);
        if (!no_box_form(problem).empty()) continue;
        CAPTURE(family);
        CAPTURE(k);
        check_same_solutions(problem, box_form(problem));
      }
  }

  TEST_CASE("pairs and elimination of the free unknowns keep all solutions") {
    test::RandomProblems random(77);
    int eliminated = 0;
    for (int k = 0; k < 80; ++k) {
      const Mlcp problem = random.make(k % 2 == 0 ? "mixed" : "relay");
      BoxForm form = box_form(problem);
      CAPTURE(k);
      const BoxForm before = form;
      if (eliminate_free(form)) {
        ++eliminated;
        CHECK(form.free == 0);
      } else {
        CHECK(form.N == before.N);
        CHECK(form.free == before.free);
      }
      const BoxForm pairs = to_pairs(form);
      for (int i = pairs.free; i < pairs.n(); ++i) {
        CHECK(pairs.lower[i] == 0);
        CHECK(pairs.upper[i] == inf);
      }
      if (!has_few_bits(form)) continue;  // rounding made it another problem
      if (form.n() > 0) check_same_solutions(problem, form);
      if (pairs.n() > 0) check_same_solutions(problem, pairs);
    }
    CHECK(eliminated > 30);
  }
}
