#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>

#include <perp/analysis/run/columns.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/enclosures/enclose_command.hpp>
#include <perp/cli/enclosures/enclosure_checkpoint.hpp>
#include <perp/cli/enclosures/enclosure_plot.hpp>
#include <perp/cli/enclosures/enclosure_run.hpp>
#include <perp/cli/enclosures/enclosure_summary.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/model_options.hpp>
#include <perp/cli/input/threads.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/io/enclosures/proof_json.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/plot/picture.hpp>

namespace perp::cli {
namespace {

constexpr std::size_t most_drawn = 8;      // variables in one picture, unless the user names them
constexpr int rows_of_a_picture = 600;     // about its width

/// Every h from the start on, and the end.
std::vector<double> spaced_times(const Span& span, double h) {
  std::vector<double> times;
  for (int k = 0;; ++k) {
    const double t = span.start + k * h;
    if (!(t < span.end)) break;
    times.push_back(t);
  }
  times.push_back(span.end);
  return times;
}

/// The times of the rows. Says which of them are not the decimal numbers that were written.
std::vector<double> times_of(const EncloseArguments& arguments, const enclosure::ExactModel& model) {
  const Span span = model.span;
  if (arguments.times.empty()) return spaced_times(span, model.model.run.h);
  std::vector<std::string> texts;
  std::vector<double> times = parse_times(arguments.times, &texts);
  int rounded = 0;
  std::string first;
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (times[k] < span.start || times[k] > span.end)
      throw InvalidInput(fmt::format("--times: {} is outside of the run's span [{}, {}]", times[k],
                                     span.start, span.end));
    if (enclosure::enclose_decimal(texts[k]).is_point()) continue;
    if (++rounded == 1)
      first = fmt::format("{} is {}", texts[k], enclosure::exact_decimal(times[k]));
  }
  if (rounded > 0)
    fmt::print(stderr, "{}: {} of {} times are no doubles and are rounded: {}\n",
               arguments.program, rounded, times.size(), first);
  return times;
}

/// Throws where a paving would be the set itself.
void check_pieces(const enclosure::EncloseOptions& options, const enclosure::ExactModel& model) {
  if (!options.paving) return;
  if (options.pieces == 1)
    throw InvalidInput(
        "--pieces asks for the rows of several pieces, --pieces-max 1 for one; expected one of "
        "them");
  if (model.set_names().empty())
    throw InvalidInput(
        "--pieces asks for the rows of several pieces, but starts and parameters are one point; "
        "expected an interval, as in --set NAME=[LO,HI]");
}

enclosure::EncloseOptions options_of(const EncloseArguments& arguments) {
  enclosure::EncloseOptions options;
  options.step.order = arguments.order;
  if (!arguments.tol.empty()) {
    options.step.share = parse_number(arguments.tol, "--tol");
    if (!(options.step.share > 0))
      throw InvalidInput(fmt::format("--tol is {}; expected a number > 0", arguments.tol));
  }
  if (arguments.pieces < 1)
    throw InvalidInput(
        fmt::format("--pieces-max is {}; expected a number from 1 on", arguments.pieces));
  options.pieces = arguments.pieces;
  options.paving = arguments.by_pieces;
  options.threads = threads_from(arguments.threads, "--threads");
  options.tube = !arguments.tube.empty();
  options.proof = !arguments.proof.empty();
  return options;
}

struct Drawing {
  std::optional<Picture> picture{};
  std::vector<int> variables{};
};

Drawing drawing_of(const EncloseArguments& arguments, const enclosure::ExactModel& model) {
  Drawing drawing;
  if (arguments.plot.empty()) {
    if (!arguments.plot_variables.empty())
      throw InvalidInput("--plot-variables needs --plot FILE");
    return drawing;
  }
  drawing.picture.emplace(arguments.plot);
  if (!arguments.plot_variables.empty()) {
    for (const std::string& name : split_list(arguments.plot_variables))
      drawing.variables.push_back(
          static_cast<int>(find_name(name, model.variables, "variable")));
    return drawing;
  }
  drawing.variables.resize(std::min(model.variables.size(), most_drawn));
  std::iota(drawing.variables.begin(), drawing.variables.end(), 0);
  if (model.variables.size() > most_drawn)
    fmt::print(stderr,
               "{}: the picture shows the first {} of {} variables; choose others with "
               "--plot-variables\n",
               arguments.program, most_drawn, model.variables.size());
  return drawing;
}

void check_files(const EncloseArguments& arguments, const Model& model, const std::string& output,
                 const Drawing& drawing) {
  FilesOfCommand files(!arguments.quiet || output == "-" ? FilesOfCommand::Text::standard_output
                                                         : FilesOfCommand::Text::none);
  arguments.model.declare(files, model);
  if (!arguments.times.empty()) files.reads(arguments.times, "--times");
  files.writes_with_json(output, "-o");
  files.writes(arguments.events, "--events");
  files.writes(arguments.tube, "--tube");
  files.writes(arguments.proof, "--proof");
  declare_checkpoint(arguments, files);
  if (drawing.picture) drawing.picture->declare(files, "--plot");
}

/// The times of the rows, and those that a picture needs besides.
std::vector<double> with_picture(const std::vector<double>& times, const Span& span) {
  std::vector<double> all = times;
  for (int k = 0; k <= rows_of_a_picture; ++k)
    all.push_back(std::min(span.end,
                           span.start + (span.end - span.start) * k / rows_of_a_picture));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<std::string> write_tables(const EncloseArguments& arguments, const std::string& output,
                                      const EnclosureRun& run,
                                      const enclosure::EncloseOptions& options) {
  std::vector<std::string> files;
  const std::string made_by = enclosure_provenance(run, options, arguments.model.assignment_texts()).dump(1);
  if (is_hdf5(output)) {
    write_enclosure_hdf5(output, run, options.tube, made_by);
    files.push_back(output);
  } else if (!output.empty()) {
    write_rows_csv(output, run);
    if (output != "-") {
      write_file(output + ".json", made_by + "\n");
      files.insert(files.end(), {output, output + ".json"});
    }
  }
  if (!arguments.events.empty()) {
    write_events_csv(arguments.events, run);
    files.push_back(arguments.events);
  }
  if (!arguments.tube.empty()) {
    write_tube_csv(arguments.tube, run);
    files.push_back(arguments.tube);
  }
  if (!arguments.proof.empty()) {
    write_proof(arguments.proof, run.model, run.result, options.step.order);
    files.push_back(arguments.proof);
  }
  return files;
}

/// The picture, where one is asked for and there are rows, joins the files. What it failed by: the summary comes first.
std::exception_ptr draw_picture(const Drawing& drawing, const EnclosureRun& run, std::vector<std::string>& files) {
  if (!drawing.picture || run.result.rows.empty()) return nullptr;
  try {
    draw_enclosure(*drawing.picture, run, drawing.variables);
    files.push_back(drawing.picture->file());
  } catch (const std::exception&) {
    return std::current_exception();
  }
  return nullptr;
}

/// The exit status; says where the solution was lost, unless the summary beside the messages has said so.
int status_of(const EncloseArguments& arguments, const EnclosureRun& run, std::FILE* stream) {
  if (!run.result.lost) return exit_solved;
  if (arguments.quiet || stream == stdout)
    fmt::print(stderr, "{}: lost: {}\n", run.model.model.file, text_of(run.model, *run.result.lost).note);
  return exit_no_answer;
}

}  // namespace

int enclose_model(EncloseArguments arguments) {
  arguments.model.exact = true;
  arguments.model.run_keys = {"h", "scheme", "t"};
  const enclosure::ExactModel model(read(arguments.model));
  enclosure::EncloseOptions options = options_of(arguments);
  check_pieces(options, model);
  const std::string output =
      arguments.output.empty() && arguments.plot.empty() ? "-" : arguments.output;
  io::is_hdf5(output);
  const Drawing drawing = drawing_of(arguments, model);
  check_files(arguments, model.model, output, drawing);
  const std::vector<double> times = times_of(arguments, model);
  options.times = drawing.picture ? with_picture(times, model.span) : times;

  set_checkpoints(arguments, model, options.times, options);
  const auto begin = std::chrono::steady_clock::now();
  const enclosure::Enclosure result = model.enclose(options);
  EnclosureRun run{model, result, times};
  run.by_pieces = options.paving;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  std::vector<std::string> files = write_tables(arguments, output, run, options);
  const std::exception_ptr failure = draw_picture(drawing, run, files);
  std::FILE* stream = output == "-" ? stderr : stdout;
  if (!arguments.quiet) print_enclosure(stream, run, files);
  if (failure) std::rethrow_exception(failure);
  return status_of(arguments, run, stream);
}

namespace {

Action configure_enclose(CommandLine& line) {
  const auto arguments = std::make_shared<EncloseArguments>();
  arguments->model.add_to(line);
  arguments->model.add_span_to(line);
  line.add_option("--times", arguments->times,
                 "rows at these times (a list, or a file of times); default: every run.h")
      .type_name("T,T,...");
  line.add_option("-o,--output", arguments->output,
                 "write the rows to FILE.csv (with FILE.csv.json) or FILE.h5; - is standard "
                 "output, the default without --plot")
      .type_name("FILE");
  line.add_option("--events", arguments->events, "write the events to FILE as CSV")
      .type_name("FILE");
  line.add_option("--tube", arguments->tube,
                 "write boxes that hold for whole intervals of time, without gaps, to FILE as CSV")
      .type_name("FILE");
  line.add_option("--proof", arguments->proof,
                 "write every step with what proves it to FILE as JSON, for scripts/check_proof")
      .type_name("FILE");
  line.add_option("--plot", arguments->plot,
                 "draw bands over time: FILE.svg, .png or .pdf (with its scripts for gnuplot and matplotlib and its data beside it), or "
                 ".html, a page to zoom in")
      .type_name("FILE");
  line.add_option("--plot-variables", arguments->plot_variables, "variables to draw; default: all")
      .type_name("X,Y,...");
  line.add_option("--order", arguments->order, "degree of the Taylor polynomials, from 1 to 60")
      .type_name("K")
      .default_text(fmt::format("{}", arguments->order));
  line.add_option("--tol", arguments->tol,
                 "share of a variable that the last terms of its polynomial may have; bounds hold "
                 "whatever stands here (default 1e-17)")
      .type_name("NUMBER");
  line.add_flag("--pieces", arguments->by_pieces,
                "write and draw the rows of each piece of the set, with its intervals of starts "
                "and parameters");
  line.add_option("--pieces-max", arguments->pieces,
                 "most pieces into which the set of starts and parameters is split")
      .type_name("N")
      .default_text(fmt::format("{}", arguments->pieces));
  line.add_option("--threads", arguments->threads,
                 "threads; default: one for each core. The result is the same for any number")
      .type_name("N");
  add_checkpoints_to(line, *arguments);
  line.add_flag("--quiet", arguments->quiet, "no summary");
  return [arguments] { return enclose_model(*arguments); };
}

}  // namespace

extern const Command enclose;
const Command enclose{
    "enclose", "bounds that are a proof: all solutions of all starts and parameters",
    "Numbers of the file are the decimal numbers that stand there; parameters and starts may be\n"
    "intervals. Exit status 3: the proof ends before the span does (everything proved is "
    "written).\n\n"
    "examples:\n"
    "  perp enclose tacoma --times 5,10,15\n"
    "  perp enclose model.toml --set m=[1.1,1.21] --set \"x1(0)=5 +- 0.1\" -o rows.csv --events "
    "events.csv\n"
    "  perp enclose model.toml --plot bands.svg",
    configure_enclose};

}  // namespace perp::cli
