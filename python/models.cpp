// Models: their text, what replaces its values, what was read.
#include <perp/analysis/measures/reductions.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/laws/law_table.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/provenance.hpp>
#include <perp/io/text/check_text.hpp>
#include <perp/io/text/lists_text.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/python/bindings.hpp>

namespace perp::python {
namespace {

constexpr std::size_t most_recent = 16;  // models that a source keeps

std::string name_of(const ReadingOptions& options) {
  std::string name = options.exact ? "exact" : options.hybrid ? "hybrid" : "laws";
  for (const std::string& key : options.run_keys) name += " " + key;
  return name;
}

py::dict law_to_python(const Law& law) {
  py::list branches;
  for (const Branch& branch : law.branches)
    branches.append(py::dict(py::arg("name") = describe(branch), py::arg("a") = branch.a, py::arg("b") = branch.b,
                             py::arg("c") = branch.c, py::arg("w") = py::make_tuple(branch.w.lower, branch.w.upper),
                             py::arg("lam") = py::make_tuple(branch.lambda.lower, branch.lambda.upper),
                             py::arg("sliding") = is_sliding(law, static_cast<int>(&branch - law.branches.data()))));
  return py::dict(py::arg("name") = law.name, py::arg("memory") = law.memory,
                  py::arg("constraint") = is_constraint(law), py::arg("branches") = branches);
}

py::list laws_to_python(const Model& model) {
  py::list laws;
  for (const Law& law : model.laws()) laws.append(law_to_python(law));
  return laws;
}

py::dict columns_to_python(const Model& model) {
  const Columns columns = columns_of(model);
  return py::dict(py::arg("x") = columns.x, py::arg("lam") = columns.lambda, py::arg("w") = columns.w,
                  py::arg("outputs") = columns.outputs, py::arg("mode") = columns.mode,
                  py::arg("units") = column_units(model),
                  py::arg("differential") = model.differential_variables());
}

py::list variables_to_python(const Model& model) {
  py::list list;
  for (const Variable& variable : model.variables)
    list.append(py::make_tuple(variable.name, variable.start, variable.unit, variable.nominal));
  return list;
}

/// The value of an option, wherever it stands.
template <class Member>
py::object value_of(const RunOptions& run, const char* /*key*/, Member member) {
  return py::cast(run.*member);
}
py::object value_of(const RunOptions& run, const char* key, RunOption::Own /*own*/) {
  return py::cast(run.own.at(key));
}

/// The options of the run that have an effect on it.
py::dict run_to_python(const Model& model) {
  py::dict run(py::arg("t") = py::make_tuple(model.run.span.start, model.run.span.end));
  for (const RunOption& option : run_options())
    if (has_effect(model, option.key))
      std::visit([&](auto member) { run[option.key] = value_of(model.run, option.key, member); }, option.member);
  return run;
}

/// (name, meaning, ...) of what `perp list` lists.
py::list listed(const std::string& kind) {
  py::list list;
  if (kind == "laws")
    for (const NamedLaw& law : named_laws()) list.append(py::make_tuple(law.name, law.meaning, law.arguments));
  if (kind == "schemes")
    for (const SchemeEntry* entry : scheme_entries())
      list.append(py::make_tuple(entry->name, entry->meaning, entry->keys()));
  if (kind == "measures")
    for (const ReductionForm& form : reduction_forms())
      list.append(py::make_tuple(std::string(form.name) + "(" + form.arguments + ")", form.meaning));
  if (kind == "solvers")
    for (const MlcpSolver* method : solvers()) list.append(py::make_tuple(method->name, method->description));
  return list;
}

std::vector<std::string> run_keys() {
  std::vector<std::string> keys{"t"};
  for (const RunOption& option : run_options()) keys.emplace_back(option.key);
  return keys;
}

}  // namespace

std::vector<Override> items_of(const Overrides& overrides) {
  std::vector<Override> items;
  for (const auto& [key, value, words] : overrides) items.push_back({key, value});
  return items;
}

ModelText Source::parsed(const ReadingOptions& options) {
  const std::string key = name_of(options);
  const std::lock_guard lock(mutex_);
  auto found = parsed_.find(key);
  if (found == parsed_.end())
    found = parsed_.emplace(key, ModelText(text_, name_, read_options(options))).first;
  return found->second;
}

ReadModel Source::read(const ReadingOptions& options, const Overrides& overrides) {
  const Key key{name_of(options), overrides};
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, model] : recent_)
      if (known == key) return model;
  }
  const ModelText text = parsed(options);
  auto model = std::make_shared<const Model>(
      in_words_of(overrides, [&] { return read_for_run(text, items_of(overrides)); }));
  const std::lock_guard lock(mutex_);
  if (recent_.size() == most_recent) recent_.erase(recent_.begin());
  recent_.emplace_back(key, model);
  return model;
}

void bind_models(py::module_& module) {
  py::class_<ReadingOptions>(module, "ReadingOptions")
      .def(py::init([](std::vector<std::string> run_keys, bool hybrid, bool exact) {
             return ReadingOptions{std::move(run_keys), hybrid, exact};
           }),
           py::arg("run_keys") = std::vector<std::string>{}, py::arg("hybrid") = false, py::arg("exact") = false);

  py::class_<Source, std::shared_ptr<Source>>(module, "Source")
      .def(py::init<std::string, std::string>())
      .def_property_readonly("text", &Source::text)
      .def_property_readonly("name", &Source::name)
      .def("read", &Source::read, py::call_guard<py::gil_scoped_release>());

  py::class_<Model, std::shared_ptr<Model>>(module, "ReadModel")
      .def_readonly("name", &Model::name)
      .def_readonly("source", &Model::source)
      .def_readonly("file", &Model::file)
      .def_readonly("hash", &Model::hash)
      .def_readonly("parameters", &Model::parameters)
      .def_readonly("midpoints", &Model::midpoints)
      .def_property_readonly("variables", &variables_to_python)
      .def_property_readonly("laws", &laws_to_python)
      .def_property_readonly("columns", &columns_to_python)
      .def_property_readonly("run", &run_to_python)
      .def_property_readonly("differential", &Model::differential_variables)
      .def_property_readonly("is_affine", [](const Model& model) { return is_affine(model); })
      .def_property_readonly("has_exact", [](const Model& model) { return !model.exact.empty(); })
      .def("exact", [](const Model& model, double t) { 
        const Vector x = model.exact_at(t);
        return std::vector<double>(x.begin(), x.end());
      })
      .def("lowered", [](const Model& model) { return io::system_text(model) + io::laws_text(model); });

  module.def("find_model", &find_model);
  module.def("read_text", &io::read_file);
  module.def("zoo", &zoo);
  module.def("listed", &listed);
  module.def("list_text", &io::list_text);
  module.def("run_keys", &run_keys);
  module.def("suggestion", [](const std::string& found, const std::vector<std::string>& known) {
    return suggestion(found, known);
  });
}

}  // namespace perp::python
