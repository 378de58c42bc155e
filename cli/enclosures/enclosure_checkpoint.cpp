// Enclosures that are kept and gone on with.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <chrono>
#include <memory>

#include <perp/cli/enclosures/enclosure_checkpoint.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/run_checkpoint.hpp>

namespace perp::cli {
namespace {

io::RunIdentity identity_of(const EncloseArguments& arguments, const enclosure::ExactModel& model, const std::vector<double>& times,
                            const enclosure::EncloseOptions& options) {
  return {io::identity_of_build(),
          {"model, or with other values", fmt::format("{} {}", model.model.name, model.model.hash)},
          {"span", fmt::format("[{}, {}]", model.span.start, model.span.end)},
          {"times of the rows", fmt::format("{}", fmt::join(times, ","))},
          {"order", fmt::format("{}", options.step.order)},
          {"tol", fmt::format("{}", options.step.share)},
          {"number of pieces", fmt::format("{}{}", options.pieces, options.paving ? ", each with its rows" : "")},
          {"tube", arguments.tube.empty() ? "none" : "--tube"}};
}

}  // namespace

void add_checkpoints_to(CommandLine& line, EncloseArguments& arguments) {
  line.add_option("--checkpoint", arguments.checkpoint,
                 "keep what is proved of each piece in FILE.checkpoint, beside -o or --plot, every so often: 10s, 5min")
      .type_name("TIME");
  line.add_option("--resume", arguments.resume,
                 "go on from a file of --checkpoint, with the bits of an undisturbed run; the other arguments as there")
      .type_name("FILE");
}

std::string kept_file(const EncloseArguments& arguments) {
  return (arguments.output.empty() || arguments.output == "-" ? arguments.plot : arguments.output) + ".checkpoint";
}

namespace {

/// The files of --checkpoint, which stand beside those that are written.
void declare_written(const EncloseArguments& arguments, io::FilesOfCommand& files) {
  const std::string file = kept_file(arguments);
  parse_duration(arguments.checkpoint, "--checkpoint");
  if (file == ".checkpoint") throw InvalidInput("--checkpoint keeps the enclosure beside a file: -o FILE.csv, -o FILE.h5 or --plot FILE");
  for (const std::string& written : {file, file + ".new"}) files.writes(written, "--checkpoint");
}

}  // namespace

void declare_checkpoint(const EncloseArguments& arguments, io::FilesOfCommand& files) {
  if (arguments.checkpoint.empty() && arguments.resume.empty()) return;
  if (!arguments.proof.empty()) throw InvalidInput("--proof needs every step: it goes without --checkpoint and --resume");
  if (!arguments.checkpoint.empty()) declare_written(arguments, files);
  const bool is_own = !arguments.checkpoint.empty() && arguments.resume == kept_file(arguments);
  if (!arguments.resume.empty() && !is_own) files.reads(arguments.resume, "--resume");
}

void set_checkpoints(const EncloseArguments& arguments, const enclosure::ExactModel& model, const std::vector<double>& times,
                     enclosure::EncloseOptions& options) {
  if (arguments.checkpoint.empty() && arguments.resume.empty()) return;
  using Clock = std::chrono::steady_clock;
  const io::RunIdentity identity = identity_of(arguments, model, times, options);
  if (!arguments.resume.empty()) options.state.from = io::read_checkpoint(arguments.resume, identity);
  if (arguments.checkpoint.empty()) return;
  const std::chrono::duration<double> pause(parse_duration(arguments.checkpoint, "--checkpoint"));
  const auto last = std::make_shared<Clock::time_point>(Clock::now());
  options.state.due = [pause, last] { return Clock::now() - *last >= pause; };
  options.state.keep = [file = kept_file(arguments), identity, last](const std::string& state) {
    io::write_checkpoint(file, identity, state);
    *last = Clock::now();
  };
}

}  // namespace perp::cli
