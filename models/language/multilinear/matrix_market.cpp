#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/models/language/multilinear/matrix_market.hpp>

namespace perp {
namespace {

constexpr double most_rows = 1 << 24;

class MatrixMarketReader {
 public:
  MatrixMarketReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  SparseEntries matrix() {
    const bool is_array = header();
    const std::vector<std::string_view> sizes = words();
    if (sizes.size() != (is_array ? 2U : 3U))
      fail(is_array ? "expected the numbers of rows and columns"
                    : "expected the numbers of rows, columns and entries");
    SparseEntries matrix{count(sizes[0]), count(sizes[1]), {}};
    const long entries =
        is_array ? static_cast<long>(matrix.rows) * matrix.columns : count(sizes[2]);
    for (long k = 0; k < entries; ++k)
      matrix.entries.push_back(is_array ? in_order(matrix, k) : entry(matrix));
    if (!words().empty())
      fail(fmt::format("found more than the {} entries that were announced", entries));
    return matrix;
  }

 private:
  /// Is it an array? Else coordinates.
  bool header() {
    std::vector<std::string> found;
    for (const std::string_view word : next_line()) {
      found.emplace_back(word);
      std::transform(word.begin(), word.end(), found.back().begin(),
                     [](unsigned char c) { return std::tolower(c); });
    }
    if (found.size() != 5 || found[0] != "%%matrixmarket" || found[1] != "matrix")
      fail(
          "expected '%%MatrixMarket matrix coordinate real general': this is no Matrix Market "
          "file");
    if (found[2] != "coordinate" && found[2] != "array")
      fail(fmt::format("found '{}'; expected coordinate or array", found[2]));
    if (found[3] != "real" && found[3] != "integer")
      fail(fmt::format("found '{}'; expected real or integer", found[3]));
    if (found[4] != "general") fail(fmt::format("found '{}'; expected general", found[4]));
    return found[2] == "array";
  }

  SparseEntry entry(const SparseEntries& matrix) {
    const std::vector<std::string_view> found = words();
    if (found.size() != 3) fail("expected an entry: its row, its column and a number");
    const SparseEntry entry{count(found[0]) - 1, count(found[1]) - 1, number(found[2])};
    if (entry.row < 0 || entry.row >= matrix.rows || entry.column < 0 ||
        entry.column >= matrix.columns)
      fail(fmt::format("found an entry at ({}, {}); expected rows 1 to {} and columns 1 to {}",
                       found[0], found[1], matrix.rows, matrix.columns));
    return entry;
  }

  /// Entry k of an array, whose columns follow one another.
  SparseEntry in_order(const SparseEntries& matrix, long k) {
    const std::vector<std::string_view> found = words();
    if (found.size() != 1) fail("expected one number");
    return {static_cast<int>(k % matrix.rows), static_cast<int>(k / matrix.rows), number(found[0])};
  }

  double number(std::string_view word) const {
    double value = 0;
    if (word.starts_with('+')) word.remove_prefix(1);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
      fail(fmt::format("found '{}'; expected a finite number", word));
    return value;
  }

  int count(std::string_view word) const {
    const double value = number(word);
    if (value < 0 || value > most_rows || value != std::floor(value))
      fail(fmt::format("found '{}'; expected a whole number from 0 to {}", word,
                       static_cast<long>(most_rows)));
    return static_cast<int>(value);
  }

  std::vector<std::string_view> next_line() {
    ++line_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    std::vector<std::string_view> words;
    while (true) {
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) return words;
      const std::size_t last = std::min(line.find_first_of(" \t\r", first), line.size());
      words.push_back(line.substr(first, last - first));
      line.remove_prefix(last);
    }
  }

  /// Of the next line that is neither empty nor a comment; none at the end.
  std::vector<std::string_view> words() {
    while (at_ < text_.size()) {
      const std::vector<std::string_view> found = next_line();
      if (!found.empty() && !found[0].starts_with('%')) return found;
    }
    return {};
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw InvalidInput(fmt::format("{}:{}: {}", name_, line_, message));
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 0;
};

}  // namespace

SparseEntries parse_matrix_market(std::string_view text, const std::string& name) {
  return MatrixMarketReader(text, name).matrix();
}

std::string to_matrix_market(const SparseEntries& matrix, const std::string& comment) {
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n% {}\n{} {} {}\n",
                                 comment, matrix.rows, matrix.columns, matrix.entries.size());
  for (const SparseEntry& entry : matrix.entries)
    text += fmt::format("{} {} {}\n", entry.row + 1, entry.column + 1, entry.value);
  return text;
}

}  // namespace perp
