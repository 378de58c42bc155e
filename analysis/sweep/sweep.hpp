#pragma once

#include <functional>
#include <string>
#include <vector>

#include <perp/analysis/measures/measures.hpp>
#include <perp/analysis/sweep/section.hpp>
#include <perp/analysis/sweep/sweep_points.hpp>
#include <perp/core/base/status.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp {

/// Where a run of a sweep starts.
enum class Follow {
  none,  ///< at the model's start
  up,    ///< at the end of the run of the value before on the last axis
  down,  ///< the same, from the last value to the first
  both   ///< up, then down: two runs for each point
};

/// stop: a run that ends early ends the sweep; keep, or empty: it is a row with its status. Throws InvalidInput, which calls it
/// `what`, with the nearest one.
bool parse_ends_at_failure(const std::string& name, const std::string& what);

/// up, down or both; empty: none. Throws InvalidInput, which calls it `what`, with the nearest one.
Follow parse_follow(const std::string& name, const std::string& what);

struct SweepRun;

/// Work that is kept as it is made, and shared between processes: the points of a sweep in `sweep_chunks` chunks of
/// neighbours, of which one of `slices` processes makes every `slices`-th.
struct SweepChunks {
  long slice = 1, slices = 1;  ///< the chunks of number k with k mod slices = slice - 1 are made, k from 0
  /// The runs of a chunk that were made before, in order; empty: none. Called by several threads.
  std::function<std::vector<SweepRun>(long chunk)> known{};
  /// Takes the runs of a chunk that is complete, by one thread at a time.
  std::function<void(long chunk, const std::vector<SweepRun>& runs)> made{};
  /// The number of the next part of the work, of those that several processes share: each number from 0 on is told once. Called
  /// by several threads. Empty: the slice is this process's own.
  std::function<long()> next{};
  int processes = 1;  ///< with `next`: how many share the work
};

/// What a sweep computes.
struct SweepRequest {
  /// The model with these overrides. Called by several threads.
  std::function<Model(const std::vector<Override>& set)> read{};
  SweepPoints points{};
  std::vector<std::string> measures{};  ///< as `Measures` reads them, with the parameters of each run
  std::string after{};                  ///< start of the window of measures and of the section; a formula
  /// A window that begins beyond the model's span is as long as the span, and its run lasts until then.
  bool extends_span = false;
  std::string section{};                ///< as `Section` reads it; empty: none
  bool keeps = false;                   ///< the states of each run
  std::vector<double> times{};          ///< at which, increasing; empty: of every step
  long skip = 0;                        ///< points of each run's section that are left out, its first ones
  Follow follow = Follow::none;
  bool ends_at_failure = false;         ///< a run that ends early ends the sweep
  int threads = 1;
  SweepChunks chunks{};
  std::function<void(long done, long failed)> progress{};  ///< after each run, by one thread at a time
  std::function<bool()> stop{};  ///< asked with every step, by several threads: true ends the sweep
};

/// One run of a sweep.
struct SweepRun {
  long point = 0;
  std::vector<double> values{};  ///< of what is varied
  bool is_down = false;  ///< with Follow::down and both
  Status status = Status::never_run;
  std::string message;
  double t_end = 0;
  std::vector<MeasureResult> measures{};
  std::vector<SectionPoint> section{};
  std::vector<SectionPoint> kept{};  ///< states, where they are kept
};

/// Of all runs: in the order of the points, with Follow::both each up before down. It does not depend on the
/// number of threads.
struct SweepResult {
  std::vector<std::string> names;     ///< of what is varied
  std::vector<std::string> measures;  ///< names
  std::vector<SweepRun> runs;
  bool is_complete = true;            ///< false: it was stopped, some runs of its slice were never made
  bool ended_at_failure = false;      ///< by a run that ended early, where that was asked for
};

/// The runs of a sweep: with Follow::both two for each point.
long sweep_runs(const SweepRequest& request);

/// The number of chunks of a sweep: a thousand, or one for each line that is followed where there are fewer.
long sweep_chunks(const SweepRequest& request);

/// Throws InvalidInput where the first run cannot be made: names, measures, section, window.
void check_sweep(const SweepRequest& request);

/// Runs the sweep. A run that ends early is one with its status; wrong input of any run is InvalidInput with
/// the first such point.
SweepResult sweep(const SweepRequest& request);

}  // namespace perp
