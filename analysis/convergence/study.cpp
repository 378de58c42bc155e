#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/analysis/convergence/fit.hpp>
#include <perp/analysis/convergence/reference.hpp>
#include <perp/analysis/convergence/study.hpp>
#include <perp/analysis/parallel.hpp>
#include <perp/core/base/error.hpp>

namespace perp {
namespace {

constexpr double most_numbers = 1e8;  // that are kept of all trajectories

/// One study while it is computed.
class StudyComputation {
 public:
  explicit StudyComputation(const StudyRequest& request) : request_(request) {
    for (const auto& variant : request.variants)
      study_.variants.push_back({variant.label, variant.model});
    study_.errors = request.errors;
    study_.whole_steps = request.whole_steps;
    study_.span = study_.variants.front().model.run.span;
  }

  ConvergenceStudy operator()() {
    check();
    choose_variables();
    read_references();
    plan();
    in_parallel(request_.threads, tasks_.size(), [this](std::size_t index, int thread) {
      if (!request_.watch.is_stopped()) tasks_[index](thread == 0);
    });
    take_references();
    for (VariantStudy& variant : study_.variants) {
      std::erase_if(variant.rows,
                    [](const StudyRow& row) { return row.run.status == Status::never_run; });
      for (StudyRow& row : variant.rows)
        for (const ErrorKind kind : study_.errors)
          row.errors.push_back(measure(kind, row.run, variant.reference, study_.span));
    }
    return std::move(study_);
  }

 private:
  [[nodiscard]] bool measures(ErrorKind kind) const {
    return std::find(request_.errors.begin(), request_.errors.end(), kind) != request_.errors.end();
  }
  [[nodiscard]] bool keeps_grids() const {
    return measures(ErrorKind::trajectory) || request_.variants.size() > 1;
  }

  void check() const {
    for (const VariantStudy& variant : study_.variants) {
      const RunOptions& run = variant.model.run;
      if (run.scheme == "located")
        throw InvalidInput(
            "scheme located chooses its step lengths itself, so that --h says nothing; expected "
            "a scheme with steps of length h, and --reference located");
      if (run.span.start != study_.span.start || run.span.end != study_.span.end)
        throw InvalidInput(
            fmt::format("{} runs over [{:g}, {:g}] but {} over [{:g}, {:g}]; expected one span for "
                        "all, see --t",
                        variant.label, run.span.start, run.span.end, study_.variants.front().label,
                        study_.span.start, study_.span.end));
    }
    const double length = study_.span.end - study_.span.start;
    if (request_.steps.front() > length)
      throw InvalidInput(
          fmt::format("--h is {:g} but the span [{:g}, {:g}] is {:g} long; expected "
                      "step lengths up to that",
                      request_.steps.front(), study_.span.start, study_.span.end, length));
  }

  /// The differential variables that all variants have, and the reference knows.
  void choose_variables() {
    std::vector<std::string> all;
    for (const VariantStudy& variant : study_.variants)
      for (const std::string& name : differential_names(variant.model))
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    for (const std::string& name : all)
      (is_common(name) ? study_.names : study_.left_out).push_back(name);
    if (study_.names.empty())
      throw InvalidInput(fmt::format(
          "the models have no differential variable in common ({}); expected forms of one system "
          "with the same names",
          described_names()));
  }

  [[nodiscard]] bool is_common(const std::string& name) const {
    return std::all_of(study_.variants.begin(), study_.variants.end(),
                       [&](const VariantStudy& variant) {
                         const auto names = differential_names(variant.model);
                         return std::find(names.begin(), names.end(), name) != names.end();
                       });
  }

  static std::vector<std::string> differential_names(const Model& model) {
    std::vector<std::string> names;
    for (const int j : model.differential_variables())
      names.push_back(model.variables[static_cast<std::size_t>(j)].name);
    return names;
  }

  [[nodiscard]] std::string described_names() const {
    std::string text;
    for (const VariantStudy& variant : study_.variants)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", variant.label,
                          fmt::join(differential_names(variant.model), ", "));
    return text;
  }

  /// References that need no run, and the variables they know.
  void read_references() {
    const auto& events = request_.reference_events;
    const bool needs_events = measures(ErrorKind::events) && !events;
    for (const VariantStudy& variant : study_.variants)
      kinds_.push_back(request_.reference ? *request_.reference
                                          : default_reference(variant.model, needs_events));
    make_references();
    drop_unknown_variables();
    make_references();  // of fewer variables
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      StudyReference& reference = study_.variants[k].reference;
      if (events) replace_events(reference, *events);
      if (needs_events && !reference.events) refuse_without_events(k);
    }
  }

  /// Runs tell theirs later.
  void refuse_without_events(std::size_t variant) const {
    if (is_computed(variant)) return;
    throw InvalidInput(fmt::format(
        "--error events: {} holds no events; expected --reference-events FILE, or --reference "
        "located or finest",
        kinds_[variant] == ReferenceKind::exact ? "an exact solution" : request_.recorded.name));
  }

  [[nodiscard]] bool is_computed(std::size_t variant) const {
    return kinds_[variant] == ReferenceKind::finest || kinds_[variant] == ReferenceKind::located;
  }

  /// The variant whose reference serves: a located run depends neither on scheme nor selector.
  [[nodiscard]] std::size_t source_of(std::size_t variant) const {
    if (kinds_[variant] != ReferenceKind::located) return variant;
    std::size_t first = 0;
    while (study_.variants[first].model.file != study_.variants[variant].model.file) ++first;
    return first;
  }

  void make_references() {
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      VariantStudy& variant = study_.variants[k];
      if (kinds_[k] == ReferenceKind::exact)
        variant.reference = exact_reference(variant.model, study_.names);
      else if (kinds_[k] == ReferenceKind::file)
        variant.reference = recorded_reference(request_.recorded, study_.names, study_.span.end);
    }
  }

  void drop_unknown_variables() {
    std::vector<std::string> known;
    for (std::size_t j = 0; j < study_.names.size(); ++j) {
      bool is_known = true;
      for (std::size_t k = 0; k < kinds_.size(); ++k)
        is_known =
            is_known && (is_computed(k) || std::isfinite(study_.variants[k].reference.state(
                                               study_.span.end)[static_cast<Eigen::Index>(j)]));
      (is_known ? known : study_.left_out).push_back(study_.names[j]);
    }
    if (known.empty()) throw InvalidInput("the reference knows none of the differential variables");
    study_.names = std::move(known);
  }

  /// Of all trajectories together, where they are kept.
  void check_size() const {
    double numbers = 0;
    for (const double h : request_.steps)
      numbers += (study_.span.end - study_.span.start) / h *
                 static_cast<double>((study_.names.size() + 1) * request_.variants.size());
    if (numbers > most_numbers)
      throw InvalidInput(fmt::format(
          "trajectories of {:.2g} numbers are to be compared; expected at most {:g}: a longer "
          "smallest --h{}",
          numbers, most_numbers,
          request_.variants.size() > 1 ? ", or fewer variants" : ", or --error end"));
  }

  /// All runs, those that take longest first.
  void plan() {
    const bool keeps = keeps_grids();
    if (keeps) check_size();
    plan_references();
    for (VariantStudy& variant : study_.variants) variant.rows.resize(request_.steps.size());
    for (std::size_t i = request_.steps.size(); i-- > 0;)
      for (std::size_t k = 0; k < study_.variants.size(); ++k)
        tasks_.push_back([this, i, k, keeps](bool shows_progress) {
          GridRunRequest run = request_of(k, shows_progress);
          run.h = request_.steps[i];
          run.keep_grid = keeps;
          if (request_.whole_steps) run.end = end_of_whole_steps(study_.span, run.h);
          study_.variants[k].rows[i].run = run_on_grid(run);
        });
  }

  void plan_references() {
    runs_.resize(study_.variants.size());
    if (measures(ErrorKind::trajectory)) collect_times();
    for (std::size_t k = 0; k < study_.variants.size(); ++k) {
      if (!is_computed(k) || source_of(k) != k) continue;
      tasks_.push_back([this, k](bool shows_progress) {
        GridRunRequest run = request_of(k, shows_progress);
        run.times = times_;
        run.h = (study_.span.end - study_.span.start) / 1000;  // how often an interrupt is seen
        runs_[k] = kinds_[k] == ReferenceKind::located ? run_located(run)
                                                       : run_finest(run, request_.steps.back());
      });
    }
  }

  [[nodiscard]] GridRunRequest request_of(std::size_t variant, bool shows_progress) const {
    GridRunRequest run;
    run.read = request_.variants[variant].read;
    run.names = study_.names;
    run.end = study_.span.end;
    run.watch.stopped = request_.watch.stopped;
    if (shows_progress) run.watch.progress = request_.watch.progress;
    return run;
  }

  /// The times of all runs, each once up to rounding.
  void collect_times() {
    std::vector<double> all;
    for (const double h : request_.steps) {
      const double end =
          request_.whole_steps ? end_of_whole_steps(study_.span, h) : study_.span.end;
      for (const double t : grid_of({study_.span.start, end}, h)) all.push_back(t);
    }
    std::sort(all.begin(), all.end());
    const Span span = study_.span;
    times_ = {span.start};
    const double rounding = time_rounding(span);
    for (const double t : all)
      if (t - times_.back() > rounding && span.end - t > rounding) times_.push_back(t);
    times_.push_back(span.end);
  }

  void take_references() {
    for (std::size_t k = 0; k < study_.variants.size(); ++k) {
      if (!is_computed(k)) continue;
      StudyReference& reference = study_.variants[k].reference;
      reference = source_of(k) == k ? reference_of(std::move(runs_[k]), kinds_[k],
                                                   study_.variants[k].model, request_.watch)
                                    : study_.variants[source_of(k)].reference;
      if (request_.reference_events) replace_events(reference, *request_.reference_events);
    }
  }

  const StudyRequest& request_;
  std::vector<ReferenceKind> kinds_;  // of each variant
  std::vector<ReferenceRuns> runs_;   // of each variant
  std::vector<double> times_;         // at which references are needed
  std::vector<std::function<void(bool shows_progress)>> tasks_;
  ConvergenceStudy study_;
};

}  // namespace

bool ConvergenceStudy::all_solved(std::size_t steps) const {
  return std::all_of(variants.begin(), variants.end(), [steps](const VariantStudy& variant) {
    return variant.rows.size() == steps &&
           std::all_of(variant.rows.begin(), variant.rows.end(),
                       [](const StudyRow& row) { return row.run.status == Status::solved; });
  });
}

ConvergenceStudy convergence_study(const StudyRequest& request) {
  if (request.variants.empty()) throw InvalidInput("there is no model to study; expected at least one");
  if (request.steps.empty() || request.errors.empty()) throw InvalidInput("there is no step length, or no error, to study; expected at least one");
  return StudyComputation(request)();
}

double end_of_whole_steps(Span span, double h) {
  const double count = static_cast<double>(grid_of(span, h).size() - 1);
  const double end = span.start + count * h;
  // As everywhere, h may miss a divisor of the span by a rounding error.
  return std::abs(end - span.end) <= 1e-9 * h ? span.end : end;
}

double order_between(const StudyRow& coarse, const StudyRow& fine, std::size_t kind) {
  if (coarse.errors[kind].refusal != Refusal::none || fine.errors[kind].refusal != Refusal::none)
    return nan;
  return fit_order(
             {{coarse.run.h, coarse.errors[kind].value}, {fine.run.h, fine.errors[kind].value}})
      .order;
}

std::vector<std::pair<double, double>> points_that_count(const VariantStudy& variant,
                                                         std::size_t kind) {
  std::vector<std::pair<double, double>> points;
  for (const StudyRow& row : variant.rows)
    if (row.errors[kind].refusal == Refusal::none)
      points.emplace_back(row.run.h, row.errors[kind].value);
  return points;
}

}  // namespace perp
