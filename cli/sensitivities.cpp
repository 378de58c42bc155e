#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/schemes.hpp>
#include <perp/cli/output/columns.hpp>
#include <perp/cli/output/csv.hpp>
#include <perp/cli/output/file_identity.hpp>
#include <perp/cli/output/provenance.hpp>
#include <perp/cli/output/row_values.hpp>
#include <perp/cli/output/summary.hpp>
#include <perp/cli/output/text_table.hpp>
#include <perp/core/base/error.hpp>

namespace perp::cli {
namespace {

struct SensitivityArguments {
  ModelOptions model;
  std::string wrt, output, events, times;
  bool quiet = false;
};

/// What to differentiate by, as the user and as the columns call it.
struct Quantities {
  SensitivityRequest request;
  std::vector<std::string> names;  ///< "x1(0)", "B1"
  std::vector<std::string>
      columns;  ///< "x01", "p1": start of the first variable, first parameter asked for
};

/// Law numbers and restitution are read once, as numbers: a parameter that moves them would be
/// differentiated wrongly.
void require_only_in_equations(const SensitivityArguments& arguments, const Model& model,
                               const std::string& name, double value) {
  ModelOptions moved = arguments.model;
  moved.set.push_back(fmt::format("{}={:.17g}", name, value == 0 ? 1e-3 : value * (1 + 1e-3)));
  const Model other = read(moved);
  if (other.laws() == model.laws() && other.restitution == model.restitution) return;
  throw InvalidInput(fmt::format(
      "--wrt {}: the parameter stands in the numbers of a law or a restitution, which are "
      "not differentiated; write it into the equations, e.g. F*sign(v) instead of "
      "relay(v, -F, F), or a reset instead of a restitution",
      name));
}

Quantities quantities_of(const SensitivityArguments& arguments, const Model& model) {
  Quantities result;
  const std::vector<std::string> variables = variable_names(model);
  std::vector<std::string> parameters;
  for (const auto& [name, value] : model.parameters) parameters.push_back(name);
  std::vector<std::string> asked, known = parameters;
  if (!arguments.wrt.empty()) asked = split_list(arguments.wrt);
  for (const std::string& name : variables) known.push_back(name + "(0)");
  if (arguments.wrt.empty()) {
    for (const int j : model.differential_variables())
      asked.push_back(variables[static_cast<std::size_t>(j)] + "(0)");
    asked.insert(asked.end(), parameters.begin(), parameters.end());
  }
  std::vector<std::string> parameter_names;
  for (const std::string& name : asked) {
    const std::size_t index = find_name(name, known, "quantity");
    if (std::count(asked.begin(), asked.end(), name) > 1)
      throw InvalidInput(fmt::format("--wrt: '{}' is there twice", name));
    if (index >= parameters.size()) {
      const auto variable = static_cast<int>(index - parameters.size());
      const auto differential = model.differential_variables();
      if (std::find(differential.begin(), differential.end(), variable) == differential.end())
        throw InvalidInput(fmt::format(
            "--wrt {}: the start of an algebraic variable is a guess, nothing depends on it",
            name));
      result.request.starts.push_back(variable);
      result.names.push_back(name);
      result.columns.push_back(fmt::format("x0{}", variable + 1));
      continue;
    }
    if (!model.equations)
      throw InvalidInput(fmt::format(
          "--wrt {}: a model in the matrix form keeps no parameters; write it as equations", name));
    require_only_in_equations(arguments, model, name, model.parameters[index].second);
    result.request.parameters.push_back(static_cast<int>(index));
    parameter_names.push_back(name);
  }
  for (std::size_t k = 0; k < parameter_names.size(); ++k) {
    result.names.push_back(parameter_names[k]);
    result.columns.push_back(fmt::format("p{}", k + 1));
  }
  return result;
}

void print_summary(const Model& model, const Trajectory& run, const Quantities& quantities,
                   const Step& last, std::FILE* stream) {
  const std::vector<std::string> variables = variable_names(model);
  fmt::print(stream, "model       {}\nstatus      {}: {}\n", title(model), status_text(run),
             run.message);
  std::vector<std::string> header{fmt::format("t = {:.8g}", last.t), "value"};
  if (last.dx_dq.size() > 0)
    for (const std::string& name : quantities.names) header.push_back("d/d " + name);
  TextTable table(header);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    std::vector<std::string> line{variables[i], fmt::format("{:.10g}", last.x[row])};
    for (Eigen::Index k = 0; k < last.dx_dq.cols(); ++k)
      line.push_back(fmt::format("{:.10g}", last.dx_dq(row, k)));
    table.add(line);
  }
  fmt::print(stream, "{}", table.text());
  if (run.events.empty()) return;
  header = {"event", "t", "condition"};
  for (const std::string& name : quantities.names) header.push_back("dt/d " + name);
  TextTable events(header);
  for (const Event& event : run.events) {
    if (event.dt_dq.size() == 0) continue;
    const BranchTexts texts = branch_texts(model.laws(), event);
    std::vector<std::string> line{
        fmt::format("{} {}{}", to_string(event.kind), texts.law,
                    event.pieces.empty()
                        ? ""
                        : fmt::format(" (one-sided: {} orders)", event.pieces.size())),
        fmt::format("{:.10g}", event.t), fmt::format("{:.3g}", event.condition)};
    for (const double value : event.dt_dq) line.push_back(fmt::format("{:.8g}", value));
    events.add(line);
  }
  fmt::print(stream, "{}", events.text());
  for (const Event& event : run.events)
    for (std::size_t k = 0; k < event.pieces.size(); ++k)
      fmt::print(stream, "one-sided   t = {:.8g}, order {}: dx/dq = {}\n", event.t, k + 1,
                 to_json(Vector(event.pieces[k].reshaped<Eigen::RowMajor>())).dump());
}

/// Throws InvalidInput, FileError: see FilesOfCommand.
void check_files(const SensitivityArguments& arguments) {
  const bool writes_text = !arguments.quiet || arguments.output.empty() || arguments.output == "-";
  FilesOfCommand files(writes_text ? FilesOfCommand::Text::standard_output
                                   : FilesOfCommand::Text::none);
  files.reads(find_model(arguments.model.model), "MODEL");
  if (!arguments.times.empty()) files.reads(arguments.times, "--times");
  if (!arguments.output.empty() && arguments.output != "-" &&
      std::filesystem::path(arguments.output).extension() != ".csv")
    throw InvalidInput(fmt::format("-o {}: unknown kind of file; expected a name that ends in .csv, or -",
                                   arguments.output));
  files.writes(arguments.output, "-o");
  if (!arguments.output.empty() && arguments.output != "-")
    files.writes(arguments.output + ".json", "-o");
  files.writes(arguments.events, "--events");
}

int execute(SensitivityArguments arguments) {
  ModelOptions& options = arguments.model;
  for (const std::string& text : options.set)
    if (const std::string key = parse_assignment(text, "--set").key;
        key == "scheme" || key == "run.scheme")
      throw InvalidInput(fmt::format("--set {}: the scheme of derivatives is located", text));
  options.run["scheme"] = "located";
  if (options.run["policy"] == "all")
    throw InvalidInput("--policy all: one solution is differentiated; expected minimal_norm, stay");
  const Model model = read(options);
  const Quantities quantities = quantities_of(arguments, model);
  std::vector<double> times;
  if (!arguments.times.empty()) times = parse_times(arguments.times);
  Located located = located_options(model);
  located.sensitivities = quantities.request;
  check_located(model);  // before files are touched
  check_files(arguments);
  CsvWriter csv(arguments.output.empty() ? "-" : arguments.output, model, quantities.columns);
  catch_interrupts();
  Step last;
  IntegrateOptions record;
  record.keep = false;
  record.times = times;
  record.bounds = model.bounds();
  record.only_times = !times.empty();
  RowValues values(model);
  record.observer = [&](const Step& step) {
    last = step;
    if (times.empty() || std::binary_search(times.begin(), times.end(), step.t)) {
      if (!values.take(step)) return false;
      csv.row(step, values.outputs());
    }
    return !interrupted();
  };
  const Dcs system = model.equations ? *model.equations : as_dcs(model.lcs());
  Trajectory run = integrate(system, model.x0(), model.run.span, located, record);
  end_by_fault(values.fault(), run);
  csv.close();
  if (!arguments.output.empty() && arguments.output != "-") {
    Json json = provenance(model, run, arguments.model.set);
    for (std::size_t k = 0; k < quantities.names.size(); ++k)
      json["sensitivities"][quantities.columns[k]] = quantities.names[k];
    write_file(arguments.output + ".json", json.dump(1) + "\n");
  }
  if (!arguments.events.empty())
    write_events(arguments.events, model.laws(), run.events, quantities.columns);
  std::FILE* stream = arguments.output.empty() || arguments.output == "-" ? stderr : stdout;
  if (!arguments.quiet) print_summary(model, run, quantities, last, stream);
  if (run.status != Status::solved)
    fmt::print(stderr, "perp sensitivities: {}: {}\n", to_string(run.status), run.message);
  return exit_status(run.status);
}

Action configure_sensitivities(CLI::App& app) {
  const auto arguments = std::make_shared<SensitivityArguments>();
  arguments->model.add_to(app);
  app.add_option(
         "--wrt", arguments->wrt,
         "what to differentiate by: parameters and starts, as in B1,x1(0); default: all of them")
      ->type_name("NAME,...");
  app.add_option("-o,--output", arguments->output,
                 "write states and sensitivities to FILE.csv (with FILE.csv.json, which names the "
                 "columns); default: standard output")
      ->type_name("FILE");
  app.add_option("--events", arguments->events, "write the events with dt/dq to FILE as CSV")
      ->type_name("FILE");
  app.add_option("--times", arguments->times, "rows at these times only (a list, or a file)")
      ->type_name("T,T,...");
  arguments->model.add_span_to(app);
  arguments->model.add_run_to(app, {"cross_check", "h", "policy", "tol"});
  app.add_flag("--quiet", arguments->quiet, "no summary");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command sensitivities;
const Command sensitivities{
    "sensitivities", "derivatives of a solution, through switches, sliding and jumps",
    "Columns dx<i>_dx0<j> and dx<i>_dp<k>: of variable i by the start of variable j and by the "
    "k-th\n"
    "parameter of --wrt. The scheme is located; --h is the distance of rows.\n\n"
    "examples:\n"
    "  perp sensitivities ifdiff_canonical --wrt p1,x1(0),x2(0) --tol 1e-12 -o s.csv\n"
    "  perp sensitivities predator_prey --wrt r1,beta1 --times 50,100",
    configure_sensitivities};

}  // namespace perp::cli
