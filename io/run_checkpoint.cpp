// Files from which runs go on: called by `perp run --checkpoint` and `--resume`.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <perp/core/base/digest.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/run_checkpoint.hpp>

namespace perp::io {
namespace {

constexpr const char* first_line = "perp checkpoint\n";
constexpr std::size_t digits = 16;  ///< of a digest

std::string digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.text();
}

/// The bytes of states are those of one build.
std::string build_of_program() {
  std::ifstream program("/proc/self/exe", std::ios::binary);
  return digest_of(std::string(std::istreambuf_iterator<char>(program), {}));
}

/// The file with this text in place of what it was, whatever stops the program. Beside it stands FILE.new meanwhile, of
/// one name: who was stopped then leaves no more than that, which the next one overwrites.
void replace_whole(const std::string& name, const std::string& text) {
  const std::string next = name + ".new";
  OutputFile file(next, Writing::rows);
  file.buffer().append(text.data(), text.data() + text.size());
  file.sync();
  file.close();
  std::error_code error;
  std::filesystem::rename(next, name, error);
  if (error) throw FileError(fmt::format("{} cannot be written: {}", name, error.message()));
}

}  // namespace

RunIdentity run_identity(const Model& model, const Destinations& destinations) {
  return {{"build of perp", fmt::format("{} {}", PERP_VERSION, build_of_program())},
          {"scheme", model.run.scheme},
          {"step length h", fmt::format("{}", model.run.h)},
          {"span", fmt::format("[{}, {}]", model.run.span.start, model.run.span.end)},
          {"model, or with other values", fmt::format("{} {}", model.name, model.hash)},
          {"file of the states", destinations.data},
          {"times of the rows", fmt::format("{}", fmt::join(destinations.times, ","))},
          {"picture", fmt::format("{} in [{}, {}]", fmt::join(destinations.plotted, ","), destinations.plot_window.start,
                                  destinations.plot_window.end)}};
}

void RunCheckpoint::write_every(double seconds, IntegrateOptions& options, RunRecorder& recorder) {
  written_ = std::chrono::steady_clock::now();
  options.state.due = [this, pause = std::chrono::duration<double>(seconds)] {
    return std::chrono::steady_clock::now() - written_ >= pause;
  };
  options.state.keep = [this, &recorder](const std::string& state) {
    write(state, recorder);
    written_ = std::chrono::steady_clock::now();
  };
}

void RunCheckpoint::write(const std::string& state, RunRecorder& recorder) const {
  Archive archive;
  RunIdentity identity = identity_;
  std::string of_scheme = state;
  archive(identity);
  recorder.transfer(archive);
  archive(of_scheme);
  replace_whole(file_, first_line + digest_of(archive.bytes()) + "\n" + archive.bytes());
}

/// What stands behind the digest, which it has.
std::string RunCheckpoint::body() const {
  std::error_code error;
  if (std::filesystem::is_directory(file_, error)) throw FileError(fmt::format("--resume {}: is a directory", file_));
  std::ifstream file(file_, std::ios::binary);
  if (!file) throw FileError(fmt::format("--resume {}: cannot be read", file_));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string start = first_line;
  if (!text.starts_with(start)) throw InvalidInput(fmt::format("--resume {}: it is no file of perp run --checkpoint", file_));
  const std::size_t place = start.size() + digits + 1;
  if (text.size() < place || digest_of(std::string_view(text).substr(place)) != text.substr(start.size(), digits))
    throw InvalidInput(fmt::format("--resume {}: it is damaged: its digest is that of other bytes", file_));
  return text.substr(place);
}

void RunCheckpoint::go_on(IntegrateOptions& options, RunRecorder& recorder) const {
  Archive archive(body());
  RunIdentity found;
  archive(found);
  for (std::size_t k = 0; k < identity_.size(); ++k)
    if (k >= found.size() || found[k] != identity_[k])
      throw InvalidInput(fmt::format("--resume {}: it is of another {}: {}; this run has {}", file_, identity_[k].first,
                                     k < found.size() ? found[k].second : "none", identity_[k].second));
  try {
    recorder.transfer(archive);
    archive(options.state.from);
    archive.expect_end();
  } catch (const ArchiveError& error) {
    throw InvalidInput(fmt::format("--resume {}: {}", file_, error.what()));
  }
}

}  // namespace perp::io
