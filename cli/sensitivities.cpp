#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <memory>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/row_values.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sensitivities.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/csv.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/provenance.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/sensitivities_text.hpp>

namespace perp::cli {
namespace {

struct SensitivityArguments {
  ModelOptions model;
  std::string wrt, output, events, times;
  bool quiet = false;

  /// Do the rows go to a file, not to standard output?
  [[nodiscard]] bool has_file() const { return !output.empty() && output != "-"; }
};

/// Throws InvalidInput, FileError: see FilesOfCommand.
void check_files(const SensitivityArguments& arguments, const Model& model) {
  const bool writes_text = !arguments.quiet || !arguments.has_file();
  FilesOfCommand files(writes_text ? FilesOfCommand::Text::standard_output
                                   : FilesOfCommand::Text::none);
  arguments.model.declare(files, model);
  if (!arguments.times.empty()) files.reads(arguments.times, "--times");
  if (arguments.has_file() && std::filesystem::path(arguments.output).extension() != ".csv")
    throw InvalidInput(fmt::format(
        "-o {}: unknown kind of file; expected a name that ends in .csv, or -", arguments.output));
  files.writes(arguments.output, "-o");
  if (arguments.has_file()) files.writes(arguments.output + ".json", "-o");
  files.writes(arguments.events, "--events");
}

/// The scheme is located, with one solution.
Model read_located(ModelOptions& options) {
  for (const auto& [item, written] : options.assignments())
    if (item.key == "scheme" || item.key == "run.scheme")
      throw InvalidInput(fmt::format("{}: the scheme of derivatives is located", written));
  options.run["scheme"] = "located";
  if (options.run["policy"] == "all")
    throw InvalidInput("--policy all: one solution is differentiated; expected minimal_norm, stay");
  return read(options);
}

/// Runs with a row at each of the `times`, or of each step where there are none; `last` is the last step.
Trajectory write_rows(const Model& model, const SensitivityQuantities& quantities,
                      const std::vector<double>& times, const std::string& output, Step& last) {
  CsvWriter csv(output, model, quantities.columns);
  catch_interrupts();
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
  Trajectory run = integrate_sensitivities(model, quantities, record);
  end_by_fault(values.fault(), run);
  csv.close();
  return run;
}

/// What --wrt names. Throws InvalidInput.
SensitivityQuantities quantities_of(const SensitivityArguments& arguments, const Model& model) {
  const auto with = [&](const std::string& name, double value) {
    return ModelReader(arguments.model)({{"parameters." + name, fmt::format("{:.17g}", value)}}, {}, "");
  };
  std::vector<std::string> wrt;
  if (!arguments.wrt.empty()) wrt = split_list(arguments.wrt);
  return sensitivity_quantities(model, wrt, with);
}

/// FILE.csv.json: how the rows were made, and what their columns are.
void write_json(const SensitivityArguments& arguments, const Model& model, const Trajectory& run,
                const SensitivityQuantities& quantities) {
  Json json = provenance(model, run, arguments.model.assignment_texts());
  for (std::size_t k = 0; k < quantities.names.size(); ++k)
    json["sensitivities"][quantities.columns[k]] = quantities.names[k];
  write_file(arguments.output + ".json", json.dump(1) + "\n");
}

int execute(SensitivityArguments arguments) {
  const Model model = read_located(arguments.model);
  const SensitivityQuantities quantities = quantities_of(arguments, model);
  std::vector<double> times;
  if (!arguments.times.empty()) times = parse_times(arguments.times);
  check_sensitivities(model);  // before files are touched
  check_files(arguments, model);
  const bool to_file = arguments.has_file();
  Step last;
  const Trajectory run =
      write_rows(model, quantities, times, to_file ? arguments.output : "-", last);
  if (to_file) write_json(arguments, model, run, quantities);
  if (!arguments.events.empty())
    write_events(arguments.events, model, run.events, quantities.columns);
  std::FILE* stream = to_file ? stdout : stderr;
  if (!arguments.quiet) fmt::print(stream, "{}", sensitivities_text(model, run, quantities, last));
  if (run.status != Status::solved)
    fmt::print(stderr, "perp sensitivities: {}: {}\n", to_string(run.status), run.message);
  return exit_status(run.status);
}

Action configure_sensitivities(CommandLine& line) {
  const auto arguments = std::make_shared<SensitivityArguments>();
  arguments->model.hybrid = true;
  arguments->model.add_to(line);
  line.add_option(
         "--wrt", arguments->wrt,
         "what to differentiate by: parameters and starts, as in B1,x1(0); default: all of them")
      .type_name("NAME,...");
  line.add_option("-o,--output", arguments->output,
                 "write states and sensitivities to FILE.csv (with FILE.csv.json, which names the "
                 "columns); default: standard output")
      .type_name("FILE");
  line.add_option("--events", arguments->events, "write the events with dt/dq to FILE as CSV")
      .type_name("FILE");
  line.add_option("--times", arguments->times, "rows at these times only (a list, or a file)")
      .type_name("T,T,...");
  arguments->model.add_span_to(line);
  arguments->model.add_run_to(line, {"cross_check", "h", "policy", "tol"});
  line.add_flag("--quiet", arguments->quiet, "no summary");
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
