// A run whose rows are kept in columns: the Python module asks for it.
#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include <perp/analysis/hybrid/run/change_notes.hpp>
#include <perp/analysis/run/constraint_check.hpp>
#include <perp/analysis/run/kept_run.hpp>
#include <perp/analysis/run/row_times.hpp>
#include <perp/analysis/run/row_values.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/schemes/run/keep_beside.hpp>

namespace perp {
namespace {

/// A row of so many numbers; NaN where the step has fewer.
void append_numbers(const Vector& values, int size, std::vector<double>& column) {
  for (int i = 0; i < size; ++i) column.push_back(i < values.size() ? values[i] : nan);
}

/// Takes the steps of one run.
class Keeper {
 public:
  Keeper(const Model& model, const KeepOptions& options, int quantities)
      : options_(options), end_(model.run.span.end), values_(model), rows_(options.times), constraints_(model, (model.run.span.end - model.run.span.start) / model.run.h) {
    result_.n = static_cast<int>(model.variables.size());
    result_.m = model.m();
    result_.outputs = static_cast<int>(model.outputs.names.size());
    result_.quantities = quantities;
    result_.is_every_step = options.times.empty();
  }

  /// False where the run is to end.
  bool take(const Step& step) {
    if (!constraints_.add(step)) return false;
    if (rows_.takes(step.t) && !take_row(step)) return false;
    history_.add(step);
    if (options_.observer && !options_.observer(step)) return false;
    return !exceeds_length(step.t) || stop_for_length(step.t);
  }

  KeptRun result(Trajectory run) {
    end_by_fault(constraints_.fault().empty() ? values_.fault() : constraints_.fault(), run);
    if (!too_long_.empty() && run.status == Status::interrupted) run.message = too_long_;
    result_.modes = history_.resolved(run.events);
    result_.run = std::move(run);
    return std::move(result_);
  }

  [[nodiscard]] IntegrateOptions integration(const Model& model) {
    IntegrateOptions options;
    options.keep = false;
    options.times = options_.times;
    options.bounds = model.bounds();
    options.observer = [this](const Step& step) { return take(step); };
    options.state = options_.state;
    keep_beside(options.state, [this](Archive& archive) { transfer(archive); });
    return options;
  }

  /// The rows so far.
  void transfer(Archive& archive) { archive(history_, constraints_, result_, rows_, steps_); }

 private:
  /// Its numbers are kept. False: an output has no value.
  bool take_row(const Step& step) {
    if (!values_.take(step)) return false;
    append(step, values_.outputs());
    return true;
  }

  /// Is this step, before the end, the last one that was asked for?
  bool exceeds_length(double t) { return options_.most_steps != 0 && ++steps_ >= options_.most_steps && !(t >= end_); }

  void append(const Step& step, const Vector& outputs) {
    result_.t.push_back(step.t);
    append_numbers(step.x, result_.n, result_.x);
    append_numbers(step.lambda, result_.m, result_.lambda);
    append_numbers(step.w, result_.m, result_.w);
    append_numbers(outputs, result_.outputs, result_.output);
    for (std::size_t i = 0; i < static_cast<std::size_t>(result_.m); ++i)
      result_.mode.push_back(i < step.mode.size() ? step.mode[i] : -1);
    for (int i = 0; i < result_.n; ++i)
      for (int k = 0; k < result_.quantities; ++k)
        result_.dx_dq.push_back(i < step.dx_dq.rows() ? step.dx_dq(i, k) : nan);
  }

  bool stop_for_length(double t) {
    too_long_ = fmt::format("stopped at t = {:.10g}: {} steps, the most that were asked for", t, options_.most_steps);
    return false;
  }

  const KeepOptions& options_;
  double end_;
  RowValues values_;
  RowTimes rows_;
  ConstraintCheck constraints_;
  ModeHistory history_;
  KeptRun result_;
  long steps_ = -1;  // the start is none
  std::string too_long_;
};

}  // namespace

Step KeptRun::row(std::size_t k) const {
  const auto part = [k](const std::vector<double>& values, int columns) {
    return Vector(Eigen::Map<const Vector>(values.data() + k * static_cast<std::size_t>(columns), columns));
  };
  Step step{t[k], part(x, n), part(lambda, m), part(w, m), {}};
  const auto first = mode.begin() + static_cast<std::ptrdiff_t>(k) * m;
  if (std::find(first, first + m, -1) == first + m) step.mode.assign(first, first + m);
  return step;
}

void check_kept_state(const Model& model, const char* what) {
  if (!scheme(model.run.scheme).keeps_state) {
    std::string names;
    for (const SchemeEntry* entry : scheme_entries())
      if (entry->keeps_state) names += (names.empty() ? "" : ", ") + std::string(entry->name);
    throw InvalidInput(fmt::format("{}: the state of scheme {} between two steps cannot be kept; expected one of the schemes {}",
                                   what, model.run.scheme, names));
  }
}

KeptRun keep_run(const Model& model, const KeepOptions& options) {
  check_run(model);
  if (options.state.due || !options.state.from.empty()) check_kept_state(model, "checkpoint");
  return keep_run(model, options, [&](const IntegrateOptions& record) {
    return with_change_notes(model, scheme(model.run.scheme).run(model, record));
  });
}

KeptRun keep_run(const Model& model, const KeepOptions& options,
                 const std::function<Trajectory(const IntegrateOptions& options)>& integrate, int quantities) {
  Keeper keeper(model, options, quantities);
  return keeper.result(integrate(keeper.integration(model)));
}

KeptRun kept(const Model& model, Trajectory run) {
  const KeepOptions options;
  Keeper keeper(model, options, 0);
  for (std::size_t k = 0; k < run.size(); ++k)
    if (!keeper.take({run.t[k], run.x[k], run.lambda[k], run.w[k], run.mode[k]})) break;
  return keeper.result(std::move(run));
}

}  // namespace perp
