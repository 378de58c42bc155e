#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <perp/cli/convergence/errors.hpp>
#include <perp/models/language/model.hpp>

namespace perp::cli {

/// A reference could not be computed: the mathematics said no.
class NoReference : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class ReferenceKind { exact, finest, located, file };

/// The kind that --reference names; empty: exact if the model has it at T and no events are
/// compared, else finest. What is no other word is a file. Throws InvalidInput for a word that is
/// none.
ReferenceKind reference_kind(const std::string& text, const Model& model, bool with_events);

/// The model's exact solution. Throws InvalidInput where it is unknown at the end of the span.
Reference exact_reference(const Model& model, const std::vector<std::string>& names);

/// A trajectory written before, within 1e-9 of the times asked for (relative where they are above
/// 1). Throws InvalidInput where it has no state at `end`, FileError.
Reference file_reference(const std::string& file, const std::vector<std::string>& names,
                         double end);

/// Takes the events of a run that was written before instead of the reference's own.
void replace_events(Reference& reference, const std::vector<EventMark>& events);

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
Reference reference_of(ReferenceRuns runs, ReferenceKind kind, const Model& model);

}  // namespace perp::cli
