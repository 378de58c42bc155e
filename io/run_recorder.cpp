#include <fmt/format.h>
#include <cmath>
#include <filesystem>

#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/run_recorder.hpp>
#include <perp/io/solutions/solutions_text.hpp>

namespace perp::io {
namespace {

constexpr long most_listed = 1000;  // solutions of one step

double expected_steps(const Model& model) {
  return (model.run.span.end - model.run.span.start) / model.run.h;
}

}  // namespace

RunRecorder::RunRecorder(const Model& model, const Destinations& destinations)
    : model_(model),
      destinations_(destinations),
      values_(model),
      constraints_(model, expected_steps(model)),
      samples_(model, destinations.plotted, destinations.plot_window, expected_steps(model)) {
  if (destinations.listing) lister_.emplace(model);
  const std::string& file = destinations.data;
  if (file.empty()) return;
  const std::string extension = std::filesystem::path(file).extension().string();
  if (file == "-" || extension == ".csv")
    csv_ = std::make_unique<CsvWriter>(file, model);
  else if (extension == ".h5" || extension == ".hdf5")
    hdf5_ = std::make_unique<Hdf5Writer>(file, model);
  else
    throw InvalidInput(fmt::format(
        "-o {}: unknown kind of file; expected a name that ends in .csv or .h5, or -", file));
}

bool RunRecorder::is_row(double t) {
  const std::vector<double>& times = destinations_.times;
  if (times.empty()) return true;
  while (next_time_ < times.size() && times[next_time_] < t) ++next_time_;
  return next_time_ < times.size() && times[next_time_] == t;
}

bool RunRecorder::step(const Step& step) {
  if (is_row(step.t)) {
    if (!values_.take(step)) return false;
    if (csv_) csv_->row(step, values_.outputs());
    if (hdf5_) hdf5_->row(step, values_.outputs());
  }
  history_.add(step);
  constraints_.add(step);
  if (!destinations_.plotted.empty()) samples_.add(step);
  if (lister_) list_solutions(step);
  return true;
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
      destinations_.listing(fmt::format(
          "step {} from t = {:.10g} to {:.10g}: {}{}\n{}", steps_ - 1, previous_.t, now.t,
          describe_class(solutions), marked ? "" : "; passed in shorter steps, which end elsewhere",
          table_of(solutions, model_, "  ")));
    }
  }
  previous_ = now;
}

std::vector<std::string> RunRecorder::close(const Trajectory& run,
                                            const std::vector<std::string>& set,
                                            const std::vector<Measure>& measures) {
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
