#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/sweep_arguments.hpp>
#include <perp/cli/input/threads.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/sweep/spaced_values.hpp>

namespace perp::cli {

using namespace io;

namespace {

SweepAxis parse_axis(const std::string& text) {
  const Override assignment = parse_assignment(text, "--vary");
  const std::string what = "--vary " + assignment.key;
  if (assignment.value.find(':') != std::string::npos) return {assignment.key, spaced_values(assignment.value, what)};
  SweepAxis axis{assignment.key, {}};
  for (const std::string& value : split_list(assignment.value)) axis.values.push_back(parse_number(value, what));
  return axis;
}

/// The options of random values. Throws InvalidInput.
void check_draws(const SweepArguments& arguments) {
  const bool draws = arguments.runs || arguments.seed || !arguments.sampling.empty();
  if (arguments.random.empty() && draws)
    throw InvalidInput("--runs, --seed and --sampling are of --random, which is not given");
  if (!arguments.random.empty() && arguments.vary.empty() && !arguments.runs)
    throw InvalidInput("--random draws a value for each run, and --runs is missing; expected --runs N");
  if (arguments.runs.value_or(1) < 1) throw InvalidInput("--runs: expected a number from 1 on");
  if (arguments.seed.value_or(1) < 0) throw InvalidInput("--seed: expected a whole number from 0 on");
}

/// Throws InvalidInput where options do not fit each other.
void check_varied(const SweepArguments& arguments) {
  if (arguments.vary.empty() && arguments.random.empty())
    throw InvalidInput("nothing is varied; expected --vary NAME=FIRST:LAST:COUNT or --random NAME=normal(m,s)");
  check_draws(arguments);
  if (arguments.zip && arguments.vary.size() < 2)
    throw InvalidInput("--zip puts several --vary side by side; expected two");
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
  points.sampling = parse_sampling(arguments.sampling, "--sampling");
  points.side_by_side = arguments.zip;
  points.runs = arguments.runs.value_or(1);
  points.seed = static_cast<std::uint64_t>(arguments.seed.value_or(1));
  points.prepare(model);
  check_given_once(points, arguments.model.assignments());
  check_given_once(points, arguments.model.of_flags());
  return points;
}

/// Throws InvalidInput.
long whole(const std::string& text, const std::string& slice) {
  const double number = parse_number(text, "--slice " + slice);
  if (number != std::floor(number) || std::abs(number) > 1e9)
    throw InvalidInput(fmt::format("--slice {}: {} is no whole number; expected k/N, e.g. 3/16", slice, text));
  return static_cast<long>(number);
}

/// The variable of a job array. Throws InvalidInput.
long of_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) throw InvalidInput(fmt::format("--slice auto: {} is not set; expected k/N", name));
  return whole(text, fmt::format("auto ({})", name));
}

/// k/N, or auto: the task of a Slurm array. Throws InvalidInput.
void read_slice(const std::string& text, SweepChunks& chunks) {
  if (text.empty()) return;
  if (text == "auto") {
    const long first = std::getenv("SLURM_ARRAY_TASK_MIN") == nullptr ? 1 : of_environment("SLURM_ARRAY_TASK_MIN");
    chunks.slices = of_environment("SLURM_ARRAY_TASK_COUNT");
    chunks.slice = of_environment("SLURM_ARRAY_TASK_ID") - first + 1;
  } else {
    const std::size_t bar = text.find('/');
    if (bar == std::string::npos) throw InvalidInput(fmt::format("--slice {}: expected k/N, e.g. 3/16, or auto", text));
    chunks.slice = whole(text.substr(0, bar), text);
    chunks.slices = whole(text.substr(bar + 1), text);
  }
  if (chunks.slices < 1 || chunks.slice < 1 || chunks.slice > chunks.slices)
    throw InvalidInput(fmt::format("--slice {}: slice {} of {}; expected k/N with k from 1 to N", text, chunks.slice,
                                   chunks.slices));
}

/// States that are kept, for the table or for a picture of them. Throws InvalidInput.
void read_kept(const SweepArguments& arguments, const Model& model, SweepRequest& request) {
  constexpr int drawn_times = 201;  // a picture without --times: so many, evenly over the span
  const bool is_drawn = arguments.plot_type == "fan";
  request.keeps = arguments.keep || is_drawn;
  if (!arguments.times.empty()) {
    if (!request.keeps) throw InvalidInput("--times are those of --keep or --plot-type fan, which are not given");
    request.times = parse_times(arguments.times);
  }
  if (request.times.empty() && is_drawn) request.times = evenly_spaced(model.run.span.start, model.run.span.end, drawn_times);
  if (arguments.keep && !arguments.has_file())
    throw InvalidInput("--keep needs a file for the states of the runs: -o FILE.csv or FILE.h5");
}

/// Throws InvalidInput where a section lacks, or has no place for its points.
void check_section(const SweepArguments& arguments, const SweepRequest& request) {
  const bool has_section = !request.section.empty();
  if (arguments.skip && (!has_section || request.skip < 0))
    throw InvalidInput("--skip is the number of points, from 0 on, that the section of each run leaves out; expected --section WHAT");
  const bool has_file = !arguments.plot.empty() || arguments.has_file();
  if (has_section && !has_file) throw InvalidInput("--section needs a file for its points: -o FILE.csv or --plot FILE");
}

}  // namespace

SweepRequest request_of(const SweepArguments& arguments, const Model& model) {
  SweepRequest request{.points = points_of(arguments, model),
                       .measures = arguments.measures,
                       .after = arguments.after,
                       .extends_span = arguments.model.run.at("t").empty(),
                       .section = arguments.section,
                       .skip = arguments.skip.value_or(0),
                       .follow = parse_follow(arguments.follow, "--follow"),
                       .ends_at_failure = parse_ends_at_failure(arguments.early_end, "--fail"),
                       .threads = threads_from(arguments.threads, "--threads")};
  read_kept(arguments, model, request);
  if (request.measures.empty() && request.section.empty() && !request.keeps)
    throw InvalidInput("nothing is measured; expected --measure NAME=EXPRESSION, --section WHAT or --keep");
  check_section(arguments, request);
  read_slice(arguments.slice, request.chunks);
  return request;
}

}  // namespace perp::cli
