#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <perp/tests/folder.hpp>
#include <perp/tests/paths.hpp>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace perp::test {

inline std::string read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> list;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    list.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return list;
}

struct Outcome {
  int status = -1;  ///< exit status; 128 + signal where a signal ended the program
  std::string out, err;
};

/// Starts the program in a folder, its output in files there. `search_path` replaces PATH.
class Run {
 public:
  Run(const Folder& folder, std::vector<std::string> arguments, const std::string& search_path = {})
      : out_(folder / ".out"), err_(folder / ".err") {
    arguments.insert(arguments.begin(), program_path());
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    std::vector<char*> environment;
    std::string path = "PATH=" + search_path;
    for (char** entry = environ; *entry != nullptr; ++entry)
      if (search_path.empty() || std::string(*entry).rfind("PATH=", 0) != 0)
        environment.push_back(*entry);
    if (!search_path.empty()) environment.push_back(path.data());
    environment.push_back(nullptr);
    constexpr int mode = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out_.c_str(), mode, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err_.c_str(), mode, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, folder.path().c_str());
    const int error =
        posix_spawn(&child_, program_path().c_str(), &actions, nullptr, pointers.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("the program cannot be started");
  }

  void send(int signal) const { kill(child_, signal); }

  Outcome wait() const {
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(out_),
            read_text(err_)};
  }

 private:
  std::string out_, err_;
  pid_t child_ = 0;
};

inline Outcome perp_program(const Folder& folder, std::vector<std::string> arguments,
                            const std::string& search_path = {}) {
  return Run(folder, std::move(arguments), search_path).wait();
}

/// Waits until something is true, at most 20 s. False if it never was.
inline bool wait_until(const std::function<bool()>& condition) {
  for (int k = 0; k < 2000; ++k) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// A CSV file without quoted fields but the last.
struct Csv {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  [[nodiscard]] std::size_t column(const std::string& name) const {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) throw std::runtime_error("no column " + name);
    return static_cast<std::size_t>(found - header.begin());
  }
  /// NaN of an empty field.
  [[nodiscard]] double number(std::size_t row, const std::string& name) const {
    const std::string& field = rows.at(row).at(column(name));
    return field.empty() ? std::nan("") : std::stod(field);
  }
  [[nodiscard]] const std::string& text(std::size_t row, const std::string& name) const {
    return rows.at(row).at(column(name));
  }
};

inline Csv parse_csv(const std::string& text) {
  Csv csv;
  for (const std::string& line : lines(text)) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted)
        fields.emplace_back();
      else
        fields.back() += c;
    }
    if (csv.header.empty())
      csv.header = fields;
    else
      csv.rows.push_back(fields);
  }
  return csv;
}

}  // namespace perp::test
