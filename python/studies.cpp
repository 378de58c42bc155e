// Questions that take many runs, and proofs: maps, orders of convergence, enclosures.
#include <algorithm>

#include <perp/analysis/convergence/study.hpp>
#include <perp/analysis/convergence/verdict.hpp>
#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/maps/parameter_map.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/study/study_text.hpp>
#include <perp/python/reader.hpp>

namespace perp::python {
namespace {

using enclosure::Box;
using Assignments = std::vector<std::pair<std::string, std::string>>;

/// The quantity's table over the grid, the last axis fastest.
py::dict map(const std::shared_ptr<Source>& source, const Overrides& overrides, const std::string& what,
             const std::vector<std::tuple<std::string, double, double, int>>& axes,
             const std::vector<Assignments>& states, int threads) {
  MapRequest request{.quantity = &map_quantity(what), .threads = threads};
  const auto reader = std::make_shared<const Reader>(*source, ReadingOptions{request.quantity->run_keys}, overrides);
  request.read = [reader](const auto& set, const auto& start) { return (*reader)(set, start); };
  for (const auto& [name, first, last, count] : axes) request.axes.push_back({name, first, last, count});
  check_axes(request.axes, (*reader)({}, {}));
  for (const Assignments& state : states) {
    request.states.emplace_back();
    for (const auto& [name, value] : state) request.states.back().push_back({name, value});
  }
  const auto map = std::make_shared<ParameterMap>(Computation().run([&] { return parameter_map(request); }));
  const auto columns = static_cast<int>(map->columns.size());
  const py::capsule owner(new std::shared_ptr<ParameterMap>(map),
                          [](void* held) { delete static_cast<std::shared_ptr<ParameterMap>*>(held); });
  return py::dict(py::arg("columns") = map->columns, py::arg("numbers") = view(map->numbers, columns, owner),
                  py::arg("region") = view(map->region, -1, owner), py::arg("regions") = map->regions,
                  py::arg("not_proved") = map->not_proved, py::arg("meaning") = request.quantity->meaning);
}

/// (name, meaning, columns, keys of [run] on which it depends) of every quantity.
py::list map_quantity_list() {
  py::list list;
  for (const MapQuantity& quantity : map_quantities())
    list.append(py::make_tuple(quantity.name, quantity.meaning, quantity.columns, quantity.run_keys));
  return list;
}

ErrorKind error_kind(const std::string& name) {
  const std::vector<ErrorKind> all{ErrorKind::end, ErrorKind::trajectory, ErrorKind::events};
  std::vector<std::string> names;
  for (const ErrorKind kind : all) names.emplace_back(to_string(kind));
  return all[find_name(name, names, "error")];
}

std::optional<ReferenceKind> reference_kind(const std::string& name) {
  const std::vector<ReferenceKind> all{ReferenceKind::exact, ReferenceKind::finest, ReferenceKind::located};
  if (name.empty()) return std::nullopt;
  return all[find_name(name, std::vector<std::string>{"exact", "finest", "located"}, "reference")];
}

py::dict variant_to_python(const ConvergenceStudy& study, const VariantStudy& variant) {
  py::list rows;
  for (std::size_t k = 0; k < variant.rows.size(); ++k) {
    const StudyRow& row = variant.rows[k];
    py::dict item(py::arg("h") = row.run.h, py::arg("steps") = row.run.steps, py::arg("t_end") = row.run.t,
                  py::arg("status") = to_string(row.run.status), py::arg("message") = row.run.message);
    for (std::size_t kind = 0; kind < study.errors.size(); ++kind) {
      const std::string name = to_string(study.errors[kind]);
      item[py::str("error_" + name)] = row.errors[kind].value;
      item[py::str("order_" + name)] = k > 0 ? order_between(variant.rows[k - 1], row, kind) : nan;
      item[py::str("refused_" + name)] = to_string(row.errors[kind].refusal);
    }
    rows.append(item);
  }
  py::dict fits;
  for (std::size_t kind = 0; kind < study.errors.size(); ++kind) {
    const OrderVerdict verdict = verdict_of(study, variant, kind);
    fits[to_string(study.errors[kind])] =
        py::dict(py::arg("order") = verdict.line.order, py::arg("factor") = verdict.line.factor,
                 py::arg("rows") = verdict.line.rows, py::arg("is_exact") = verdict.is_exact,
                 py::arg("follows_line") = verdict.follows_line);
  }
  return py::dict(py::arg("label") = variant.label, py::arg("reference") = variant.reference.text,
                  py::arg("rows") = rows, py::arg("fits") = fits);
}

using VariantArguments = std::tuple<std::string, std::shared_ptr<Source>, Overrides>;

/// (variants, text for people, were all runs solved?)
py::tuple converge(const std::vector<VariantArguments>& variants, const ReadingOptions& options,
                   std::vector<double> steps, const std::vector<std::string>& errors, const std::string& reference,
                   bool whole_steps, int threads) {
  StudyRequest request;
  request.steps = std::move(steps);
  request.reference = reference_kind(reference);
  request.whole_steps = whole_steps;
  request.threads = threads;
  std::sort(request.steps.begin(), request.steps.end(), std::greater<>());
  request.errors.clear();
  for (const std::string& name : errors) request.errors.push_back(error_kind(name));
  for (const auto& [label, source, overrides] : variants) {
    const auto reader = std::make_shared<const Reader>(*source, options, overrides);
    const auto read = [reader] { return (*reader)({}, {}); };
    request.variants.push_back({label, read(), read});
  }
  request.watch.stopped = interruption_requested;
  const auto count = request.steps.size();
  const ConvergenceStudy study = Computation().run([&] { return convergence_study(request); });
  py::list list;
  for (const VariantStudy& variant : study.variants) list.append(variant_to_python(study, variant));
  return py::make_tuple(list, io::text_of(study), study.all_solved(count));
}

/// Bounds of rows as arrays (rows, columns): lower, upper; NaN where no value is proved to exist.
py::tuple bounds_of(const std::vector<Box>& boxes, std::size_t columns) {
  std::vector<double> lo, hi;
  for (const Box& box : boxes)
    for (std::size_t k = 0; k < columns; ++k) {
      const bool has = k < box.size() && box[k].has_value();
      lo.push_back(has ? box[k].lo : nan);
      hi.push_back(has ? box[k].hi : nan);
    }
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(boxes.size()), static_cast<py::ssize_t>(columns)};
  return py::make_tuple(py::array(shape, lo.data()), py::array(shape, hi.data()));
}

py::list rows_to_python(const enclosure::ExactModel& model,
                        const std::vector<enclosure::EnclosureRow>& found, const Box& parameters) {
  std::vector<Box> x, lambda, outputs;
  py::list t, branch, flag, how, modes;
  for (const enclosure::EnclosureRow& row : found) {
    t.append(row.t);
    branch.append(row.branch);
    flag.append(to_string(row.flag));
    how.append(to_string(row.how));
    py::list words;
    for (const Mode& mode : row.modes) words.append(describe(model.system.laws, mode));
    modes.append(words);
    x.push_back(row.box);
    lambda.push_back(model.multipliers(row.multipliers));
    outputs.push_back(model.outputs_at(row.t, row.box, row.multipliers, parameters));
  }
  py::list rows;
  rows.append(t), rows.append(branch), rows.append(flag), rows.append(how), rows.append(modes);
  rows.append(bounds_of(x, model.variables.size()));
  rows.append(bounds_of(lambda, model.system.laws.size()));
  rows.append(bounds_of(outputs, model.outputs().size()));
  return rows;
}

/// Of each piece: what the intervals of the set are in it, and its rows.
py::list paving_to_python(const enclosure::ExactModel& model, const enclosure::Enclosure& result) {
  const std::vector<std::string> names = model.set_names();
  py::list paving;
  for (const enclosure::EnclosurePiece& piece : result.paving) {
    const Box set = model.set_of(piece);
    py::dict sides;
    for (std::size_t k = 0; k < names.size(); ++k)
      sides[py::str(names[k])] = py::make_tuple(set[k].lo, set[k].hi);
    paving.append(py::make_tuple(sides, rows_to_python(model, piece.rows, piece.parameters)));
  }
  return paving;
}

py::list events_to_python(const enclosure::ExactModel& model, const enclosure::Enclosure& result) {
  py::list events;
  for (const enclosure::EnclosureEvent& event : result.events) {
    const auto branch = [&](int number) {
      if (event.law < 0 || number < 0) return std::string();
      return describe(model.system.laws[static_cast<std::size_t>(event.law)].branches[static_cast<std::size_t>(number)]);
    };
    const std::string name = event.law >= 0     ? model.system.laws[static_cast<std::size_t>(event.law)].name
                             : event.reset >= 0 ? model.system.resets[static_cast<std::size_t>(event.reset)].name
                                                : "";
    events.append(py::dict(py::arg("t") = py::make_tuple(event.t.lo, event.t.hi), py::arg("branch") = event.branch,
                           py::arg("kind") = event.type, py::arg("law") = name, py::arg("from_") = branch(event.from),
                           py::arg("to") = branch(event.to), py::arg("unique") = event.unique,
                           py::arg("note") = event.note));
  }
  return events;
}

py::object lost_to_python(const std::optional<enclosure::Lost>& lost) {
  if (!lost) return py::none();
  return py::dict(py::arg("t") = py::make_tuple(lost->t.lo, lost->t.hi), py::arg("reason") = lost->reason,
                  py::arg("advice") = lost->advice);
}

py::dict enclose(Source& source, const Overrides& overrides,
                 const std::optional<std::vector<double>>& times, int order,
                 const std::optional<double>& tol, int pieces, bool paving, bool tube,
                 int threads, const py::object& keep, double pause, const std::string& state) {
  const enclosure::ExactModel model(*source.read({{"h", "scheme", "t"}, false, true}, overrides));
  enclosure::EncloseOptions options;
  options.step.order = order;
  if (tol) options.step.share = *tol;
  options.pieces = pieces;
  options.paving = paving;
  if (paving && model.set_names().empty())
    throw InvalidInput(
        "paving=True asks for the rows of several pieces, but starts and parameters are one point; "
        "expected an interval");
  options.tube = tube;
  options.threads = threads;
  options.times = times ? *times : grid_of(model.span, model.model.run.h);
  Computation computation;
  keep_state(keep, pause, state, computation, options.state);
  const enclosure::Enclosure result = computation.run([&] { return model.enclose(options); });
  std::vector<Box> boxes;
  py::list from, to, branches, flags;
  for (const enclosure::TubeRow& row : result.tube) {
    from.append(row.from), to.append(row.to), branches.append(row.branch), flags.append(to_string(row.flag));
    boxes.push_back(row.box);
  }
  return py::dict(py::arg("variables") = model.variables, py::arg("outputs") = model.outputs(),
                  py::arg("rows") = rows_to_python(model, result.rows, model.values),
                  py::arg("events") = events_to_python(model, result),
                  py::arg("lost") = lost_to_python(result.lost),
                  py::arg("tube") = py::make_tuple(from, to, branches, flags,
                                                   bounds_of(boxes, model.variables.size())),
                  py::arg("paving") = paving_to_python(model, result),
                  py::arg("steps") = result.steps, py::arg("pieces") = result.pieces,
                  py::arg("consistent_starts_only") = result.forbids_starts);
}

}  // namespace

void bind_studies(py::module_& module) {
  const enclosure::EncloseOptions enclosing;
  module.def("map", &map);
  module.def("map_quantities", &map_quantity_list);
  module.def("converge", &converge);
  module.def("enclose", &enclose, py::arg("source"), py::arg("overrides"), py::arg("times"), py::arg("order"), py::arg("tol"),
             py::arg("pieces"), py::arg("paving"), py::arg("tube"), py::arg("threads"), py::arg("keep"), py::arg("pause"),
             py::arg("state"));
  module.attr("enclose_defaults") = py::make_tuple(enclosing.step.order, enclosing.pieces);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const NoReference& error) {
      const py::object type = py::module_::import("perp.errors").attr("NotSolved");
      PyErr_SetObject(type.ptr(), type(error.what()).ptr());
    }
  });
}

}  // namespace perp::python
