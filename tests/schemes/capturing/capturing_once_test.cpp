#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/tests/schemes/step/point/random_systems.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;
using perp::test::change_units;
using perp::test::friction_chain;
using perp::test::positions_watched;
using perp::test::passive_system;
using perp::test::random_system;
using perp::test::RandomSystem;
using perp::test::with_names;

namespace {

/// What energy certifies, some of its rows without a rate, in units from 2^-30 to 2^30; or
/// anything.
RandomSystem system_of(std::mt19937& random, int trial) {
  const int n = trial % 10 == 0 ? 12 + trial % 9 : 1 + trial % 5, m = 1 + trial % 3;
  if (trial % 2 == 0) return random_system(random, n, m, trial % 3 == 0);
  std::vector<Law> laws;
  for (int i = 0; i < m; ++i) {
    const Law kinds[] = {complementarity(), sign(), complementarity(), normal_cone(-1, 2)};
    laws.push_back(kinds[random() % 4]);
  }
  RandomSystem system{passive_system(random, n, laws), std::ldexp(1.0, -(trial % 7)), 1,
                      Vector::LinSpaced(n, -1, 1)};
  for (int i = 0; i < n; ++i)
    if (random() % 4 == 0) system.lcs.E(i, i) = 0, system.lcs.A(i, i) = -1;
  if (trial % 14 == 9) {  // few laws: the table has all of their modes
    system.lcs = positions_watched(friction_chain(random, 2), random);
    system.x = Vector::LinSpaced(system.lcs.n(), -1, 1);
  }
  if (trial % 6 == 3) {
    system.lcs = with_names(system.lcs, random);
    system.x = Vector::LinSpaced(system.lcs.n(), -1, 1);
  }
  change_units(system.lcs, system.x, random, 30);
  return system;
}

/// Its first equation is pushed to and fro.
void push(RandomSystem& system) {
  const double push = 2 * system.lcs.b.constant().cwiseAbs().maxCoeff(), h = system.h;
  system.lcs.b = Signal(system.lcs.b.constant(), {0}, [push, h](double t, Vector& value) {
    value[0] = push * std::sin(t / (2 * h));
  });
}

/// Whose branches ended, in their order.
std::vector<int> laws_of(const std::vector<Scheme::Departure>& departures) {
  std::vector<int> laws;
  for (const Scheme::Departure& departure : departures) laws.push_back(departure.law);
  std::sort(laws.begin(), laws.end());
  return laws;
}

struct Tally {
  int kept = 0, left = 0, by_table = 0, unsolved = 0;
};

/// Where energy tells that a step has one solution both sides go without a table: is it the one,
/// and the only one, that the table of all modes has?
void check_by_table(Capturing& maps, const Step& before, double h, const Capturing& points,
                    Tally& tally) {
  std::vector<double> parameter(static_cast<std::size_t>(maps.equations().parameters()));
  maps.equations().parameter(before.x, before.t, before.t + h, parameter.data());
  ModeCache table(maps.equations().family(h));
  const ModeCache::Choice choice = table.nearest(parameter.data(), table.find(before.mode));
  if (choice.status == Status::not_enumerated) return;  // a continuum of multipliers is possible
  REQUIRE(choice.status == Status::solved);
  ++tally.by_table;
  CHECK(choice.solutions == 1);
  const ModeMap& map = table.map(choice.map);
  Vector x(before.x.size());
  map.u(parameter.data(), x.data());
  for (int j = 0; j < static_cast<int>(x.size()); ++j)
    CHECK(std::abs(points.x()[j] - x[j]) <=
          2 * map.u_rounding(j, parameter.data()) + 4 * unit_roundoff * std::abs(x[j]));
}

/// The step of length h from where both stand. False: there is none.
bool check_step(Capturing& points, Capturing& maps, double h, bool is_one, Tally& tally) {
  const double t = points.t() + h;
  const Step before = points.snapshot();
  maps.restore(before);
  const Attempt there = maps.attempt(t, h), here = points.attempt(t, h);
  CHECK(here.status == there.status);
  CHECK(here.kept_mode == there.kept_mode);
  CHECK(here.solutions == there.solutions);
  if (here.status != Status::solved || there.status != Status::solved) {
    ++tally.unsolved;
    return false;
  }
  points.accept();
  maps.accept();
  const Vector rounding = points.rounding() + maps.rounding();
  for (Eigen::Index j = 0; j < rounding.size(); ++j)
    CHECK(std::abs(points.x()[j] - maps.x()[j]) <=
          rounding[j] + 4 * unit_roundoff * std::abs(maps.x()[j]));
  ++(here.kept_mode ? tally.kept : tally.left);
  if (here.kept_mode) return true;
  CHECK(laws_of(points.departures()) == laws_of(maps.departures()));
  if (is_one) check_by_table(maps, before, h, points, tally);
  return true;
}

}  // namespace

TEST_SUITE("schemes/capturing/capturing_once") {
  TEST_CASE(
      "steps of a length that is not the user's are, to rounding, those of the maps of a length "
      "that is: the same status, solutions and laws that leave their branches") {
    constexpr int trials = 300;
    std::mt19937 random(31);
    Tally tally;
    for (int trial = 0; trial < trials; ++trial) {
      CAPTURE(trial);
      RandomSystem system = system_of(random, trial);
      push(system);
      const double h = system.h;
      const Selector selector = trial % 4 < 2 ? Selector::keep_mode : Selector::minimal_norm;
      Capturing points(system.lcs, Theta{.h = 8 * h, .theta = 1, .selector = selector});
      Capturing maps(system.lcs, Theta{.h = h, .theta = 1, .selector = selector});
      std::vector<Event> events;
      if (points.start(0, system.x, h, events).status != Status::solved) continue;
      const bool is_one = h <= longest_monotone_step(StepEquations(system.lcs, 1));
      for (int k = 0; k < 16; ++k) {
        CAPTURE(k);
        if (!check_step(points, maps, h, is_one, tally)) break;
      }
    }
    CHECK(tally.kept > 6 * trials);
    CHECK(tally.left > trials / 2);
    CHECK(tally.by_table > trials / 4);
    MESSAGE(tally.kept << " " << tally.left << " " << tally.by_table << " " << tally.unsolved);
  }

  TEST_CASE("where the end of a mode is looked for a step with one solution tells of it, to the bit, what it tells with its solution") {
    constexpr int trials = 200;
    std::mt19937 random(34);
    int left = 0, kept = 0;
    for (int trial = 0; trial < trials; ++trial) {
      CAPTURE(trial);
      RandomSystem system = system_of(random, trial);
      push(system);
      const double h = system.h;
      Capturing scheme(system.lcs, Theta{.h = 8 * h, .theta = 1});
      const bool is_one = h <= longest_monotone_step(StepEquations(system.lcs, 1));
      std::vector<Event> events;
      if (scheme.start(0, system.x, h, events).status != Status::solved) continue;
      for (int k = 0; k < 16; ++k) {
        const Step before = scheme.snapshot();
        const double t = before.t + h;
        scheme.restore(before);
        const Attempt end = scheme.attempt_end(t, h);
        if (end.status == Status::solved) scheme.accept();
        const std::vector<Scheme::Departure> of_end = scheme.departures();
        scheme.restore(before);
        const Attempt whole = scheme.attempt(t, h);
        REQUIRE(end.status == whole.status);
        if (whole.status != Status::solved) break;
        scheme.accept();
        REQUIRE(end.kept_mode == whole.kept_mode);
        kept += end.kept_mode;
        left += !end.kept_mode && is_one;
        if (end.kept_mode) continue;
        const std::vector<Scheme::Departure> of_whole = scheme.departures();
        REQUIRE(of_end.size() == of_whole.size());
        for (std::size_t j = 0; j < of_end.size(); ++j)
          CHECK((of_end[j].law == of_whole[j].law && (!is_one || of_end[j].s == of_whole[j].s)));
      }
    }
    CHECK(left > trials / 4);
    CHECK(kept > trials);
    MESSAGE(left << " " << kept);
  }

  TEST_CASE("of several solutions of a step that is asked for once the nearest is that of the table of all modes, and so is their number") {
    // [RAB] eq. (36) with one, two or three solutions, from states on and beside its switching line.
    std::mt19937 random(33);
    std::uniform_real_distribution<double> value(-1, 1);
    int several = 0, left = 0;
    for (int trial = 0; trial < 600; ++trial) {
      CAPTURE(trial);
      const double B1 = value(random), B2 = value(random);
      const Lcs lcs = switching_dae::lcp_form(B1, B2);
      const double h = 0.1;
      const Selector selector = trial % 2 == 0 ? Selector::minimal_norm : Selector::keep_mode;
      Capturing points(lcs, Theta{.h = 8 * h, .theta = 1, .selector = selector});
      Capturing maps(lcs, Theta{.h = h, .theta = 1, .selector = selector});
      std::vector<Event> events;
      Vector x{{trial % 5 == 0 ? 0 : value(random), 0, 0}};
      x[1] = x[0] + 1;
      if (x[0] < 0) x[1] -= 2;
      if (points.start(0, x, h, events).status != Status::solved) continue;
      for (int k = 0; k < 6; ++k) {
        maps.restore(points.snapshot());
        const double t = points.t() + h;
        const Attempt here = points.attempt(t, h), there = maps.attempt(t, h);
        REQUIRE(here.status == there.status);
        if (here.status != Status::solved) break;
        CHECK(here.kept_mode == there.kept_mode);
        CHECK(here.solutions == there.solutions);
        CHECK((points.attempted() - maps.attempted()).norm() <= 1e-13 * (1 + points.attempted().norm()));
        several += here.solutions > 1;
        left += !here.kept_mode;
        points.accept();
      }
    }
    CHECK(several > 50);
    CHECK(left > 50);
  }

  TEST_CASE("a solution that one mode has beyond doubt and another within rounding, on an end of its branches, asks for no map") {
    // [RAB] eq. (36) as it reaches its switching line: λ₁ = 0 there in two modes.
    Capturing scheme(switching_dae::lcp_form(-0.5, 1), Theta{.h = 0.25, .theta = 1, .selector = Selector::minimal_norm});
    std::vector<Event> events;
    const Vector x{{-5, 4, 0}};
    REQUIRE(scheme.start(0, x, 0.25, events).status == Status::solved);
    const Mode below{1, 1, 1};
    scheme.restore({2.5, Vector{{0, -1, -2}}, Vector::Zero(3), Vector::Zero(3), below});
    Counts before, after;
    scheme.count(before);
    const Attempt attempt = scheme.attempt(2.625, 0.125);
    scheme.count(after);
    CHECK(attempt.status == Status::solved);
    CHECK(attempt.solutions == 1);
    CHECK(scheme.attempted() == Vector{{0, -0.75, 2}});
    CHECK(after["factorisations"] - before["factorisations"] == 8);  // one of each mode, at the point
  }

  TEST_CASE("a step that ends surely in a mode ends in it, and it is sure of most steps with one solution in their only mode") {
    constexpr int trials = 200;
    std::mt19937 random(35);
    int sure = 0, steps = 0;
    for (int trial = 0; trial < trials; ++trial) {
      CAPTURE(trial);
      RandomSystem system = system_of(random, trial);
      push(system);
      const double h = system.h;
      Capturing scheme(system.lcs, Theta{.h = 8 * h, .theta = 1});
      const bool is_one = h <= longest_monotone_step(StepEquations(system.lcs, 1));
      std::vector<Event> events;
      if (scheme.start(0, system.x, h, events).status != Status::solved) continue;
      for (int k = 0; k < 16; ++k) {
        const Step before = scheme.snapshot();
        const double t = before.t + h;
        if (scheme.attempt(t, h).status != Status::solved) break;
        scheme.accept();
        const Step end = scheme.snapshot();
        scheme.restore(before);
        Mode other(end.mode.size(), 0);
        do {
          const bool is_sure = scheme.ends_surely_in(other, t, h);
          CHECK((!is_sure || other == end.mode));
          sure += is_sure;
        } while (next_mode(other, system.lcs.laws));
        steps += is_one;
        scheme.restore(end);
      }
    }
    CHECK(steps > trials);
    CHECK(sure > steps / 2);
    MESSAGE(sure << " " << steps);
  }

  TEST_CASE(
      "a scheme that reads what one with steps at points has kept goes on with its bits and "
      "counts") {
    std::mt19937 random(32);
    constexpr int laws = 9;  // 512 modes: steps of the user's length are at points too
    RandomSystem system{passive_system(random, laws, std::vector<Law>(laws, complementarity())),
                        0.25, 1, Vector::LinSpaced(laws, -1, 1)};
    push(system);
    const double h = system.h;
    const Theta options{.h = h, .theta = 1};
    Capturing whole(system.lcs, options);
    std::vector<Event> events;
    REQUIRE(whole.start(0, system.x, h, events).status == Status::solved);
    const auto go_on = [&](Capturing& scheme, int k) {
      const double length = k % 3 == 2 ? 0.375 * h : h;
      REQUIRE(scheme.attempt(scheme.t() + length, length).status == Status::solved);
      scheme.accept();
    };
    for (int kept = 0; kept < 40; kept += 5) {
      CAPTURE(kept);
      Archive archive;
      whole.transfer(archive);
      Capturing rest(system.lcs, options);
      Archive read(archive.bytes());
      rest.transfer(read);
      read.expect_end();
      for (int k = kept; k < kept + 5; ++k) {
        go_on(whole, k);
        go_on(rest, k);
        CHECK(rest.x() == whole.x());
        CHECK(rest.lambda() == whole.lambda());
        CHECK(rest.mode() == whole.mode());
        CHECK(rest.rounding() == whole.rounding());
      }
      Counts of_whole, of_rest;
      whole.count(of_whole);
      rest.count(of_rest);
      CHECK(of_rest == of_whole);
    }
  }
}
