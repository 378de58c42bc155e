#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <memory>

#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/hybrid_input.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/text/text_table.hpp>
#include <perp/models/language/multilinear/matrix_market.hpp>

namespace perp::cli {
namespace {

struct MultilinearArguments {
  ModelOptions model;
  std::string folder, at;
};

std::string quoted(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(fmt::format("\"{}\"", name));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// The model file of the matrices.
std::string model_text(const HybridModel& model) {
  std::vector<std::string> states, inputs, algebraic, binaries;
  const std::vector<int> indices = model.states();
  std::string text = fmt::format("name = \"{}\"\n\n[parameters]\n", model.head.name);
  for (const auto& [name, value] : model.head.parameters)
    text += fmt::format("{} = {}\n", name, value);
  text += "\n[variables]\n";
  for (int j = 0; j < model.n(); ++j) {
    const Variable& variable = model.head.variables[at(j)];
    text += fmt::format("{} = {{ start = {}, nominal = {} }}\n", variable.name, variable.start,
                        variable.nominal);
    (std::binary_search(indices.begin(), indices.end(), j) ? states : algebraic)
        .push_back(variable.name);
  }
  text += "\n[inputs]\n";
  for (const KnownInput& input : model.inputs) {
    text += fmt::format("{} = \"{}\"\n", input.name,
                        print_expression(model.tape, input.line, model.input_names()));
    inputs.push_back(input.name);
  }
  text += "\n[binaries]\n";
  for (const Binary& binary : model.binaries) {
    text += fmt::format("{} = {}\n", binary.name,
                        binary.start ? fmt::format("{}", *binary.start) : "{}");
    binaries.push_back(binary.name);
  }
  text += fmt::format(
      "\n[multilinear]\nsignals = {{ states = {}, inputs = {}, algebraic = {}, binaries = {} }}\n",
      quoted(states), quoted(inputs), quoted(algebraic), quoted(binaries));
  text += "S = \"S.mtx\"\nPhi_f = \"Phi_f.mtx\"\nPhi_g = \"Phi_g.mtx\"\n";
  return text +
         fmt::format("\n[run]\nt = [{}, {}]\n", model.head.run.span.start, model.head.run.span.end);
}

void write(const std::string& file, const std::string& text) {
  OutputFile output(file);
  fmt::format_to(std::back_inserter(output.buffer()), "{}", text);
  output.end_record();
  output.close();
}

void export_to(const std::string& folder, const HybridModel& model, const MultilinearForm& form) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError(fmt::format("{}: cannot be made: {}", folder, error.message()));
  write(folder + "/S.mtx",
        to_matrix_market(form.S(),
                         fmt::format("rows: {}", fmt::join(multilinear_signals(model), " "))));
  write(folder + "/Phi_f.mtx", to_matrix_market(form.phi_f(), "equations"));
  write(folder + "/Phi_g.mtx", to_matrix_market(form.phi_g(), "constraints"));
  write(folder + "/model.toml", model_text(model));
}

/// Values and derivatives at the signals that are given, 0 elsewhere.
std::string values_text(const HybridModel& model, const MultilinearForm& form,
                        const std::string& given) {
  const std::vector<std::string> names = multilinear_signals(model);
  Vector v = Vector::Zero(form.signals());
  for (const std::string& part : split_list(given)) {
    const Override item = parse_assignment(part, "--at");
    v[static_cast<Eigen::Index>(find_name(item.key, names, "signal"))] =
        io::parse_number(item.value, "--at " + item.key);
  }
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

int execute(const MultilinearArguments& arguments) {
  const std::optional<HybridModel> model = read_hybrid(arguments.model);
  if (!model)
    throw InvalidInput(fmt::format(
        "{}: the model has laws; expected one with binaries or constraints, or [multilinear]",
        arguments.model.model));
  const MultilinearForm form = multilinear_form(*model);
  fmt::print("multilinear  {} signals, {} columns, {} entries of S, {} of Phi\n", form.signals(),
             form.columns(), form.structure_entries(), form.parameter_entries());
  if (!arguments.folder.empty()) export_to(arguments.folder, *model, form);
  if (!arguments.at.empty()) fmt::print("{}", values_text(*model, form, arguments.at));
  return exit_solved;
}

Action configure_multilinear(CommandLine& line) {
  const auto arguments = std::make_shared<MultilinearArguments>();
  arguments->model.run_keys = {"t"};
  arguments->model.add_to(line);
  line.add_option("-o,--output", arguments->folder,
                 "a folder for S.mtx, Phi_f.mtx, Phi_g.mtx and model.toml")
      .type_name("DIR");
  line.add_option("--at", arguments->at,
                 "prints values and derivatives at these signals; others are 0")
      .type_name("NAME=VALUE,...");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command multilinear;
const Command multilinear{
    "multilinear", "writes a model with binaries as the sparse matrices S and Phi",
    "f_j = sum_k Phi_jk prod_i (1 - |S_ik| + S_ik v_i) over the signals v = (der(x), x, u, y, z).\n"
    "The folder holds a model that is read like any other.\n\n"
    "examples:\n"
    "  perp multilinear model.toml -o matrices\n"
    "  perp multilinear model.toml --at \"der(x1)=1,x1=20,z1=1\"",
    configure_multilinear};

}  // namespace perp::cli
