#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/parallel.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sweep/sweep.hpp>
#include <perp/analysis/sweep/swept_models.hpp>
#include <perp/analysis/sweep/watched_run.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

// Runs that are made together: of equations many, those in one mode at a time go on side by side; affine ones keep more for each.
constexpr std::size_t most_affine = 32, most_of_equations = 128;

long directions_of(const SweepRequest& request) { return request.follow == Follow::both ? 2 : 1; }

/// Points of a line, which one thread makes in order.
long length_of(const SweepRequest& request) { return request.follow == Follow::none ? 1 : request.points.line_length(); }

/// Of both directions.
long lines_of(const SweepRequest& request) {
  return request.points.size() / length_of(request) * directions_of(request);
}

/// The runs of one sweep, line by line.
class Sweep {
 public:
  explicit Sweep(const SweepRequest& request) : request_(request), models_(request) {
    result_.names = request.points.names();
    const Model model = models_.first();
    most_together_ = model.system.affine() != nullptr ? most_affine : most_of_equations;
    for (const std::string& definition : request.measures) result_.measures.push_back(definition.substr(0, definition.find('=')));
    check_measures();
    if (request.follow != Follow::none) check_follow(model);
    check_skip();
  }

  SweepResult operator()() {
    result_.runs.resize(static_cast<std::size_t>(sweep_runs(request_)));
    const SweepChunks& chunks = request_.chunks;
    const long all = sweep_chunks(request_);
    const long own = chunks.slice > all ? 0 : (all - chunks.slice) / chunks.slices + 1;
    std::vector<std::vector<std::size_t>> places;  // of the runs of each chunk
    for (long k = 0; k < own; ++k) places.push_back(places_of(chunks.slice - 1 + k * chunks.slices, all));
    const std::size_t group = chunks_of_group(places);
    in_groups((places.size() + group - 1) / group, [&](std::size_t k) {
      std::vector<Chunk> some;
      for (std::size_t i = k * group; i < std::min((k + 1) * group, places.size()); ++i)
        some.push_back({chunks.slice - 1 + static_cast<long>(i) * chunks.slices, &places[i]});
      make(some);
    });
    const auto never_run = [&](std::size_t at) { return result_.runs[at].status == Status::never_run; };
    for (const std::vector<std::size_t>& chunk : places)
      if (std::any_of(chunk.begin(), chunk.end(), never_run)) result_.is_complete = false;
    result_.ended_at_failure = has_failed_;
    return std::move(result_);
  }

  /// Can the first run be measured?
  void check_first() const {
    Model model = models_.first();
    if (request_.extends_span) extend(model);
    const Measures measures(model, request_.measures, request_.after);
    if (!request_.section.empty()) Section::read(model, request_.section);
    const Span& span = model.run.span;
    for (const double t : request_.times)
      if (t < span.start || t > span.end)
        throw InvalidInput(fmt::format("times: {} is outside of the span [{}, {}] of the first run", t, span.start, span.end));
  }

 private:
  [[nodiscard]] long directions() const { return directions_of(request_); }

  /// Where the runs of a chunk stand in the result, line by line.
  [[nodiscard]] std::vector<std::size_t> places_of(long chunk, long chunks) const {
    const long lines = lines_of(request_);
    std::vector<std::size_t> places;
    for (long line = chunk * lines / chunks; line < (chunk + 1) * lines / chunks; ++line)
      for (long k = 0; k < length_of(request_); ++k) places.push_back(place(line, k));
    return places;
  }

  struct Chunk {
    long number;
    const std::vector<std::size_t>* places;  // those of a line follow each other
  };

  /// Calls make(k) for all k below `groups`, or for those that the processes which share them leave to this one.
  void in_groups(std::size_t groups, const std::function<void(std::size_t)>& make) const {
    const auto& next = request_.chunks.next;
    if (!next) return in_parallel(request_.threads, groups, [&](std::size_t k, int) { make(k); });
    in_parallel(request_.threads, static_cast<std::size_t>(std::max(request_.threads, 1)), [&](std::size_t, int) {
      for (long k = next(); k < static_cast<long>(groups) && !is_stopped(); k = next()) make(static_cast<std::size_t>(k));
    });
  }

  /// Chunks of one runner: as many runs as are made together, while every thread has some of them to take.
  [[nodiscard]] std::size_t chunks_of_group(const std::vector<std::vector<std::size_t>>& places) const {
    constexpr std::size_t groups_of_thread = 4;
    std::size_t runs = 0;
    for (const auto& chunk : places) runs += chunk.size();
    if (runs == 0) return 1;
    const int runners = std::max(request_.threads, 1) * request_.chunks.processes;
    const std::size_t shared = runs / (groups_of_thread * static_cast<std::size_t>(runners));
    return std::max<std::size_t>(1, std::min(most_together_, shared) * places.size() / runs);
  }

  void make(const std::vector<Chunk>& chunks) {
    std::vector<Chunk> left;
    std::vector<std::size_t> places;
    for (const Chunk& chunk : chunks) {
      if (request_.chunks.known && take(request_.chunks.known(chunk.number), *chunk.places)) continue;
      left.push_back(chunk);
      places.insert(places.end(), chunk.places->begin(), chunk.places->end());
    }
    run_all_of(places);
    if (is_stopped() || !request_.chunks.made) return;
    for (const Chunk& chunk : left) {
      std::vector<SweepRun> made;
      for (const std::size_t at : *chunk.places) made.push_back(result_.runs[at]);
      const std::lock_guard lock(mutex_);
      request_.chunks.made(chunk.number, made);
    }
  }

  void run_all_of(const std::vector<std::size_t>& places) {
    const auto length = static_cast<std::size_t>(length_of(request_));
    Vector last;
    for (std::size_t k = 0; k < places.size() && !is_stopped();) {
      if (const std::size_t made = run_together(places, k); made > 0) {
        k += made;
        continue;
      }
      if (k % length == 0) last.resize(0);
      run(places[k++], last);
    }
  }

  /// Runs that were made before. False where there are none.
  bool take(std::vector<SweepRun> known, const std::vector<std::size_t>& places) {
    if (known.empty()) return false;
    const std::lock_guard lock(mutex_);
    bool fits = known.size() == places.size();
    for (std::size_t k = 0; fits && k < places.size(); ++k)
      fits = place_of(known[k].point, known[k].is_down) == places[k];
    if (!fits) throw InvalidInput("a chunk of the sweep does not hold its runs");
    for (std::size_t k = 0; k < places.size(); ++k) {
      count(known[k]);
      result_.runs[places[k]] = std::move(known[k]);
    }
    return true;
  }

  /// Where the k-th run of a line stands in the result. With both directions lines alternate.
  [[nodiscard]] std::size_t place(long line, long k) const {
    const long length = length_of(request_), first = line / directions() * length;
    const bool is_down = request_.follow == Follow::down || (request_.follow == Follow::both && line % 2 == 1);
    return place_of(is_down ? first + length - 1 - k : first + k, is_down);
  }
  [[nodiscard]] std::size_t place_of(long point, bool is_down) const {
    return static_cast<std::size_t>(point * directions() + (directions() == 2 && is_down ? 1 : 0));
  }

  [[nodiscard]] bool is_stopped() const { return has_failed_ || (request_.stop && request_.stop()); }

  void check_skip() const {
    if (request_.skip < 0 || (request_.skip > 0 && request_.section.empty()))
      throw InvalidInput(fmt::format("skip {}: expected a whole number from 0 on, of points of a section that are left out, and a section",
                                     request_.skip));
  }

  /// Names of measures are columns beside those of the runs.
  void check_measures() const {
    std::set<std::string> taken{"run", "direction", "draw", "point", "status", "t_end"};
    taken.insert(result_.names.begin(), result_.names.end());
    for (const std::string& name : result_.measures)
      if (taken.contains(name))
        throw InvalidInput(fmt::format("measure {}: a table of a sweep has another column of this name; expected another name", name));
  }

  void check_follow(const Model& model) const {
    if (request_.points.axes.empty() || request_.points.side_by_side || request_.points.runs > 1)
      throw InvalidInput("follow goes along the last axis of what is varied, without values side by side and several draws");
    const auto remembers = [](const Law& law) { return law.memory; };
    if (model.hybrid != nullptr || std::any_of(model.laws().begin(), model.laws().end(), remembers))
      throw InvalidInput("follow hands variables on, and this model has laws with memory or binaries too");
  }

  /// `last`: the end of the run before on a line that is followed, then that of this one.
  void run(std::size_t place, Vector& last) {
    const long point = static_cast<long>(place) / directions();
    const std::vector<Override> set = request_.points.overrides(point);
    SweepRun made;
    Vector end;
    std::string refusal;
    try {
      std::optional<Model> read = models_.at(point, refusal);
      if (!read) return keep(place, refused(refusal));
      Model model = *std::move(read);
      if (last.size() > 0) start_at(last, set, model);
      const std::unique_ptr<WatchedRun> run = watched(std::move(model));
      made = this->made(*run, scheme(run->model.run.scheme).run(run->model, run->options), end);
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("run {} ({}): {}", point + 1, text_of(set), error.what()));
    }
    if (is_stopped()) return;  // it was cut short
    if (request_.follow != Follow::none) last = std::move(end);
    keep(place, std::move(made));
  }

  /// Some runs from this one on, which do not follow each other. How many; 0: they are made one after the other, as
  /// where an input is wrong, so that the first one says so.
  std::size_t run_together(const std::vector<std::size_t>& places, std::size_t first) {
    const std::size_t most = std::min(most_together_, places.size() - first);
    if (request_.follow != Follow::none || most < 2) return 0;
    std::vector<std::unique_ptr<WatchedRun>> runs;
    std::vector<Trajectory> results;
    std::string refusal;
    try {
      for (std::size_t k = 0; k < most; ++k) {
        std::optional<Model> model = models_.at(static_cast<long>(places[first + k]) / directions(), refusal);
        if (!model) break;
        runs.push_back(watched(*std::move(model)));
      }
      if (runs.size() < 2) return 0;
      results = run_all(runs);
    } catch (const InvalidInput&) {
      return 0;
    }
    if (results.empty()) return 0;
    Vector end;
    const std::size_t count = runs.size();
    for (std::size_t k = 0; k < count && !is_stopped(); ++k) keep(places[first + k], made(*runs[k], results[k], end));
    return count;
  }

  static std::vector<Trajectory> run_all(const std::vector<std::unique_ptr<WatchedRun>>& runs) {
    const SchemeEntry& entry = scheme(runs.front()->model.run.scheme);
    std::vector<const Model*> models;
    std::vector<const IntegrateOptions*> options;
    for (const auto& run : runs) {
      if (entry.run_all == nullptr || run->model.run.scheme != entry.name) return {};
      models.push_back(&run->model);
      options.push_back(&run->options);
    }
    return entry.run_all(models, options);
  }

  void keep(std::size_t place, SweepRun made) {
    const long point = static_cast<long>(place) / directions();
    made.point = point;
    made.values = request_.points.values(point);
    made.is_down = request_.follow == Follow::down || (directions() == 2 && static_cast<long>(place) % 2 == 1);
    const std::lock_guard lock(mutex_);
    count(made);
    result_.runs[place] = std::move(made);
  }

  void count(const SweepRun& made) {
    ++done_;
    if (made.status != Status::solved) ++failed_;
    if (made.status != Status::solved && request_.ends_at_failure) has_failed_ = true;
    if (request_.progress) request_.progress(done_, failed_);
  }

  /// Until the end of the window.
  void extend(Model& model) const {
    if (request_.after.empty()) return;
    Span& span = model.run.span;
    const double from = constant_expression(model, request_.after);
    if (from >= span.end) span.end = from + (span.end - span.start);
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

  /// A run whose numbers are those of no model.
  [[nodiscard]] SweepRun refused(const std::string& why) const {
    SweepRun made{.status = Status::not_solved, .message = why, .t_end = nan};
    made.measures.assign(result_.measures.size(), {std::nullopt, why});
    return made;
  }

  [[nodiscard]] std::unique_ptr<WatchedRun> watched(Model model) const {
    if (request_.extends_span) extend(model);
    auto run = std::make_unique<WatchedRun>(std::move(model), request_);
    watch(*run);
    return run;
  }

  /// Its numbers and section; `end` becomes its last state.
  [[nodiscard]] SweepRun made(WatchedRun& watched, const Trajectory& run, Vector& end) const {
    SweepRun made{.status = run.status, .message = run.message, .t_end = run.t.empty() ? nan : run.t.back()};
    const std::vector<ModeSpan> modes = watched.history.resolved(run.events);
    for (Measure& measure : watched.measures.of(run, modes)) made.measures.push_back(std::move(measure.result));
    if (watched.section) made.section = watched.section->points(run, watched.from);
    skip(made.section);
    tell_modes(modes, made.section);
    made.kept = watched.kept.take(run);
    if (!run.x.empty()) end = run.x.back();
    return made;
  }

  void watch(WatchedRun& run) const {
    const bool needs_courses = run.section != nullptr || request_.keeps;
    if (!needs_courses && !run.measures.needs_steps()) return watch_moments(run);
    run.options.observer = [this, &run](const Step& step) {
      run.history.add(step);
      if (request_.keeps) run.kept.step(step);
      return !is_stopped();
    };
    run.measures.watch(run.options);
    if (needs_courses) watch_courses(run);
  }

  /// Nothing but the modes and where the run came to.
  void watch_moments(WatchedRun& run) const {
    run.options.moments = [this, &run](double t, const Mode& mode) {
      run.history.add(t, mode);
      run.measures.pass(t);
      return !is_stopped();
    };
  }

  void watch_courses(WatchedRun& run) const {
    run.options.course = [this, &run, next = run.options.course](const StepCourse& step) {
      if (run.section != nullptr) run.section->course(step);
      if (request_.keeps) run.kept.course(step);
      if (next) next(step);
    };
  }

  /// The mode of each point, of two that meet there the one before.
  static void tell_modes(const std::vector<ModeSpan>& modes, std::vector<SectionPoint>& section) {
    for (SectionPoint& point : section) {
      const auto span = std::ranges::lower_bound(modes, point.t, {}, &ModeSpan::end);
      if (!modes.empty()) point.mode = span == modes.end() ? modes.back().mode : span->mode;
    }
  }

  void skip(std::vector<SectionPoint>& section) const {
    const auto skipped = std::min<std::size_t>(static_cast<std::size_t>(request_.skip), section.size());
    section.erase(section.begin(), section.begin() + static_cast<std::ptrdiff_t>(skipped));
  }

  const SweepRequest& request_;
  SweptModels models_;
  SweepResult result_;
  std::size_t most_together_ = 1;
  std::mutex mutex_;
  long done_ = 0, failed_ = 0;
  std::atomic<bool> has_failed_ = false;  // and that ends the sweep
};

}  // namespace

Follow parse_follow(const std::string& name, const std::string& what) {
  if (name.empty()) return Follow::none;
  return static_cast<Follow>(1 + find_name(name, std::vector<std::string>{"up", "down", "both"}, what));
}

bool parse_ends_at_failure(const std::string& name, const std::string& what) {
  return !name.empty() && find_name(name, std::vector<std::string>{"keep", "stop"}, what) == 1;
}

long sweep_runs(const SweepRequest& request) { return request.points.size() * directions_of(request); }

long sweep_chunks(const SweepRequest& request) {
  constexpr long most_chunks = 1000;
  return std::min(most_chunks, lines_of(request));
}

void check_sweep(const SweepRequest& request) { Sweep(request).check_first(); }

SweepResult sweep(const SweepRequest& request) { return Sweep(request)(); }

}  // namespace perp
