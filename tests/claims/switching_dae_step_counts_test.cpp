#include <perp/tests/claims/switching_dae_exact.hpp>

using namespace claims;

namespace {

/// The number of solutions of a step from a point of the constraint, and that they are those by
/// hand, for both forms of the constraint.
std::size_t solutions_after(const B& b, const Vector& x, double h) {
  CAPTURE(b.B1);
  CAPTURE(b.B2);
  CAPTURE(x.transpose());
  CAPTURE(h);
  const OnLine wanted = after_step(b, x, h);
  for (const Lcs& lcs : {b.law(), b.lcp()}) {
    const Found found = found_after_step(lcs, x, h);
    CHECK(found.is_continuum == wanted.is_continuum);
    if (!wanted.is_continuum) CHECK(same_points(found.points, wanted.points));
  }
  return wanted.points.size();
}

std::vector<Vector> states_after(double B1, double B2, const Vector& x, double h) {
  return found_after_step(own_law(B1, B2), x, h).points;
}

bool only(const std::vector<Vector>& found, double x1, double x2) {
  return same_points(found, {Vector{{x1, x2}}});
}

/// Is a b the number c exactly, not only to rounding? A step is decided by the doubles in it.
bool is_product(double a, double b, double c) { return std::fma(a, b, -c) == 0; }

}  // namespace

TEST_SUITE("claims/switching_dae_step_counts") {
  TEST_CASE("[RAB] Proposition 4: with B2/B1 < -1 a step has one solution for every h and x_k") {
    Draw draw(41);
    for (int k = 0; k < 300; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 != 0 && v.ratio_minus(-1) < 0; });
      CHECK(b.is_crossing());  // a subset of Proposition 2, the whole green cones
      // on the constraint or off it: no condition on c
      const Vector x = k % 2 ? draw.point(branches[k % 3])
                             : Vector{{draw.number(-40, 40), draw.number(-40, 40)}};
      CHECK(solutions_after(b, x, draw.step()) == 1);
    }
  }

  TEST_CASE("[RAB] Proposition 4: the crossing cones are exactly the B with B2/B1 < -1") {
    for (int i = -24; i <= 24; ++i)
      for (int j = -24; j <= 24; ++j) {
        const B b{i / 8.0, j / 8.0};
        const bool unique = b.B1 != 0 && b.ratio_minus(-1) < 0;
        CHECK(b.is_crossing() == unique);
        if (b.is_global() && b.B2 != 0) CHECK(b.is_repulsive() == !unique);
      }
  }

  TEST_CASE("[RAB] Proposition 4 (c): with B2/B1 > 1 a step has a solution, one iff |c| > 1") {
    Draw draw(42);
    int counts[4] = {0, 0, 0, 0};
    for (int k = 0; k < 300; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 != 0 && v.ratio_minus(1) > 0; });
      const Vector x = draw.point(branches[k % 3]);
      double h = draw.step();
      if (k % 6 == 1) h = (1 + x[1]) * b.B1 / b.B2;  // onto c = 1 from a sliding point
      if (h <= 0 || (k % 6 == 1 && !is_product(h, b.B2, (1 + x[1]) * b.B1))) continue;
      const double c = std::abs(c_times_B1(b, x, h)), one = std::abs(b.B1);
      const std::size_t found = solutions_after(b, x, h);
      CHECK(found == (c > one ? 1 : c == one ? 2 : 3));
      ++counts[found];
    }
    for (const int n : {1, 2, 3}) CHECK(counts[n] > 5);
  }

  TEST_CASE("[RAB] 3.4.1: B = (1,2) from (-0.5,-0.5) is unique exactly for h > 0.75, a jump") {
    for (int k = 1; k <= 64; ++k) {
      const double h = k / 32.0;
      const auto found = states_after(1, 2, Vector{{-0.5, -0.5}}, h);
      CHECK((found.size() == 1) == (h > 0.75));
      CHECK(found.size() == (h < 0.75 ? 3 : h == 0.75 ? 2 : 1));
      if (h > 0.75) CHECK(found.front()[0] > 0);  // mode 2: the solution jumped at t = 0.75
    }
    // the exact solution reaches A- at 0.75 and jumps to (2,3)
    CHECK(same_points(states_after(1, 2, Vector{{-0.5, -0.5}}, 0.75), {A_minus(), Vector{{2, 3}}}));
  }

  TEST_CASE("[RAB] 3.4.1: B = (1,2) from (-1.5,0.5) is unique exactly for h < 1.25 or h > 2.25") {
    for (int k = 1; k <= 96; ++k) {
      const double h = k / 32.0;
      const auto found = states_after(1, 2, Vector{{-1.5, 0.5}}, h);
      CHECK((found.size() == 1) == (h < 1.25 || h > 2.25));
      if (h < 1.25) CHECK(found.front()[0] < 0);  // stays on the continuous solution
    }
  }

  TEST_CASE("[RAB] 3.4.1: with B2/B1 > 1 a step offers the solution with and without a jump") {
    Draw draw(43);
    for (int k = 0; k < 100; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 != 0 && v.ratio_minus(1) > 0; });
      // after the corner was reached from the left only the jump is left
      const double x1 = draw.number(-40, -1), arrival = -x1 * (b.B1 + b.B2) / b.B2;
      const Vector x{{x1, -x1 - 1}};
      const double h = draw.step();
      const auto found = states_after(b.B1, b.B2, x, h);
      const auto is_left = [](const Vector& y) { return y[0] < -1e-12; };
      const auto is_right = [](const Vector& y) { return y[0] > 1e-12; };
      CHECK(std::any_of(found.begin(), found.end(), is_left) == (h < arrival));
      // c > -1: (1 + B2/B1) x1 + 1 + B2/B1 h > -1
      const bool jumps = (c_times_B1(b, x, h) + b.B1) * b.B1 > 0;
      CHECK(std::any_of(found.begin(), found.end(), is_right) == jumps);
      if (h >= arrival) CHECK(jumps);
    }
  }

  TEST_CASE(
      "[RAB] 3.4.1: from (-5,4) B = (2,1), h = 1 can step to (10,11), which no solution reaches") {
    const auto found = states_after(2, 1, Vector{{-5, 4}}, 1);
    CHECK(same_points(found, {Vector{{-5 + 1.0 / 3, 4 - 1.0 / 3}}, Vector{{10, 11}}}));
    // the exact solution has none after t = 15, jumps or not
    const auto run =
        perp::integrate(own_law(2, 1), Vector{{-5, 4, 0}}, {0, 20}, perp::BackwardEuler{.h = 0.5});
    CHECK(run.status == perp::Status::no_solution);
    CHECK(run.t.back() == doctest::Approx(15));
  }

  TEST_CASE("[RAB] 3.4.1, corrected: from (10,11) B = (2,1) ends too, at A- after 14") {
    // printed: "an AC solution exists forever"; mode 2 returns to (0,1) at 10, slides to A- until
    // 14
    const auto run = perp::integrate(own_law(2, 1), Vector{{10, 11, 0}}, {0, 100},
                                     perp::BackwardEuler{.h = 0.25});
    CHECK(run.status == perp::Status::no_solution);
    CHECK(run.t.back() == doctest::Approx(14).epsilon(1e-12));
    CHECK((run.x.back().head(2) - A_minus()).norm() < 1e-9);
    REQUIRE(run.events.size() == 2);
    CHECK(run.events[0].kind == perp::EventKind::sliding_entry);
    CHECK(run.events[0].t == doctest::Approx(10));
  }

  TEST_CASE("[RAB] 3.4.1: -1 < B2/B1 <= 0 has a solution for every x_k, h: c <= 1, corrected") {
    // printed: c in [-1, 1]; c < -1 occurs, with two solutions
    Draw draw(44);
    int below = 0;
    for (int k = 0; k < 300; ++k) {
      const B b = draw.B_with(
          [](const B& v) { return v.B1 != 0 && v.ratio_minus(-1) > 0 && v.ratio_minus(0) <= 0; });
      const Vector x = draw.point(branches[k % 3]);
      const double h = draw.step(), c = c_times_B1(b, x, h) / b.B1;
      CHECK(c <= 1);
      below += c < -1;
      CHECK(solutions_after(b, x, h) >= 1);
    }
    CHECK(below > 50);
  }

  TEST_CASE("[RAB] 3.4.1, corrected: -1 < B2/B1 < 0 has two solutions for every x_k and h") {
    // printed: unique where c = -1 or c = 1. c = -1 has two, and c = 1 needs h = 0.
    Draw draw(45);
    int corner = 0;
    for (int k = 0; k < 400; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_repulsive(); });
      Vector x = draw.point(branches[k % 3]);
      double h = draw.step();
      if (k % 4 == 0) {  // onto c = -1: B2/B1 h = x2 - 1 from a sliding point
        x = Vector{{0, 1 + b.B2 / b.B1}};
        h = 1;
        if (x[1] * b.B1 != b.B1 + b.B2) continue;  // only where the quotient is exact
        ++corner;
        CHECK(c_times_B1(b, x, h) == -b.B1);
      }
      CHECK(solutions_after(b, x, h) == 2);
    }
    CHECK(corner > 20);
  }

  TEST_CASE("[RAB] 3.4.1: B2 = 0 rests everywhere, but all steps from x1 <= 0 but A- have two") {
    Draw draw(46);
    for (int k = 0; k < 100; ++k) {
      const B b{draw.number(1, 24) * (k % 2 ? 1 : -1), 0};
      const Vector x = draw.point(branches[k % 3]);
      CHECK(continuous_starts(b, x).size() == 1);
      const std::size_t found = solutions_after(b, x, draw.step());
      CHECK((found == 1) == (x[1] == -1));
    }
  }

  TEST_CASE(
      "[RAB] 3.4.1: from (-2,1) with -1 < B2/B1 < 0: x1 < 0 and x1 = 0 for h <= 2, x1 < 0 "
      "and x1 > 0 beyond") {
    Draw draw(47);
    for (int k = 0; k < 40; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_repulsive(); });
      for (int eighths = 1; eighths <= 40; ++eighths) {
        const double h = eighths / 8.0;
        auto found = states_after(b.B1, b.B2, Vector{{-2, 1}}, h);
        REQUIRE(found.size() == 2);
        if (found[0][0] > found[1][0]) std::swap(found[0], found[1]);
        CHECK(found[0][0] < 0);
        CHECK((std::abs(found[1][0]) < 1e-12) == (h <= 2));
        if (h > 2) CHECK(found[1][0] > 0);
      }
    }
  }

  TEST_CASE("[RAB] 3.4.1: 0 < B2/B1 <= 1 has no solution iff c > 1, and c > 1 iff A- was passed") {
    Draw draw(48);
    int none = 0;
    for (int k = 0; k < 300; ++k) {
      const B b = draw.B_with(
          [](const B& v) { return v.B1 != 0 && v.ratio_minus(0) > 0 && v.ratio_minus(1) <= 0; });
      const Vector x = draw.point(branches[k % 2]);
      const double h = draw.step(), r = b.B2 / b.B1;
      const std::size_t found = solutions_after(b, x, h);
      const double excess = (c_times_B1(b, x, h) - b.B1) * b.B1;
      CHECK((found == 0 && !after_step(b, x, h).is_continuum) == (excess > 0));
      // the continuous solution reaches A- after -x1 (1 + 1/r), or (1 + x2)/r when it slides
      const double arrival = x[0] < 0 ? -x[0] * (1 + 1 / r) : (1 + x[1]) / r;
      if (std::abs(h - arrival) > 1e-9) CHECK((excess > 0) == (h > arrival));
      none += excess > 0;
    }
    CHECK(none > 50);
  }

  TEST_CASE("[RAB] 3.4.1: 0 < B2/B1 < 1 has two solutions for c < 1, one for c = 1") {
    Draw draw(49);
    int one = 0;
    for (int k = 0; k < 300; ++k) {
      const B b = draw.B_with(
          [](const B& v) { return v.B1 != 0 && v.ratio_minus(0) > 0 && v.ratio_minus(1) < 0; });
      const Vector x = draw.point(branches[k % 3]);
      double h = draw.step();
      if (k % 3 == 1) h = (1 + x[1]) * b.B1 / b.B2;  // c = 1 from a sliding point
      if (h <= 0 || (k % 3 == 1 && !is_product(h, b.B2, (1 + x[1]) * b.B1))) continue;
      const double excess = (c_times_B1(b, x, h) - b.B1) * b.B1;
      CHECK(solutions_after(b, x, h) == (excess > 0 ? 0 : excess == 0 ? 1 : 2));
      one += excess == 0;
    }
    CHECK(one > 10);
  }

  TEST_CASE("[RAB] 3.4.1, corrected: B = (0.5,0.25) from (-0.75,-0.25) has only A- for h = 2.25") {
    // printed: h = 1.25, where there are two
    CHECK(only(states_after(0.5, 0.25, Vector{{-0.75, -0.25}}, 2.25), 0, -1));
    CHECK(states_after(0.5, 0.25, Vector{{-0.75, -0.25}}, 1.25).size() == 2);
    CHECK(states_after(0.5, 0.25, A_minus(), 0.5).empty());  // "after which there is no solution"
    CHECK(perp::consistent_jumps(own_law(0.5, 0.25), with_z(A_minus()), 0).status ==
          perp::Status::no_solution);
  }

  TEST_CASE("[RAB] Proposition 4: with B1 = 0 a step is unique unless x1 = -h, then x2 in [-1,1]") {
    Draw draw(50);
    for (int k = 0; k < 200; ++k) {
      const B b{0, draw.number(1, 24) * (k % 2 ? 1 : -1)};
      const double h = draw.step();
      Vector x = draw.point(branches[k % 3]);
      if (k % 5 == 0) x = Vector{{-h, h - 1}};
      solutions_after(b, x, h);
      const Found found = found_after_step(b.law(), x, h);
      CHECK(found.is_continuum == (x[0] == -h));
      if (found.is_continuum) continue;
      REQUIRE(found.points.size() == 1);
      CHECK(found.points[0][0] == doctest::Approx(x[0] + h));
    }
    const auto set =
        perp::enumerate(perp::step_problem(own_law(0, 2), Vector{{-1.5, 0.5, 0}}, 0, 1.5));
    const auto all = perp::pieces(set, 10);
    REQUIRE(all.size() == 1);
    CHECK(all[0].vertices.row(1).minCoeff() == doctest::Approx(-1));
    CHECK(all[0].vertices.row(1).maxCoeff() == doctest::Approx(1));
  }

  TEST_CASE("[RAB] 3.4.1, conclusion: steps are always unique only where global solutions exist") {
    Draw draw(51);
    for (int k = 0; k < 200; ++k) {
      const B b = draw.any_B();
      bool always = true;
      for (int trial = 0; trial < 12 && always; ++trial) {
        const OnLine found = after_step(b, draw.point(branches[trial % 3]), draw.number(1, 160));
        always = found.points.size() == 1 && !found.is_continuum;
      }
      if (b.is_crossing()) CHECK(always);
      const auto lists = perp::step_solvability(b.law(), 1, 0.5);
      CHECK(lists.at_h.is_unique() == b.is_crossing());
      CHECK(lists.shorter.is_unique() == b.is_crossing());
    }
  }
}
