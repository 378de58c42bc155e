#include <fmt/format.h>
#include <memory>
#include <utility>
#include <vector>

#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/hybrid_input.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/hybrid/multilinear_text.hpp>

namespace perp::cli {
namespace {

struct MultilinearArguments {
  ModelOptions model;
  std::string folder, at, linearize;
};

/// "der(x1)=1,x1=20" as names and numbers.
std::vector<std::pair<std::string, double>> values_in(const std::string& given, const char* option) {
  std::vector<std::pair<std::string, double>> values;
  for (const std::string& part : split_list(given)) {
    const Override item = parse_assignment(part, option);
    values.emplace_back(item.key, io::parse_number(item.value, fmt::format("{} {}", option, item.key)));
  }
  return values;
}

int execute(const MultilinearArguments& arguments) {
  const std::optional<HybridModel> model = read_hybrid(arguments.model);
  if (!model)
    throw InvalidInput(fmt::format(
        "{}: the model is made of matrices; expected equations, binaries and constraints, or "
        "[multilinear]",
        arguments.model.model));
  const MultilinearForm form = multilinear_form(*model);
  fmt::print("{}", io::multilinear_counts_text(form));
  if (!arguments.folder.empty()) io::write_multilinear(arguments.folder, *model, form);
  if (!arguments.at.empty())
    fmt::print("{}", io::multilinear_values_text(*model, form, signals_at(*model, values_in(arguments.at, "--at"))));
  if (!arguments.linearize.empty()) {
    const MultilinearLinearization linear = linearized(
        form, signal_counts(*model), signals_at(*model, values_in(arguments.linearize, "--linearize")));
    fmt::print("{}", io::linearization_text(*model, linear));
    if (!arguments.folder.empty()) io::write_linearization(arguments.folder, linear);
  }
  return exit_solved;
}

Action configure_multilinear(CommandLine& line) {
  const auto arguments = std::make_shared<MultilinearArguments>();
  arguments->model.run_keys = {"t"};
  arguments->model.plain_equations = true;
  arguments->model.add_to(line);
  line.add_option("-o,--output", arguments->folder,
                 "a folder for S.mtx, Phi_f.mtx, Phi_g.mtx and model.toml")
      .type_name("DIR");
  line.add_option("--at", arguments->at,
                 "prints values and derivatives at these signals; others are 0")
      .type_name("NAME=VALUE,...");
  line.add_option("--linearize", arguments->linearize,
                 "E, A, B, C, D of the linear system near these signals; others are 0; with -o files too")
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
    "  perp multilinear model.toml --at \"der(x1)=1,x1=20,z1=1\"\n"
    "  perp multilinear model.toml --linearize x1=20,z1=1 -o matrices",
    configure_multilinear};

}  // namespace perp::cli
