#include <fmt/format.h>
#include <algorithm>
#include <mutex>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/parallel.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sweep/sweep.hpp>
#include <perp/core/base/error.hpp>

namespace perp {
namespace {

/// The runs of one sweep, line by line: a line is what one thread makes in order.
class Sweep {
 public:
  explicit Sweep(const SweepRequest& request) : request_(request), count_(request.points.size()) {
    result_.names = request.points.names();
    const Model model = request.read(request.points.overrides(0));
    for (const std::string& definition : request.measures)
      result_.measures.push_back(definition.substr(0, definition.find('=')));
    if (request.follow != Follow::none) check_follow(model);
    result_.runs.resize(static_cast<std::size_t>(count_ * directions()));
  }

  SweepResult operator()() {
    const long length = request_.follow == Follow::none ? 1 : request_.points.line_length();
    const auto lines = static_cast<std::size_t>(count_ / length * directions());
    in_parallel(request_.threads, lines, [&](std::size_t line, int) {
      const bool is_down = request_.follow == Follow::down ||
                           (request_.follow == Follow::both && line % 2 == 1);
      const long first = static_cast<long>(line) / directions() * length;
      Vector last;
      for (long k = 0; k < length && !is_stopped(); ++k)
        run(is_down ? first + length - 1 - k : first + k, is_down, last);
    });
    for (const SweepRun& run : result_.runs)
      if (run.status == Status::never_run) result_.is_complete = false;
    return std::move(result_);
  }

 private:
  [[nodiscard]] long directions() const { return request_.follow == Follow::both ? 2 : 1; }

  [[nodiscard]] bool is_stopped() const { return request_.stop && request_.stop(); }

  void check_follow(const Model& model) const {
    if (request_.points.axes.empty() || request_.points.side_by_side || request_.points.runs > 1)
      throw InvalidInput("--follow goes along the last of the axes of --vary, without --zip and --runs");
    const auto remembers = [](const Law& law) { return law.memory; };
    if (model.hybrid != nullptr || std::any_of(model.laws().begin(), model.laws().end(), remembers))
      throw InvalidInput("--follow hands variables on, and this model has laws with memory or binaries too");
  }

  /// `last`: the end of the run before on a line that is followed, then that of this one.
  void run(long point, bool is_down, Vector& last) {
    const std::vector<Override> set = request_.points.overrides(point);
    const long second = directions() == 2 && is_down ? 1 : 0;
    SweepRun& made = result_.runs[static_cast<std::size_t>(point * directions() + second)];
    Vector end;
    try {
      Model model = request_.read(set);
      if (last.size() > 0) start_at(last, set, model);
      made = measured(model, end);
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("run {} ({}): {}", point + 1, text_of(set), error.what()));
    }
    if (is_stopped()) made.status = Status::never_run;  // it was cut short
    made.point = point;
    made.is_down = is_down;
    if (request_.follow != Follow::none) last = std::move(end);
    const std::lock_guard lock(mutex_);
    ++done_;
    if (made.status != Status::solved) ++failed_;
    if (request_.progress) request_.progress(done_, failed_);
  }

  /// Starts of variables that are not varied themselves.
  static void start_at(const Vector& last, const std::vector<Override>& set, Model& model) {
    for (std::size_t j = 0; j < model.variables.size(); ++j) {
      const auto is_varied = [&](const Override& item) { return item.key == model.variables[j].name; };
      if (std::none_of(set.begin(), set.end(), is_varied))
        model.variables[j].start = last[static_cast<Eigen::Index>(j)];
    }
  }

  static std::string text_of(const std::vector<Override>& set) {
    std::string text;
    for (const Override& item : set) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", item.key, item.value);
    return text;
  }

  /// One run with its numbers and section; `end` becomes its last state.
  [[nodiscard]] SweepRun measured(const Model& model, Vector& end) {
    Measures measures(model, request_.measures, request_.after);
    const double from = request_.after.empty() ? model.run.span.start : constant_expression(model, request_.after);
    const std::unique_ptr<Section> section =
        request_.section.empty() ? nullptr : Section::read(model, request_.section);
    ModeHistory history;
    IntegrateOptions options;
    options.keep = false;
    options.bounds = model.bounds();
    options.observer = [&](const Step& step) {
      history.add(step);
      return !is_stopped();
    };
    measures.watch(options);
    if (section)
      options.course = [&, next = options.course](const StepCourse& step) {
        section->course(step);
        if (next) next(step);
      };
    const Trajectory run = scheme(model.run.scheme).run(model, options);
    SweepRun made{.status = run.status, .message = run.message, .t_end = run.t.empty() ? nan : run.t.back()};
    for (Measure& measure : measures.of(run, history.resolved(run.events)))
      made.measures.push_back(std::move(measure.result));
    if (section) made.section = section->points(run, from);
    if (!run.x.empty()) end = run.x.back();
    return made;
  }

  const SweepRequest& request_;
  long count_;
  SweepResult result_;
  std::mutex mutex_;
  long done_ = 0, failed_ = 0;
};

}  // namespace

SweepResult sweep(const SweepRequest& request) { return Sweep(request)(); }

}  // namespace perp
