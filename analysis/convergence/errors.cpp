#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/analysis/convergence/errors.hpp>
#include <perp/analysis/convergence/event_times.hpp>

namespace perp {
namespace {

/// An error with the level below which it is rounding.
struct Raw {
  Measured error;
  double scale = 0;  ///< largest number that was compared
};

Raw unknown(Refusal refusal, std::string detail) { return {{nan, refusal, std::move(detail)}, 0}; }

Raw at_end(const GridRun& run, const StudyReference& reference, double end) {
  const Vector exact = reference.state(end);
  // A solution may pass 0 at T; its rounding errors are those of the way there.
  return {{(run.x - exact).lpNorm<Eigen::Infinity>(), Refusal::none},
          std::max(exact.lpNorm<Eigen::Infinity>(), run.size)};
}

/// Intervals between a jump of the run and the same jump of the reference: the state of the one is
/// from before it, of the other from after it.
std::vector<Span> between_jumps(const std::vector<double>& run,
                                const std::vector<double>& reference, double rounding) {
  std::vector<Span> gaps;
  for (std::size_t k = 0; k < run.size(); ++k) {
    gaps.push_back(
        {std::min(run[k], reference[k]) - rounding, std::max(run[k], reference[k]) + rounding});
  }
  return gaps;
}

std::vector<double> times_of_jumps(const GridRun& run, double end) {
  std::vector<double> jumps;
  for (const EventMark& event : run.events)
    if (event.kind == "jump" && event.t <= end) jumps.push_back(event.t);
  return jumps;
}

bool is_in(const std::vector<Span>& gaps, double t) {
  return std::any_of(gaps.begin(), gaps.end(), [t](const Span& gap) { return t >= gap.start && t <= gap.end; });
}

bool is_known(const Vector& x) { return x.size() > 0 && x.allFinite(); }

/// The largest distance at the times of the run that lie in no gap.
Raw over_times(const GridRun& run, const StudyReference& reference, Span span, const std::vector<Span>& gaps) {
  const double rounding = time_rounding(span);
  Raw raw{{0, Refusal::none}, 0};
  std::size_t inside = 0, known = 0;  // times that are no ends of the span, those with a reference or in a gap
  for (std::size_t k = 0; k < run.states.size(); ++k) {
    const double t = run.states.t(k);
    if (t > span.end + rounding) break;
    const auto counts = static_cast<std::size_t>(t > span.start && t < span.end - rounding);
    inside += counts;
    if (is_in(gaps, t)) {
      ++raw.error.left_out;
      known += counts;
      continue;
    }
    const Vector exact = reference.state(t);
    if (!is_known(exact)) continue;
    known += counts;
    raw.error.value =
        std::max(raw.error.value, (run.states.x(k) - exact).lpNorm<Eigen::Infinity>());
    raw.scale = std::max(raw.scale, exact.lpNorm<Eigen::Infinity>());
  }
  if (inside > 0 && known == 0)
    return unknown(Refusal::times, fmt::format("at none of {} times", inside));
  return raw;
}

Raw over_trajectory(const GridRun& run, const StudyReference& reference, Span span) {
  std::vector<Span> gaps;
  if (reference.jumps) {
    const std::vector<double> jumps = times_of_jumps(run, span.end);
    if (jumps.size() != reference.jumps->size())
      return unknown(Refusal::jumps,
                     fmt::format("{} and {} jumps", jumps.size(), reference.jumps->size()));
    // Times of jumps carry the errors of states.
    gaps = between_jumps(jumps, *reference.jumps, 64 * time_rounding(span));
  }
  return over_times(run, reference, span, gaps);
}

/// The time of an event is where a margin vanishes: its rounding is that of the states over their
/// speed, some times that of the times themselves.
Raw of_events(const GridRun& run, const StudyReference& reference, Span span) {
  std::vector<EventMark> events = run.events;
  std::erase_if(events, [&](const EventMark& event) { return event.t > span.end; });
  const EventDifference difference = compare_events(events, *reference.events);
  if (!difference.text.empty()) return unknown(Refusal::events, difference.text);
  if (events.empty()) return unknown(Refusal::no_events, "");
  constexpr double over_speed = 8;
  const double longest =
      std::max({std::abs(span.start), std::abs(span.end), span.end - span.start});
  return {{difference.largest, Refusal::none}, over_speed * longest};
}

Raw measure_any(ErrorKind kind, const GridRun& run, const StudyReference& reference, Span span) {
  switch (kind) {
    case ErrorKind::end: return at_end(run, reference, span.end);
    case ErrorKind::trajectory: return over_trajectory(run, reference, span);
    case ErrorKind::events: return of_events(run, reference, span);
  }
  return {};
}

}  // namespace

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::end: return "end";
    case ErrorKind::trajectory: return "trajectory";
    case ErrorKind::events: return "events";
  }
  return "unknown";
}

const char* to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::none: return "";
    case Refusal::not_solved: return "not solved";
    case Refusal::end_time: return "t_N is not T";
    case Refusal::rounding: return "at rounding level";
    case Refusal::reference: return "near the reference's own error";
    case Refusal::events: return "other events";
    case Refusal::jumps: return "other jumps";
    case Refusal::no_events: return "no events";
    case Refusal::times: return "no common times";
  }
  return "unknown";
}

double rounding_level(double scale, long steps) {
  return std::numeric_limits<double>::epsilon() * std::max(scale, 1e-300) *
         (32 + static_cast<double>(steps));
}

Measured measure(ErrorKind kind, const GridRun& run, const StudyReference& reference, Span span) {
  if (run.status != Status::solved) return {};
  Raw raw = measure_any(kind, run, reference, span);
  Measured& error = raw.error;
  if (error.refusal != Refusal::none) return error;
  const double own = reference.own_errors[static_cast<std::size_t>(kind)];
  if (run.t != span.end)
    error.refusal = Refusal::end_time;
  else if (!(error.value > rounding_level(raw.scale, run.steps + reference.steps)))
    error.refusal = Refusal::rounding;
  else if (!(error.value >= reference_margin * own))
    error.refusal = Refusal::reference;
  return error;
}

}  // namespace perp
