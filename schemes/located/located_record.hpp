#pragma once

#include <string>
#include <utility>

#include <perp/core/trajectory.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/located/located_state.hpp>
#include <perp/schemes/located/radau/radau.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {

/// What an event-located run keeps and tells: its rows, events and counts, which times are asked for, and
/// how it ended. Nothing is recorded after the end.
class LocatedRecord {
 public:
  /// All must outlive this; `counts`: of the integrator.
  LocatedRecord(const LocatedState& at, const IntegrateOptions& output, const Radau::Counts& counts)
      : at_(at), output_(output), radau_(counts) {}

  /// Has the run not ended yet?
  [[nodiscard]] bool is_open() const { return result_.status == Status::never_run; }
  /// What is told so far.
  void transfer(Archive& archive) { archive(steps, rejected, result_); }
  /// Is there no row yet?
  [[nodiscard]] bool is_empty() const { return result_.t.empty(); }
  /// Is this the start of the run?
  [[nodiscard]] bool is_at_start() const { return steps == 0 && is_empty(); }
  [[nodiscard]] const IntegrateOptions& output() const { return output_; }
  [[nodiscard]] Trajectory& result() { return result_; }
  [[nodiscard]] const Trajectory& result() const { return result_; }
  [[nodiscard]] std::vector<Event>& events() { return result_.events; }
  [[nodiscard]] Counts& counts() { return result_.counts; }

  /// A row, kept and reported; `requested`: its time was asked for. The observer may end the run with it.
  void row(const Step& state, bool requested);
  /// The run ends at the present state.
  void finish(Status status, std::string message) { finish_at(at_.now, status, std::move(message)); }
  /// "t = .. (step .., mode [..])", without a mode where there are no laws.
  [[nodiscard]] std::string place(const Step& state) const;

  /// The next time at which a state is asked for.
  [[nodiscard]] double next_output(double after) const;
  /// Is a state at t asked for by itself, not by the distance of rows?
  [[nodiscard]] bool is_asked(double t) const;

  long steps = 0;     ///< accepted
  long rejected = 0;  ///< attempts

 private:
  void finish_at(const Step& state, Status status, std::string message);

  const LocatedState& at_;
  const IntegrateOptions& output_;
  const Radau::Counts& radau_;
  Trajectory result_;
};

/// Writes scheme and options into the provenance of a run.
void tell_scheme(const Located& scheme, Trajectory& run);

}  // namespace perp
