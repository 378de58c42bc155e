#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/analysis/convergence/grid_run.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

Vector selected(const Vector& x, const std::vector<std::size_t>& variables) {
  Vector part(static_cast<Eigen::Index>(variables.size()));
  for (std::size_t j = 0; j < variables.size(); ++j)
    part[static_cast<Eigen::Index>(j)] = x[static_cast<Eigen::Index>(variables[j])];
  return part;
}

/// The model with what is asked for instead of its own options.
Model model_of(const GridRunRequest& request) {
  Model model = request.read();
  model.run.h = request.h;
  model.run.span.end = request.end;
  if (!request.scheme.empty()) model.run.scheme = request.scheme;
  if (request.tol > 0) model.run.tol = request.tol;
  return model;
}

std::vector<std::size_t> places_of(const std::vector<std::string>& names, const Model& model) {
  std::vector<std::size_t> variables;
  for (const std::string& name : names) variables.push_back(find_name(name, variable_names(model), "variable"));
  return variables;
}

/// What is kept of the states of a run, step by step.
class GridRecord {
 public:
  GridRecord(const GridRunRequest& request, const std::vector<std::size_t>& variables, double start, GridRun& result)
      : request_(request),
        variables_(variables),
        result_(result),
        next_(request.times.begin()),
        late_(request.end - (request.end - start) / 10) {}

  void add(const Step& step) {
    if (step.t >= late_)
      result_.size = std::max(result_.size, selected(step.x, variables_).lpNorm<Eigen::Infinity>());
    while (next_ != request_.times.end() && *next_ < step.t) ++next_;
    if (request_.keep_grid || (next_ != request_.times.end() && *next_ == step.t))
      result_.states.add(step.t, selected(step.x, variables_));
  }

 private:
  const GridRunRequest& request_;
  const std::vector<std::size_t>& variables_;
  GridRun& result_;
  std::vector<double>::const_iterator next_;  // of the times that are asked for
  double late_;                               // where the last tenth begins
};

}  // namespace

double time_rounding(Span span) {
  return 256 * std::numeric_limits<double>::epsilon() *
         std::max(std::abs(span.start), std::abs(span.end));
}

void GridStates::add(double t, const Vector& x) {
  if (!times_.empty() && times_.back() == t) {
    times_.pop_back();
    values_.resize(values_.size() - static_cast<std::size_t>(x.size()));
  }
  times_.push_back(t);
  values_.insert(values_.end(), x.begin(), x.end());
}

Vector GridStates::x(std::size_t k) const {
  const std::size_t columns = values_.size() / times_.size();
  return Eigen::Map<const Vector>(values_.data() + k * columns, static_cast<Eigen::Index>(columns));
}

Vector GridStates::at(double t, double tolerance) const {
  const auto first = std::lower_bound(times_.begin(), times_.end(), t - tolerance);
  auto nearest = first;
  for (auto it = first; it != times_.end() && *it <= t + tolerance; ++it)
    if (std::abs(*it - t) <= std::abs(*nearest - t)) nearest = it;
  if (nearest == times_.end() || *nearest > t + tolerance) return {};
  return x(static_cast<std::size_t>(nearest - times_.begin()));
}

bool is_compared(std::string_view kind) {
  for (const EventKind other : {EventKind::inconsistent_start, EventKind::accumulation,
                                EventKind::no_solution, EventKind::stopped})
    if (kind == to_string(other)) return false;
  return true;
}

std::vector<EventMark> marks_of(const Model& model, const std::vector<Event>& events) {
  std::vector<EventMark> marks;
  const EventTexts texts_of(model.laws());
  for (const Event& event : events)
    if (is_compared(to_string(event.kind)))
      marks.push_back({event.t, to_string(event.kind), texts_of(event).law});
  return marks;
}

GridRun run_on_grid(const GridRunRequest& request) {
  const Model model = model_of(request);
  const std::vector<std::size_t> variables = places_of(request.names, model);
  GridRun result{.h = request.h, .x = {}};
  const std::function<void(double t)> progress =
      request.watch.progress ? request.watch.progress(model.run.span) : nullptr;
  IntegrateOptions options;
  options.keep = false;
  options.times = request.times;
  options.bounds = model.bounds();
  GridRecord kept(request, variables, model.run.span.start, result);
  options.observer = [&](const Step& step) {
    if (progress) progress(step.t);
    kept.add(step);
    return !request.watch.is_stopped();
  };
  const Trajectory run = scheme(model.run.scheme).run(model, options);
  result.t = run.t.back();
  result.x = selected(run.x.back(), variables);
  result.events = marks_of(model, run.events);
  const auto steps = run.counts.find("steps");
  if (steps != run.counts.end()) result.steps = steps->second;
  result.status = run.status;
  result.message = run.message;
  result.captured = std::any_of(run.counts.begin(), run.counts.end(), [](const auto& count) {
    return count.first.starts_with("captured_");
  });
  return result;
}

std::vector<double> grid_of(Span span, double h) {
  const auto count = std::max(1.0, std::ceil((span.end - span.start) / h * (1 - 1e-14) - 1e-9));
  std::vector<double> times;
  for (double k = 0; k < count; ++k) times.push_back(span.start + k * h);
  times.push_back(span.end);
  return times;
}

}  // namespace perp
