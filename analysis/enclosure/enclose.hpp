#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/interval_matrix.hpp>
#include <perp/analysis/enclosure/taylor_step.hpp>

namespace perp::enclosure {

/// What an enclosure is asked for.
struct EncloseOptions {
  StepOptions step{};
  std::vector<double> times{};  ///< of the rows, increasing, in the span; empty: its ends
  bool tube = false;            ///< also boxes that hold for whole intervals of time
  int most_steps = 1'000'000;
};

/// At the exact time t every point of the start has exactly one solution, and it lies in the box.
struct EnclosureRow {
  double t = 0;
  Box box{};
};

/// The same at every time from `from` to `to`.
struct TubeRow {
  double from = 0, to = 0;
  Box box{};
};

/// From here on nothing is claimed.
struct Lost {
  double t = 0;  ///< last time that was reached
  std::string reason{};
};

/// Rows end where the enclosure was lost.
struct Enclosure {
  std::vector<EnclosureRow> rows{};
  std::vector<TubeRow> tube{};  ///< without gaps
  std::optional<Lost> lost{};
  int steps = 0;
};

/// Encloses all solutions of x' = f(t, x) that start in `start` at span.start, until span.end.
/// Parameters that are intervals are states with the rate 0: they are constant in time. Throws
/// InvalidInput for wrong spans, times and sizes, std::runtime_error where the arithmetic is not
/// sound.
Enclosure enclose(const Flow& flow, const Box& start, const Span& span,
                  const EncloseOptions& options = {});

}  // namespace perp::enclosure
