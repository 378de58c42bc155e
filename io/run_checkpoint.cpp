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

/// What stands behind the digest, which it has.
std::string body_of(const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_directory(name, error)) throw FileError(fmt::format("--resume {}: is a directory", name));
  std::ifstream file(name, std::ios::binary);
  if (!file) throw FileError(fmt::format("--resume {}: cannot be read", name));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string start = first_line;
  if (!text.starts_with(start)) throw InvalidInput(fmt::format("--resume {}: it is no file of perp run --checkpoint", name));
  const std::size_t place = start.size() + digits + 1;
  if (text.size() < place || digest_of(std::string_view(text).substr(place)) != text.substr(start.size(), digits))
    throw InvalidInput(fmt::format("--resume {}: it is damaged: its digest is that of other bytes", name));
  return text.substr(place);
}

}  // namespace

RunIdentity run_identity(const Model& model, const Destinations& destinations) {
  return {identity_of_build(),
          {"scheme", model.run.scheme},
          {"step length h", fmt::format("{}", model.run.h)},
          {"span", fmt::format("[{}, {}]", model.run.span.start, model.run.span.end)},
          {"model, or with other values", fmt::format("{} {}", model.name, model.hash)},
          {"file of the states", destinations.data},
          {"times of the rows", fmt::format("{}", fmt::join(destinations.times, ","))},
          {"rows of every so many steps", fmt::format("{}", destinations.every)},
          {"compression", destinations.is_compressed ? "on" : "off"},
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
  std::string of_scheme = state;
  recorder.transfer(archive);
  archive(of_scheme);
  write_checkpoint(file_, identity_, archive.bytes());
}

void RunCheckpoint::go_on(IntegrateOptions& options, RunRecorder& recorder) const {
  Archive archive(read_checkpoint(file_, identity_));
  try {
    recorder.transfer(archive);
    archive(options.state.from);
    archive.expect_end();
  } catch (const ArchiveError& error) {
    throw InvalidInput(fmt::format("--resume {}: {}", file_, error.what()));
  }
}

std::pair<std::string, std::string> identity_of_build() {
  return {"build of perp", fmt::format("{} {}", PERP_VERSION, build_of_program())};
}

void write_checkpoint(const std::string& file, RunIdentity identity, const std::string& state) {
  Archive archive;
  std::string behind = state;
  archive(identity, behind);
  replace_whole(file, first_line + digest_of(archive.bytes()) + "\n" + archive.bytes());
}

std::string read_checkpoint(const std::string& file, const RunIdentity& identity) {
  Archive archive(body_of(file));
  RunIdentity found;
  std::string state;
  archive(found);
  for (std::size_t k = 0; k < identity.size(); ++k)
    if (k >= found.size() || found[k] != identity[k])
      throw InvalidInput(fmt::format("--resume {}: it is of another {}: {}; this run has {}", file, identity[k].first,
                                     k < found.size() ? found[k].second : "none", identity[k].second));
  archive(state);
  return state;
}

}  // namespace perp::io
