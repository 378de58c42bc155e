#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/files/output_file.hpp>

namespace perp::io {
namespace {

constexpr std::size_t flush_size = 1U << 16U;
constexpr int records_per_look_at_the_clock = 64;
constexpr std::chrono::milliseconds flush_interval{500};

[[noreturn]] void fail(const std::string& name) {
  // A reader that has gone away is no fault of the file.
  if (errno == EPIPE) throw ClosedPipe(name + " is a pipe that nobody reads");
  throw FileError(fmt::format("{} cannot be written: {}", name, std::strerror(errno)));
}

/// The permissions of a new file, which depend on the process's mask.
mode_t permissions_of_new_file() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666U & ~mask;
}

/// Is the file a place that another one can take: a regular file, or none yet, in a folder where
/// files can be made?
bool is_replaceable(const std::string& name) {
  struct stat status {};
  if (stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return false;
  const std::string folder = std::filesystem::path(link_target(name)).parent_path().string();
  return access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

Replacement::Replacement(const std::string& name) : name_(name), target_(link_target(name)) {
  struct stat old {};
  const bool exists = stat(target_.c_str(), &old) == 0;
  if (exists && access(target_.c_str(), W_OK) != 0) fail(name_);
  const std::filesystem::path path(target_);
  temporary_ = (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
  const int descriptor = mkstemp(temporary_.data());
  if (descriptor < 0) {
    temporary_.clear();
    fail(name_);
  }
  // The owner can only be kept by those who may give files away; the others own what they write.
  if (exists && fchown(descriptor, old.st_uid, old.st_gid) != 0) errno = 0;
  const bool permitted =
      fchmod(descriptor, exists ? old.st_mode & 07777U : permissions_of_new_file()) == 0;
  ::close(descriptor);
  if (!permitted) fail(name_);
}

Replacement::Replacement(Replacement&& other) noexcept
    : name_(std::move(other.name_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

Replacement::~Replacement() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void Replacement::commit() {
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(name_);
  temporary_.clear();
}

/// Opens the file itself, a new one where there is none. What was in it goes with the first record.
void OutputFile::open_in_place(const std::string& name, int flags) {
  descriptor_ = open(name.c_str(), flags | O_EXCL, 0666);
  is_new_ = descriptor_ >= 0;
  if (!is_new_ && errno == EEXIST) descriptor_ = open(name.c_str(), flags, 0666);
  empties_ = true;
}

OutputFile::OutputFile(const std::string& name, Writing writing)
    : name_(name == "-" ? "standard output" : name), may_go_on_(writing == Writing::rows), flushed_(std::chrono::steady_clock::now()) {
  if (name == "-" || is_standard_output(name)) {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
  if (writing == Writing::whole && is_replaceable(name)) {
    replacement_.emplace(name);
    descriptor_ = open(replacement_->path().c_str(), flags);
  } else {
    open_in_place(name, flags);
  }
  if (descriptor_ < 0) fail(name_);
}

OutputFile::~OutputFile() {
  const bool keeps_records = !replacement_ && !(empties_ && buffer_.size() == 0);
  if (descriptor_ >= 0 && is_new_ && !keeps_records) unlink(name_.c_str());
  try {
    if (keeps_records)
      close();
    else if (descriptor_ >= 0)
      ::close(descriptor_);
  } catch (const FileError&) {  // only reached while another error is on its way
  }
}

void OutputFile::end_record() {
  if (buffer_.size() >= flush_size) return flush();
  if (++records_ < records_per_look_at_the_clock) return;
  records_ = 0;
  if (std::chrono::steady_clock::now() - flushed_ >= flush_interval) flush();
}

void OutputFile::flush() {
  // Pipes and devices have nothing to be emptied of and say EINVAL.
  if (std::exchange(empties_, false) && ftruncate(descriptor_, 0) != 0 && errno != EINVAL)
    fail(name_);
  std::size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = write(descriptor_, buffer_.data() + written, buffer_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_whole_lines(written);
    written += static_cast<std::size_t>(count);
  }
  if (may_go_on_) add({buffer_.data(), buffer_.size()}, written_, digests_);
  written_ += buffer_.size();
  buffer_.clear();
  flushed_ = std::chrono::steady_clock::now();
}

/// Of what could not be written whole, so many bytes, the whole lines stay. Throws FileError.
void OutputFile::fail_with_whole_lines(std::size_t written) {
  const int error = errno;
  const std::size_t last = std::string_view(buffer_.data(), written).rfind('\n');
  const std::size_t whole = written_ + (last == std::string_view::npos ? 0 : last + 1);
  if (descriptor_ != STDOUT_FILENO && ftruncate(descriptor_, static_cast<off_t>(whole)) == 0) lseek(descriptor_, 0, SEEK_END);
  buffer_.clear();
  errno = error;
  fail(name_);
}

void OutputFile::sync() {
  flush();
  if (fdatasync(descriptor_) != 0 && errno != EINVAL) fail(name_);
}

void OutputFile::transfer(Archive& archive) {
  if (!archive.is_reading()) sync();
  archive(written_, digests_);
  if (archive.is_reading()) go_on_behind();
}

/// The file begins with what was written, and goes on there.
void OutputFile::go_on_behind() {
  if (is_new_ && written_ > 0)
    throw ArchiveError(fmt::format("{} is not there, with the {} bytes that it had then", name_, written_));
  Digests found;
  std::string bytes(written_, '\0');
  std::ifstream file(name_, std::ios::binary);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(written_)))
    throw ArchiveError(fmt::format("{} does not begin with the {} bytes that it had then", name_, written_));
  add(bytes, 0, found);
  if (!std::ranges::equal(found, digests_, {}, &Digest::text, &Digest::text))
    throw ArchiveError(fmt::format("{} does not begin with the rows that it had then", name_));
  empties_ = is_new_ = false;
  if (ftruncate(descriptor_, static_cast<off_t>(written_)) != 0 || lseek(descriptor_, 0, SEEK_END) < 0) fail(name_);
}

void OutputFile::close() {
  if (descriptor_ < 0) return;
  flush();
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor != STDOUT_FILENO && ::close(descriptor) != 0) fail(name_);
  if (replacement_) replacement_->commit();
}

void write_file(const std::string& name, const std::string& text) {
  OutputFile file(name, Writing::whole);
  file.buffer().append(text.data(), text.data() + text.size());
  file.close();
}

bool is_hdf5(const std::string& file) {
  if (file.empty() || file == "-") return false;
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".h5" || extension == ".hdf5") return true;
  if (extension == ".csv") return false;
  throw InvalidInput(fmt::format("-o {}: unknown kind of file; expected a name that ends in .csv or .h5, or -", file));
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace perp::io
