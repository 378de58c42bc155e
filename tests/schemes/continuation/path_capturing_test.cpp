#include <doctest/doctest.h>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

#include <perp/tests/schemes/continuation/pushed_block.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;
using switching_dae::own_law;
using switching_dae::Reference;

namespace {

Trajectory run(const Lcs& lcs, const Vector& x0, Span span, double h, Selector selector,
               bool split = true) {
  return integrate(lcs, x0, span,
                   BackwardEuler{.h = h, .selector = selector, .split_at_events = split});
}

int events_of(const Trajectory& run, EventKind kind) {
  return static_cast<int>(std::count_if(run.events.begin(), run.events.end(),
                                        [&](const Event& event) { return event.kind == kind; }));
}

}  // namespace

TEST_SUITE("schemes/continuation/path_capturing") {
  TEST_CASE(
      "[RAB], A = 0: exact at every grid point for any h and for split and whole steps, jumps "
      "and the end of the solution included") {
    for (const std::string name :
         {"s003_sliding_crossing", "s003_sliding_repulsive", "s003_jump_B_1_2", "s003_jump_B_1_2_b",
          "s003_nosolution_B_2_1_b", "s003_B1_plus_B2_zero"}) {
      const Reference reference(name);
      for (const double share : {1.0, 0.37, 0.1, 0.013})
        for (const bool split : {true, false}) {
          CAPTURE(name);
          CAPTURE(share);
          CAPTURE(split);
          const Trajectory path = run(
              own_law(reference.B1, reference.B2), Vector{{reference.x0[0], reference.x0[1], 0}},
              {0, reference.end}, share * reference.end, Selector::continuation, split);
          const bool ends = name.find("nosolution") != std::string::npos;
          REQUIRE(path.status == (ends ? Status::no_solution : Status::solved));
          CHECK(path.counts.count("not_followed") == 0);
          for (std::size_t k = 1; k < path.t.size(); ++k) {
            if (reference.at_jump(path.t[k])) continue;
            const Vector exact = reference.exact(path.t[k]);
            CHECK((path.x[k].head(2) - exact).lpNorm<Eigen::Infinity>() <
                  1e-10 * (1 + exact.lpNorm<Eigen::Infinity>()));
          }
        }
    }
  }

  TEST_CASE(
      "a mode that ends and comes back within one step is held by keep_mode and not by "
      "continuation") {
    // At rest it slips while the force is above the friction.
    const Lcs block = test::pushed_block("3*exp(-((t - 0.5)/0.15)^2)");
    const Trajectory held = run(block, Vector{{0}}, {0, 1}, 1, Selector::keep_mode);
    CHECK(held.events.empty());
    const Trajectory slips = run(block, Vector{{0}}, {0, 1}, 1, Selector::continuation);
    REQUIRE(slips.status == Status::solved);
    CHECK(events_of(slips, EventKind::sliding_exit) == 1);
    // It slips from where 3 exp(−((t − 1/2)/0.15)²) = 1 on.
    const double exact = 0.5 - 0.15 * std::sqrt(std::log(3.0));
    CHECK(slips.events.front().t == doctest::Approx(exact).epsilon(1e-9));
  }

  TEST_CASE("an unstable mode is not left through infinity") {
    const Lcs grows{.E = Matrix{{1}}, .A = Matrix{{2}}, .b = Vector{{0}}};
    const Trajectory held = run(grows, Vector{{1}}, {0, 3}, 1, Selector::keep_mode);
    CHECK(held.x.back()[0] == doctest::Approx(-1));  // (1 − 2 h)⁻³
    const Trajectory path = run(grows, Vector{{1}}, {0, 3}, 1, Selector::continuation);
    REQUIRE(path.status == Status::solved);
    CHECK(path.x.back()[0] > 1);
    // The step that is far too long for the growth is named where the run has to give up.
    const Lcs explodes{.E = Matrix{{1}}, .A = Matrix{{200}}, .b = Vector{{0}}};
    const Trajectory stopped = run(explodes, Vector{{1}}, {0, 3}, 1, Selector::continuation);
    CHECK(stopped.status == Status::not_solved);
    CHECK(stopped.message.find("runs to infinity") != std::string::npos);
    CHECK(stopped.message.find("is too long") != std::string::npos);
  }

  TEST_CASE("where a step is unique every selector makes the same run") {
    // B2/B1 < −1: one solution for any x and h ([RAB] Proposition 4), also with A of (37)
    const Lcs lcs = own_law(-0.5, 1, 0.3, -0.2);
    const Vector x0{{-2, 1, 0}};
    const Trajectory keep = run(lcs, x0, {0, 6}, 0.05, Selector::keep_mode, false);
    for (const Selector selector : {Selector::continuation, Selector::minimal_norm}) {
      const Trajectory other = run(lcs, x0, {0, 6}, 0.05, selector, false);
      REQUIRE(other.status == keep.status);
      REQUIRE(other.t.size() == keep.t.size());
      REQUIRE(other.events.size() == keep.events.size());
      for (std::size_t k = 0; k < keep.t.size(); ++k)
        CHECK((other.x[k].head(2) - keep.x[k].head(2)).norm() <
              1e-11 * (1 + keep.x[k].head(2).norm()));
    }
  }

  TEST_CASE("the theta-method is followed too and keeps its order two through an event") {
    const Model model = read_model(perp::test::models_path("/thermostat.toml"));
    double errors[2];
    int k = 0;
    for (const double h : {0.02, 0.01}) {
      const Span span = model.run.span;
      const Trajectory path =
          integrate(model.lcs(), model.x0(), span,
                    Theta{.h = h, .theta = 0.5, .selector = Selector::continuation});
      REQUIRE(path.status == Status::solved);
      CHECK(!path.events.empty());
      errors[k++] = std::abs(path.x.back()[0] - model.exact_at(span.end)[0]);
    }
    CHECK(std::log2(errors[0] / errors[1]) > 1.7);
  }
}
