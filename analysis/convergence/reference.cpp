#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <memory>

#include <perp/analysis/convergence/reference.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

constexpr double finest_factor = 16;     // the reference run's h is the smallest h over this
constexpr double file_tolerance = 1e-9;  // other programs write fewer digits of t

std::vector<double> jumps_of(const std::vector<EventMark>& events) {
  std::vector<double> times;
  for (const EventMark& event : events)
    if (event.kind == "jump") times.push_back(event.t);
  return times;
}

Vector selected(const Model& model, const Vector& x, const std::vector<std::string>& names) {
  Vector part(static_cast<Eigen::Index>(names.size()));
  const std::vector<std::string> all = variable_names(model);
  for (std::size_t j = 0; j < names.size(); ++j)
    part[static_cast<Eigen::Index>(j)] =
        x[static_cast<Eigen::Index>(find_name(names[j], all, "variable"))];
  return part;
}

Vector value_of(const ExactPiece& piece, double t, const Model& model,
                const std::vector<std::string>& names) {
  Vector x = Vector::Constant(model.x0().size(), nan);
  piece.x(t, x);
  return selected(model, x, names);
}

/// Where a piece of an exact solution does not begin where the one before it ends, by more than
/// the rounding of a variable's largest value at the ends of pieces.
std::vector<double> jumps_of(const Model& model, const std::vector<std::string>& names) {
  constexpr double rounding = 1e-9;
  Vector largest = Vector::Zero(static_cast<Eigen::Index>(names.size()));
  for (const ExactPiece& piece : model.exact)
    for (const double t : {piece.span.start, piece.span.end}) {
      const Vector x = value_of(piece, t, model, names);
      if (x.allFinite()) largest = largest.cwiseMax(x.cwiseAbs());
    }
  std::vector<double> times;
  for (std::size_t k = 1; k < model.exact.size(); ++k) {
    const double t = model.exact[k].span.start;
    if (model.exact[k - 1].span.end != t) continue;
    const Vector left = value_of(model.exact[k - 1], t, model, names);
    const Vector right = value_of(model.exact[k], t, model, names);
    if (((right - left).cwiseAbs().array() > rounding * largest.array()).any()) times.push_back(t);
  }
  return times;
}

void check_solved(const GridRun& run, const std::string& what, const RunWatch& watch) {
  if (watch.is_stopped() || run.status == Status::never_run) throw Interrupted();
  if (run.status != Status::solved)
    throw NoReference(fmt::format("the reference {} ended with {}: {}", what, to_string(run.status),
                                  run.message));
}

}  // namespace

ReferenceKind default_reference(const Model& model, bool with_events) {
  return model.exact_at(model.run.span.end).size() == 0 || with_events ? ReferenceKind::finest
                                                                       : ReferenceKind::exact;
}

StudyReference exact_reference(const Model& model, const std::vector<std::string>& names) {
  const double end = model.run.span.end;
  if (model.exact_at(end).size() == 0)
    throw InvalidInput(
        fmt::format("--reference exact: the model has no exact solution at t = {:g}{}", end,
                    model.exact.empty() ? " (an override of its values drops it)" : ""));
  StudyReference reference;
  reference.text = "exact solution of the model";
  reference.state = [model, names](double t) {
    const Vector x = model.exact_at(t);
    return x.size() == 0 ? x : selected(model, x, names);
  };
  reference.jumps = jumps_of(model, names);
  return reference;
}

StudyReference recorded_reference(const RecordedSource& source,
                                  const std::vector<std::string>& names, double end) {
  const auto data = std::make_shared<const RecordedRun>(source.read(names));
  StudyReference reference;
  reference.text = source.name;
  const double latest = std::max(std::abs(data->states.t(0)), std::abs(end));
  reference.state = [data, same = file_tolerance * latest](double t) {
    return data->states.at(t, same);
  };
  if (reference.state(end).size() == 0)
    throw InvalidInput(fmt::format("{}: there is no row at t = {:.17g}", source.name, end));
  reference.events = data->events;
  if (data->events) reference.jumps = jumps_of(*data->events);
  return reference;
}

void replace_events(StudyReference& reference, const std::vector<EventMark>& events) {
  reference.events = events;
  reference.jumps = jumps_of(events);
  reference.own_errors[static_cast<std::size_t>(ErrorKind::events)] = 0;
}

ReferenceRuns run_finest(GridRunRequest request, double smallest_h) {
  ReferenceRuns runs;
  runs.accuracy = request.h = smallest_h / finest_factor;
  runs.fine = run_on_grid(request);
  if (runs.fine.status != Status::solved) return runs;
  request.h = 2 * runs.accuracy;
  runs.rough = run_on_grid(request);
  return runs;
}

ReferenceRuns run_located(GridRunRequest request) {
  request.scheme = "located";
  ReferenceRuns runs;
  for (const double tol : {1e-12, 1e-10, 1e-8}) {
    runs.accuracy = request.tol = tol;
    runs.fine = run_on_grid(request);
    if (runs.fine.status == Status::not_solved) continue;
    if (runs.fine.status != Status::solved || runs.fine.captured) break;
    request.tol = 10 * tol;
    runs.rough = run_on_grid(request);
    break;
  }
  return runs;
}

StudyReference reference_of(ReferenceRuns runs, ReferenceKind kind, const Model& model,
                            const RunWatch& watch) {
  const Span span = model.run.span;
  const bool is_located = kind == ReferenceKind::located;
  const std::string what =
      is_located ? fmt::format("run of the located scheme with tol = {:g}", runs.accuracy)
                 : fmt::format("run with h = {:g}", runs.accuracy);
  check_solved(runs.fine, what, watch);
  if (runs.fine.captured)
    throw NoReference(
        fmt::format("the reference {} is captured by backward Euler for a part of "
                    "the way ({}); expected --reference finest, exact or a file",
                    what, runs.fine.message));
  check_solved(
      runs.rough,
      is_located ? "run of the located scheme with ten times that tol" : "run with twice that h",
      watch);
  const auto fine = std::make_shared<const GridRun>(std::move(runs.fine));
  StudyReference reference;
  reference.text = is_located ? fmt::format("located scheme, tol {:g}, policy {}", runs.accuracy,
                                            model.run.policy == "stay" ? "stay" : "minimal_norm")
                              : fmt::format("run with h = {:g}, the smallest h / {:g}",
                                            runs.accuracy, finest_factor);
  reference.steps = fine->steps;
  reference.state = [fine, end = span.end, rounding = time_rounding(span)](double t) {
    return t == end ? fine->x : fine->states.at(t, rounding);
  };
  reference.events = fine->events;
  reference.jumps = jumps_of(fine->events);
  for (const ErrorKind error : {ErrorKind::end, ErrorKind::trajectory, ErrorKind::events})
    reference.own_errors[static_cast<std::size_t>(error)] =
        measure(error, runs.rough, reference, span).value;
  return reference;
}

}  // namespace perp
