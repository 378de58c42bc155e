#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include <perp/bench/measure.hpp>
#include <perp/bench/systems.hpp>
#include <perp/schemes/capturing/capturing.hpp>

namespace perp::bench {

/// Repeats the run of a problem, step by step, through the public stepper.
class Runner {
 public:
  Runner(const Problem& problem, Selector selector)
      : problem_(problem),
        selector_(selector),
        scheme_(problem.lcs, Theta{.h = problem.h, .theta = problem.theta, .selector = selector}) {}

  /// Its cost is kept apart from that of the steps.
  void restart() {
    const long allocated = allocations();
    const double start = cpu_ns();
    std::vector<Event> events;
    const Attempt attempt = scheme_.start(0, problem_.x0, problem_.h, events);
    if (attempt.status != Status::solved)
      throw std::runtime_error(std::string("start: ") + to_string(attempt.status));
    i_ = 0;
    aside_.ns += cpu_ns() - start;
    aside_.allocations += allocations() - allocated;
  }

  /// Makes this many steps, from the start again whenever the end of the run is reached.
  void advance(long steps) {
    for (long step = 0; step < steps; ++step) {
      if (i_ == problem_.steps) restart();
      ++i_;
      const Attempt attempt = scheme_.attempt(problem_.h * static_cast<double>(i_), problem_.h);
      if (attempt.status != Status::solved)
        throw std::runtime_error(std::string("step: ") + to_string(attempt.status));
      kept_ += attempt.kept_mode;
      ++made_;
      scheme_.accept();
    }
  }

  /// Makes one whole run and compares its end with what is known; empty if they agree. Repetitions
  /// of a case get the answer of the first.
  std::string check() {
    static std::map<std::string, std::string> answers;
    const std::string key =
        fmt::format("{} {} {}", problem_.name, problem_.lcs.n(), to_string(selector_));
    const auto known = answers.find(key);
    return known != answers.end() ? known->second : answers[key] = compare();
  }

  void report(benchmark::State& state) const {
    state.counters["mode_changes_per_step"] =
        1 - static_cast<double>(kept_) / static_cast<double>(made_);
    Counts counts;
    scheme_.count(counts);
    for (const auto& [name, count] : counts) state.counters[name] = static_cast<double>(count);
  }

  [[nodiscard]] const Vector& x() const { return scheme_.x(); }
  [[nodiscard]] Cost aside() const { return aside_; }

 private:
  std::string compare() {
    constexpr double limit =
        20e9;  // ns: a case that cannot make its run in this time is not worth timing
    const double start = cpu_ns();
    try {
      restart();
      for (long i = 0; i < problem_.steps; ++i) {
        advance(1);
        if (cpu_ns() - start > limit)
          return fmt::format("only {} of {} steps within {} s", i, problem_.steps, 1e-9 * limit);
      }
    } catch (const std::exception& error) {
      return error.what();
    }
    const double error = (x().head(problem_.end.size()) - problem_.end).lpNorm<Eigen::Infinity>();
    return error < problem_.tolerance ? "" : fmt::format("end state wrong by {}", error);
  }

  Problem problem_;
  Selector selector_;
  Capturing scheme_;
  long i_ = 0, kept_ = 0, made_ = 0;
  Cost aside_;
};

/// ns per step of whole runs, the least of several; throws if the end of a run is wrong.
inline double engine_ns(const Problem& problem, Selector selector) {
  Runner runner(problem, selector);
  if (const std::string error = runner.check(); !error.empty()) throw std::runtime_error(error);
  constexpr double budget = 2e9;  // ns
  double least = inf;
  const double begin = cpu_ns();
  for (int i = 0; i < 50 && (i == 0 || cpu_ns() - begin < budget); ++i) {
    const double before = runner.aside().ns, start = cpu_ns();
    runner.advance(problem.steps);
    const double elapsed = cpu_ns() - start - (runner.aside().ns - before);
    least = std::min(least, elapsed / static_cast<double>(problem.steps));
  }
  return least;
}

/// Floor of a step of the index-2 example: two dependent fused multiply-adds.
double two_fma_ns();
/// Floor of a dense step: one n×n matrix times a vector.
double mat_vec_ns(int n);
/// Floor of a mode of a dense problem: one factorisation of an m×m matrix.
double lu_ns(int m);

}  // namespace perp::bench
