#include <perp/tests/claims/switching_dae_exact.hpp>

using namespace claims;
using perp::BackwardEuler;
using perp::EventKind;
using perp::inf;
using perp::Selector;
using perp::Status;

namespace {

/// The step lengths at which bounds are tried: well below, just below, just above, well above.
constexpr double factors[] = {0.25, 0.999, 1.001, 2.5};
/// Where every h is said to do.
constexpr double lengths[] = {1e-3, 0.5, 4, 100};

Branch branch_of(const Vector& x) { return x[0] < -1e-12 ? left : x[0] > 1e-12 ? right : sliding; }

/// The solution of the step from x that lies on this branch, or null.
const Vector* on_branch(const Found& found, Branch branch) {
  const auto there = std::find_if(found.points.begin(), found.points.end(),
                                  [&](const Vector& y) { return branch_of(y) == branch; });
  return there == found.points.end() ? nullptr : &*there;
}

/// A step from x has a solution on `branch` exactly for h < bound, and that solution is the
/// continuous one: (A), (B), (C) of the proof, so it moves by |rates| h = O(h).
void check_bound(const B& b, const Vector& x, Branch branch, double bound) {
  CAPTURE(b.B1);
  CAPTURE(b.B2);
  CAPTURE(x.transpose());
  CAPTURE(bound);
  REQUIRE(bound > 0);
  for (int k = 0; k < 4; ++k) {
    const double h = bound == inf ? lengths[k] : factors[k] * bound;
    CAPTURE(h);
    const Found found = found_after_step(b.law(), x, h);
    const Vector* solution = on_branch(found, branch);
    CHECK((solution != nullptr) == (h < bound));
    if (!solution) continue;
    const Vector moved = h * rates(b, branch).x;
    CHECK((*solution - x - moved).norm() < 1e-11 * (1 + x.norm() + moved.norm()));
  }
}

/// r = B2/B1 in ]from, to[.
B B_with_ratio(Draw& draw, double from, double to) {
  return draw.B_with([&](const B& v) {
    return v.B1 != 0 && (from == -inf || v.ratio_minus(from) > 0) &&
           (to == inf || v.ratio_minus(to) < 0);
  });
}

/// The solution that minimises [RAB] eq. (32).
perp::Nearest nearest_step(const B& b, const Vector& x, double h) {
  const perp::Mlcp problem = perp::step_problem(b.law(), with_z(x), 0, h);
  return perp::nearest(problem, perp::enumerate(problem), perp::step_norm(b.law(), with_z(x)));
}

/// The largest difference of (x1, x2) at these times, which both runs hit.
double difference(const perp::Trajectory& run, const perp::Trajectory& exact,
                  const std::vector<double>& times) {
  const auto at = [](const perp::Trajectory& trajectory, double t) {
    const auto found = std::find(trajectory.t.begin(), trajectory.t.end(), t);
    REQUIRE(found != trajectory.t.end());
    return Vector(trajectory.x[static_cast<std::size_t>(found - trajectory.t.begin())].head(2));
  };
  double largest = 0;
  for (const double t : times) largest = std::max(largest, (at(run, t) - at(exact, t)).norm());
  return largest;
}

}  // namespace

TEST_SUITE("claims/switching_dae_minimal_steps") {
  TEST_CASE(
      "[RAB] Proposition 6 (1.a): B2/B1 < -1, x1 < 0 stays in mode 1 iff h < -x1 (1 + B1/B2)") {
    Draw draw(61);
    for (int k = 0; k < 60; ++k) {
      const B b = B_with_ratio(draw, -inf, -1);
      const Vector x = draw.point(left);
      check_bound(b, x, left, -x[0] * (1 + b.B1 / b.B2));
    }
  }

  TEST_CASE("[RAB] Proposition 6 (1.b), (4.b): B2/B1 < 0, x1 = 0 slides iff h < B1/B2 (x2 - 1)") {
    Draw draw(62);
    for (int k = 0; k < 80; ++k) {
      const B b = k % 2 ? B_with_ratio(draw, -inf, -1) : B_with_ratio(draw, -1, 0);
      const Vector x{{0, draw.number(-8, 7)}};
      check_bound(b, x, sliding, b.B1 / b.B2 * (x[1] - 1));
    }
  }

  TEST_CASE("[RAB] Proposition 6 (1.c), (4.c): B2/B1 < 0, x1 >= 0 on mode 2 stays there, any h") {
    Draw draw(63);
    for (int k = 0; k < 80; ++k) {
      const B b = k % 2 ? B_with_ratio(draw, -inf, -1) : B_with_ratio(draw, -1, 0);
      check_bound(b, k % 4 ? draw.point(right) : A_plus(), right, inf);
    }
  }

  TEST_CASE(
      "[RAB] Proposition 6 (2.a), (3.a): B2/B1 > 0, x1 < 0 stays in mode 1 iff h < -x1 (1 + "
      "B1/B2)") {
    // (2), corrected: a + b < 0, a - b < 0, that is B2/B1 > 1
    Draw draw(64);
    for (int k = 0; k < 80; ++k) {
      const B b = k % 2 ? B_with_ratio(draw, 1, inf) : B_with_ratio(draw, 0, 1);
      const Vector x = draw.point(left);
      check_bound(b, x, left, -x[0] * (1 + b.B1 / b.B2));
    }
  }

  TEST_CASE("[RAB] Proposition 6 (2.b), (3.b): B2/B1 > 0, x1 = 0 slides iff h < B1/B2 (x2 + 1)") {
    Draw draw(65);
    for (int k = 0; k < 80; ++k) {
      const B b = k % 2 ? B_with_ratio(draw, 1, inf) : B_with_ratio(draw, 0, 1);
      const Vector x{{0, draw.number(-7, 8)}};
      check_bound(b, x, sliding, b.B1 / b.B2 * (x[1] + 1));
    }
  }

  TEST_CASE(
      "[RAB] Proposition 6 (2.b), (3.b), corrected: in (0,-1) with B2/B1 > 0 no step is O(h), "
      "no continuous solution starts") {
    // printed for (2.b): the point (0, 1)
    Draw draw(66);
    for (int k = 0; k < 60; ++k) {
      const B b = k % 2 ? B_with_ratio(draw, 1, inf) : B_with_ratio(draw, 0, 1);
      CHECK(continuous_starts(b, A_minus()).empty());
      for (const double h : {1e-6, 1e-3, 0.5})
        for (const Vector& y : found_after_step(b.law(), A_minus(), h).points)
          CHECK((y - A_minus()).norm() > 2);  // the jump of (24), 2 |B|/|B2 - B1|
      CHECK_FALSE(found_after_step(b.law(), A_plus(), 1e-3).points.empty());
    }
  }

  TEST_CASE(
      "[RAB] Proposition 6 (2.c): B2/B1 > 1, x1 >= 0 on mode 2 stays there, any h; (0,1) has "
      "two solutions") {
    Draw draw(67);
    for (int k = 0; k < 60; ++k) {
      const B b = B_with_ratio(draw, 1, inf);
      check_bound(b, k % 4 ? draw.point(right) : A_plus(), right, inf);
      CHECK(continuous_starts(b, A_plus()) == std::vector<Branch>{sliding, right});
    }
  }

  TEST_CASE(
      "[RAB] Proposition 6 (3.c): 0 < B2/B1 < 1, x1 > 0 stays in mode 2 iff h < x1 (B1/B2 - "
      "1)") {
    Draw draw(68);
    for (int k = 0; k < 60; ++k) {
      const B b = B_with_ratio(draw, 0, 1);
      const Vector x = draw.point(right);
      check_bound(b, x, right, x[0] * (b.B1 / b.B2 - 1));
    }
  }

  TEST_CASE("[RAB] Proposition 6 (4.a): -1 < B2/B1 < 0, x1 <= 0 on mode 1 stays there, any h") {
    Draw draw(69);
    for (int k = 0; k < 60; ++k)
      check_bound(B_with_ratio(draw, -1, 0), k % 4 ? draw.point(left) : A_minus(), left, inf);
  }

  TEST_CASE(
      "[RAB] Proposition 6 (4.b): -1 < B2/B1 < 0: (0,-1) has two O(h) steps and two "
      "continuous solutions") {
    Draw draw(70);
    for (int k = 0; k < 60; ++k) {
      const B b = B_with_ratio(draw, -1, 0);
      CHECK(continuous_starts(b, A_minus()) == std::vector<Branch>{left, sliding});
      for (const double h : {0x1p-8, 0x1p-20}) {
        const Found found = found_after_step(b.law(), A_minus(), h);
        std::vector<Vector> exact;
        for (const Branch branch : {left, sliding})
          exact.push_back(A_minus() + h * rates(b, branch).x);
        CHECK(same_points(found.points, exact));
      }
    }
  }

  TEST_CASE(
      "[RAB] Proposition 6: wherever a continuous solution starts, the minimal norm step is "
      "one for all short h, for every B") {
    Draw draw(71);
    for (int k = 0; k < 500; ++k) {
      B b = draw.any_B();
      const double B1 = b.B1 == 0 ? 1 : b.B1;
      if (k % 7 == 0) b = {B1, 0};  // beside the cases (1)-(4) of the proof
      if (k % 7 == 1) b = {B1, B1};
      if (k % 7 == 2) b = {B1, -B1};
      if (k % 7 == 3) b = {0, B1};
      const Vector x = k % 11 == 0   ? A_minus()
                       : k % 11 == 1 ? A_plus()
                                     : draw.point(branches[k % 3]);
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x.transpose());
      const auto starts = continuous_starts(b, x);
      for (const double h : {0x1p-12, 0x1p-20, 0x1p-28}) {
        const perp::Nearest choice = nearest_step(b, x, h);
        if (starts.empty()) {  // a jump, far away, or nothing
          CHECK((choice.status == Status::no_solution || choice.norm > 1e-3));
          continue;
        }
        double distance = inf;
        for (const Branch branch : starts)
          distance = std::min(
              distance, (choice.minimisers.at(0).u.head(2) - x - h * rates(b, branch).x).norm());
        CHECK(distance < 1e-12 * (1 + x.norm()));
      }
    }
  }

  TEST_CASE(
      "[RAB] Remark 4: keep_mode takes the solution of the present mode for every h below the "
      "bound, where minimal norm may not") {
    Draw draw(72);
    int differs = 0;
    for (int k = 0; k < 120; ++k) {
      const B b = k % 2 ? B_with_ratio(draw, -1, 0) : B_with_ratio(draw, 1, inf);
      const Vector x = draw.point(left);
      const double bound = k % 2 ? inf : -x[0] * (1 + b.B1 / b.B2);
      for (const double factor : {0.01, 0.5, 0.999}) {
        const double h = factor * std::min(bound, 8.0);
        CAPTURE(b.B1);
        CAPTURE(b.B2);
        CAPTURE(x.transpose());
        CAPTURE(h);
        const Vector exact = x + h * rates(b, left).x;
        const auto kept = perp::integrate(b.law(), with_z(x), {0, h}, BackwardEuler{.h = h});
        REQUIRE(kept.status == Status::solved);
        CHECK((kept.x.back().head(2) - exact).norm() < 1e-11 * (1 + exact.norm()));
        const Vector near = nearest_step(b, x, h).minimisers.at(0).u.head(2);
        differs += (near - exact).norm() > 1e-6;
      }
    }
    CHECK(differs > 20);
  }

  TEST_CASE(
      "[RAB] Conjecture 1: with A != 0 minimal norm converges to the continuous solution with "
      "order 1 where it is unique") {
    Draw draw(73);
    int compared = 0;
    for (int k = 0; k < 12; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_crossing(); });
      Lcs lcs = b.law();
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) lcs.A(i, j) = draw.number(-4, 4) / 4;
      const Vector x0 = draw.point(branches[k % 3]);
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const perp::IntegrateOptions options{.times = {0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75}};
      const auto exact = perp::integrate(perp::as_dcs(lcs), with_z(x0), {0, 2},
                                         perp::Located{.tol = 1e-11}, options);
      const auto jumps = std::count_if(exact.events.begin(), exact.events.end(), [](const auto& e) {
        return e.kind == EventKind::jump || e.kind == EventKind::inconsistent_start;
      });
      if (exact.status != Status::solved || jumps) continue;
      const auto error = [&](double h) {
        const auto run =
            perp::integrate(lcs, with_z(x0), {0, 2},
                            BackwardEuler{.h = h, .selector = Selector::minimal_norm}, options);
        REQUIRE(run.status == Status::solved);
        return difference(run, exact, options.times);
      };
      const double coarse = error(0x1p-7), fine = error(0x1p-10);
      if (coarse < 1e-8) continue;  // exact: nothing to converge
      CHECK(std::log2(coarse / fine) / 3 == doctest::Approx(1).epsilon(0.1));
      ++compared;
    }
    CHECK(compared >= 6);
  }
}
