#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/run_recorder.hpp>
#include <perp/io/solutions/solutions_text.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp::io {
namespace {

constexpr long most_listed = 1000;  // solutions of one step

double expected_steps(const Model& model) {
  return (model.run.span.end - model.run.span.start) / model.run.h;
}

RowTimes row_times(const Model& model, const Destinations& destinations) {
  return destinations.every > 0 ? RowTimes(model.run.span, model.run.h, destinations.every) : RowTimes(destinations.times);
}

}  // namespace

RunRecorder::RunRecorder(const Model& model, const Destinations& destinations)
    : model_(model),
      destinations_(destinations),
      values_(model),
      constraints_(model, expected_steps(model)),
      samples_(model, destinations.plotted, destinations.plot_window, expected_steps(model)),
      field_(model, destinations.plotted_array, destinations.plot_window),
      rows_(row_times(model, destinations)) {
  if (destinations.listing) lister_.emplace(model);
  const std::string& file = destinations.data;
  if (file.empty()) return;
  if (is_hdf5(file))
    hdf5_ = std::make_unique<Hdf5Writer>(file, model, destinations.is_compressed);
  else
    csv_ = std::make_unique<CsvWriter>(file, model, std::vector<std::string>{},
                                       destinations.spool.empty() ? Writing::rows_once : Writing::rows);
  if (hdf5_ && !destinations.spool.empty()) spool_.emplace(destinations.spool);
}

/// A row of the tables. False: a number of it is not finite.
bool RunRecorder::write_row(const Step& step) {
  if (!values_.take(step)) return false;
  if (csv_) csv_->row(step, values_.outputs());
  if (hdf5_) hdf5_->row(step, values_.outputs());
  if (spool_) spool_->add(step, values_.outputs());
  t_row_ = step.t;
  return true;
}

bool RunRecorder::step(const Step& step) {
  if (!constraints_.add(step)) return false;
  t_ = step.t;
  if (rows_.takes(step.t) && !write_row(step)) return false;
  history_.add(step);
  if (!destinations_.plotted.empty()) samples_.add(step);
  field_.add(step);
  if (lister_) list_solutions(step);
  return true;
}

long RunRecorder::most_together() const {
  constexpr long most_rows = 1024;  // whose states are kept meanwhile
  if (lister_ || spool_ || !destinations_.plotted.empty()) return 0;
  if (destinations_.every > 0) return std::min(rows_.steps_before_next(t_), constraints_.passed_over());
  if (!rows_.is_every_state()) return constraints_.passed_over();
  return values_.has_outputs() ? 0 : std::min(most_rows, constraints_.passed_over());
}

// Numbers of such steps are finite, and none of them is looked at.
void RunRecorder::steps(const IntegrateOptions::StepsInMode& steps) {
  constraints_.pass_over(steps.count);
  t_ = steps.t;
  if (csv_ && takes_states()) csv_->rows(steps);
  if (hdf5_ && takes_states()) hdf5_->rows(steps);
  history_.add(steps.t, *steps.mode);
}

void RunRecorder::list_solutions(const Step& now) {
  if (steps_++ > 0) {
    double h = now.t - previous_.t;
    if (std::abs(h - model_.run.h) < 1e-9 * h) h = model_.run.h;
    ListedSolutions solutions = (*lister_)(previous_.x, previous_.t, h, most_listed);
    const bool may_lack = !solutions.set.complete && solutions.note.empty();
    if (multiplicity(solutions.set) != Multiplicity::unique || may_lack) {
      ++listed_steps_;
      const bool marked = mark_chosen(solutions, now.x, now.lambda);
      list(fmt::format(
          "step {} from t = {:.10g} to {:.10g}: {}{}\n{}", steps_ - 1, previous_.t, now.t,
          describe_class(solutions), marked ? "" : "; passed in shorter steps, which end elsewhere",
          table_of(solutions, model_, "  ")));
    }
  }
  previous_ = now;
}

void RunRecorder::list(const std::string& text) {
  if (!destinations_.spool.empty()) listed_ += text;
  destinations_.listing(text);
}

void RunRecorder::transfer(Archive& archive) {
  archive(history_, constraints_, samples_, field_, rows_, t_, t_row_);
  if (csv_) archive(*csv_);
  if (spool_) archive(*spool_);
  if (spool_ && archive.is_reading())
    spool_->read([this](const Step& step, const Vector& outputs) { hdf5_->row(step, outputs); });
  if (!lister_) return;
  archive(previous_, steps_, listed_steps_, listed_);
  if (archive.is_reading() && !listed_.empty()) destinations_.listing(listed_);
}

std::vector<std::string> RunRecorder::close(const Trajectory& run,
                                            const std::vector<std::string>& set,
                                            const std::vector<Measure>& measures) {
  // Where a run ends early, its last state is a row as it would be at the end of its span.
  if (destinations_.every > 0 && t_row_ != t_ && run.size() > 0 && run.t.back() == t_)
    write_row({run.t.back(), run.x.back(), run.lambda.back(), run.w.back(), run.mode.back()});
  std::vector<std::string> files;
  const std::string& file = destinations_.data;
  if (csv_) {
    csv_->close();
    if (file != "-") {
      write_file(file + ".json", provenance(model_, run, set, measures).dump(1) + "\n");
      files = {file, file + ".json"};
    }
  }
  if (hdf5_) {
    hdf5_->close(run.events, provenance(model_, run, set, measures));
    files = {file};
  }
  return files;
}

}  // namespace perp::io
