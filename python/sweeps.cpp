// Sweeps: many runs over values and random numbers, with the tables and the folders of the program.
#include <algorithm>
#include <atomic>
#include <cmath>

#include <perp/analysis/run/history.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sweep/contours.hpp>
#include <perp/analysis/sweep/kept_states.hpp>
#include <perp/analysis/sweep/sweep.hpp>
#include <perp/core/branches.hpp>
#include <perp/io/sweep/spaced_values.hpp>
#include <perp/io/sweep/sweep_csv.hpp>
#include <perp/io/sweep/sweep_store.hpp>
#include <perp/io/sweep/sweep_text.hpp>
#include <perp/python/reader.hpp>

namespace perp::python {
namespace {

/// What a sweep is asked for, besides its model.
struct SweepQuestion {
  std::vector<std::pair<std::string, std::vector<double>>> over;
  std::vector<std::pair<std::string, std::string>> random;
  long runs = 1;
  unsigned long long seed = 1;
  std::string sampling;
  bool side_by_side = false;
  std::vector<std::string> measures;
  std::string section, after, fail;
  bool keeps = false;
  std::vector<double> times;
  long skip = 0;
  bool extends_span = false;
  std::string follow, store;
  int threads = 1;
  py::object progress = py::none();
};

/// The table of a sweep and whether all of its runs were made.
struct SweepAnswer {
  io::SweepTable table;
  bool is_complete = true;
  std::vector<long> axis_lengths;
  std::vector<Law> laws{};  ///< of the model
};

SweepRequest request_of(const SweepQuestion& question, const Model& model) {
  SweepRequest request{.measures = question.measures,
                       .after = question.after,
                       .extends_span = question.extends_span,
                       .section = question.section,
                       .keeps = question.keeps,
                       .times = question.times,
                       .skip = question.skip,
                       .follow = parse_follow(question.follow, "follow"),
                       .ends_at_failure = parse_ends_at_failure(question.fail, "fail"),
                       .threads = question.threads};
  SweepPoints& points = request.points;
  for (const auto& [name, values] : question.over) points.axes.push_back({name, values});
  for (const auto& [name, text] : question.random) points.draws.push_back(parse_draw(model, name, text));
  points.sampling = parse_sampling(question.sampling, "sampling");
  points.side_by_side = question.side_by_side;
  points.runs = question.runs;
  points.seed = question.seed;
  points.prepare(model);
  return request;
}

/// Ctrl-C ends all threads; what was made is the answer. `progress(done, failed)` is called with Python's lock.
SweepResult computed(SweepRequest& request, const py::object& progress) {
  std::atomic<bool> is_stopped = false;
  std::atomic<long> done = 0, failed = 0;
  const py::object tick = progress.is_none() ? py::object(py::none())
                                             : py::cpp_function([&] { progress(done.load(), failed.load()); });
  request.progress = [&](long runs, long ended_early) { done = runs, failed = ended_early; };
  request.stop = [&] {
    if (interruption_requested()) is_stopped = true;
    return is_stopped.load();
  };
  return Computation(tick).run([&] { return sweep(request); });
}

std::shared_ptr<SweepAnswer> sweep_model(const std::shared_ptr<Source>& source, const Overrides& overrides,
                                         const SweepQuestion& question, const std::vector<std::string>& set) {
  const auto reader = std::make_shared<const Reader>(*source, ReadingOptions{.hybrid = true}, overrides);
  const Model model = (*reader)({}, {});
  check_run(model);
  SweepRequest request = request_of(question, model);
  std::vector<WrittenOverride> given;
  for (const auto& [key, value, words] : overrides) given.push_back({{key, value}, words});
  check_given_once(request.points, given);
  request.read = [reader](const std::vector<Override>& values) { return (*reader)(values, {}); };
  check_sweep(request);
  const auto answer = std::make_shared<SweepAnswer>();
  answer->laws = model.laws();
  answer->table = io::sweep_head(request, model, set, request.keeps);
  for (const SweepAxis& axis : request.points.axes) answer->axis_lengths.push_back(static_cast<long>(axis.values.size()));
  std::optional<io::SweepStore> store;
  if (!question.store.empty()) {
    store.emplace(question.store, answer->table, sweep_chunks(request));
    store->lock();
    keep_in(*store, request);
  }
  const SweepResult result = computed(request, question.progress);
  if (store) store->flush();
  answer->is_complete = result.is_complete;
  answer->table = io::with_runs(std::move(answer->table), result);
  return answer;
}

/// A column of all runs.
template <class Value, class Of>
std::vector<Value> column(const SweepAnswer& answer, const Of& of) {
  std::vector<Value> values;
  for (const SweepRun& run : answer.table.runs) values.push_back(of(run));
  return values;
}

py::array column_array(const SweepAnswer& answer, const std::function<double(const SweepRun& run)>& of) {
  const auto values = column<double>(answer, of);
  return py::array(static_cast<py::ssize_t>(values.size()), values.data());
}

/// (index of a run, why it has no value) of a measure.
py::list notes_of(const SweepAnswer& answer, std::size_t measure) {
  py::list notes;
  for (std::size_t k = 0; k < answer.table.runs.size(); ++k)
    if (const MeasureResult& result = answer.table.runs[k].measures[measure]; !result.value)
      notes.append(py::make_tuple(k, result.reason));
  return notes;
}

/// run, k, t (N each) and the states (N, n) of all runs: of the section, or those that are kept.
py::tuple states_of(const SweepAnswer& answer, std::vector<SectionPoint> SweepRun::* states) {
  std::vector<long> run, number;
  std::vector<double> t, x;
  for (std::size_t k = 0; k < answer.table.runs.size(); ++k) {
    long count = 0;
    for (const SectionPoint& state : answer.table.runs[k].*states) {
      run.push_back(static_cast<long>(k)), number.push_back(++count), t.push_back(state.t);
      x.insert(x.end(), state.x.data(), state.x.data() + state.x.size());
    }
  }
  const auto rows = static_cast<py::ssize_t>(t.size());
  const std::vector<py::ssize_t> shape{rows, static_cast<py::ssize_t>(answer.table.variables.size())};
  return py::make_tuple(py::array(rows, run.data()), py::array(rows, number.data()), py::array(rows, t.data()),
                        py::array(shape, x.data()));
}

/// (text, slides) of the mode in which each state of the section was reached.
std::vector<std::pair<std::string, bool>> section_modes(const SweepAnswer& answer) {
  std::map<Mode, std::pair<std::string, bool>> known;
  std::vector<std::pair<std::string, bool>> modes;
  for (const SweepRun& run : answer.table.runs)
    for (const SectionPoint& state : run.section) {
      const auto [place, is_new] = known.try_emplace(state.mode);
      if (is_new && state.mode.size() == answer.laws.size())
        place->second = {describe(answer.laws, state.mode), is_sliding(answer.laws, state.mode)};
      modes.push_back(place->second);
    }
  return modes;
}

/// t, then the quantiles at 5, 25, 50, 75 and 95 %, then how many runs they are of: see `fan_of`.
py::array fan_array(const SweepAnswer& answer, int variable) {
  std::vector<std::vector<SectionPoint>> runs;
  for (const SweepRun& run : answer.table.runs) runs.push_back(run.kept);
  std::vector<double> rows;
  for (const FanRow& row : fan_of(runs, variable))
    rows.insert(rows.end(), {row.t, row.lowest, row.lower, row.median, row.upper, row.highest, static_cast<double>(row.runs)});
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(rows.size() / 7), 7};
  return py::array(shape, rows.data());
}

/// The step of the levels, and the pieces (x0, y0, x1, y1) of all lines: see `contour`.
py::tuple contours_of(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& values) {
  double low = inf, high = -inf;
  for (const double value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  const ContourLevels levels = contour_levels(low, high);
  std::vector<std::array<double, 4>> pieces;
  for (const double level : levels.values)
    for (const auto& piece : contour(x, y, values, level)) pieces.push_back(piece);
  return py::make_tuple(levels.step, pieces);
}

}  // namespace

void bind_sweeps(py::module_& module) {
  py::class_<SweepQuestion>(module, "SweepQuestion")
      .def(py::init<>())
      .def_readwrite("over", &SweepQuestion::over)
      .def_readwrite("random", &SweepQuestion::random)
      .def_readwrite("runs", &SweepQuestion::runs)
      .def_readwrite("seed", &SweepQuestion::seed)
      .def_readwrite("sampling", &SweepQuestion::sampling)
      .def_readwrite("side_by_side", &SweepQuestion::side_by_side)
      .def_readwrite("measures", &SweepQuestion::measures)
      .def_readwrite("section", &SweepQuestion::section)
      .def_readwrite("after", &SweepQuestion::after)
      .def_readwrite("keeps", &SweepQuestion::keeps)
      .def_readwrite("times", &SweepQuestion::times)
      .def_readwrite("skip", &SweepQuestion::skip)
      .def_readwrite("fail", &SweepQuestion::fail)
      .def_readwrite("extends_span", &SweepQuestion::extends_span)
      .def_readwrite("follow", &SweepQuestion::follow)
      .def_readwrite("store", &SweepQuestion::store)
      .def_readwrite("threads", &SweepQuestion::threads)
      .def_readwrite("progress", &SweepQuestion::progress);

  using Pointer = std::shared_ptr<SweepAnswer>;
  py::class_<SweepAnswer, Pointer>(module, "SweepAnswer")
      .def_readonly("is_complete", &SweepAnswer::is_complete)
      .def_readonly("axis_lengths", &SweepAnswer::axis_lengths)
      .def_property_readonly("names", [](const SweepAnswer& answer) { return answer.table.names; })
      .def_property_readonly("measures", [](const SweepAnswer& answer) { return answer.table.measures; })
      .def_property_readonly("variables", [](const SweepAnswer& answer) { return answer.table.variables; })
      .def_property_readonly("shape", [](const SweepAnswer& answer) { return answer.table.shape; })
      .def_property_readonly("has_directions", [](const SweepAnswer& answer) { return answer.table.has_directions; })
      .def_property_readonly("has_section", [](const SweepAnswer& answer) { return answer.table.has_section; })
      .def_property_readonly("has_kept", [](const SweepAnswer& answer) { return answer.table.has_kept; })
      .def_property_readonly("status", [](const SweepAnswer& answer) {
        return column<std::string>(answer, [](const SweepRun& run) { return to_string(run.status); });
      })
      .def_property_readonly("message", [](const SweepAnswer& answer) {
        return column<std::string>(answer, [](const SweepRun& run) { return run.message; });
      })
      .def_property_readonly("point", [](const SweepAnswer& answer) {
        return column<long>(answer, [](const SweepRun& run) { return run.point; });
      })
      .def_property_readonly("is_down", [](const SweepAnswer& answer) {
        return column<bool>(answer, [](const SweepRun& run) { return run.is_down; });
      })
      .def_property_readonly("t_end", [](const SweepAnswer& answer) {
        return column_array(answer, [](const SweepRun& run) { return run.t_end; });
      })
      .def("value", [](const SweepAnswer& answer, std::size_t k) {
        return column_array(answer, [k](const SweepRun& run) { return run.values.at(k); });
      })
      .def("measure", [](const SweepAnswer& answer, std::size_t k) {
        return column_array(answer, [k](const SweepRun& run) { return run.measures.at(k).value.value_or(nan); });
      })
      .def("notes", &notes_of)
      .def("section_modes", &section_modes)
      .def("section", [](const SweepAnswer& answer) { return states_of(answer, &SweepRun::section); })
      .def("kept", [](const SweepAnswer& answer) { return states_of(answer, &SweepRun::kept); })
      .def("fan", &fan_array)
      .def("text", [](const SweepAnswer& answer) { return io::sweep_text(answer.table); })
      .def("provenance", [](const SweepAnswer& answer) { return answer.table.provenance.dump(); })
      .def("write", [](const SweepAnswer& answer, const std::string& file) { io::write_sweep_csv(file, answer.table); });
  module.def("sweep", &sweep_model);
  module.def("contours", &contours_of);
  module.def("spaced_values", &io::spaced_values);
}

}  // namespace perp::python
