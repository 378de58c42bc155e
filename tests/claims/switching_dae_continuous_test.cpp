#include <perp/tests/claims/switching_dae_exact.hpp>
#include <perp/tests/schemes/nonlinear_systems.hpp>

using namespace claims;
using perp::BackwardEuler;
using perp::Event;
using perp::EventKind;
using perp::Status;
using perp::Trajectory;

namespace {

Trajectory run(const B& b, const Vector& x0, double end, double h = 0.25) {
  return perp::integrate(b.law(), with_z(x0), {0, end}, BackwardEuler{.h = h});
}

/// Largest distance of x and z from the solution by hand, relative; z only after steps that lie in
/// one piece: in others it holds their sum.
double distance(const Trajectory& trajectory, const Solution& exact) {
  double worst = 0;
  for (std::size_t k = 0; k < trajectory.size(); ++k) {
    const double t = trajectory.t[k];
    const Motion& piece = exact.at(t);
    const Vector x = piece.at(t);
    worst = std::max(worst, (trajectory.x[k].head(2) - x).norm() / (1 + x.norm()));
    if (k > 0 && trajectory.t[k - 1] > piece.t0 - 1e-9 && t < piece.end() - 1e-9)
      worst = std::max(
          worst, std::abs(trajectory.x[k][2] - piece.rates.z) / (1 + std::abs(piece.rates.z)));
  }
  return worst;
}

std::vector<double> times(const Trajectory& trajectory, EventKind kind) {
  std::vector<double> list;
  for (const Event& event : trajectory.events)
    if (event.kind == kind) list.push_back(event.t);
  return list;
}

bool is_continuous(const Trajectory& trajectory) {
  return trajectory.status == Status::solved && times(trajectory, EventKind::jump).empty() &&
         times(trajectory, EventKind::inconsistent_start).empty();
}

/// The branches on which the library finds that a continuous solution starts, in order.
std::vector<int> starts(const B& b, const Vector& x) {
  std::vector<int> list;
  const auto found = perp::consistent_jumps(b.law(), with_z(x), 0);
  if (!found.starts_continuously()) return list;
  for (const auto& continuation : found.jumps.front().continuations)
    list.push_back(continuation.mode[0]);
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

TEST_SUITE("claims/switching_dae_continuous") {
  TEST_CASE("[RAB] Proposition 2: under (13) every consistent point has a solution for all times") {
    Draw draw(21);
    for (int k = 0; k < 150; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_global(); });
      const Vector x0 = draw.point(branches[k % 3]);
      if (x0 == A_minus()) continue;  // not unique in the repulsive cones: Remark 2
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const Solution exact = continuous_solution(b, x0);
      CHECK(exact.end == perp::inf);
      const Trajectory trajectory = run(b, x0, 20);
      CHECK(is_continuous(trajectory));
      CHECK(trajectory.t.back() == 20);
      CHECK(distance(trajectory, exact) < 1e-11);
    }
  }

  TEST_CASE("[RAB] Proposition 2, necessity: without (13) some consistent point has none") {
    Draw draw(22);
    int kinds[4] = {0, 0, 0, 0};
    for (int k = 0; k < 300; ++k) {
      B b = draw.B_with([](const B& v) { return !v.is_global(); });
      if (k % 4 == 1) b = {b.B1, -b.B1};
      if (k % 4 == 2) b = {0, b.B2};
      if (k % 4 == 3) b = {b.B1, b.B1};
      if (b.B1 == 0 && b.B2 == 0) continue;
      const int kind = b.B1 == 0 ? 2 : b.B1 + b.B2 == 0 ? 1 : 0;
      // not A+, from where B2/B1 > 1 may leave upwards
      const Vector x0 = kind == 1    ? draw.point(left)
                        : kind == 2  ? Vector{{0, draw.number(-8, 7)}}
                        : k % 4 == 3 ? draw.point(right)
                                     : Vector{{0, draw.number(-8, 7)}};
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const Solution exact = continuous_solution(b, x0);
      REQUIRE(exact.end < perp::inf);
      ++kinds[k % 4];
      const Trajectory trajectory = run(b, x0, exact.end + 1);
      CHECK_FALSE(is_continuous(trajectory));
      if (trajectory.status == Status::no_solution)
        CHECK(trajectory.t.back() == doctest::Approx(exact.end));
    }
    for (const int n : kinds) CHECK(n > 30);
  }

  TEST_CASE(
      "[RAB] 3.1 case 1: from x1 < 0 mode 1 stays iff (B1 + B2) B2 <= 0, else meets A- at "
      "-x1 (B1 + B2)/B2") {
    Draw draw(23);
    for (int k = 0; k < 120; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 + v.B2 != 0; });
      const Vector x0 = draw.point(left);
      const bool stays = (b.B1 + b.B2) * b.B2 <= 0;
      const double arrival = stays ? perp::inf : -x0[0] * (b.B1 + b.B2) / b.B2;
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const double end = std::min(arrival, 30.0);
      const Trajectory trajectory = run(b, x0, end, end / 8);
      CHECK(is_continuous(trajectory));
      const Vector rate{{b.B2 / (b.B1 + b.B2), -b.B2 / (b.B1 + b.B2)}};
      CHECK((trajectory.x.back().head(2) - x0 - end * rate).norm() <
            1e-11 * (1 + x0.norm() + end * rate.norm()));
      CHECK(trajectory.x[4][2] == doctest::Approx(-1 / (b.B1 + b.B2)));
      if (arrival < 30) CHECK((trajectory.x.back().head(2) - A_minus()).norm() < 1e-11);
    }
  }

  TEST_CASE(
      "[RAB] 3.1 case 2: from x1 > 0 mode 2 stays iff (B1 - B2) B2 <= 0, else meets A+ at "
      "x1 (B1 - B2)/B2") {
    Draw draw(24);
    int met = 0;
    for (int k = 0; k < 160; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 != v.B2; });
      const Vector x0 = draw.point(right);
      const bool stays = (b.B1 - b.B2) * b.B2 <= 0;
      const double arrival = stays ? perp::inf : x0[0] * (b.B1 - b.B2) / b.B2;
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const double end = std::min(arrival, 30.0);
      const Trajectory trajectory = run(b, x0, end, end / 8);
      CHECK(is_continuous(trajectory));
      const Vector rate = Vector::Constant(2, -b.B2 / (b.B1 - b.B2));
      CHECK((trajectory.x.back().head(2) - x0 - end * rate).norm() <
            1e-11 * (1 + x0.norm() + end * rate.norm()));
      CHECK(trajectory.x[4][2] == doctest::Approx(-1 / (b.B1 - b.B2)));
      if (arrival < 30) CHECK((trajectory.x.back().head(2) - A_plus()).norm() < 1e-11);
      met += arrival < 30;
    }
    CHECK(met > 10);
  }

  TEST_CASE(
      "[RAB] 3.1 case 3: on x1 = 0 mode 3 rests for B2 = 0, else meets A- at B1/B2 (1 + x2) "
      "or A+ at B1/B2 (x2 - 1)") {
    Draw draw(25);
    for (int k = 0; k < 160; ++k) {
      B b = draw.B_with([](const B& v) { return v.B1 != 0; });
      if (k % 8 == 0) b.B2 = 0;
      const Vector x0{{0, draw.number(-7, 7)}};
      const double arrival =
          b.B2 == 0 ? perp::inf : b.B1 / b.B2 * (b.B2 / b.B1 > 0 ? 1 + x0[1] : x0[1] - 1);
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const double end = std::min(arrival, 30.0);
      const Trajectory trajectory = run(b, x0, end, end / 8);
      CHECK(is_continuous(trajectory));
      for (std::size_t step = 1; step + 1 < trajectory.size(); ++step) {
        CHECK(std::abs(trajectory.x[step][0]) < 1e-12);
        CHECK(trajectory.x[step][1] == doctest::Approx(x0[1] - trajectory.t[step] * b.B2 / b.B1));
        CHECK(trajectory.x[step][2] == doctest::Approx(-1 / b.B1));
        CHECK(trajectory.mode[step] == Mode{sliding});
      }
      if (arrival < 30)
        CHECK((trajectory.x.back().head(2) - (b.B2 / b.B1 > 0 ? A_minus() : A_plus())).norm() <
              1e-11);
    }
  }

  TEST_CASE(
      "[RAB] (4.1) and Remark 1: mode 1 enters mode 3 in A-; z and x' are those of mode 3 "
      "from there on") {
    Draw draw(26);
    for (int k = 0; k < 60; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_crossing(); });
      const Vector x0 = draw.point(left);
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const Solution exact = continuous_solution(b, x0);
      REQUIRE(exact.pieces.size() == 3);
      const double entry = exact.pieces[1].t0, exit = exact.pieces[2].t0;
      const Trajectory trajectory = run(b, x0, exit + 1, (exit - entry) / 4);
      const auto found = times(trajectory, EventKind::sliding_entry);
      REQUIRE(found.size() == 1);
      CHECK(found[0] == doctest::Approx(-x0[0] * (b.B1 + b.B2) / b.B2));
      CHECK(distance(trajectory, exact) < 1e-11);  // z jumps from -1/(B1 + B2) to -1/B1
      const Event& event = trajectory.events[0];
      CHECK((event.x_after.head(2) - A_minus()).norm() < 1e-9);
      // from the right: the jet of the continuous solution that starts in the corner itself
      CHECK(starts(b, A_minus()) == std::vector<int>{sliding});
    }
  }

  TEST_CASE("[RAB] (4.2): mode 2 enters mode 3 in A+ where (B1 - B2) B2 > 0, and ends in A-") {
    Draw draw(27);
    for (int k = 0; k < 60; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 != 0 && (v.B1 - v.B2) * v.B2 > 0; });
      const Vector x0 = draw.point(right);
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const Solution exact = continuous_solution(b, x0);
      REQUIRE(exact.pieces.size() == 2);
      const double entry = exact.pieces[1].t0;
      CHECK(exact.end == doctest::Approx(entry + 2 * b.B1 / b.B2));
      const Trajectory trajectory = run(b, x0, exact.end + 1, b.B1 / b.B2 / 2);
      const auto found = times(trajectory, EventKind::sliding_entry);
      REQUIRE(found.size() == 1);
      CHECK(found[0] == doctest::Approx(x0[0] * (b.B1 - b.B2) / b.B2));
      CHECK(distance(trajectory, exact) < 1e-11);
      CHECK(trajectory.status == Status::no_solution);  // 0 < B2/B1 < 1: (4.3)
      CHECK(trajectory.t.back() == doctest::Approx(exact.end));
    }
  }

  TEST_CASE("[RAB] (4.3): with B2/B1 > 0 no solution continues beyond A-") {
    for (int i = -24; i <= 24; ++i)
      for (int j = -24; j <= 24; ++j) {
        const B b{i / 8.0, j / 8.0};
        if (i * j <= 0) continue;
        CHECK((b.B1 + b.B2) * b.B2 > 0);  // never < 0, which leaving into mode 1 needs
        if ((i + j) % 4 == 0) CHECK(starts(b, A_minus()).empty());
      }
    Draw draw(28);
    for (int k = 0; k < 60; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 * v.B2 > 0; });
      const Vector x0{{0, draw.number(-7, 8)}};
      if (x0 == A_plus() && continuous_starts(b, x0).size() != 1) continue;  // may leave upwards
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const double end = b.B1 / b.B2 * (1 + x0[1]);
      const Trajectory trajectory = run(b, x0, end + 1, end / 4);
      if (b.ratio_minus(1) > 0) {
        REQUIRE(times(trajectory, EventKind::jump).size() == 1);
        CHECK(times(trajectory, EventKind::jump)[0] == doctest::Approx(end));
      } else {
        CHECK(trajectory.status == Status::no_solution);
        CHECK(trajectory.t.back() == doctest::Approx(end));
      }
    }
  }

  TEST_CASE("[RAB] (4.4): with B2/B1 < 0 mode 3 leaves in A+ into mode 2, always") {
    for (int i = -24; i <= 24; ++i)
      for (int j = -24; j <= 24; ++j)
        if (i * j < 0) CHECK((i - j) * j < 0);
    Draw draw(29);
    for (int k = 0; k < 80; ++k) {
      const B b = draw.B_with([](const B& v) { return v.B1 * v.B2 < 0; });
      const Vector x0{{0, draw.number(-7, 7)}};
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CAPTURE(x0.transpose());
      const double exit = b.B1 / b.B2 * (x0[1] - 1);
      const Trajectory trajectory = run(b, x0, exit + 1, exit / 4);
      CHECK(is_continuous(trajectory));
      const auto found = times(trajectory, EventKind::sliding_exit);
      REQUIRE(found.size() == 1);
      CHECK(found[0] == doctest::Approx(exit));
      CHECK(trajectory.mode.back() == Mode{right});
      CHECK(distance(trajectory, continuous_solution(b, x0)) < 1e-11);
    }
  }

  TEST_CASE(
      "[RAB] Figure 2: crossing cones have one solution from every point, repulsive ones two "
      "from A- and else one") {
    Draw draw(30);
    for (int k = 0; k < 60; ++k) {
      const bool crossing = k % 2 == 0;
      const B b =
          draw.B_with([&](const B& v) { return crossing ? v.is_crossing() : v.is_repulsive(); });
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      CHECK(starts(b, A_minus()) ==
            (crossing ? std::vector<int>{sliding} : std::vector<int>{left, sliding}));
      CHECK(starts(b, A_plus()) == std::vector<int>{right});
      for (const Branch branch : branches) {
        const Vector x = branch == sliding ? Vector{{0, draw.number(-7, 7)}} : draw.point(branch);
        CHECK(starts(b, x) == std::vector<int>{branch});
      }
    }
  }

  TEST_CASE(
      "[RAB] Remark 2: in A- of a repulsive case the solution into mode 1 is one, followed by "
      "perp when it starts just left of it") {
    Draw draw(31);
    for (int k = 0; k < 40; ++k) {
      const B b = draw.B_with([](const B& v) { return v.is_repulsive(); });
      CAPTURE(b.B1);
      CAPTURE(b.B2);
      const Vector near{{-1.0 / 1024, -1 + 1.0 / 1024}};
      const Trajectory leaves = run(b, near, 4), slides = run(b, A_minus(), 1);
      const auto relay =
          perp::make_dcs(nonlinear_systems::RelayForm{b.B1, b.B2}, 3, {perp::sign()});
      CHECK(is_continuous(perp::integrate(relay, with_z(near), {0, 4}, BackwardEuler{.h = 0.25})));
      CHECK(is_continuous(leaves));
      CHECK(leaves.mode.back() == Mode{left});
      CHECK((leaves.x.back().head(2) - near - 4 * rates(b, left).x).norm() < 1e-10);
      CHECK(leaves.x.back()[0] < near[0]);
      CHECK(is_continuous(slides));  // one of the two
      const bool is_one =
          distance(slides, {{{0, A_minus(), left, rates(b, left)}}, perp::inf}) < 1e-11 ||
          distance(slides, continuous_solution(b, A_minus())) < 1e-11;
      CHECK(is_one);
    }
  }
}
