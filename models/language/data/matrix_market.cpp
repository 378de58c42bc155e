// Matrices of other programs: [multilinear] and [system] name their files.
#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/models/language/data/matrix_market.hpp>

namespace perp {
namespace {

constexpr double most_rows = 1 << 24;
constexpr std::string_view blank = " \t\r";

/// The same with small letters.
std::string small(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class MatrixMarketReader {
 public:
  MatrixMarketReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  MarketMatrix matrix() {
    read_header();
    read_sizes();
    if (is_array_)
      read_columns();
    else
      for (int k = 0; k < count_; ++k) read_entry();
    if (!next_words()) return std::move(matrix_);
    fail(words_[0], fmt::format("found more than the {} entries that were announced", is_array_ ? numbers_ : count_));
  }

 private:
  /// %%MatrixMarket matrix FORM NUMBERS SYMMETRY
  void read_header() {
    next_line();
    if (words_.size() != 5 || small(words_[0]) != "%%matrixmarket" || small(words_[1]) != "matrix")
      fail(here(), "expected '%%MatrixMarket matrix coordinate real general': this is no Matrix Market file");
    is_array_ = choice(2, {"coordinate", "array"}, "coordinate or array") == 1;
    const std::size_t numbers = is_array_ ? choice(3, {"real", "integer"}, "real or integer")
                                          : choice(3, {"real", "integer", "pattern"}, "real, integer or pattern");
    is_integer_ = numbers == 1;
    matrix_.is_pattern = numbers == 2;
    const std::size_t symmetry = choice(4, {"general", "symmetric", "skew-symmetric"}, "general, symmetric or skew-symmetric");
    is_half_ = symmetry > 0;
    matrix_.is_skew = symmetry == 2;
  }

  /// Which of these words of the header it is.
  std::size_t choice(std::size_t k, const std::vector<std::string>& known, const char* expected) const {
    const auto found = std::ranges::find(known, small(words_[k]));
    if (found == known.end()) fail(words_[k], fmt::format("found '{}'; expected {}", words_[k], expected));
    return static_cast<std::size_t>(found - known.begin());
  }

  void read_sizes() {
    if (!next_words() || words_.size() != (is_array_ ? 2U : 3U))
      fail(here(), is_array_ ? "expected the numbers of rows and columns"
                             : "expected the numbers of rows, columns and entries");
    matrix_.rows = count(words_[0]);
    matrix_.columns = count(words_[1]);
    if (is_half_ && matrix_.rows != matrix_.columns)
      fail(words_[0], fmt::format("found {} rows and {} columns; expected as many of both: the matrix is symmetric",
                                  matrix_.rows, matrix_.columns));
    if (!is_array_) count_ = count(words_[2]);
  }

  /// The numbers of an array, whose columns follow one another; of a symmetric one those from the diagonal on.
  void read_columns() {
    for (int j = 0; j < matrix_.columns; ++j)
      for (int i = first_row(j); i < matrix_.rows; ++i, ++numbers_) {
        if (!next_words() || words_.size() != 1) fail(here(), "expected one number");
        add(i, j, value_of(words_[0]), words_[0]);
      }
  }

  void read_entry() {
    const std::size_t parts = matrix_.is_pattern ? 2 : 3;
    if (!next_words() || words_.size() != parts)
      fail(here(), matrix_.is_pattern ? "expected an entry: its row and its column"
                                      : "expected an entry: its row, its column and a number");
    const int i = count(words_[0]) - 1, j = count(words_[1]) - 1;
    check_place(i, j);
    add(i, j, matrix_.is_pattern ? 1 : value_of(words_.back()), words_.back());
  }

  void check_place(int i, int j) const {
    const auto is_within = [](int index, int bound) { return index >= 0 && index < bound; };
    if (!is_within(i, matrix_.rows) || !is_within(j, matrix_.columns))
      fail(words_[0], fmt::format("found an entry at ({}, {}); expected rows 1 to {} and columns 1 to {}", words_[0], words_[1],
                                  matrix_.rows, matrix_.columns));
    if (!is_half_ || i >= first_row(j)) return;
    if (matrix_.is_skew)
      fail(words_[0], fmt::format("found an entry at ({}, {}); expected those below the diagonal, which give a skew-symmetric matrix",
                                  words_[0], words_[1]));
    fail(words_[0], fmt::format("found an entry at ({}, {}); expected those on the diagonal and below it, which give a symmetric matrix",
                                words_[0], words_[1]));
  }

  /// Of those that a column is given by.
  [[nodiscard]] int first_row(int column) const { return is_half_ ? column + (matrix_.is_skew ? 1 : 0) : 0; }

  void add(int i, int j, double value, std::string_view word) {
    const std::size_t at = offset(word);
    matrix_.entries.push_back({i, j, value, at, false});
    if (is_half_ && i != j) matrix_.entries.push_back({j, i, matrix_.is_skew ? -value : value, at, true});
  }

  double number(std::string_view word) const {
    double value = 0;
    const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
      fail(word, fmt::format("found '{}'; expected a finite number", word));
    return value;
  }

  /// Of an entry.
  double value_of(std::string_view word) const {
    const double value = number(word);
    if (is_integer_ && value != std::floor(value))
      fail(word, fmt::format("found '{}'; expected a whole number: the header says 'integer', not 'real'", word));
    return value;
  }

  int count(std::string_view word) const {
    const double value = number(word);
    if (value < 0 || value > most_rows || value != std::floor(value))
      fail(word, fmt::format("found '{}'; expected a whole number from 0 to {}", word, static_cast<long>(most_rows)));
    return static_cast<int>(value);
  }

  /// The words of the line that follows.
  void next_line() {
    start_of_line_ = at_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    at_ = std::min(end + 1, text_.size());
    words_.clear();
    for (std::size_t from = start_of_line_; from < end;) {
      const std::size_t first = std::min(text_.find_first_not_of(blank, from), end);
      from = std::min(text_.find_first_of(blank, first), end);
      if (first < end) words_.push_back(text_.substr(first, from - first));
    }
  }

  /// Those of the next line that is neither empty nor a comment; false at the end.
  bool next_words() {
    while (at_ < text_.size()) {
      next_line();
      if (!words_.empty() && !words_[0].starts_with('%')) return true;
    }
    words_.clear();
    start_of_line_ = text_.size();
    return false;
  }

  [[nodiscard]] std::size_t offset(std::string_view word) const { return static_cast<std::size_t>(word.data() - text_.data()); }
  /// The first word of the line, or where it begins.
  [[nodiscard]] std::string_view here() const { return words_.empty() ? text_.substr(start_of_line_, 0) : words_[0]; }

  [[noreturn]] void fail(std::string_view word, const std::string& message) const {
    const std::string_view before = text_.substr(0, offset(word));
    throw InvalidInput(fmt::format("{}:{}:{}: {}", name_, std::ranges::count(before, '\n') + 1,
                                   before.size() - (before.rfind('\n') + 1) + 1, message));
  }

  std::string_view text_;
  const std::string& name_;
  MarketMatrix matrix_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0, start_of_line_ = 0;
  bool is_array_ = false, is_half_ = false, is_integer_ = false;
  int count_ = 0;      // of entries in the file
  long numbers_ = 0;   // of an array
};

}  // namespace

std::string MarketMatrix::digits(std::string_view text, const Entry& entry) const {
  std::string_view word = "1";
  if (!is_pattern) word = text.substr(entry.at, text.find_first_of(" \t\r\n", entry.at) - entry.at);
  if (word.starts_with('+')) word.remove_prefix(1);
  return entry.is_image && is_skew ? fmt::format("-({})", word) : std::string(word);
}

MarketMatrix read_matrix_market(std::string_view text, const std::string& name) {
  return MatrixMarketReader(text, name).matrix();
}

SparseEntries parse_matrix_market(std::string_view text, const std::string& name) {
  const MarketMatrix matrix = read_matrix_market(text, name);
  SparseEntries entries{matrix.rows, matrix.columns, {}};
  entries.entries.reserve(matrix.entries.size());
  for (const MarketMatrix::Entry& entry : matrix.entries) entries.entries.push_back({entry.row, entry.column, entry.value});
  return entries;
}

std::string to_matrix_market(const SparseEntries& matrix, const std::string& comment) {
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n% {}\n{} {} {}\n",
                                 comment, matrix.rows, matrix.columns, matrix.entries.size());
  for (const SparseEntry& entry : matrix.entries)
    text += fmt::format("{} {} {}\n", entry.row + 1, entry.column + 1, entry.value);
  return text;
}

}  // namespace perp
