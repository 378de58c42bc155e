#include <fmt/format.h>

#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/values/set_file.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/input_text.hpp>

namespace perp::cli {
namespace {

/// The line up to a # that stands outside of quotes.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (quote != 0)
      quote = line[k] == quote ? char{0} : quote;
    else if (line[k] == '"' || line[k] == '\'')
      quote = line[k];
    else if (line[k] == '#')
      return trimmed(line.substr(0, k));
  }
  return trimmed(line);
}

/// Values of the file, one line after the other.
class SetFile {
 public:
  explicit SetFile(std::string file) : file_(std::move(file)) {}

  std::vector<WrittenOverride> read() {
    const std::string text = read_file(file_);
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      ++number_;
      line(without_comment(std::string_view(text).substr(from, end - from)));
      from = end + 1;
    }
    return std::move(items_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidInput(fmt::format("{}:{}:1: {}", file_, number_, what));
  }

  void line(std::string_view text) {
    if (text.empty()) return;
    if (text.front() == '[') return table(text);
    const std::size_t equals = text.find('=');
    const std::string_view name = trimmed(text.substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view{} : trimmed(text.substr(equals + 1));
    if (name.empty() || value.empty()) fail(fmt::format("found '{}'; expected NAME = VALUE", text));
    for (std::size_t k = 0; k < items_.size(); ++k)
      if (items_[k].item.key == table_ + std::string(name))
        fail(fmt::format("{} is given in line {} too; expected it once", name, lines_[k]));
    lines_.push_back(number_);
    items_.push_back({{table_ + std::string(name), std::string(unquoted(value))},
                      fmt::format("{}:{}:1: {} = {}", file_, number_, name, value)});
  }

  void table(std::string_view text) {
    static const std::vector<std::string> known{"parameters", "variables", "inputs", "binaries", "run"};
    const std::string name(trimmed(text.substr(1, text.size() - (text.back() == ']' ? 2 : 1))));
    if (text.back() != ']' || std::find(known.begin(), known.end(), name) == known.end())
      fail(fmt::format("found '{}'; expected NAME = VALUE or one of the tables [{}]{}", text, fmt::join(known, "], ["),
                       suggestion(name, known)));
    table_ = name + ".";
  }

  [[nodiscard]] std::string_view unquoted(std::string_view value) const {
    if (value.front() != '"' && value.front() != '\'') return value;
    const bool ends = value.size() > 2 && value.back() == value.front();
    if (!ends) fail(fmt::format("found {}; expected a value in quotes, as in \"1/3\"", value));
    return value.substr(1, value.size() - 2);
  }

  std::string file_, table_;
  int number_ = 0;
  std::vector<int> lines_;  // of the items
  std::vector<WrittenOverride> items_;
};

}  // namespace

std::vector<WrittenOverride> read_set_file(const std::string& file) { return SetFile(file).read(); }

}  // namespace perp::cli
