#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_parts.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;

namespace {

/// A system with a start and where its variables and laws stand in a larger one.
struct Part {
  Lcs lcs;
  Vector x0;
  std::vector<int> variables{}, laws{};
};

/// ẋ = a cos(t) - k λ, λ ∈ sign(x): slides while |a cos t| ≤ k.
Part relay(double start, double a, double k) {
  return {validated({.A = Matrix{{0}},
                     .B = Matrix{{-k}},
                     .b = Signal(Vector::Zero(1), {0}, [a](double t, Vector& b) { b[0] = a * std::cos(t); }),
                     .C = Matrix{{1}},
                     .laws = {sign()}}),
          Vector{{start}}};
}

/// ẍ = -x with dry friction of size r on the velocity.
Part friction(double start, double r) {
  return {validated({.A = Matrix{{0, 1}, {-1, 0}},
                     .B = Matrix{{0}, {-r}},
                     .C = Matrix{{0, 1}},
                     .laws = {sign()}}),
          Vector{{start, 0}}};
}

/// [RAB] eq. (11') from (-5, 4): crosses its kink for B = (-0.5, 1), ends there, at t = 15, for B = (2, 1), [RAB]
/// Section 3.4.1.
Part switching(double B1, double B2) {
  return {validated(switching_dae::own_law(B1, B2)), Vector{{-5, 4, 0}}};
}

Part decay(double rate) { return {validated({.A = Matrix{{-rate}}}), Vector{{1}}}; }

/// The parts as one system, their variables, equations and laws shuffled.
Part together(std::vector<Part>& parts, unsigned seed) {
  std::mt19937 random(seed);
  int n = 0, m = 0;
  for (const Part& part : parts) n += part.lcs.n(), m += part.lcs.m();
  const auto shuffled = [&](int count) {
    std::vector<int> order(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) order[static_cast<std::size_t>(k)] = k;
    std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  const std::vector<int> variables = shuffled(n), laws = shuffled(m), equations = shuffled(n);
  Part all{{.E = Matrix::Zero(n, n), .A = Matrix::Zero(n, n), .B = Matrix::Zero(n, m), .C = Matrix::Zero(m, n),
            .D = Matrix::Zero(m, m), .laws = std::vector<Law>(static_cast<std::size_t>(m))},
           Vector::Zero(n)};
  std::vector<std::pair<std::vector<int>, Signal>> sources;
  Vector b = Vector::Zero(n), q = Vector::Zero(m);
  auto variable = variables.begin(), law = laws.begin(), equation = equations.begin();
  for (Part& part : parts) {
    const int own = part.lcs.n(), own_laws = part.lcs.m();
    // A part's own order is that of the whole: its matrices are then those that it is run with alone.
    part.variables.assign(variable, variable + own);
    part.laws.assign(law, law + own_laws);
    std::vector<int> rows(equation, equation + own);
    variable += own, law += own_laws, equation += own;
    std::sort(part.variables.begin(), part.variables.end());
    std::sort(part.laws.begin(), part.laws.end());
    std::sort(rows.begin(), rows.end());
    all.lcs.E(rows, part.variables) = part.lcs.E;
    all.lcs.A(rows, part.variables) = part.lcs.A;
    all.lcs.B(rows, part.laws) = part.lcs.B;
    all.lcs.C(part.laws, part.variables) = part.lcs.C;
    all.lcs.D(part.laws, part.laws) = part.lcs.D;
    b(rows) = part.lcs.b.constant();
    q(part.laws) = part.lcs.q.constant();
    all.x0(part.variables) = part.x0;
    for (int i = 0; i < own_laws; ++i)
      all.lcs.laws.changed(static_cast<std::size_t>(part.laws[static_cast<std::size_t>(i)])) = part.lcs.laws[static_cast<std::size_t>(i)];
    if (!part.lcs.b.is_constant()) sources.emplace_back(rows, part.lcs.b);
  }
  std::vector<int> varying;
  for (const auto& [rows, source] : sources)
    for (const int i : source.varying()) varying.push_back(rows[static_cast<std::size_t>(i)]);
  std::sort(varying.begin(), varying.end());
  all.lcs.q = Signal(q);
  all.lcs.b = varying.empty() ? Signal(b) : Signal(b, varying, [sources](double t, Vector& value) {
    for (const auto& [rows, source] : sources) value(rows) = source(t);
  });
  return all;
}

/// Rows, multipliers, modes and events of a part are those of its run alone, bit for bit, as far as both go.
void check_part(const Trajectory& all, const Trajectory& alone, const Part& part) {
  const std::size_t rows = std::min(all.size(), alone.size());
  REQUIRE(rows > 1);
  for (std::size_t k = 0; k + 1 < rows; ++k) {
    CAPTURE(k);
    REQUIRE(all.t[k] == alone.t[k]);
    REQUIRE(Vector(all.x[k](part.variables)) == alone.x[k]);
    if (part.laws.empty()) continue;
    REQUIRE(Vector(all.lambda[k](part.laws)) == alone.lambda[k]);
    REQUIRE(Vector(all.w[k](part.laws)) == alone.w[k]);
    for (std::size_t i = 0; i < part.laws.size(); ++i)
      REQUIRE(all.mode[k][static_cast<std::size_t>(part.laws[i])] == alone.mode[k][i]);
  }
  std::vector<const Event*> own;
  for (const Event& event : all.events)
    if (std::find(part.laws.begin(), part.laws.end(), event.law) != part.laws.end()) own.push_back(&event);
  std::size_t k = 0;
  for (const Event& event : alone.events) {
    if (event.law < 0 || event.t > all.t.back()) continue;
    REQUIRE(k < own.size());
    CHECK(own[k]->t == event.t);
    CHECK(own[k]->kind == event.kind);
    CHECK(own[k]->from == event.from);
    CHECK(own[k]->to == event.to);
    CHECK(own[k]->law == part.laws[static_cast<std::size_t>(event.law)]);
    CHECK(Vector(own[k]->x_before(part.variables)) == event.x_before);
    ++k;
  }
  CHECK(k == own.size());
}

std::vector<Part> some_parts() {
  return {relay(0.3, 1.5, 1), friction(3, 0.2), switching(-0.5, 1), decay(0.7), relay(-0.2, 0.4, 2), friction(-2, 0.31)};
}

}  // namespace

TEST_SUITE("schemes/independent systems") {
  TEST_CASE("the parts of a system that share no equation are found in any order") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      std::vector<Part> parts = some_parts();
      const Part all = together(parts, seed);
      const std::vector<LcsPart> found = independent_parts(sparse(all.lcs));
      REQUIRE(found.size() == parts.size());
      for (const Part& part : parts) {
        const auto same = std::find_if(found.begin(), found.end(),
                                       [&](const LcsPart& other) { return other.variables == part.variables; });
        REQUIRE(same != found.end());
        CHECK(same->laws == part.laws);
        CHECK(same->system.A.dense() == part.lcs.A);
        CHECK(same->system.E.dense() == part.lcs.E);
        CHECK((part.lcs.b.is_constant() || same->system.b(1.25) == part.lcs.b(1.25)));
      }
    }
  }

  TEST_CASE("an equation without variables and a variable without equation are no system of their own") {
    Lcs lcs = validated({.E = Matrix{{1, 0, 0}, {0, 0, 0}, {0, 0, 1}}, .A = Matrix{{-1, 0, 0}, {0, 0, 0}, {0, 0, -2}}});
    const std::vector<LcsPart> parts = independent_parts(sparse(lcs));
    REQUIRE(parts.size() == 2);  // 0 = 0, of no variable, goes with x1, and with it x2, which has no equation
    lcs.A(1, 0) = 1;  // x1 has two equations, x2 none
    REQUIRE(independent_parts(sparse(lcs)).size() == 2);
    CHECK(independent_parts(sparse(lcs))[0].variables == std::vector<int>{0, 1});
    // a law of a constant that nothing reads goes with the first variable
    lcs = {.A = Matrix{{-1, 0}, {0, -2}}, .B = Matrix::Zero(2, 1), .C = Matrix::Zero(1, 2), .q = Vector{{1}}, .laws = {sign()}};
    REQUIRE(independent_parts(sparse(lcs)).size() == 2);
    CHECK(independent_parts(sparse(lcs))[0].laws == std::vector<int>{0});
  }

  TEST_CASE("company changes no bit of a run, with any selector") {
    for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm, Selector::continuation})
      for (unsigned seed = 1; seed <= 3; ++seed) {
        CAPTURE(to_string(selector));
        CAPTURE(seed);
        std::vector<Part> parts = some_parts();
        const Part all = together(parts, seed);
        const BackwardEuler scheme{.h = 0.013, .selector = selector};
        const Trajectory run = integrate(all.lcs, all.x0, {0, 7}, scheme);
        REQUIRE(run.status == Status::solved);
        CHECK(run.t.back() == 7);
        long splits = 0;
        for (const Part& part : parts) {
          const Trajectory alone = integrate(part.lcs, part.x0, {0, 7}, scheme);
          REQUIRE(alone.status == Status::solved);
          CHECK(run.size() == alone.size());
          CHECK(Vector(run.x.back()(part.variables)) == alone.x.back());
          CHECK(run.counts.at("steps") == alone.counts.at("steps"));
          if (alone.counts.contains("split")) splits += alone.counts.at("split");
          check_part(run, alone, part);
        }
        CHECK(splits > 0);
        CHECK(run.counts.at("split") == splits);
      }
  }

  TEST_CASE("without rows the first and the last state are kept, and events are the same") {
    std::vector<Part> parts = some_parts();
    const Part all = together(parts, 5);
    const BackwardEuler scheme{.h = 0.01};
    const Trajectory with = integrate(all.lcs, all.x0, {0, 6}, scheme);
    const Trajectory without = integrate(all.lcs, all.x0, {0, 6}, scheme, {.keep = false});
    REQUIRE(without.size() == 2);
    CHECK(without.x.front() == with.x.front());
    CHECK(without.x.back() == with.x.back());
    CHECK(without.lambda.back() == with.lambda.back());
    CHECK(without.mode.back() == with.mode.back());
    REQUIRE(without.events.size() == with.events.size());
    for (std::size_t k = 0; k < with.events.size(); ++k) {
      CHECK(without.events[k].t == with.events[k].t);
      CHECK((without.events[k].x_before - with.events[k].x_before).cwiseAbs().maxCoeff() < 1e-14);
    }
  }

  TEST_CASE("the first part whose solution ends, ends the run: the others stand at that time") {
    std::vector<Part> parts{relay(0.3, 1.5, 1), switching(2, 1), decay(0.7)};
    const Part all = together(parts, 2);
    const BackwardEuler scheme{.h = 0.01};
    const Trajectory run = integrate(all.lcs, all.x0, {0, 20}, scheme);
    const Trajectory alone = integrate(parts[1].lcs, parts[1].x0, {0, 20}, scheme);
    REQUIRE(alone.status == Status::no_solution);
    CHECK(run.status == Status::no_solution);
    CHECK(run.message == alone.message);
    CHECK(run.t.back() == alone.t.back());
    CHECK(Vector(run.x.back()(parts[1].variables)) == alone.x.back());
    CHECK(run.x.back()(parts[2].variables)[0] == doctest::Approx(std::exp(-0.7 * run.t.back())).epsilon(0.02));
    CHECK(run.events.back().kind == EventKind::no_solution);
    for (const Event& event : run.events) CHECK(event.t <= run.t.back());
    for (const Part& part : parts) check_part(run, integrate(part.lcs, part.x0, {0, 20}, scheme), part);
    const Trajectory short_one = integrate(all.lcs, all.x0, {0, 20}, scheme, {.keep = false});
    CHECK(short_one.t.back() == run.t.back());
    CHECK((short_one.x.back() - run.x.back()).cwiseAbs().maxCoeff() < 1e-14);
    CHECK(short_one.mode.back() == run.mode.back());
    CHECK(short_one.lambda.back().allFinite());
  }

  TEST_CASE("a part without a start refuses that of all") {
    // x = -1 - λ with 0 ≤ x ⊥ λ ≥ 0
    Part none{validated({.E = Matrix{{0}}, .A = Matrix{{1}}, .B = Matrix{{1}}, .b = Vector{{1}}, .C = Matrix{{1}},
                         .laws = {complementarity()}}),
              Vector{{0}}};
    std::vector<Part> parts{decay(1), none, relay(0.3, 1.5, 1)};
    const Part all = together(parts, 1);
    const Trajectory run = integrate(all.lcs, all.x0, {0, 1}, BackwardEuler{.h = 0.1});
    const Trajectory alone = integrate(none.lcs, none.x0, {0, 1}, BackwardEuler{.h = 0.1});
    CHECK(alone.status == Status::no_solution);
    CHECK(run.status == Status::no_solution);
    CHECK(run.message == alone.message);
    REQUIRE(run.size() == 1);
    CHECK(run.mode.front().empty());
    CHECK(run.x.front() == all.x0);
  }

  TEST_CASE("a bound of one part ends the run of all, with and without rows") {
    std::vector<Part> parts{decay(1), relay(0.3, 1.5, 1), friction(3, 0.2)};
    const Part all = together(parts, 4);
    const int variable = parts[0].variables[0];
    for (const bool keep : {true, false}) {
      const Trajectory run = integrate(all.lcs, all.x0, {0, 5}, BackwardEuler{.h = 0.01},
                                       {.keep = keep, .bounds = {{.variable = variable, .range = {0.5, inf}}}});
      CHECK(run.status == Status::interrupted);
      CHECK(run.t.back() == doctest::Approx(std::log(2)).epsilon(0.02));
      CHECK(run.x.back().allFinite());
      CHECK(run.lambda.back().allFinite());
      CHECK(run.message.find("x" + std::to_string(variable + 1)) != std::string::npos);
    }
  }

  TEST_CASE("rows go to the observer in the order of time, who may stop the run") {
    std::vector<Part> parts = some_parts();
    const Part all = together(parts, 7);
    double last = -1;
    long rows = 0;
    const Trajectory run = integrate(all.lcs, all.x0, {0, 6}, BackwardEuler{.h = 0.01},
                                     {.keep = false, .observer = [&](const Step& step) {
                                        CHECK(step.t > last);
                                        last = step.t;
                                        return ++rows < 100;
                                      }});
    CHECK(rows == 100);
    CHECK(run.status == Status::interrupted);
    CHECK(last == doctest::Approx(0.99));
  }

  TEST_CASE("steps of several solutions are enumerated part by part: none of them is left open") {
    // [RAB] eq. (36) has two solutions near its kink; twelve copies have 4096 with 531441 modes at corners.
    std::vector<Part> parts;
    for (int k = 0; k < 12; ++k) parts.push_back({validated(switching_dae::own_law(-1, 0.5)), Vector{{-0.01 - 0.001 * k, -0.99 - 0.001 * k, 0}}});
    const Part all = together(parts, 3);
    const Trajectory run = integrate(all.lcs, all.x0, {0, 1}, BackwardEuler{.h = 0.1, .selector = Selector::minimal_norm});
    CHECK(run.status == Status::solved);
    CHECK_FALSE(run.counts.contains("not_enumerated"));
    for (const Part& part : parts)
      check_part(run, integrate(part.lcs, part.x0, {0, 1}, BackwardEuler{.h = 0.1, .selector = Selector::minimal_norm}), part);
  }
}
