#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/convergence/errors.hpp>
#include <perp/analysis/convergence/reference.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// What is studied: runs of every variant with every step length.
struct StudyRequest {
  /// A form of the system, a scheme and a selector.
  struct Variant {
    std::string label;  ///< in what it differs from the others
    Model model;                  ///< as it was read
    std::function<Model()> read;  ///< the same again, of its own for every run
  };

  std::vector<Variant> variants;  ///< at least one
  std::vector<double> steps;  ///< largest first
  std::vector<ErrorKind> errors{ErrorKind::end};  ///< what is measured of every run
  std::optional<ReferenceKind> reference{};                  ///< none: see default_reference
  RecordedSource recorded{};                                 ///< of the kind `file`
  std::optional<std::vector<EventMark>> reference_events{};  ///< none: those of the reference
  bool whole_steps = false;  ///< only steps of length h, so that a run ends at t_N >= T
  int threads = 1;           ///< that share the runs
  RunWatch watch{};  ///< its progress is that of one of the threads
};

/// A run and its errors, one for each kind asked for.
struct StudyRow {
  GridRun run{};                   ///< on the grid of one step length
  std::vector<Measured> errors{};  ///< in the order of ConvergenceStudy::errors
};

/// One variant with its runs.
struct VariantStudy {
  std::string label;             ///< as in the request
  Model model;                   ///< as in the request
  StudyReference reference{};    ///< what its runs are compared with
  std::vector<StudyRow> rows{};  ///< in the order of the step lengths; those that an interrupt left
};

/// What was found.
struct ConvergenceStudy {
  std::vector<ErrorKind> errors;      ///< as in the request
  std::vector<std::string> names;     ///< of the differential variables that are compared
  std::vector<std::string> left_out;  ///< that not every variant, or not the reference, has
  bool whole_steps = false;           ///< as in the request
  std::vector<VariantStudy> variants;  ///< in the order of the request
  Span span{};                        ///< of every run

  /// Has every variant `steps` runs, and did each of them reach its end?
  [[nodiscard]] bool all_solved(std::size_t steps) const;
};

/// Runs everything; the result does not depend on the number of threads. Throws InvalidInput,
/// NoReference, and what reading a recorded run throws.
ConvergenceStudy convergence_study(const StudyRequest& request);

/// Steps of length h that reach T: the end of the last one, T itself where it is T up to rounding.
double end_of_whole_steps(Span span, double h);

/// The order between two successive rows, NaN unless both count.
double order_between(const StudyRow& coarse, const StudyRow& fine, std::size_t kind);

/// log(error) over log(h) of the rows that count for a kind of error.
std::vector<std::pair<double, double>> points_that_count(const VariantStudy& variant,
                                                         std::size_t kind);

}  // namespace perp
