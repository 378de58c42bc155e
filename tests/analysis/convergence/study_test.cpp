#include <doctest/doctest.h>
#include <cmath>

#include <perp/analysis/convergence/study.hpp>
#include <perp/analysis/convergence/verdict.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

/// ẋ = -x from 1: the error of backward Euler at T = 1 is h / (2e) + O(h²).
StudyRequest decay(int threads) {
  const ModelText text(
      "name = \"decay\"\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x\"]\n"
      "[run]\nt = [0, 1]\nscheme = \"backward_euler\"\n",
      "decay.toml");
  const auto read = [text] { return text.read({}); };
  StudyRequest request;
  request.variants.push_back({"decay", read(), read});
  request.steps = {0.02, 0.01, 0.005};
  request.threads = threads;
  return request;
}

}  // namespace

TEST_SUITE("analysis/convergence") {
  TEST_CASE("a line through exact powers has their order and factor") {
    const OrderFit fit = fit_order({{0.1, 3 * std::pow(0.1, 2)}, {0.01, 3 * std::pow(0.01, 2)}});
    CHECK(fit.order == doctest::Approx(2));
    CHECK(fit.factor == doctest::Approx(3));
    CHECK(fit.off == doctest::Approx(1));
  }

  TEST_CASE("step lengths that are nearly the same tell no order") {
    CHECK_FALSE(fit_order({{0.1, 1}, {0.1001, 2}}).has_order());
    CHECK_FALSE(fit_order({{0.1, 1}}).has_order());
  }

  TEST_CASE("backward Euler is of first order on a decay, by a study of the library") {
    const ConvergenceStudy study = convergence_study(decay(1));
    REQUIRE(study.all_solved(3));
    const OrderVerdict verdict = verdict_of(study, study.variants.front(), 0);
    CHECK(verdict.line.order == doctest::Approx(1).epsilon(0.05));
    CHECK(verdict.follows_line);
    CHECK_FALSE(verdict.is_exact);
    CHECK(verdict.refused.empty());
    const double finest_error = study.variants.front().rows.back().errors.front().value;
    // The reference is a run with h / 16, whose own error is a 16th.
    CHECK(finest_error == doctest::Approx(0.005 / (2 * std::exp(1)) * 15 / 16).epsilon(0.02));
  }

  TEST_CASE("a study does not depend on the number of threads") {
    const ConvergenceStudy one = convergence_study(decay(1)), four = convergence_study(decay(4));
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(one.variants[0].rows[k].errors[0].value == four.variants[0].rows[k].errors[0].value);
  }

  TEST_CASE("a study that is stopped at once is interrupted") {
    StudyRequest request = decay(1);
    request.watch.stopped = [] { return true; };
    CHECK_THROWS_AS(convergence_study(request), Interrupted);
  }

  TEST_CASE("runs of other events than the reference's count for no order") {
    StudyReference reference;
    reference.events = std::vector<EventMark>{{0.5, "crossing", "a"}};
    GridRun run{.t = 1, .x = Vector::Zero(1)};
    run.status = Status::solved;
    CHECK(measure(ErrorKind::events, run, reference, {0, 1}).refusal == Refusal::events);
    run.events = {{0.75, "crossing", "a"}};
    const Measured found = measure(ErrorKind::events, run, reference, {0, 1});
    CHECK(found.refusal == Refusal::none);
    CHECK(found.value == 0.25);
  }
}
