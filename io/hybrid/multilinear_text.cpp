// Multilinear models as text and files, for perp multilinear.
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/hybrid/multilinear_text.hpp>
#include <perp/io/text/text_table.hpp>
#include <perp/models/language/data/matrix_market.hpp>

namespace perp::io {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string list(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(quoted(name));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// A key of TOML: elements of families are quoted.
std::string key(const std::string& name) {
  return name.find('[') == std::string::npos ? name : quoted(name);
}

std::string variables_table(const HybridModel& model) {
  std::string text = "\n[variables]\n";
  for (const Variable& variable : model.head.variables) {
    text += fmt::format("{} = {{ start = {}", key(variable.name), variable.start);
    if (variable.nominal != 1) text += fmt::format(", nominal = {}", variable.nominal);
    if (!variable.unit.empty()) text += fmt::format(", unit = {}", quoted(variable.unit));
    text += " }\n";
  }
  return text;
}

std::string inputs_table(const HybridModel& model, const std::string& folder) {
  if (model.inputs.empty()) return {};
  std::string text = "\n[inputs]\n";
  for (const KnownInput& input : model.inputs) {
    if (input.data)
      text += fmt::format(
          "{} = {{ file = {}, column = {}, time = {}, between = {} }}\n", key(input.name),
          quoted(fs::relative(input.data->file, folder).generic_string()),
          quoted(input.data->column), quoted(input.data->time), quoted(input.data->between));
    else
      text += fmt::format("{} = {}\n", key(input.name),
                          quoted(print_expression(model.tape, input.line, model.input_names())));
  }
  return text;
}

std::string binaries_table(const HybridModel& model) {
  if (model.binaries.empty()) return {};
  std::string text = "\n[binaries]\n";
  for (const Binary& binary : model.binaries) {
    const std::string modes = list({binary.modes[0], binary.modes[1]});
    text += fmt::format("{} = {{ {}modes = {} }}\n", key(binary.name),
                        binary.start ? fmt::format("start = {}, ", *binary.start) : "", modes);
  }
  return text;
}

std::string signals(const HybridModel& model) {
  const std::vector<int> indices = model.states();
  std::vector<std::string> states, inputs, algebraic, binaries;
  for (int j = 0; j < model.n(); ++j)
    (std::binary_search(indices.begin(), indices.end(), j) ? states : algebraic)
        .push_back(model.head.variables[at(j)].name);
  for (const KnownInput& input : model.inputs) inputs.push_back(input.name);
  for (const Binary& binary : model.binaries) binaries.push_back(binary.name);
  return fmt::format("{{ states = {}, inputs = {}, algebraic = {}, binaries = {} }}", list(states),
                     list(inputs), list(algebraic), list(binaries));
}

/// The model file of the matrices.
std::string model_text(const HybridModel& model, const std::string& folder) {
  std::string text = fmt::format("name = {}\n", quoted(model.head.name));
  if (!model.head.source.empty()) text += fmt::format("source = {}\n", quoted(model.head.source));
  if (!model.head.parameters.empty()) text += "\n[parameters]\n";
  for (const auto& [name, value] : model.head.parameters)
    text += fmt::format("{} = {}\n", name, value);
  text += variables_table(model) + inputs_table(model, folder) + binaries_table(model);
  text += fmt::format("\n[multilinear]\nsignals = {}\n", signals(model));
  text += "S = \"S.mtx\"\nPhi_f = \"Phi_f.mtx\"\nPhi_g = \"Phi_g.mtx\"\n";
  const RunOptions& run = model.head.run;
  text += fmt::format("\n[run]\nt = [{}, {}]\nscheme = {}\n", run.span.start, run.span.end,
                      quoted(run.scheme));
  return run.h > 0 ? text + fmt::format("h = {}\n", run.h) : text;
}

void write(const std::string& file, const std::string& text) {
  OutputFile output(file);
  fmt::format_to(std::back_inserter(output.buffer()), "{}", text);
  output.end_record();
  output.close();
}

void make(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw FileError(fmt::format("{}: cannot be made: {}", folder, error.message()));
}

/// The entries of a matrix, row by row: "f1  x1: -375, y1: 2".
std::string matrix_text(const char* name, const SparseEntries& matrix,
                        const std::vector<std::string>& rows,
                        const std::vector<std::string>& columns) {
  std::string text = fmt::format("{}            {} x {}, {} entries\n", name, matrix.rows,
                                 matrix.columns, matrix.entries.size());
  std::vector<std::string> lines(rows.size());
  for (const SparseEntry& entry : matrix.entries) {
    std::string& line = lines[at(entry.row)];
    line += fmt::format("{}{}: {:.17g}", line.empty() ? "" : ", ", columns[at(entry.column)],
                        entry.value);
  }
  TextTable table({"row", "entries"});
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (!lines[k].empty()) table.add({rows[k], lines[k]});
  return matrix.entries.empty() ? text : text + table.text("  ");
}

/// The names of so many rows from one on.
std::vector<std::string> row_names(const HybridModel& model, int first, int count) {
  std::vector<std::string> names;
  for (int row = first; row < first + count; ++row) names.push_back(model.row_name(row));
  return names;
}

/// Those of ξ = (x, y): the states come first.
std::vector<std::string> names_of_unknowns(const HybridModel& model) {
  const std::vector<int> states = model.states();
  std::vector<std::string> names;
  for (const int j : states) names.push_back(model.head.variables[at(j)].name);
  for (int j = 0; j < model.n(); ++j)
    if (!std::binary_search(states.begin(), states.end(), j)) names.push_back(model.head.variables[at(j)].name);
  return names;
}

}  // namespace

std::string multilinear_counts_text(const MultilinearForm& form) {
  return fmt::format("multilinear  {} signals, {} columns, {} entries of S, {} of Phi\n", form.signals(), form.columns(),
                     form.structure_entries(), form.parameter_entries());
}

std::string multilinear_values_text(const HybridModel& model, const MultilinearForm& form,
                                    const Vector& v) {
  const std::vector<std::string> names = multilinear_signals(model);
  const Vector values = form.values(v);
  TextTable rows({"row", "value", "derivatives"});
  std::vector<std::string> derivatives(at(values.size()));
  for (const SparseEntry& entry : form.jacobian(v))
    derivatives[at(entry.row)] +=
        fmt::format("{}{}: {:.17g}", derivatives[at(entry.row)].empty() ? "" : ", ",
                    names[at(entry.column)], entry.value);
  for (int row = 0; row < static_cast<int>(values.size()); ++row)
    rows.add({model.row_name(row), fmt::format("{:.17g}", values[row]), derivatives[at(row)]});
  return rows.text();
}

std::string linearization_text(const HybridModel& model, const MultilinearLinearization& linear) {
  const std::vector<std::string> f = row_names(model, 0, linear.E.rows),
                                 g = row_names(model, linear.E.rows, linear.C.rows),
                                 unknowns = names_of_unknowns(model);
  std::vector<std::string> inputs;
  for (const KnownInput& input : model.inputs) inputs.push_back(input.name);
  std::string text =
      "linearized   E xi' = A xi + B u, g = C xi + D u for differences from the point; xi = (x, y)\n";
  text += matrix_text("E", linear.E, f, unknowns) + matrix_text("A", linear.A, f, unknowns) +
          matrix_text("B", linear.B, f, inputs) + matrix_text("C", linear.C, g, unknowns) +
          matrix_text("D", linear.D, g, inputs);
  if (linear.f.size() > 0 && linear.f.cwiseAbs().maxCoeff() > 0)
    text += fmt::format("  the point is no solution: the largest |f| there is {:g}\n",
                        linear.f.cwiseAbs().maxCoeff());
  if (linear.constraints_hold_rates)
    text += "  constraints hold derivatives, which C and D leave out\n";
  return text;
}

void write_multilinear(const std::string& folder, const HybridModel& model,
                       const MultilinearForm& form) {
  make(folder);
  write(folder + "/S.mtx",
        to_matrix_market(form.S(),
                         fmt::format("rows: {}", fmt::join(multilinear_signals(model), " "))));
  write(folder + "/Phi_f.mtx", to_matrix_market(form.phi_f(), "equations"));
  write(folder + "/Phi_g.mtx", to_matrix_market(form.phi_g(), "constraints"));
  write(folder + "/model.toml", model_text(model, folder));
}

void write_linearization(const std::string& folder, const MultilinearLinearization& linear) {
  make(folder);
  write(folder + "/E.mtx", to_matrix_market(linear.E, "equations; x, y"));
  write(folder + "/A.mtx", to_matrix_market(linear.A, "equations; x, y"));
  write(folder + "/B.mtx", to_matrix_market(linear.B, "equations; u"));
  write(folder + "/C.mtx", to_matrix_market(linear.C, "constraints; x, y"));
  write(folder + "/D.mtx", to_matrix_market(linear.D, "constraints; u"));
}

}  // namespace perp::io
