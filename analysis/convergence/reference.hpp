#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <perp/analysis/convergence/errors.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// A reference could not be computed: the mathematics said no.
class NoReference : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where the reference comes from.
enum class ReferenceKind {
  exact,    ///< the model's exact solution
  finest,   ///< a run with the smallest h / 16
  located,  ///< a run of the located scheme, tol 1e-12
  file      ///< a run that was recorded before
};

/// The kind that serves where none is asked for: exact if the model has it at T and no events are
/// compared, else finest.
ReferenceKind default_reference(const Model& model, bool with_events);

/// The model's exact solution. Throws InvalidInput where it is unknown at the end of the span.
StudyReference exact_reference(const Model& model, const std::vector<std::string>& names);

/// A trajectory that was recorded before.
struct RecordedRun {
  GridStates states;  ///< of the names asked for, NaN where a name is not known
  std::optional<std::vector<EventMark>> events;
};
/// Where one is read from.
struct RecordedSource {
  std::string name{};  ///< for people: a file
  std::function<RecordedRun(const std::vector<std::string>& names)> read{};
};

/// A recorded run, within 1e-9 of the times asked for (relative where they are above 1). Throws
/// InvalidInput where it has no state at `end`, and what `read` throws.
StudyReference recorded_reference(const RecordedSource& source,
                                  const std::vector<std::string>& names, double end);

/// Takes the events of a run that was recorded before instead of the reference's own.
void replace_events(StudyReference& reference, const std::vector<EventMark>& events);

/// Two runs, of which the second is ten times, or twice, as rough: its difference to the first says
/// what the first is worth.
struct ReferenceRuns {
  GridRun fine{}, rough{};
  double accuracy = 0;  ///< of the first: h or tol
};

/// Backward Euler or whatever the model's scheme is, with steps of length h / 16 and h / 8.
ReferenceRuns run_finest(GridRunRequest request, double smallest_h);

/// The located scheme with tol 1e-12, or the smallest of 1e-10 and 1e-8 that it reaches. Throws
/// NoReference where it does not reach the end, or captures a part of the way.
ReferenceRuns run_located(GridRunRequest request);

/// The reference that two runs of a model make, with its own errors as their differences. Throws
/// NoReference where one is not solved.
StudyReference reference_of(ReferenceRuns runs, ReferenceKind kind, const Model& model,
                            const RunWatch& watch);

}  // namespace perp
