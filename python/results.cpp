// Runs and their rows: arrays of numpy that are the columns of the run.
#include <perp/analysis/measures/kept_measures.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/constraint_check.hpp>
#include <perp/analysis/phase/row_rates.hpp>
#include <perp/analysis/sensitivities.hpp>
#include <perp/analysis/solutions/trees.hpp>
#include <perp/io/csv.hpp>
#include <perp/io/provenance.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/sensitivities_text.hpp>
#include <perp/python/bindings.hpp>

namespace perp::python {
namespace {

/// A run with the model that it is of.
struct Run {
  ReadModel model;
  KeptRun kept;
  std::vector<std::string> quantities{};  ///< what it is differentiated by
  std::vector<std::string> columns{};     ///< their names in files
  std::vector<Measure> measures{};
  std::optional<bool> happened{};  ///< the event of `until`

  [[nodiscard]] Step last() const {
    const Trajectory& run = kept.run;
    return {run.t.back(), run.x.back(), run.lambda.back(), run.w.back(), run.mode.back()};
  }
};

/// The arguments of a run besides its model.
struct RunArguments {
  std::vector<double> times;
  long most_steps = 0;
  py::object callback, tick;
  std::vector<std::string> measures;
  std::string after, until;
  py::object keep = py::none();  ///< called with the bytes of the run so far every `pause` seconds
  double pause = 10;
  std::string from{};  ///< such bytes, from which the run goes on
};

py::array copy(const Vector& values) { return py::array(static_cast<py::ssize_t>(values.size()), values.data()); }

py::array copy(const Matrix& values) {
  py::array_t<double, py::array::f_style> array({values.rows(), values.cols()});
  std::copy_n(values.data(), values.size(), array.mutable_data());
  return array;
}

/// Calls `integrate` with options that call back, look for signals and tell how far the run is.
template <class Integrate>
auto computed(const RunArguments& arguments, const Integrate& integrate) {
  double t = nan;
  const py::object tick = arguments.tick.is_none() ? py::object(py::none())
                                                   : py::cpp_function([&] { arguments.tick(t); });
  Computation computation(tick);
  KeepOptions options{.times = arguments.times, .most_steps = arguments.most_steps, .observer = {}};
  const bool calls = !arguments.callback.is_none();
  options.observer = [&](const Step& step) {
    t = step.t;
    if (!calls) return true;
    bool goes_on = true;
    const bool is_fine = computation.with_lock([&] {
      const py::object answer = arguments.callback(step.t, copy(step.x), copy(step.lambda), step.mode);
      goes_on = answer.is_none() || answer.cast<bool>();
    });
    return is_fine && goes_on;
  };
  keep_state(arguments.keep, arguments.pause, arguments.from, computation, options.state);
  return computation.run([&] { return integrate(options); });
}

std::shared_ptr<Run> run_model(const ReadModel& model, const RunArguments& arguments) {
  const auto integrate = [&](const KeepOptions& options) {
    return keep_measured_run(*model, options, arguments.measures, arguments.after, arguments.until);
  };
  KeptMeasures run = computed(arguments, integrate);
  return std::make_shared<Run>(Run{model, std::move(run.kept), {}, {}, std::move(run.measures), run.happened});
}

std::shared_ptr<Run> run_sensitivities(const ReadModel& model, const std::shared_ptr<Source>& source,
                                       const ReadingOptions& reading, const Overrides& overrides,
                                       const std::vector<std::string>& names, const RunArguments& arguments) {
  const auto with = [&](const std::string& name, double value) {
    std::vector<Override> items = items_of(overrides);
    std::erase_if(items, [&](const Override& item) { return same_key(item.key, name); });
    items.push_back({"parameters." + name, fmt::format("{:.17g}", value)});
    return read_for_run(source->parsed(reading), items);
  };
  const SensitivityQuantities quantities = sensitivity_quantities(*model, names, with);
  KeptRun kept = computed(arguments, [&](const KeepOptions& options) {
    return keep_sensitivities(*model, quantities, options);
  });
  return std::make_shared<Run>(Run{model, std::move(kept), quantities.names, quantities.columns});
}

/// Every solution of a run with the located scheme: (run, [(t, mode, of, taken), ...]); are these all?
py::tuple run_branches(const ReadModel& model) {
  Computation computation;
  SolutionBranches found = computation.run([&] { return solution_branches_of(*model, true); });
  py::list branches;
  for (SolutionBranch& branch : found.list) {
    py::list choices;
    for (const SolutionBranch::Choice& choice : branch.choices)
      choices.append(py::make_tuple(choice.t, describe(model->laws(), choice.mode), choice.of, choice.taken));
    branches.append(py::make_tuple(
        std::make_shared<Run>(Run{model, kept(*model, std::move(branch.run))}), choices));
  }
  return py::make_tuple(branches, found.complete);
}

/// ẋ of each row, (N, n).
py::array rates_of(const Run& run) {
  Computation computation;
  const std::vector<double> rates = computation.run([&] { return rates_of_rows(*run.model, run.kept); });
  return py::array_t<double>({static_cast<py::ssize_t>(run.kept.rows()), static_cast<py::ssize_t>(run.kept.n)}, rates.data());
}

py::dict event_to_python(const Model& model, const Event& event) {
  const BranchTexts texts = branch_texts(model.laws(), event);
  py::dict fields;
  fields["kind"] = to_string(event.kind);
  fields["t"] = event.t;
  fields["law"] = texts.law;
  fields["from_"] = texts.from;
  fields["to"] = texts.to;
  fields["x_before"] = copy(event.x_before);
  fields["x_after"] = copy(event.x_after);
  fields["size"] = event.size;
  fields["note"] = event.note;
  fields["continuations"] = event.continuations;
  fields["is_weak"] = event.is_weak;
  fields["t_before"] = event.t_before;
  fields["t_after"] = event.t_after;
  fields["dt"] = copy(event.dt_dq);
  fields["condition"] = event.condition;
  py::list pieces;
  for (const Matrix& piece : event.pieces) pieces.append(copy(piece));
  fields["pieces"] = pieces;
  return fields;
}

/// (name, value or None, why there is none).
py::list measures_of(const Run& run) {
  py::list measures;
  for (const Measure& measure : run.measures)
    measures.append(py::make_tuple(measure.name, measure.result.value, measure.result.reason));
  return measures;
}

py::list events_of(const Run& run) {
  py::list events;
  for (const Event& event : run.kept.run.events) events.append(event_to_python(*run.model, event));
  return events;
}

/// (start, end, branch names) of each stretch in one mode.
py::list modes_of(const Run& run) {
  const Laws& laws = run.model->laws();
  py::list modes;
  for (const ModeSpan& span : run.kept.modes) {
    std::vector<std::string> branches;
    for (std::size_t i = 0; i < span.mode.size(); ++i)
      branches.push_back(describe(laws[i].branches[static_cast<std::size_t>(span.mode[i])]));
    modes.append(py::make_tuple(span.start, span.end, branches, describe(laws, span.mode), is_sliding(laws, span.mode)));
  }
  return modes;
}

/// The mode of each row as text, as files have it.
py::list mode_texts_of(const Run& run) {
  ModeText text(run.model->laws());
  py::list texts;
  for (std::size_t k = 0; k < run.kept.rows(); ++k) texts.append(text(run.kept.row(k).mode));
  return texts;
}

/// What the program prints of the run.
std::string summary_of(const Run& run) {
  const RunOptions& options = run.model->run;
  ConstraintCheck constraints(*run.model, (options.span.end - options.span.start) / options.h);
  for (std::size_t k = 0; k < run.kept.rows(); ++k) constraints.add(run.kept.row(k));
  if (!run.quantities.empty()) {
    SensitivityQuantities quantities{.names = run.quantities, .columns = run.columns};
    Step last = run.last();
    last.dx_dq = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        run.kept.dx_dq.data() + run.kept.dx_dq.size() - static_cast<std::size_t>(run.kept.n * run.kept.quantities),
        run.kept.n, run.kept.quantities);
    return io::sensitivities_text(*run.model, run.kept.run, quantities, last);
  }
  return io::text_of({*run.model, run.kept.run, run.kept.modes, constraints, run.last(), {}, run.measures});
}

void write_csv(const Run& run, const std::string& file, const std::vector<std::string>& set) {
  io::CsvWriter csv(file, *run.model);
  Outputs outputs = run.model->outputs;
  const auto columns = static_cast<std::size_t>(run.kept.outputs);
  for (std::size_t k = 0; k < run.kept.rows(); ++k)
    csv.row(run.kept.row(k), Eigen::Map<const Vector>(run.kept.output.data() + k * columns, run.kept.outputs));
  csv.close();
  io::write_file(file + ".json", io::provenance(*run.model, run.kept.run, set, run.measures).dump(1) + "\n");
}

template <class Member>
auto rows_view(Member KeptRun::*values, int KeptRun::*columns) {
  return [=](const py::object& self) {
    const auto& kept = self.cast<const Run&>().kept;
    return view(kept.*values, kept.*columns, self);
  };
}

}  // namespace

void bind_results(py::module_& module) {
  py::class_<RunArguments>(module, "RunArguments")
      .def(py::init([](std::vector<double> times, long most_steps, py::object callback, py::object tick,
                       std::vector<std::string> measures, std::string after, std::string until) {
        return RunArguments{.times = std::move(times),
                            .most_steps = most_steps,
                            .callback = std::move(callback),
                            .tick = std::move(tick),
                            .measures = std::move(measures),
                            .after = std::move(after),
                            .until = std::move(until)};
      }),
           py::arg("times"), py::arg("most_steps"), py::arg("callback"), py::arg("tick"),
           py::arg("measures") = std::vector<std::string>(), py::arg("after") = "", py::arg("until") = "")
      .def_readwrite("keep", &RunArguments::keep)
      .def_readwrite("pause", &RunArguments::pause)
      .def_property("from_state", [](const RunArguments& arguments) { return py::bytes(arguments.from); },
                    [](RunArguments& arguments, const py::bytes& bytes) { arguments.from = bytes; });

  py::class_<Run, std::shared_ptr<Run>>(module, "Run")
      .def_readonly("model", &Run::model)
      .def_property_readonly("t", [](const py::object& self) { return view(self.cast<const Run&>().kept.t, -1, self); })
      .def_property_readonly("x", rows_view(&KeptRun::x, &KeptRun::n))
      .def_property_readonly("lam", rows_view(&KeptRun::lambda, &KeptRun::m))
      .def_property_readonly("w", rows_view(&KeptRun::w, &KeptRun::m))
      .def_property_readonly("outputs", rows_view(&KeptRun::output, &KeptRun::outputs))
      .def("rates", &rates_of)
      .def_property_readonly("mode", rows_view(&KeptRun::mode, &KeptRun::m))
      .def_property_readonly("dx", [](const py::object& self) {
        const Run& run = self.cast<const Run&>();
        return view(run.kept.dx_dq, run.kept.n * run.kept.quantities, self);
      })
      .def_readonly("quantities", &Run::quantities)
      .def_readonly("happened", &Run::happened)
      .def_property_readonly("status", [](const Run& run) { return to_string(run.kept.run.status); })
      .def_property_readonly("status_text", [](const Run& run) { return io::status_text(run.kept.run); })
      .def_property_readonly("message", [](const Run& run) { return run.kept.run.message; })
      .def_property_readonly("counts", [](const Run& run) { return run.kept.run.counts; })
      .def_property_readonly("is_every_step", [](const Run& run) { return run.kept.is_every_step; })
      .def_property_readonly("events", &events_of)
      .def_property_readonly("measures", &measures_of)
      .def_property_readonly("modes", &modes_of)
      .def_property_readonly("mode_texts", &mode_texts_of)
      .def_property_readonly("end", [](const Run& run) { return py::make_tuple(run.last().t, copy(run.last().x)); })
      .def("provenance", [](const Run& run, const std::vector<std::string>& set) {
        return io::provenance(*run.model, run.kept.run, set, run.measures).dump();
      })
      .def("summary", &summary_of)
      .def("write_csv", &write_csv);

  module.def("run", &run_model);
  module.def("run_branches", &run_branches);
  module.def("run_sensitivities", &run_sensitivities);
}

}  // namespace perp::python
