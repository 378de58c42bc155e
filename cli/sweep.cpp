#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sweep/sweep.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/interrupt.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/threads.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/plot/sweep_plot.hpp>
#include <perp/io/sweep/sweep_csv.hpp>

namespace perp::cli {
namespace {

constexpr double most_values = 1e6;  // on one axis

struct SweepArguments {
  ModelOptions model;
  std::vector<std::string> vary, random, measures;
  bool zip = false, quiet = false;
  std::optional<long> runs;
  std::optional<long> seed;
  std::string sampling, after, section, follow, output, plot, plot_type, plot_variable;
  int threads = 0;
};

std::vector<std::string> split_at_colons(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// FIRST:LAST:COUNT or FIRST:LAST:COUNT:log. Throws InvalidInput.
std::vector<double> spaced(const std::string& text, const std::string& what) {
  const std::vector<std::string> parts = split_at_colons(text);
  const bool is_log = parts.size() == 4 && parts[3] == "log";
  if (parts.size() != 3 && !is_log)
    throw InvalidInput(fmt::format("{}={}: expected FIRST:LAST:COUNT, FIRST:LAST:COUNT:log or a list v1,v2,...", what, text));
  const double first = parse_number(parts[0], what), last = parse_number(parts[1], what);
  const double count = parse_number(parts[2], what);
  if (!(count >= 2 && count <= most_values) || count != std::floor(count))
    throw InvalidInput(fmt::format("{}: the count is {}; expected a whole number from 2 to {:.0f}", what, count, most_values));
  if (is_log && std::min(first, last) <= 0)
    throw InvalidInput(fmt::format("{}={}: expected ends > 0 on a logarithmic scale", what, text));
  return is_log ? log_spaced(first, last, static_cast<int>(count)) : evenly_spaced(first, last, static_cast<int>(count));
}

SweepAxis parse_axis(const std::string& text) {
  const Override assignment = parse_assignment(text, "--vary");
  const std::string what = "--vary " + assignment.key;
  if (assignment.value.find(':') != std::string::npos) return {assignment.key, spaced(assignment.value, what)};
  SweepAxis axis{assignment.key, {}};
  for (const std::string& value : split_list(assignment.value)) axis.values.push_back(parse_number(value, what));
  return axis;
}

Follow parse_follow(const std::string& text) {
  if (text.empty()) return Follow::none;
  const std::vector<std::string> names{"up", "down", "both"};
  return static_cast<Follow>(1 + find_name(text, names, "--follow"));
}

/// Throws InvalidInput where options do not fit each other.
void check_varied(const SweepArguments& arguments) {
  if (arguments.vary.empty() && arguments.random.empty())
    throw InvalidInput("nothing is varied; expected --vary NAME=FIRST:LAST:COUNT or --random NAME=normal(m,s)");
  const bool draws = arguments.runs || arguments.seed || !arguments.sampling.empty();
  if (arguments.random.empty() && draws)
    throw InvalidInput("--runs, --seed and --sampling are of --random, which is not given");
  if (arguments.zip && arguments.vary.size() < 2)
    throw InvalidInput("--zip puts several --vary side by side; expected two");
  if (arguments.runs.value_or(1) < 1) throw InvalidInput("--runs: expected a number from 1 on");
}

/// What is varied and drawn. Throws InvalidInput.
SweepPoints points_of(const SweepArguments& arguments, const Model& model) {
  SweepPoints points;
  for (const std::string& text : arguments.vary) points.axes.push_back(parse_axis(text));
  for (const std::string& text : arguments.random) {
    const Override assignment = parse_assignment(text, "--random");
    points.draws.push_back(parse_draw(model, assignment.key, assignment.value));
  }
  check_varied(arguments);
  const std::vector<std::string> samplings{"random", "lhs"};
  points.latin = !arguments.sampling.empty() && find_name(arguments.sampling, samplings, "--sampling") == 1;
  points.side_by_side = arguments.zip;
  points.runs = arguments.runs.value_or(1);
  points.seed = static_cast<std::uint64_t>(arguments.seed.value_or(1));
  points.prepare(model);
  return points;
}

SweepRequest request_of(const SweepArguments& arguments, const Model& model) {
  SweepRequest request{.points = points_of(arguments, model),
                       .measures = arguments.measures,
                       .after = arguments.after,
                       .section = arguments.section,
                       .follow = parse_follow(arguments.follow),
                       .threads = threads_from(arguments.threads, "--threads")};
  if (request.measures.empty() && request.section.empty())
    throw InvalidInput("nothing is measured; expected --measure NAME=EXPRESSION or --section WHAT");
  const bool has_file = !arguments.plot.empty() || (!arguments.output.empty() && arguments.output != "-");
  if (!request.section.empty() && !has_file)
    throw InvalidInput("--section needs a file for its points: -o FILE.csv or --plot FILE");
  return request;
}

/// Runs done, on a terminal.
class SweepProgress {
 public:
  explicit SweepProgress(long runs) : runs_(runs), shown_(isatty(STDERR_FILENO) != 0) {}
  void operator()(long done, long failed) const {
    if (shown_ && (done % 16 == 0 || done == runs_))
      fmt::print(stderr, "\r{} of {} runs{}", done, runs_, failed > 0 ? fmt::format(", {} ended early", failed) : "");
    if (shown_ && done == runs_) fmt::print(stderr, "\r\033[K");
  }

 private:
  long runs_;
  bool shown_;
};

/// The picture of a sweep, if one is asked for.
struct SweepPicture {
  std::optional<Picture> picture{};
  SweepPlot kind = SweepPlot::curve;
  int variable = 0;
};

SweepPicture picture_of(const SweepArguments& arguments, const SweepRequest& request, const Model& model) {
  SweepPicture result;
  if (arguments.plot.empty()) {
    if (!arguments.plot_type.empty() || !arguments.plot_variable.empty())
      throw InvalidInput("--plot-type and --plot-variable need --plot FILE");
    return result;
  }
  result.picture.emplace(arguments.plot);
  result.kind = sweep_plot(arguments.plot_type, request);
  if (!arguments.plot_variable.empty())
    result.variable = static_cast<int>(find_name(arguments.plot_variable, variable_names(model), "variable"));
  return result;
}

/// Returns the file.
std::string draw(const SweepPicture& drawn, const SweepRequest& request, const Model& model,
                 const SweepResult& result) {
  draw_sweep(*drawn.picture, drawn.kind, request, model, result, drawn.variable);
  return drawn.picture->file();
}

/// Standard output, where neither a table nor a picture is asked for.
std::string output_of(const SweepArguments& arguments) {
  return arguments.output.empty() && arguments.plot.empty() ? "-" : arguments.output;
}

/// Throws InvalidInput, FileError: see FilesOfCommand.
void check_files(const SweepArguments& arguments, const std::string& output, const SweepPicture& drawn) {
  if (!output.empty() && output != "-" && !output.ends_with(".csv"))
    throw InvalidInput(fmt::format("-o {}: unknown kind of file; expected a name that ends in .csv, or -", output));
  FilesOfCommand files;
  files.reads(find_model(arguments.model.model), "MODEL");
  files.writes_with_json(output, "-o");
  if (!arguments.section.empty() && !output.empty()) files.writes(section_file(output), "--section");
  if (drawn.picture) drawn.picture->declare(files, "--plot");
}

/// The runs that are made: with Follow::both two for each point.
long runs_of(const SweepRequest& request) {
  return request.points.size() * (request.follow == Follow::both ? 2 : 1);
}

bool is_solved(const SweepResult& result) {
  return std::all_of(result.runs.begin(), result.runs.end(),
                     [](const SweepRun& run) { return run.status == Status::solved; });
}

int execute(const SweepArguments& arguments) {
  const ModelReader reader(arguments.model);
  const Model model = reader({}, {}, "");
  SweepRequest request = request_of(arguments, model);
  request.read = [&reader](const std::vector<Override>& set) { return reader(set, {}, "--vary"); };
  const SweepPicture drawn = picture_of(arguments, request, model);
  const std::string output = output_of(arguments);
  check_files(arguments, output, drawn);
  check_run(model);
  catch_interrupts();
  const SweepProgress progress(runs_of(request));
  request.progress = progress;
  request.stop = interrupted;
  const SweepResult result = sweep(request);
  std::vector<std::string> files;
  if (!output.empty())
    files = write_sweep(output, request, model, result, sweep_provenance(request, model, arguments.model.set));
  if (drawn.picture && result.is_complete) files.push_back(draw(drawn, request, model, result));
  std::string text = sweep_text(request, model, result);
  for (const std::string& file : files) text += fmt::format("written  {}\n", file);
  if (!arguments.quiet) fmt::print(output == "-" ? stderr : stdout, "{}", text);
  if (!result.is_complete) fmt::print(stderr, "perp sweep: stopped before all runs were made\n");
  return is_solved(result) ? exit_solved : exit_no_answer;
}

Action configure_sweep(CommandLine& line) {
  const auto arguments = std::make_shared<SweepArguments>();
  arguments->model.add_to(line);
  line.add_option("--vary", arguments->vary,
                 "values of a parameter, of a variable's start or of run.h; repeatable: all combinations, the "
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
  line.add_option("--sampling", arguments->sampling, "random (default) or lhs: Latin hypercube").type_name("NAME");
  line.add_option("--measure", arguments->measures, "a number of each run, as of perp run; repeatable")
      .one_at_a_time()
      .type_name("NAME=EXPRESSION");
  line.add_option("--section", arguments->section,
                 "states of each run: every:T, before an EVENT, or FORMULA=VALUE:up|down; to FILE.section.csv")
      .type_name("WHAT");
  line.add_option("--after", arguments->after, "measures and sections begin at this time, a formula of parameters")
      .type_name("T");
  line.add_option("--follow", arguments->follow,
                 "start each run at the end of the one before on the last axis: up, down or both")
      .type_name("WAY");
  arguments->model.add_span_to(line);
  arguments->model.add_run_to(line, {"h"});
  arguments->model.add_scheme_to(line);
  line.add_option("-o,--output", arguments->output,
                 "write the table to FILE.csv (with FILE.csv.json); - is standard output, the default without --plot")
      .type_name("FILE");
  line.add_option("--plot", arguments->plot, "draw: FILE.svg, .png or .pdf").type_name("FILE");
  line.add_option("--plot-type", arguments->plot_type, "curve, heat, histogram or bifurcation; default: what fits")
      .type_name("TYPE");
  line.add_option("--plot-variable", arguments->plot_variable, "of a bifurcation diagram; default: the first")
      .type_name("X");
  line.add_option("--threads", arguments->threads,
                 "threads; default: one for each core. The result is the same for any number")
      .type_name("N");
  line.add_flag("--quiet", arguments->quiet, "no summary");
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
