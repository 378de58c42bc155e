// Texts of families with the places of their indices: expand_family reads a text once where it can.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include <perp/models/language/families/family_template.hpp>
#include <perp/models/language/families/index_expression.hpp>

namespace perp {
namespace {

constexpr std::size_t most_digits = 9;  ///< of a number within an index
constexpr double largest_parameter = 1e9;  ///< within one
constexpr std::array<std::string_view, 5> relations{"<=", ">=", "<", ">", "="};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Is it a call that has another form for each value of an index?
bool is_call_of_indices(std::string_view word) { return word == "sum" || word == "prod" || word == "mod"; }

void append_number(long value, std::string& text) {
  const fmt::format_int digits(value);
  text.append(digits.data(), digits.size());
}

}  // namespace

long FamilyTemplate::Linear::at(const std::vector<long>& values) const {
  long sum = constant;
  for (const auto& [index, factor] : terms) sum += factor * values[index];
  return sum;
}

bool FamilyTemplate::Relation::holds(const std::vector<long>& values) const {
  const long a = left.at(values), b = right.at(values);
  if (symbol == "<=") return a <= b;
  if (symbol == ">=") return a >= b;
  if (symbol == "<") return a < b;
  return symbol == ">" ? a > b : a == b;
}

/// Reads one text into pieces; nothing as soon as it holds what these do not tell.
class FamilyTemplate::Reader {
 public:
  Reader(std::string_view text, const Indices& like, const Families& families) : text_(text), like_(like), families_(families) {}

  std::optional<Pieces> operator()();

 private:
  /// The end of the bracket that opens here, and the parts between commas outside of others; nothing: it has no end.
  struct Bracket {
    std::vector<std::string_view> parts{};
    std::size_t behind = 0;
  };
  [[nodiscard]] std::optional<Bracket> bracket(std::size_t open) const;
  bool read_word(std::string_view word);
  bool read_bracket(std::string_view word, std::size_t open);
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view word) const;
  bool read_element(std::string_view family, const Bracket& bracket);
  bool read_if(const Bracket& bracket);
  bool read_undecided_if(const Bracket& bracket);
  bool read_inner(std::string_view text, Pieces& pieces) const;
  [[nodiscard]] std::vector<long> sizes_of(std::string_view family) const;
  [[nodiscard]] std::optional<bool> decided(std::string_view condition) const;
  [[nodiscard]] std::optional<Relation> relation(std::string_view text) const;
  [[nodiscard]] std::optional<Linear> linear(std::string_view text) const;
  static std::size_t end_of_term(std::string_view text, std::size_t k);
  bool add_term(std::string_view term, long sign, Linear& sum) const;
  void add_text(std::string_view text);

  std::string_view text_;
  const Indices& like_;
  const Families& families_;
  Pieces pieces_;
  std::size_t at_ = 0;
};

void FamilyTemplate::Reader::add_text(std::string_view text) {
  if (pieces_.empty() || pieces_.back().kind != Piece::Kind::text) pieces_.push_back({});
  pieces_.back().text += text;
}

std::optional<FamilyTemplate::Pieces> FamilyTemplate::Reader::operator()() {
  while (at_ < text_.size()) {
    if (const std::string_view word = word_at(text_, at_); !word.empty()) {
      if (!read_word(word)) return std::nullopt;
      continue;
    }
    const std::size_t end = is_digit(text_[at_]) ? end_of_number(text_, at_) : at_ + 1;
    add_text(text_.substr(at_, end - at_));
    at_ = end;
  }
  return std::move(pieces_);
}

bool FamilyTemplate::Reader::read_word(std::string_view word) {
  const std::size_t next = skip_space(text_, at_ + word.size());
  const char after = next < text_.size() ? text_[next] : '\0';
  if (after == '[' || (after == '(' && word == "if")) return read_bracket(word, next);
  if ((after == '(' && is_call_of_indices(word)) || families_.sizes.contains(word)) return false;
  at_ += word.size();
  if (const std::optional<std::size_t> index = index_of(word))
    pieces_.push_back({.kind = Piece::Kind::index, .indices = {{.terms = {{*index, 1}}}}});
  else
    add_text(word);
  return true;
}

/// x[..] or if(..)
bool FamilyTemplate::Reader::read_bracket(std::string_view word, std::size_t open) {
  const std::optional<Bracket> inner = bracket(open);
  if (!inner) return false;
  at_ = inner->behind;
  return text_[open] == '[' ? read_element(word, *inner) : read_if(*inner);
}

/// Number of the index of this name, in the order of the names.
std::optional<std::size_t> FamilyTemplate::Reader::index_of(std::string_view word) const {
  const auto index = like_.find(word);
  return index == like_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(std::distance(like_.begin(), index)));
}

std::optional<FamilyTemplate::Reader::Bracket> FamilyTemplate::Reader::bracket(std::size_t open) const {
  Bracket result;
  int depth = 0;
  std::size_t start = open + 1;
  for (std::size_t k = open; k < text_.size(); ++k) {
    const char c = text_[k];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth > 1 || (depth == 1 && c != ',')) continue;
    result.parts.push_back(text_.substr(start, k - start));
    start = k + 1;
    if (depth > 0) continue;
    result.behind = k + 1;
    return result;
  }
  return std::nullopt;
}

/// Empty: no family of that name.
std::vector<long> FamilyTemplate::Reader::sizes_of(std::string_view family) const {
  if (const auto known = families_.sizes.find(family); known != families_.sizes.end()) return known->second;
  const auto known = families_.multipliers.find(family);
  return std::vector<long>(known != families_.multipliers.end() ? known->second : 0, 0);
}

bool FamilyTemplate::Reader::read_element(std::string_view family, const Bracket& bracket) {
  Piece piece{.kind = Piece::Kind::element, .text = std::string(family) + "[", .sizes = sizes_of(family)};
  if (piece.sizes.empty() || piece.sizes.size() != bracket.parts.size()) return false;
  for (const std::string_view part : bracket.parts) {
    std::optional<Linear> index = linear(part);
    if (!index) return false;
    piece.indices.push_back(*std::move(index));
  }
  pieces_.push_back(std::move(piece));
  return true;
}

bool FamilyTemplate::Reader::read_inner(std::string_view text, Pieces& pieces) const {
  std::optional<Pieces> inner = Reader(text, like_, families_)();
  if (inner) pieces = *std::move(inner);
  return inner.has_value();
}

/// Do indices decide it? Nothing: it is wrong.
std::optional<bool> FamilyTemplate::Reader::decided(std::string_view condition) const {
  try {
    return IndexExpression(condition, 0, like_, families_).condition().has_value();
  } catch (const FamilyError&) {
    return std::nullopt;
  }
}

bool FamilyTemplate::Reader::read_if(const Bracket& bracket) {
  if (bracket.parts.size() != 3) return read_undecided_if(bracket);
  const std::optional<bool> is_decided = decided(bracket.parts[0]);
  if (!is_decided) return false;
  if (!*is_decided) return read_undecided_if(bracket);
  std::optional<Relation> condition = relation(bracket.parts[0]);
  if (!condition) return false;
  Piece piece{.kind = Piece::Kind::choice, .relation = *std::move(condition), .branches = {{}, {}}};
  for (std::size_t k = 0; k < 2; ++k)
    if (!read_inner(trimmed(bracket.parts[k + 1]), piece.branches[k])) return false;
  add_text("(");
  pieces_.push_back(std::move(piece));
  add_text(")");
  return true;
}

bool FamilyTemplate::Reader::read_undecided_if(const Bracket& bracket) {
  add_text("if(");
  for (std::size_t k = 0; k < bracket.parts.size(); ++k) {
    Pieces inner;
    if (!read_inner(bracket.parts[k], inner)) return false;
    if (k > 0) add_text(",");
    std::move(inner.begin(), inner.end(), std::back_inserter(pieces_));
  }
  add_text(")");
  return true;
}

std::optional<FamilyTemplate::Relation> FamilyTemplate::Reader::relation(std::string_view text) const {
  const std::size_t place = text.find_first_of("<>=");
  if (place == std::string_view::npos) return std::nullopt;
  const auto* const symbol = std::ranges::find_if(relations, [&](std::string_view each) { return text.substr(place).starts_with(each); });
  const std::optional<Linear> left = linear(text.substr(0, place)), right = linear(text.substr(place + symbol->size()));
  return left && right ? std::optional(Relation{*left, *right, *symbol}) : std::nullopt;
}

/// The end of a name or a number; the place itself: there is none.
std::size_t FamilyTemplate::Reader::end_of_term(std::string_view text, std::size_t k) {
  if (k < text.size() && is_digit(text[k])) return end_of_number(text, k);
  return k + word_at(text, k).size();
}

/// "2*i" is none: indices, whole numbers and whole parameters, added and subtracted.
std::optional<FamilyTemplate::Linear> FamilyTemplate::Reader::linear(std::string_view text) const {
  Linear sum;
  std::size_t k = skip_space(text, 0);
  char sign = text.substr(k).starts_with('-') ? '-' : '+';
  if (sign == '-') k = skip_space(text, k + 1);
  while (sign == '+' || sign == '-') {
    const std::size_t end = end_of_term(text, k);
    if (end == k || !add_term(text.substr(k, end - k), sign == '+' ? 1 : -1, sum)) return std::nullopt;
    k = skip_space(text, end);
    if (k == text.size()) return sum;
    sign = text[k];
    k = skip_space(text, k + 1);
  }
  return std::nullopt;
}

bool FamilyTemplate::Reader::add_term(std::string_view term, long sign, Linear& sum) const {
  if (is_digit(term.front())) {
    if (term.size() > most_digits || !std::ranges::all_of(term, is_digit)) return false;
    sum.constant += sign * std::stol(std::string(term));
    return true;
  }
  if (const std::optional<std::size_t> index = index_of(term)) {
    sum.terms.emplace_back(*index, sign);
    return true;
  }
  const double parameter = term == "mod" ? nan : families_.parameter(term);
  if (!(std::abs(parameter) <= largest_parameter) || parameter != std::floor(parameter)) return false;
  sum.constant += sign * static_cast<long>(parameter);
  return true;
}

std::optional<FamilyTemplate> FamilyTemplate::of(std::string_view text, const Indices& like, const Families& families) {
  std::optional<Pieces> pieces = Reader(text, like, families)();
  if (!pieces) return std::nullopt;
  FamilyTemplate result;
  result.pieces_ = *std::move(pieces);
  return result;
}

bool FamilyTemplate::append_element(const Piece& piece, const std::vector<long>& values, std::string& text) {
  text += piece.text;
  for (std::size_t k = 0; k < piece.indices.size(); ++k) {
    const long index = piece.indices[k].at(values);
    if (piece.sizes[k] > 0 && (index < 1 || index > piece.sizes[k])) return false;
    if (k > 0) text += ',';
    append_number(index, text);
  }
  text += ']';
  return true;
}

bool FamilyTemplate::append(const Pieces& pieces, const std::vector<long>& values, std::string& text) {
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::text) {
      text += piece.text;
    } else if (piece.kind == Piece::Kind::index) {
      const long value = piece.indices[0].at(values);
      if (value < 0) text += '(';
      append_number(value, text);
      if (value < 0) text += ')';
    } else if (piece.kind == Piece::Kind::element) {
      if (!append_element(piece, values, text)) return false;
    } else if (!append(piece.branches[piece.relation.holds(values) ? 0 : 1], values, text)) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> FamilyTemplate::at(const Indices& indices) const {
  std::vector<long> values;
  for (const auto& [name, value] : indices) values.push_back(value);
  std::string text;
  return append(pieces_, values, text) ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace perp
