#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sweep/sweep.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/cli/input/sweep_arguments.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/ranks/ranks.hpp>
#include <perp/io/sweep/shared_sweep.hpp>
#include <perp/io/sweep/sweep_plot.hpp>
#include <perp/io/sweep/sweep_csv.hpp>
#include <perp/io/sweep/sweep_hdf5.hpp>
#include <perp/io/sweep/sweep_store.hpp>
#include <perp/io/sweep/sweep_text.hpp>

namespace perp::cli {
namespace {

/// Runs done, on a terminal.
class SweepProgress {
 public:
  /// `ranks`: of several processes the first shows what it does itself.
  SweepProgress(long runs, const Ranks* ranks)
      : runs_(runs), shown_(isatty(STDERR_FILENO) != 0 && (ranks == nullptr || ranks->rank() == 0)), where_(ranks == nullptr ? "" : " on rank 0") {}
  void operator()(long done, long failed) const {
    if (shown_ && (done % 16 == 0 || done == runs_))
      fmt::print(stderr, "\r{} of {} runs{}{}", done, runs_, where_, failed > 0 ? fmt::format(", {} ended early", failed) : "");
    if (shown_ && done == runs_) fmt::print(stderr, "\r\033[K");
  }

 private:
  long runs_;
  bool shown_;
  const char* where_;
};

/// The picture of a sweep, if one is asked for.
struct SweepPicture {
  std::optional<Picture> picture{};
  SweepDrawing drawing{};
};

/// The file of --plot; where only its kind is said, FILE.svg beside the table. Throws InvalidInput.
std::string picture_file(const SweepArguments& arguments) {
  const bool is_asked = !(arguments.plot_type + arguments.plot_variable + arguments.colour).empty();
  if (!arguments.plot.empty() || !is_asked) return arguments.plot;
  if (arguments.output.empty() || arguments.output == "-")
    throw InvalidInput("--plot-type, --plot-variable and --colour need --plot FILE, or -o FILE, beside which the picture is FILE.svg");
  return std::filesystem::path(arguments.output).replace_extension(".svg").string();
}

SweepPicture picture_of(const SweepArguments& arguments, const SweepRequest& request, const Model& model) {
  SweepPicture result;
  const std::string file = picture_file(arguments);
  if (file.empty()) return result;
  result.picture.emplace(file);
  SweepDrawing& drawing = result.drawing;
  drawing.kind = sweep_plot(arguments.plot_type, request);
  drawing.by_mode = is_coloured_by_mode(arguments.colour, drawing.kind);
  if (!arguments.plot_variable.empty())
    drawing.variable = static_cast<int>(find_name(arguments.plot_variable, variable_names(model), "variable"));
  return result;
}

/// Returns the file.
std::string draw(const SweepPicture& drawn, const SweepRequest& request, const Model& model,
                 const SweepResult& result) {
  draw_sweep(*drawn.picture, drawn.drawing, request, model, result);
  const bool has_one = drawn.drawing.kind == SweepPlot::heat || drawn.drawing.kind == SweepPlot::histogram;
  if (has_one && result.measures.size() > 1)
    fmt::print(stderr, "perp sweep: the picture shows {}, the first of {} measures\n", result.measures[0], result.measures.size());
  return drawn.picture->file();
}

/// Standard output, where neither a table nor a picture is asked for.
std::string output_of(const SweepArguments& arguments) {
  return arguments.output.empty() && arguments.plot.empty() ? "-" : arguments.output;
}

/// Throws InvalidInput.
void check_table_name(const std::string& output) {
  if (!output.empty() && output != "-" && !output.ends_with(".csv") && !output.ends_with(".h5"))
    throw InvalidInput(fmt::format("-o {}: unknown kind of file; expected a name that ends in .csv or .h5, or -", output));
}

/// A slice has a folder and no picture. Throws InvalidInput.
void check_slice(const SweepArguments& arguments, const Model& model) {
  if (arguments.output.empty() || arguments.output == "-" || arguments.output.ends_with(".csv") ||
      arguments.output.ends_with(".h5"))
    throw InvalidInput("--slice needs a folder for its chunks: -o DIR; perp sweep --merge DIR -o FILE.csv makes the table");
  if (!(arguments.plot + arguments.plot_type + arguments.colour).empty() || arguments.resume)
    throw InvalidInput("--slice goes without --plot and --resume: chunks that are there are not made again");
  FilesOfCommand files;
  arguments.model.declare(files, model);
}

/// Everything else is in the folder. Throws InvalidInput.
void check_merge(const SweepArguments& arguments) {
  const std::string texts = arguments.section + arguments.slice + arguments.plot + arguments.plot_type + arguments.colour + arguments.early_end + arguments.times;
  const bool has_lists = !arguments.vary.empty() || !arguments.random.empty() || !arguments.measures.empty();
  const bool asks = arguments.model.is_given() || has_lists || !texts.empty() || arguments.resume || arguments.skip || arguments.keep;
  if (asks) throw InvalidInput("--merge DIR takes -o, --partial and --quiet alone: what was swept stands in DIR");
}

void tell(const SweepArguments& arguments, const std::string& output, const SweepTable& table,
          const std::vector<std::string>& files) {
  std::string text = sweep_text(table);
  for (const std::string& file : files) text += fmt::format("written  {}\n", file);
  if (!arguments.quiet) fmt::print(output == "-" ? stderr : stdout, "{}", text);
}

/// Throws InvalidInput, FileError: see FilesOfCommand.
void check_files(const SweepArguments& arguments, const Model& model, const std::string& output, const SweepPicture& drawn) {
  check_table_name(output);
  if (arguments.resume && !output.ends_with(".csv"))
    throw InvalidInput("--resume needs the table that it completes: -o FILE.csv");
  FilesOfCommand files;
  arguments.model.declare(files, model);
  files.writes_with_json(output, "-o");
  if (arguments.keep && output.ends_with(".csv")) files.writes(trajectories_file(output), "--keep");
  if (!arguments.section.empty() && output.ends_with(".csv")) files.writes(section_file(output), "--section");
  if (drawn.picture) drawn.picture->declare(files, "--plot");
}

bool is_solved(const SweepTable& table) {
  return std::all_of(table.runs.begin(), table.runs.end(),
                     [](const SweepRun& run) { return run.status == Status::solved; });
}

/// The exit status.
int end_of(const SweepResult& result, const SweepTable& table) {
  if (result.ended_at_failure)
    fmt::print(stderr, "perp sweep: stopped at a run that ended early (--fail stop)\n");
  else if (!result.is_complete)
    fmt::print(stderr, "perp sweep: stopped before all runs were made; the same command goes on\n");
  return result.is_complete && is_solved(table) ? exit_solved : exit_no_answer;
}

/// Does --resume find everything done?
bool is_done(const SweepArguments& arguments, const std::string& output, const SweepTable& head) {
  if (!arguments.resume) return false;
  if (!is_whole_table(output, head)) return false;
  if (!arguments.quiet) fmt::print("{} is complete\n", output);
  return true;
}

/// Asked for with --time-limit or by a signal.
std::function<bool()> stop_of(const SweepArguments& arguments) {
  if (!arguments.time_limit) return interrupted;
  if (!(*arguments.time_limit > 0 && *arguments.time_limit < 1e9))
    throw InvalidInput(fmt::format("--time-limit {}: expected seconds, above 0", *arguments.time_limit));
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*arguments.time_limit));
  return [end] { return interrupted() || Clock::now() >= end; };
}

/// Returns the files.
std::vector<std::string> write_table(const std::string& output, const SweepTable& table) {
  if (!output.ends_with(".h5")) return write_sweep_csv(output, table);
  write_sweep_hdf5(output, table);
  return {output};
}

/// One slice: its chunks are the result.
int execute_slice(const SweepArguments& arguments, const Model& model, SweepRequest& request) {
  check_slice(arguments, model);
  const SweepTable head = sweep_head(request, model, arguments.model.assignment_texts(), arguments.keep);
  SweepStore store(arguments.output, head, sweep_chunks(request));
  keep_in(store, request);
  const SweepResult result = sweep(request);
  store.flush();
  const SweepTable table = with_runs(head, result);
  if (!arguments.quiet)
    fmt::print("{}written  {}, slice {} of {}; merge all with perp sweep --merge {} -o FILE.csv\n", sweep_text(table),
               arguments.output, request.chunks.slice, request.chunks.slices, arguments.output);
  return end_of(result, table);
}

/// All chunks of a folder as one table.
int execute_merge(const SweepArguments& arguments) {
  check_merge(arguments);
  const std::string output = arguments.output.empty() ? "-" : arguments.output;
  check_table_name(output);
  const MergedSweep merged = SweepStore(arguments.merge).merged();
  for (const std::string& file : merged.damaged) fmt::print(stderr, "perp sweep: {}\n", file);
  if (!merged.missing.empty())
    fmt::print(stderr, "perp sweep: {} chunks are missing, the first is {}; make them with the same command and --slice\n",
               merged.missing.size(), merged.missing.front());
  if (!merged.missing.empty() && !arguments.partial) return exit_no_answer;
  tell(arguments, output, merged.table, write_table(output, merged.table));
  return merged.missing.empty() && is_solved(merged.table) ? exit_solved : exit_no_answer;
}

std::string chunks_folder(const std::string& output) { return output + ".chunks"; }

/// Where chunks are kept until the table is complete: beside its file, if there is one. No other command writes there.
void keep_beside(const std::string& output, const SweepTable& head, SweepRequest& request,
                 std::optional<SweepStore>& store) {
  if (output.empty() || output == "-") return;
  store.emplace(chunks_folder(output), head, sweep_chunks(request));
  store->lock();
  keep_in(*store, request);
}

/// The first of several processes: its folder takes the runs of all. `is_there`: none are left to be made.
void make_with_others(Ranks* ranks, SweepStore* store, const SweepRequest& request, bool is_there) {
  if (ranks == nullptr) return;
  SweepRequest shared = request;
  if (is_there) shared.stop = [] { return true; };
  ranks->together([] {});  // the others open the folder
  make_together(*ranks, *store, std::move(shared));
}

/// The table and the picture; of several processes, which make the runs together, the first one does it.
int execute_whole(const SweepArguments& arguments, const Model& model, SweepRequest& request, Ranks* ranks) {
  const std::string output = output_of(arguments);
  const SweepTable head = sweep_head(request, model, arguments.model.assignment_texts(), arguments.keep);
  SweepPicture drawn;
  std::optional<SweepStore> store;
  bool is_there = false;
  do_together(ranks, [&] {
    drawn = picture_of(arguments, request, model);
    check_files(arguments, model, output, drawn);
    keep_beside(output, head, request, store);
    is_there = is_done(arguments, output, head);
  });
  make_with_others(ranks, store ? &*store : nullptr, request, is_there);
  if (is_there) {
    store->remove();
    return exit_solved;
  }
  const SweepResult result = sweep(request);  // with others: those runs are read
  const SweepTable table = with_runs(head, result);
  std::vector<std::string> files;
  if (!output.empty()) files = write_table(output, table);
  if (drawn.picture && result.is_complete) files.push_back(draw(drawn, request, model, result));
  if (store) result.is_complete ? store->remove() : store->flush();
  tell(arguments, output, table, files);
  return end_of(result, table);
}

/// What the processes behind the first do: runs, into its folder.
int execute_part(const SweepArguments& arguments, const Model& model, SweepRequest& request, Ranks& ranks) {
  std::optional<SweepStore> store;
  ranks.together([] {});  // the first one makes the folder
  ranks.together([&] {
    const SweepTable head = sweep_head(request, model, arguments.model.assignment_texts(), arguments.keep);
    store.emplace(chunks_folder(arguments.output), head, sweep_chunks(request));
    keep_in(*store, request);
  });
  make_together(ranks, *store, request);
  return exit_solved;
}

/// Throws InvalidInput.
void check_shared(const SweepArguments& arguments, const Ranks& ranks) {
  if (!arguments.has_file())
    throw InvalidInput(fmt::format("{} processes share a sweep in the folder beside its table, which has no file; expected -o FILE.csv "
                                   "or FILE.h5",
                                   ranks.size()));
}

/// All that each process reads, and what it computes. Throws InvalidInput.
struct ReadSweep {
  ReadSweep(const SweepArguments& arguments, const Ranks* ranks) : reader(arguments.model), model(reader({}, {}, "")), request(request_of(arguments, model)) {
    if (ranks != nullptr) check_shared(arguments, *ranks);
    if (ranks != nullptr && arguments.threads == 0) request.threads = 1;
    request.read = [this](const std::vector<Override>& set) { return reader(set, {}, "--vary"); };
    check_run(model);
    check_sweep(request);
    request.progress = SweepProgress(sweep_runs(request), ranks);
    request.stop = stop_of(arguments);
  }

  ModelReader reader;
  Model model;
  SweepRequest request;
};

int execute(const SweepArguments& arguments) {
  if (!arguments.merge.empty()) return execute_merge(arguments);
  if (arguments.model.model.empty()) throw InvalidInput("MODEL is missing; expected a model file, or a name of the zoo");
  if (arguments.partial) throw InvalidInput("--partial is of --merge, which is not given");
  std::optional<Ranks> others;
  if (arguments.slice.empty() && Ranks::are_there()) others.emplace();
  Ranks* const ranks = others ? &*others : nullptr;
  std::optional<ReadSweep> read;
  do_together(ranks, [&] { read.emplace(arguments, ranks); });
  catch_interrupts();
  if (!arguments.slice.empty()) return execute_slice(arguments, read->model, read->request);
  if (ranks != nullptr && ranks->rank() > 0) return execute_part(arguments, read->model, read->request, *ranks);
  return execute_whole(arguments, read->model, read->request, ranks);
}

void add_points_to(CommandLine& line, SweepArguments* arguments) {
  line.add_option("--vary", arguments->vary,
                 "values of a parameter, of a variable's start, of an input or of run.h; repeatable: all combinations, the "
                 "last one varies fastest")
      .type_name("NAME=FIRST:LAST:COUNT[:log] | NAME=v1,v2,...")
      .one_at_a_time();
  line.add_flag("--zip", arguments->zip, "values of several --vary side by side instead of all combinations");
  line.add_option("--random", arguments->random, "a number drawn for each run: uniform(a,b), normal(mean,deviation), "
                                                "lognormal(mean,deviation)")
      .type_name("NAME=DISTRIBUTION")
      .one_at_a_time();
  line.add_option("--runs", arguments->runs, "draws for each point of --vary; default 1").type_name("N");
  line.add_option("--seed", arguments->seed, "of the random numbers; default 1").type_name("S");
  line.add_option("--sampling", arguments->sampling, "random (default), lhs: Latin hypercube, or sobol: a Sobol sequence with a random shift").type_name("NAME");
}

void add_measured_to(CommandLine& line, SweepArguments* arguments) {
  line.add_option("--measure", arguments->measures, "a number of each run, as of perp run; repeatable")
      .one_at_a_time()
      .type_name("NAME=EXPRESSION");
  line.add_option("--section", arguments->section,
                 "states of each run: every:T, before an EVENT, or FORMULA=VALUE:up|down; to FILE.section.csv")
      .type_name("WHAT");
  line.add_option("--after", arguments->after, "measures and sections begin at this time, a formula of parameters; beyond the model's "
                                             "span the runs last as long again (without --t)")
      .type_name("T");
  line.add_option("--skip", arguments->skip, "the first N points of the section of each run are left out").type_name("N");
  line.add_flag("--keep", arguments->keep, "keep the states of each run: to FILE.trajectories.csv, or /trajectories of FILE.h5");
  line.add_option("--times", arguments->times, "of --keep and fans: at these times alone, t1,t2,... or the first column of a file")
      .type_name("T");
  line.add_option("--follow", arguments->follow,
                 "start each run at the end of the one before on the last axis: up, down or both")
      .type_name("WAY");
}

void add_outputs_to(CommandLine& line, SweepArguments* arguments) {
  line.add_option("-o,--output", arguments->output,
                 "write the table to FILE.csv (with FILE.csv.json) or FILE.h5; - is standard output, the default without --plot. "
                 "What is made is kept in FILE.chunks until then: after an interruption the same command goes on")
      .type_name("FILE");
  line.add_option("--plot", arguments->plot, "draw: FILE.svg, .png or .pdf (with its scripts and data), or .html, a page to zoom in").type_name("FILE");
  line.add_option("--plot-type", arguments->plot_type, "curve, heat, histogram, fan or bifurcation; default: what fits")
      .type_name("TYPE");
  line.add_option("--plot-variable", arguments->plot_variable, "of a bifurcation diagram or a fan; default: the first")
      .type_name("X");
  line.add_option("--colour", arguments->colour, "of the points of a bifurcation diagram: mode, in which the run came there; default: up and down")
      .type_name("WHAT");
}

void add_execution_to(CommandLine& line, SweepArguments* arguments) {
  line.add_option("--threads", arguments->threads,
                 "threads; default: one for each core, of several processes (mpirun -n N perp sweep ...) one for each. The result is the same for any number")
      .type_name("N");
  line.add_option("--time-limit", arguments->time_limit, "stop after S seconds; the runs made so far are written").type_name("S");
  line.add_option("--fail", arguments->early_end, "what a run that ends early is: keep (default), a row with its status, or stop, the end of the sweep")
      .type_name("WHAT");
  line.add_flag("--resume", arguments->resume, "make nothing again where FILE.csv is the whole table of this sweep, with all runs solved");
  line.add_option("--slice", arguments->slice,
                 "make one of N parts, as a process of its own: -o DIR takes its chunks, for any number of processes; auto: "
                 "the task of a Slurm array")
      .type_name("k/N");
  line.add_option("--merge", arguments->merge, "instead of MODEL: the table of all slices in DIR").type_name("DIR");
  line.add_flag("--partial", arguments->partial, "of --merge: write the table even where chunks are missing");
  line.add_flag("--quiet", arguments->quiet, "no summary");
}

Action configure_sweep(CommandLine& line) {
  const auto arguments = std::make_shared<SweepArguments>();
  arguments->model.add_optional_to(line);
  arguments->model.hybrid = true;
  add_points_to(line, arguments.get());
  add_measured_to(line, arguments.get());
  arguments->model.add_span_to(line);
  arguments->model.add_run_to(line, {"h"});
  arguments->model.add_scheme_to(line);
  add_outputs_to(line, arguments.get());
  add_execution_to(line, arguments.get());
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command sweep;
const Command sweep{
    "sweep", "runs a model over values of parameters and starts, or random ones, and measures each run",
    "Exit status 3: some runs ended early; each is a row with its status.\n\n"
    "examples:\n"
    "  perp sweep boost.toml --vary D=0.1:0.9:33 --measure \"eta=mean(pout)/mean(pin)\" --after 19e-3 --plot eta.svg\n"
    "  perp sweep stick_slip --random \"Fs=normal(0.35,0.02)\" --runs 1000 --measure \"T=period(sliding_entry)\" -o mc.csv\n"
    "  perp sweep impact.toml --vary w=0.6:0.9:400 --follow both --section every:2*pi/w --after 60*2*pi/w --plot bif.png",
    configure_sweep};

}  // namespace perp::cli
