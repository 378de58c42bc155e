#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <perp/cli/output/output_file.hpp>
#include <perp/core/error.hpp>

namespace perp::cli {
namespace {

constexpr std::size_t flush_size = 1U << 16U;
constexpr int records_per_look_at_the_clock = 64;
constexpr std::chrono::milliseconds flush_interval{500};

}  // namespace

OutputFile::OutputFile(const std::string& name)
    : name_(name == "-" ? "standard output" : name), flushed_(std::chrono::steady_clock::now()) {
  descriptor_ = name == "-" ? STDOUT_FILENO
                            : open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw FileError(fmt::format("{} cannot be written: {}", name_, std::strerror(errno)));
}

OutputFile::~OutputFile() {
  try {
    close();
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
  std::size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = write(descriptor_, buffer_.data() + written, buffer_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      buffer_.clear();
      throw FileError(fmt::format("{} cannot be written: {}", name_, std::strerror(errno)));
    }
    written += static_cast<std::size_t>(count);
  }
  buffer_.clear();
  flushed_ = std::chrono::steady_clock::now();
}

void OutputFile::close() {
  if (descriptor_ < 0) return;
  const int descriptor = descriptor_;
  flush();
  descriptor_ = -1;
  if (descriptor != STDOUT_FILENO && ::close(descriptor) != 0)
    throw FileError(fmt::format("{} cannot be written: {}", name_, std::strerror(errno)));
}

void write_file(const std::string& name, const std::string& text) {
  OutputFile file(name);
  file.buffer().append(text.data(), text.data() + text.size());
  file.close();
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

}  // namespace perp::cli
