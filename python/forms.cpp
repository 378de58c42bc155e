// Models as the sparse matrices of their multilinear form.
#include <perp/core/base/error.hpp>
#include <perp/io/hybrid/multilinear_text.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/python/bindings.hpp>

namespace perp::python {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

struct Form {
  HybridModel model;
  MultilinearForm form;
};

Form multilinear(Source& source, const Overrides& overrides) {
  const ModelText text = source.parsed({{"t"}, true, false, true});
  std::optional<HybridModel> model = in_words_of(overrides, [&] { return text.read_hybrid(items_of(overrides)); });
  if (!model)
    throw InvalidInput(source.name() +
                       ": the model is made of matrices; expected equations, binaries and constraints, or [multilinear]");
  MultilinearForm form = multilinear_form(*model);
  return {*std::move(model), std::move(form)};
}

/// (rows, columns, row of each entry, its column, its value).
py::tuple matrix_to_python(const SparseEntries& matrix) {
  std::vector<int> rows, columns;
  std::vector<double> values;
  for (const SparseEntry& entry : matrix.entries) {
    rows.push_back(entry.row);
    columns.push_back(entry.column);
    values.push_back(entry.value);
  }
  return py::make_tuple(matrix.rows, matrix.columns, rows, columns, values);
}

std::vector<double> numbers_of(const Vector& values) { return {values.begin(), values.end()}; }

std::vector<std::string> row_names(const Form& self) {
  std::vector<std::string> names;
  for (int row = 0; row < self.form.equations() + self.form.constraints(); ++row) names.push_back(self.model.row_name(row));
  return names;
}

MultilinearLinearization linear_at(const Form& self, const Values& at) {
  return linearized(self.form, signal_counts(self.model), signals_at(self.model, at));
}

py::dict linearization_to_python(const Form& self, const Values& at) {
  const MultilinearLinearization linear = linear_at(self, at);
  return py::dict(py::arg("f") = numbers_of(linear.f), py::arg("g") = numbers_of(linear.g),
                  py::arg("E") = matrix_to_python(linear.E), py::arg("A") = matrix_to_python(linear.A),
                  py::arg("B") = matrix_to_python(linear.B), py::arg("C") = matrix_to_python(linear.C),
                  py::arg("D") = matrix_to_python(linear.D),
                  py::arg("constraints_hold_rates") = linear.constraints_hold_rates,
                  py::arg("text") = io::linearization_text(self.model, linear));
}

py::tuple values_to_python(const Form& self, const Values& at) {
  const Vector v = signals_at(self.model, at);
  const Vector values = self.form.values(v);
  return py::make_tuple(numbers_of(values),
                        matrix_to_python({static_cast<int>(values.size()), static_cast<int>(v.size()), self.form.jacobian(v)}),
                        io::multilinear_values_text(self.model, self.form, v));
}

}  // namespace

void bind_forms(py::module_& module) {
  py::class_<Form>(module, "MultilinearForm")
      .def_property_readonly("signals", [](const Form& self) { return multilinear_signals(self.model); })
      .def_property_readonly("rows", &row_names)
      .def_property_readonly("S", [](const Form& self) { return matrix_to_python(self.form.S()); })
      .def_property_readonly("phi_f", [](const Form& self) { return matrix_to_python(self.form.phi_f()); })
      .def_property_readonly("phi_g", [](const Form& self) { return matrix_to_python(self.form.phi_g()); })
      .def_property_readonly("text", [](const Form& self) { return io::multilinear_counts_text(self.form); })
      .def("at", &values_to_python)
      .def("linearized", &linearization_to_python)
      .def("write", [](const Form& self, const std::string& folder) { io::write_multilinear(folder, self.model, self.form); })
      .def("write_linearization", [](const Form& self, const std::string& folder, const Values& at) {
        io::write_linearization(folder, linear_at(self, at));
      });
  module.def("multilinear", &multilinear);
}

}  // namespace perp::python
