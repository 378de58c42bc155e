#include <perp/tests/claims/switching_dae_exact.hpp>

using namespace claims;

namespace {

/// [RAB] eq. (18): x⁺ - x⁻ = B σ with x⁺ on the constraint; unknowns (x1, x2, σ).
perp::SolutionSet jump_dynamics(const B& b, const Vector& x) {
  return perp::enumerate({.M11 = Matrix{{1, 0, -b.B1}, {0, 1, -b.B2}, {0, -1, 0}},
                          .M12 = Matrix{{0}, {0}, {1}},
                          .q1 = Vector{{-x[0], -x[1], 0}},
                          .M21 = Matrix{{1, 0, 0}},
                          .M22 = Matrix{{0}},
                          .q2 = Vector{{0}},
                          .laws = {perp::abs_plus_sign()}});
}

/// [RAB] eqs. (20), (21) for any b: 0 ∈ a x + b |x| + c + sign(x). The number of solutions x, -1:
/// a continuum.
long solutions_of_inclusion(double a, double b, double c) {
  const perp::Law law{.name = "b |x| + sign(x)",
                      .branches = {{b, 1, -1, {-perp::inf, 0}, {}},
                                   {1, 0, 0, {0, 0}, {-1, 1}},
                                   {-b, 1, 1, {0, perp::inf}, {}}}};
  const auto set = perp::enumerate({.M11 = Matrix{{a}},
                                    .M12 = Matrix{{1}},
                                    .q1 = Vector{{c}},
                                    .M21 = Matrix{{1}},
                                    .M22 = Matrix{{0}},
                                    .q2 = Vector{{0}},
                                    .laws = {law}});
  REQUIRE(set.complete);
  return perp::count_of_u(set);
}

/// Random a, b, c of eq. (21) that satisfy a condition on (a - b, a + b).
struct Inclusion {
  double a, b, c;
  [[nodiscard]] long count() const {
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    return solutions_of_inclusion(a, b, c);
  }
};

template <class Condition>
std::vector<Inclusion> inclusions(unsigned seed, const Condition& holds) {
  Draw draw(seed);
  std::vector<Inclusion> list;
  while (list.size() < 150) {
    const double a = draw.number(-16, 16), b = draw.number(-16, 16);
    // every third at the ends of [-1, 1]
    const double c = list.size() % 3 ? draw.number(-24, 24) : list.size() % 2 ? 1 : -1;
    if (holds(a - b, a + b)) list.push_back({a, b, c});
  }
  return list;
}

/// All B with the cases of [RAB] 3.3.3 as likely as the rest.
B B_of_all_cases(Draw& draw, int k) {
  const B b = draw.any_B();
  const double B1 = b.B1 == 0 ? 1 : b.B1;
  switch (k % 6) {
    case 0: return {B1, -B1};
    case 1: return {B1, B1};
    case 2: return {0, B1};
    default: return b;
  }
}

/// Points of the line x + B σ that lie on the constraint and from which a continuous solution
/// starts: the consistent jumps.
std::vector<Vector> consistent_points(const B& b, const Vector& x) {
  const auto is_on_line = [&](const Vector& y) {
    return b.B2 * (y[0] - x[0]) == b.B1 * (y[1] - x[1]);
  };
  std::vector<Vector> candidates;
  for (const Vector& corner : {A_minus(), A_plus()})
    if (is_on_line(corner)) candidates.push_back(corner);
  const double y = b.B2 * x[0] - b.B1 * x[1], sum = b.B1 + b.B2, difference = b.B2 - b.B1;
  if (sum != 0 && (y - b.B1) / sum < 0)
    candidates.push_back(Vector{{(y - b.B1) / sum, -(y - b.B1) / sum - 1}});
  if (b.B1 != 0 && std::abs(y) < std::abs(b.B1)) candidates.push_back(Vector{{0, -y / b.B1}});
  if (difference != 0 && (y + b.B1) / difference > 0)
    candidates.push_back(Vector{{(y + b.B1) / difference, (y + b.B1) / difference + 1}});
  std::erase_if(candidates, [&](const Vector& p) { return continuous_starts(b, p).empty(); });
  return candidates;
}

}  // namespace

TEST_SUITE("claims/switching_dae_jumps") {
  TEST_CASE("[RAB] (18): the jumps are the points where x- + B σ meets the constraint") {
    Draw draw(331);
    for (int k = 0; k < 300; ++k) {
      const B b = B_of_all_cases(draw, k);
      const Vector x = draw.point(branches[k % 3]);
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x.transpose());
      const Found found = points_of(jump_dynamics(b, x));
      const OnLine wanted = on_line(b, x);
      CHECK(found.is_continuum == wanted.is_continuum);
      if (wanted.is_continuum) continue;
      CHECK(same_points(found.points, wanted.points));
      for (std::size_t i = 0; i < found.points.size(); ++i) {
        const Vector jump = found.points[i] - x;
        CHECK(std::abs(b.B2 * jump[0] - b.B1 * jump[1]) < 1e-12 * (1 + jump.norm()));  // no σ left
        CHECK((jump - found.z[i] * Vector{{b.B1, b.B2}}).norm() < 1e-12 * (1 + jump.norm()));
      }
    }
  }

  TEST_CASE("[RAB] Proposition 3: with B2/B1 < -1 the only jump is none, σ = 0") {
    Draw draw(332);
    for (int k = 0; k < 150; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 != 0 && v.ratio_minus(-1) < 0; });
      const Vector x = draw.point(branches[k % 3]);
      const Found found = points_of(jump_dynamics(b, x));
      CHECK(same_points(found.points, {x}));
      CHECK(std::abs(found.z.at(0)) < 1e-12);
    }
  }

  TEST_CASE("[RAB] Proposition 3: with B2/B1 >= -1 there is one solution or several, by x-") {
    Draw draw(333);
    int one = 0, several = 0;
    for (int k = 0; k < 300; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 != 0 && v.ratio_minus(-1) >= 0; });
      const Vector x = draw.point(branches[k % 3]);
      const Found found = points_of(jump_dynamics(b, x));
      REQUIRE_FALSE(found.points.empty());
      const bool is_one = found.points.size() == 1 && !found.is_continuum;
      (is_one ? one : several)++;
    }
    CHECK(one > 20);
    CHECK(several > 20);
  }

  TEST_CASE(
      "[RAB] Proposition 3, corrected: with B1 = 0 infinitely many iff x1(t-) = 0, else one") {
    // printed: "B1 != 0" and "x2(t-) in [-1, 1]"; x- = (-0.5, -0.5) has x2 there and one solution
    Draw draw(334);
    for (int k = 0; k < 150; ++k) {
      const B b{0, draw.number(1, 24)};
      const Vector x = k == 0 ? Vector{{-0.5, -0.5}} : draw.point(branches[k % 3]);
      const Found found = points_of(jump_dynamics(b, x));
      CHECK(found.is_continuum == (x[0] == 0));
      if (x[0] != 0) CHECK(same_points(found.points, {x}));
    }
  }

  TEST_CASE("[RAB] 3.3.2 (a): a - b > 0 and a + b > 0 has one solution for every c") {
    for (const Inclusion& f : inclusions(335, [](double s, double t) { return s > 0 && t > 0; }))
      CHECK(f.count() == 1);
  }

  TEST_CASE("[RAB] 3.3.2 (b): a - b < 0 < a + b has none for c > 1, one for c = 1, two for c < 1") {
    for (const Inclusion& f : inclusions(336, [](double s, double t) { return s < 0 && t > 0; }))
      CHECK(f.count() == (f.c > 1 ? 0 : f.c == 1 ? 1 : 2));
  }

  TEST_CASE("[RAB] 3.3.2 (b): a - b > 0 > a + b likewise, with -c; it does not occur for b = 1") {
    for (const Inclusion& f : inclusions(337, [](double s, double t) { return s > 0 && t < 0; })) {
      CHECK(f.b < 0);
      CHECK(f.count() == (f.c < -1 ? 0 : f.c == -1 ? 1 : 2));
    }
  }

  TEST_CASE("[RAB] 3.3.2 (c), corrected: a - b < 0 and a + b < 0 has one iff c > 1 or c < -1") {
    // printed: c > 1 or c < 1; three inside, two at the ends
    for (const Inclusion& f : inclusions(338, [](double s, double t) { return s < 0 && t < 0; })) {
      const double c = std::abs(f.c);
      CHECK(f.count() == (c > 1 ? 1 : c == 1 ? 2 : 3));
    }
  }

  TEST_CASE("[RAB] 3.3.2 (d): a - b = 0 has none iff c > 1 (a + b > 0) or c < -1 (a + b < 0)") {
    for (const Inclusion& f :
         inclusions(339, [](double s, double t) { return s == 0 && t != 0; })) {
      const double c = f.a + f.b > 0 ? f.c : -f.c;
      CHECK((f.count() == 0) == (c > 1));
      CHECK((f.count() == -1) == (f.c == 1));  // the vertical branch: all x <= 0
    }
  }

  TEST_CASE("[RAB] 3.3.2 (d): a + b = 0 has none iff c > 1 (a - b < 0) or c < -1 (a - b > 0)") {
    for (const Inclusion& f :
         inclusions(340, [](double s, double t) { return t == 0 && s != 0; })) {
      const double c = f.a - f.b < 0 ? f.c : -f.c;
      CHECK((f.count() == 0) == (c > 1));
      CHECK((f.count() == -1) == (f.c == -1));  // all x >= 0
    }
  }

  TEST_CASE(
      "[RAB] 3.3.2, corrected: x- on the constraint makes c <= 1 where c > 1 has no solution") {
    // printed: c in [-1, 1]; c < -1 occurs, e.g. B = (2, -1), x- = (2, 3): c = -4
    CHECK(c_times_B1({2, -1}, Vector{{2, 3}}, 0) == -4 * 2);
    Draw draw(341);
    int below = 0;
    for (int k = 0; k < 400; ++k) {
      const B b = draw.B_with(
          [](const B& v) { return v.B1 != 0 && v.ratio_minus(-1) >= 0 && v.ratio_minus(1) <= 0; });
      const double c = c_times_B1(b, draw.point(branches[k % 3]), 0) / b.B1;
      CHECK(c <= 1);
      below += c < -1;
    }
    CHECK(below > 50);
  }

  TEST_CASE(
      "[RAB] 3.3.3: from every point, the consistent jumps are the points of the line x- + "
      "B σ where a continuous solution starts") {
    Draw draw(342);
    int none = 0, several = 0, away = 0;
    for (int k = 0; k < 400; ++k) {
      const B b = B_of_all_cases(draw, k);
      Vector x = draw.point(branches[k / 6 % 3]);
      if (k % 5 == 0) x = A_minus();
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x.transpose());
      const auto wanted = consistent_points(b, x);
      const auto found = perp::consistent_jumps(b.law(), with_z(x), 0);
      std::vector<Vector> points;
      for (const auto& jump : found.jumps) {
        CHECK_FALSE(jump.is_continuum);
        points.push_back(jump.x().head(2));
        CHECK(jump.amplitude == doctest::Approx((points.back() - x).norm()).epsilon(1e-12));
      }
      CHECK(same_points(points, wanted));
      CHECK((found.status == perp::Status::no_solution) == wanted.empty());
      none += wanted.empty();
      several += wanted.size() > 1;
      away += !wanted.empty() && !found.starts_continuously();
    }
    CHECK(none > 10);
    CHECK(several > 30);
    CHECK(away > 50);
  }

  TEST_CASE(
      "[RAB] 3.3.3: loss of continuous solutions is where C_i B is singular, and in A- for "
      "B2/B1 > 0") {
    Draw draw(343);
    for (int k = 0; k < 300; ++k) {
      const B b = B_of_all_cases(draw, k);
      const Vector x = k % 4 == 0 ? A_minus() : draw.point(branches[k / 6 % 3]);
      const bool at_minus = x == A_minus(), at_plus = x == A_plus();
      bool lost = (x[0] < 0 && b.B1 + b.B2 == 0) || (x[0] > 0 && b.B1 == b.B2);
      if (x[0] == 0) lost = at_plus ? false : b.B1 == 0 || (at_minus && b.B1 * b.B2 > 0);
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x.transpose());
      CHECK(perp::consistent_jumps(b.law(), with_z(x), 0).starts_continuously() == !lost);
    }
  }

  TEST_CASE(
      "[RAB] Figure 5, (24), corrected: from A- the line meets the constraint once more iff "
      "B2/B1 > 1, in (2 B1, B1 + B2)/(B2 - B1)") {
    // printed: iff B2 - B1 > 0, which is right for B1 > 0 only: B = (-1, -2) jumps to (2, 3)
    for (int i = -24; i <= 24; ++i)
      for (int j = -24; j <= 24; ++j) {
        if (i * j <= 0) continue;
        const B b{i / 8.0, j / 8.0};
        std::vector<Vector> wanted{A_minus()};
        if (b.ratio_minus(1) > 0) wanted.push_back(Vector{{2 * b.B1, b.B1 + b.B2}} / (b.B2 - b.B1));
        CHECK(same_points(points_of(jump_dynamics(b, A_minus())).points, wanted));
      }
    CHECK(same_points(points_of(jump_dynamics({-1, -2}, A_minus())).points,
                      {A_minus(), Vector{{2, 3}}}));
  }
}
