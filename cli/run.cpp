#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

#include <perp/analysis/hybrid/run/change_notes.hpp>
#include <perp/analysis/measures/measures.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/kept_run.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/measures/until.hpp>
#include <perp/analysis/solutions/trees.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/enclosures/enclose_command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/picture_options.hpp>
#include <perp/cli/input/progress.hpp>
#include <perp/cli/rows/row_options.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/plot/run_pictures.hpp>
#include <perp/io/ranks/ranks.hpp>
#include <perp/io/run_checkpoint.hpp>
#include <perp/io/run_recorder.hpp>
#include <perp/io/solutions/tree_text.hpp>

namespace perp::cli {
namespace {

struct RunArguments {
  ModelOptions model;
  RowOptions rows;
  std::string output, events;
  PictureOptions pictures;
  std::vector<std::string> measures;
  std::string after, until, checkpoint, resume;
  bool all = false, quiet = false;
};

/// FILE.checkpoint, beside what the run writes.
std::string kept_file(const RunArguments& arguments) {
  return (arguments.output.empty() ? arguments.pictures.plot : arguments.output) + ".checkpoint";
}

/// Where it is asked for, else empty.
std::string checkpoint_file(const RunArguments& arguments) {
  return arguments.checkpoint.empty() ? "" : kept_file(arguments);
}

Destinations destinations_of(const RunArguments& arguments, const Model& model,
                             const RunPictures& pictures) {
  Destinations destinations;
  destinations.data = arguments.output;
  if (arguments.output.empty() && arguments.pictures.plot.empty() && arguments.measures.empty())
    destinations.data = "-";
  arguments.rows.put_into(destinations, model.run.span);
  if (!arguments.checkpoint.empty() || !arguments.resume.empty())
    destinations.spool = kept_file(arguments) + ".rows";
  destinations.plotted = pictures.sampled();
  destinations.plotted_array = pictures.array;
  destinations.plot_window = pictures.window;
  return destinations;
}

/// Throws InvalidInput, FileError. A run may go on with the file that it goes on from.
void declare_checkpoint(const RunArguments& arguments, const Destinations& destinations, FilesOfCommand& files) {
  const std::string file = checkpoint_file(arguments);
  if (!arguments.resume.empty() && arguments.resume != file) files.reads(arguments.resume, "--resume");
  for (const std::string& written : {file, file.empty() ? "" : file + ".new"}) files.writes(written, "--checkpoint");
  if (is_hdf5(destinations.data)) files.writes(destinations.spool, "--checkpoint");
}

/// Throws InvalidInput, FileError: see FilesOfCommand.
void check_files(const RunArguments& arguments, const Model& model, const Destinations& destinations,
                 const RunPictures& pictures) {
  const bool writes_text = !arguments.quiet || !arguments.measures.empty() || arguments.all || destinations.data == "-";
  FilesOfCommand files(writes_text ? FilesOfCommand::Text::standard_output : FilesOfCommand::Text::none);
  arguments.model.declare(files, model);
  arguments.rows.declare(files);
  for (const std::string& other : pictures.others) files.reads(other, "--plot-with");
  files.writes_with_json(destinations.data, "-o");
  files.writes(arguments.events, "--events");
  declare_checkpoint(arguments, destinations, files);
  if (pictures.over_time) pictures.over_time->declare(files, "--plot");
  if (pictures.phase) pictures.phase->declare(files, "--plot-phase");
  if (pictures.field) pictures.field->declare(files, "--plot-field");
}

Step last_state(const Trajectory& run) {
  return {run.t.back(), run.x.back(), run.lambda.back(), run.w.back(), run.mode.back()};
}

/// Is something asked for that bounds do not have?
bool asks_for_trajectory(const RunArguments& arguments) {
  const PictureOptions& pictures = arguments.pictures;
  const bool has_lists = !arguments.measures.empty() || !pictures.others.empty();
  const std::string given = pictures.phase + pictures.field + pictures.panels + pictures.window + arguments.until + pictures.logarithmic;
  return arguments.all || arguments.rows.every > 0 || arguments.rows.is_compressed || has_lists || !given.empty();
}

/// Scheme enclosure gives bounds instead of a trajectory.
int execute_enclosure(const RunArguments& arguments) {
  if (asks_for_trajectory(arguments))
    throw InvalidInput("scheme enclosure has neither --all, --every, --compress, --measure, --until, --plot-phase, --plot-field, --plot-panels, --plot-window, --plot-log nor --plot-with");
  EncloseArguments enclosure;
  enclosure.model = arguments.model;
  enclosure.output = arguments.output;
  enclosure.events = arguments.events;
  enclosure.times = arguments.rows.times;
  enclosure.plot = arguments.pictures.plot;
  enclosure.plot_variables = arguments.pictures.variables;
  enclosure.quiet = arguments.quiet;
  enclosure.checkpoint = arguments.checkpoint;
  enclosure.resume = arguments.resume;
  enclosure.program = "perp run";
  return enclose_model(enclosure);
}

/// Without the summary: "NAME = VALUE" each, for scripts.
void print_measures(const std::vector<Measure>& measures, std::FILE* stream) {
  for (const Measure& measure : measures)
    if (measure.result.value)
      fmt::print(stream, "{} = {}\n", measure.name, *measure.result.value);
    else
      fmt::print(stderr, "perp run: {} has no value: {}\n", measure.name, measure.result.reason);
}

/// A number that was asked for and has no value is a failed computation.
int exit_status_of(const std::vector<Measure>& measures) {
  const bool has_all = std::all_of(measures.begin(), measures.end(), [](const Measure& measure) {
    return measure.result.value.has_value();
  });
  return has_all ? exit_solved : exit_status(Status::not_solved);
}

/// The ways of the solution, where the run was asked for all of them.
void print_branches(const Model& model, std::FILE* stream) {
  const bool has_branches = model.run.scheme == "located" || model.hybrid != nullptr;
  if (has_branches && model.run.policy == "all" && !interrupted())
    fmt::print(stream, "{}", branches_text(model, solution_branches_of(model)));
}

/// All solutions of the run, as lists and trees, behind its summary.
void print_all_solutions(const RunArguments& arguments, const Model& model, long listed_steps,
                         std::FILE* stream) {
  print_branches(model, stream);
  if (!arguments.all) return;
  fmt::print(stream, "{} steps have not exactly one solution{}\n", listed_steps,
             is_affine(model) ? "" : " among those found");
  if (const std::string tree = interrupted() ? "" : tree_text(model, solution_tree_of(model)); !tree.empty())
    fmt::print(stream, "tree of solutions\n{}", tree);
}

Measures measures_of(const RunArguments& arguments, const Model& model) {
  if (!arguments.after.empty() && arguments.measures.empty())
    throw InvalidInput("--after is the start of the window of --measure, which is not given");
  return {model, arguments.measures, arguments.after};
}

/// The run, up to the event of --until where there is one.
Trajectory run_of(const Model& model, std::optional<UntilEvent>& until, const IntegrateOptions& options) {
  return with_change_notes(model, until ? until->run(options, [] { return !interrupted(); })
                                        : scheme(model.run.scheme).run(model, options));
}

/// An event that was waited for and did not happen is a failed computation.
int exit_status_of(const std::optional<UntilEvent>& until) {
  if (!until || until->happened() || interrupted()) return exit_solved;
  fmt::print(stderr, "perp run: --until: the event {} did not happen\n", until->text());
  return exit_status(Status::not_solved);
}

/// The files of the states and of the events, whose names are returned.
std::vector<std::string> write(const RunArguments& arguments, const Model& model, const Trajectory& run,
                               const std::vector<Measure>& measured, RunRecorder& recorder) {
  std::vector<std::string> files = recorder.close(run, arguments.model.assignment_texts(), measured);
  if (arguments.events.empty()) return files;
  write_events(arguments.events, model, run.events);
  files.push_back(arguments.events);
  return files;
}

/// Throws InvalidInput where the run cannot be kept, or something that looks at it.
void check_kept(const RunArguments& arguments, const Model& model, const Destinations& destinations) {
  if (arguments.checkpoint.empty() && arguments.resume.empty()) return;
  const char* const option = arguments.checkpoint.empty() ? "--resume" : "--checkpoint";
  if (model.run.solver == "petsc") throw InvalidInput(fmt::format("{}: a run of solver petsc cannot be kept between two steps", option));
  check_kept_state(model, option);
  if (!arguments.checkpoint.empty()) parse_duration(arguments.checkpoint, "--checkpoint");
  if (destinations.data == "-")
    throw InvalidInput(fmt::format("{} needs a file of states that can be gone on with: -o FILE.csv or FILE.h5", option));
}

/// Throws InvalidInput, FileError: before files are touched.
void check(const RunArguments& arguments, const Model& model, const Destinations& destinations,
           const RunPictures& pictures) {
  check_files(arguments, model, destinations, pictures);
  check_run(model);
  check_kept(arguments, model, destinations);
  if (arguments.all) capturing_scheme(model);  // does the scheme list solutions?
}

/// Goes on with a run that was kept, and keeps this one, as asked; null: it is not kept. Until the run has ended.
std::unique_ptr<RunCheckpoint> set_checkpoints(const RunArguments& arguments, const Model& model, const Destinations& destinations,
                                               IntegrateOptions& options, RunRecorder& recorder) {
  if (arguments.checkpoint.empty() && arguments.resume.empty()) return nullptr;
  RunIdentity identity = run_identity(model, destinations);
  identity.emplace_back("measure", fmt::format("{} after '{}'", fmt::join(arguments.measures, ", "), arguments.after));
  identity.emplace_back("listing", arguments.all ? "--all" : "none");
  identity.emplace_back("end", arguments.until.empty() ? "that of the span" : arguments.until);
  if (!arguments.resume.empty()) RunCheckpoint(arguments.resume, identity).go_on(options, recorder);
  if (arguments.checkpoint.empty()) return nullptr;
  auto kept = std::make_unique<RunCheckpoint>(checkpoint_file(arguments), identity);
  kept->write_every(parse_duration(arguments.checkpoint, "--checkpoint"), options, recorder);
  return kept;
}

/// How the steps are asked for: each goes to the observer, none is kept.
IntegrateOptions options_of(const Model& model, const Destinations& destinations) {
  IntegrateOptions options;
  options.keep = false;
  options.times = destinations.times;
  options.bounds = model.bounds();
  return options;
}

/// Records a step. Does the run go on?
bool take(const Step& step, RunRecorder& recorder, Progress& progress) {
  if (!recorder.step(step)) return false;
  progress.at(step.t);
  return !interrupted();
}

/// Of several processes the first one writes: the others make nothing but the run.
RunArguments without_outputs(RunArguments arguments) {
  arguments.events.clear();
  arguments.pictures = {};
  arguments.quiet = true;
  if (std::freopen("/dev/null", "w", stdout) == nullptr) throw FileError("/dev/null: cannot be opened");
  return arguments;
}

/// The same of steps that keep their mode.
bool take(const IntegrateOptions::StepsInMode& steps, RunRecorder& recorder, Progress& progress) {
  recorder.steps(steps);
  progress.at(steps.t, steps.count);
  return !interrupted();
}

/// Records the steps, one by one or as many at once as the recorder lets them be.
IntegrateOptions::Observer observer_of(RunRecorder& recorder, Progress& progress) {
  return {[&](const Step& step) { return take(step, recorder, progress); },
          {.most = [&] { return recorder.most_together(); },
           .with_states = recorder.takes_states(),
           .take = [&](const IntegrateOptions::StepsInMode& steps) { return take(steps, recorder, progress); }}};
}

/// Draws the pictures, whose files join the others. What they failed by: the summary comes first.
std::exception_ptr draw_pictures(const RunPictures& pictures, const Model& model, const std::vector<ModeSpan>& modes,
                                 RunRecorder& recorder, const Trajectory& run, std::vector<std::string>& files) {
  try {
    draw(pictures, model, modes, recorder.samples(), recorder.field(), run, files);
  } catch (const std::exception&) {
    return std::current_exception();
  }
  return nullptr;
}

/// Says why the run did not reach its end, unless the summary beside the messages has said so.
void print_end(const RunArguments& arguments, const Trajectory& run, std::FILE* stream) {
  if (run.status != Status::solved && (arguments.quiet || stream == stdout))
    fmt::print(stderr, "perp run: {}: {}\n", to_string(run.status), run.message);
}

int execute_run(const RunArguments& arguments, const Model& model, Ranks* ranks) {
  Measures measures = measures_of(arguments, model);
  std::optional<UntilEvent> until;
  if (!arguments.until.empty()) until.emplace(model, arguments.until);
  const RunPictures pictures = pictures_of(arguments.pictures, model);
  Destinations destinations = destinations_of(arguments, model, pictures);
  if (ranks != nullptr && ranks->rank() > 0) destinations.data.clear();
  do_together(ranks, [&] { check(arguments, model, destinations, pictures); });
  std::FILE* stream = destinations.data == "-" ? stderr : stdout;
  Progress progress(model.run.span, stream == stdout || isatty(STDOUT_FILENO) == 0);
  if (arguments.all)
    destinations.listing = [&](const std::string& text) {
      progress.clear();
      fmt::print(stream, "{}", text);
    };
  RunRecorder recorder(model, destinations);
  catch_interrupts();
  IntegrateOptions options = options_of(model, destinations);
  options.observer = observer_of(recorder, progress);
  if (ranks != nullptr)  // what one of them stops by stops all
    options.observer = [&](const Step& step) { return ranks->all(take(step, recorder, progress)); };
  const auto kept = set_checkpoints(arguments, model, destinations, options, recorder);
  measures.watch(options);
  Trajectory run;
  go_together(ranks, [&] { run = run_of(model, until, options); });
  end_by_fault(recorder.fault(), run);
  progress.clear();

  const std::vector<ModeSpan> modes = recorder.history().resolved(run.events);
  const std::vector<Measure> measured = measures.of(run, modes);
  std::vector<std::string> files = write(arguments, model, run, measured, recorder);
  const std::exception_ptr failure = draw_pictures(pictures, model, modes, recorder, run, files);
  if (arguments.quiet)
    print_measures(measured, stream);
  else
    fmt::print(stream, "{}",
               text_of(RunSummary{model, run, modes, recorder.constraints(), last_state(run), files, measured}));
  print_all_solutions(arguments, model, recorder.listed_steps(), stream);
  if (failure) std::rethrow_exception(failure);
  print_end(arguments, run, stream);
  return std::max({exit_status(run.status), exit_status_of(measured), exit_status_of(until)});
}

int execute(const RunArguments& arguments) {
  const Model model = read(arguments.model);
  if (model.run.scheme == "enclosure") return execute_enclosure(arguments);
  std::optional<Ranks> ranks;
  if (model.run.solver == "petsc" && Ranks::are_there()) ranks.emplace();
  if (!ranks || ranks->rank() == 0) return execute_run(arguments, model, ranks ? &*ranks : nullptr);
  execute_run(without_outputs(arguments), model, &*ranks);
  return exit_solved;  // the status is that of the first
}

Action configure_run(CommandLine& line) {
  const auto arguments = std::make_shared<RunArguments>();
  arguments->model.hybrid = true;
  arguments->model.add_to(line);
  const char* const output = "write the states to FILE.csv (with FILE.csv.json) or FILE.h5; - is standard output, the default without --plot and --measure";
  line.add_option("-o,--output", arguments->output, output).type_name("FILE");
  arguments->pictures.add_to(line);
  line.add_option("--events", arguments->events, "write the events to FILE as CSV").type_name("FILE");
  arguments->rows.add_to(line);
  line.add_option("--measure", arguments->measures, "a number of the run, e.g. eta=mean(pout)/mean(pin) or T=period(crossing); repeatable; see perp list measures")
      .one_at_a_time()
      .type_name("NAME=EXPRESSION");
  line.add_option("--after", arguments->after, "measure from this time on; may be a formula of parameters")
      .type_name("T");
  line.add_option("--until", arguments->until, "end with an event, the n-th of its kind: sliding_entry, jump:3, LAW:FROM->TO")
      .type_name("EVENT[:n]");
  line.add_option("--checkpoint", arguments->checkpoint, "keep the run in FILE.checkpoint, beside -o or --plot, every so often: 10s, 5min")
      .type_name("TIME");
  line.add_option("--resume", arguments->resume, "go on from a file of --checkpoint, with the bits of an undisturbed run; the other arguments as there")
      .type_name("FILE");
  arguments->model.add_span_to(line);
  arguments->model.add_run_to(line, {"h"});
  arguments->model.add_scheme_to(line);
  line.add_flag("--all", arguments->all, "list all solutions of steps that have not exactly one");
  line.add_flag("--quiet", arguments->quiet, "no summary");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command run;
const Command run{
    "run", "integrates a model: states as CSV or HDF5, events, pictures, a summary",
    "Without -o and --plot the states go to standard output and the summary to standard error;\n"
    "else the summary goes to standard output.\n\n"
    "examples:\n"
    "  perp run switching_dae_crossing --plot out.svg --plot-phase x1,x2\n"
    "  perp run model.toml --set B1=-0.4 --h 0.01 -o out.csv --events events.csv\n"
    "  perp run model.toml --times 0,0.5,1 --selector minimal_norm > states.csv\n"
    "  perp run boost.toml --measure \"eta=mean(pout)/mean(pin)\" --after 19e-3",
    configure_run};

}  // namespace perp::cli
