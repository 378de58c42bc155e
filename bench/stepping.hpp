#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <string>
#include <vector>

#include <perp/bench/systems.hpp>
#include <perp/schemes/capturing.hpp>

namespace perp::bench {

/// Repeats the run of a problem, step by step, through the public stepper.
class Runner {
 public:
  Runner(const Problem& problem, Selector selector)
      : problem_(problem),
        scheme_(problem.lcs, Theta{.h = problem.h, .theta = problem.theta, .selector = selector}) {}

  void restart() {
    std::vector<Event> events;
    const Attempt attempt = scheme_.start(0, problem_.x0, problem_.h, events);
    if (attempt.status != Status::solved) throw std::runtime_error("start: " + attempt.message);
    i_ = 0;
  }

  /// Makes this many steps, from the start again whenever the end of the run is reached.
  void advance(long steps) {
    for (long step = 0; step < steps; ++step) {
      if (i_ == problem_.steps) restart();
      ++i_;
      const Attempt attempt = scheme_.attempt(problem_.h * static_cast<double>(i_), problem_.h);
      if (attempt.status != Status::solved) throw std::runtime_error("step: " + attempt.message);
      kept_ += attempt.kept_mode;
      ++made_;
      scheme_.accept();
    }
  }

  /// Makes one whole run and compares its end with what is known; empty if they agree.
  std::string check() {
    try {
      restart();
      advance(problem_.steps);
    } catch (const std::exception& error) {
      return error.what();
    }
    const double error = (x().head(problem_.end.size()) - problem_.end).lpNorm<Eigen::Infinity>();
    return error < problem_.tolerance ? "" : fmt::format("end state wrong by {}", error);
  }

  void report(benchmark::State& state) const {
    state.counters["mode_changes_per_step"] =
        1 - static_cast<double>(kept_) / static_cast<double>(made_);
    Counts counts;
    scheme_.count(counts);
    for (const auto& [name, count] : counts) state.counters[name] = static_cast<double>(count);
  }

  [[nodiscard]] const Vector& x() const { return scheme_.x(); }

 private:
  Problem problem_;
  Capturing scheme_;
  long i_ = 0, kept_ = 0, made_ = 0;
};

/// Floor of a step of the index-2 example: two dependent fused multiply-adds.
double two_fma_ns();
/// Floor of a dense step: one n×n matrix times a vector.
double mat_vec_ns(int n);
/// Floor of a mode of a dense problem: one factorisation of an m×m matrix.
double lu_ns(int m);

}  // namespace perp::bench
