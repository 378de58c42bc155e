#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <perp/io/files/file_identity.hpp>

namespace perp::io {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as the kernel follows

std::string identity_of(const struct stat& status) {
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

/// Empty for devices: what is written to /dev/null twice is not mixed up.
std::string identity_of(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) == 0)
    return S_ISCHR(status.st_mode) ? std::string() : identity_of(status);
  const fs::path target(link_target(file));
  if (stat(target.parent_path().c_str(), &status) != 0) return target.string();
  return identity_of(status) + "/" + target.filename().string();
}

/// Does this name lead to the file, pipe or terminal behind a descriptor?
bool leads_to(const std::string& file, int descriptor) {
  struct stat named {}, open {};
  if (stat(file.c_str(), &named) != 0 || fstat(descriptor, &open) != 0) return false;
  if (S_ISCHR(open.st_mode) && isatty(descriptor) == 0) return false;
  return identity_of(named) == identity_of(open);
}

/// Throws FileError with what the system says.
void check_writable(const std::string& file, const std::string& what) {
  const auto fail = [&](int error) {
    throw FileError(
        fmt::format("{} {} cannot be written: {}", what, file, std::strerror(error)));
  };
  struct stat status {};
  if (stat(file.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail(EISDIR);
    if (access(file.c_str(), W_OK) != 0) fail(errno);
    return;
  }
  if (errno != ENOENT) fail(errno);
  if (file.ends_with('/')) fail(EISDIR);
  const std::string folder = fs::path(link_target(file)).parent_path().string();
  if (stat(folder.c_str(), &status) != 0 || access(folder.c_str(), W_OK | X_OK) != 0) fail(errno);
}

}  // namespace

std::string link_target(const std::string& name) {
  std::error_code error;
  fs::path path = fs::absolute(name, error);
  for (int k = 0; k < most_links && fs::is_symlink(path, error); ++k)
    path = path.parent_path() / fs::read_symlink(path, error);
  const fs::path folder = fs::canonical(path.parent_path(), error);
  return error ? path.string() : (folder / path.filename()).string();
}

bool is_standard_output(const std::string& name) { return leads_to(name, STDOUT_FILENO); }

void FilesOfCommand::reads(const std::string& file, const std::string& what) {
  struct stat status {}, stream {};
  if (stat(file.c_str(), &status) != 0) return;
  const std::string identity = identity_of(file);
  if (identity.empty()) return;
  for (const Named& output : outputs_)
    if (output.identity == identity)
      throw InvalidInput(fmt::format("{} {} is the file of {} too, which is read; expected another",
                                     output.what, output.file, what));
  if (S_ISREG(status.st_mode) && fstat(STDOUT_FILENO, &stream) == 0 &&
      identity_of(stream) == identity)
    throw InvalidInput(fmt::format(
        "standard output goes to {}, the file of {}, which is read; expected another", file, what));
  inputs_.push_back({what, file, identity});
}

/// Throws InvalidInput if the file is read, or written already.
void FilesOfCommand::check_new(const std::string& identity, const std::string& file, const std::string& what) const {
  if (identity.empty()) return;
  for (const Named& input : inputs_)
    if (input.identity == identity)
      throw InvalidInput(
          fmt::format("{} {} is the file of {} too, which is read; expected another", what, file,
                      input.what));
  for (const Named& output : outputs_)
    if (output.identity == identity)
      throw InvalidInput(fmt::format("{} {} and {} {} are the same file; expected two",
                                     output.what, output.file, what, file));
}

void FilesOfCommand::writes(const std::string& file, const std::string& what) {
  if (file.empty()) return;
  if (file == "-") {
    if (!on_standard_output_.empty())
      throw InvalidInput(fmt::format("{} - and {} - are both standard output; expected a file for one of them", on_standard_output_, what));
    on_standard_output_ = what;
    return;
  }
  check_streams(file, what);
  const std::string identity = identity_of(file);
  check_new(identity, file, what);
  check_writable(file, what);
  outputs_.push_back({what, file, identity});
}

void FilesOfCommand::writes_with_json(const std::string& file, const std::string& what) {
  writes(file, what);
  if (!file.empty() && file != "-" && fs::path(file).extension() == ".csv")
    writes(file + ".json", what);
}

void FilesOfCommand::check_streams(const std::string& file, const std::string& what) const {
  if (text_ == Text::none) return;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    if (leads_to(file, stream))
      throw InvalidInput(fmt::format("{} {} is standard {}, where other text goes; expected a file",
                                     what, file,
                                     stream == STDOUT_FILENO ? "output" : "error"));
}

}  // namespace perp::io
