#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <perp/core/base/error.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/plot/picture.hpp>

extern char** environ;

namespace perp::io {
namespace {

/// All that comes out of a pipe until its other end is closed.
std::string read_all(int pipe_end) {
  std::string output;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(pipe_end, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return output;
    output.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// Runs `gnuplot SCRIPT` in a folder without a shell. Returns what it wrote on standard error;
/// `status` is its exit status.
std::string run_gnuplot(const std::string& folder, const std::string& script, int& status) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
    throw FileError(fmt::format("gnuplot cannot be started: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  std::string program = "gnuplot";
  std::string argument = "./" + script;  // never taken for an option
  std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) {
    close(pipe_ends[0]);
    if (error == ENOENT)
      throw FileError(
          "gnuplot was not found; install the package gnuplot-nox to have pictures drawn");
    throw FileError(fmt::format("gnuplot cannot be started: {}", std::strerror(error)));
  }
  std::string output = read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

/// The line of gnuplot's output that says what is wrong.
std::string complaint(const std::string& output) {
  std::string last;
  std::size_t from = 0;
  while (from < output.size()) {
    const std::size_t end = std::min(output.find('\n', from), output.size());
    const std::string line = output.substr(from, end - from);
    if (line.find_first_not_of(" ^\t\r") != std::string::npos) last = line;
    from = end + 1;
  }
  return last.empty() ? "without a message" : last;
}

/// Throws InvalidInput.
void check_format(const std::string& file, const std::string& format) {
  if (format != ".svg" && format != ".png" && format != ".pdf" && format != ".html")
    throw InvalidInput(fmt::format("picture '{}' has an unknown format; expected .svg, .png, .pdf or .html", file));
}

}  // namespace

Picture::Picture(const std::string& file) : file_(file) {
  const std::filesystem::path path(file);
  format_ = path.extension().string();
  stem_ = path.stem().string();
  if (format_.empty() && stem_.starts_with('.'))
    throw InvalidInput(fmt::format("picture '{}' has no name before its ending; expected one, as in run{}", file, stem_));
  folder_ = path.has_parent_path() ? path.parent_path().string() : ".";
  check_format(file, format_);
  const bool plain =
      std::all_of(file.begin(), file.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7F; });
  if (!plain) throw InvalidInput("the name of a picture must not hold control characters");
  std::error_code error;
  if (!std::filesystem::is_directory(folder_, error))
    throw FileError(fmt::format("{} cannot be written: there is no folder {}", file, folder_));
}

void Picture::declare(FilesOfCommand& files, const std::string& option) const {
  const std::filesystem::path folder(folder_);
  files.writes(file_, option);
  if (is_page()) return;
  files.writes((folder / script_name()).string(), option);
  files.writes((folder / data_name()).string(), option);
  files.writes((folder / matplotlib_name()).string(), option);
}

Picture Picture::sibling(const std::string& ending) const {
  return Picture((std::filesystem::path(file_).parent_path() / (stem_ + "_" + ending + format_)).string());
}

std::string Picture::preamble(int width, int height) const {
  std::string terminal;
  if (format_ == ".svg")
    terminal =
        fmt::format("svg size {},{} font 'DejaVu Sans,13' background rgb 'white'", width, height);
  else if (format_ == ".png")
    terminal = fmt::format(
        "pngcairo size {},{} font 'DejaVu Sans,13' fontscale 1.5 linewidth 2 pointscale 2 "
        "background rgb 'white'",
        2 * width, 2 * height);
  else
    terminal = fmt::format("pdfcairo size {:.2f}cm,{:.2f}cm font 'DejaVu Sans,10'", 0.02 * width,
                           0.02 * height);
  return fmt::format(
      "# Written by perp; change what you like and draw again with: gnuplot {}\n"
      "set encoding utf8\nset terminal {}\nset output {}\ndata = {}\n\n",
      script_name(), terminal, gnuplot_text(stem_ + format_), gnuplot_text(data_name()));
}

void Picture::draw(const std::string& script, const std::string& data) const {
  const std::filesystem::path folder(folder_);
  write_file((folder / data_name()).string(), data);
  write_file((folder / script_name()).string(), script);
  int status = 0;
  std::string output;
  try {
    output = run_gnuplot(folder_, script_name(), status);
  } catch (const FileError& error) {
    throw FileError(
        fmt::format("{}; the script {} is kept", error.what(), (folder / script_name()).string()));
  }
  if (status != 0)
    throw FileError(fmt::format("gnuplot failed on {}: {}", (folder / script_name()).string(),
                                complaint(output)));
  check_complete();
}

void Picture::write_page(const std::string& text) const { write_file(file_, text); }

void Picture::write_matplotlib(const std::string& program) const {
  write_file((std::filesystem::path(folder_) / matplotlib_name()).string(), program);
}

/// gnuplot does not say that the disk is full; a whole picture ends with a mark.
void Picture::check_complete() const {
  constexpr std::streamoff tail_size = 64;
  const char* mark = format_ == ".svg" ? "</svg>" : format_ == ".png" ? "IEND" : "%%EOF";
  std::ifstream stream(file_, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? std::max<std::streamoff>(stream.tellg(), 0) : 0;
  stream.seekg(std::max<std::streamoff>(size - tail_size, 0));
  const std::string tail{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (std::filesystem::is_regular_file(file_) && tail.find(mark) == std::string::npos)
    throw FileError(fmt::format("{} is cut short; is the disk full?", file_));
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : name + " [" + unit + "]";
}

std::string gnuplot_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "''";
    else
      quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  return quoted + "'";
}

std::string data_block(const std::string& comment, const std::string& rows) {
  return "# " + comment + "\n" + (rows.empty() ? "NaN NaN NaN NaN\n" : rows) + "\n\n";
}

std::string axis_range(double low, double high) {
  const double size = std::max(std::abs(low), std::abs(high));
  if (!(size > 0) || high - low > 1e-9 * size) return "[*:*]";
  const double middle = (low + high) / 2;
  return fmt::format("[{}:{}]", middle - 0.1 * size, middle + 0.1 * size);
}

const char* palette_of_cells() { return "set palette defined (0 '#440154', 0.25 '#3b528b', 0.5 '#21918c', 0.75 '#5ec962', 1 '#fde725')\n"; }

const char* curve_colour(std::size_t k) {
  static constexpr std::array<const char*, 7> colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#000000", "#56B4E9", "#E69F00"};
  return colours[k % colours.size()];
}

}  // namespace perp::io
