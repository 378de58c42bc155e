// Indexed families as text: `for`, x[i], sum and prod become the lines they stand for. The reader
// of model files calls it before anything is parsed.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/core/base/nearest_name.hpp>
#include <perp/core/expression/equation.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/models/language/families/family_template.hpp>
#include <perp/models/language/families/family_text.hpp>
#include <perp/models/language/families/index_expression.hpp>

namespace perp {
namespace {

constexpr long most_elements = 1'000'000;  ///< of one `for`, sum or prod

/// How much deeper in brackets a text is behind this character.
int depth_step(char c) {
  if (c == '(' || c == '[') return 1;
  return c == ')' || c == ']' ? -1 : 0;
}

/// Expands one text; offsets of errors are those of the whole text.
class FamilyText {
 public:
  FamilyText(std::string_view text, std::size_t offset, const Indices& indices,
             const Families& families)
      : text_(text), offset_(offset), indices_(indices), families_(families) {}

  std::string expand();

 private:
  struct Part {
    std::string_view text;
    std::size_t offset;
  };

  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    const std::string where = text_of(indices_);
    throw FamilyError(message + (where.empty() ? "" : " (" + where + ")"), offset_ + at);
  }
  [[nodiscard]] std::size_t closing(std::size_t open) const;
  [[nodiscard]] std::vector<Part> split(std::size_t from, std::size_t to, char separator) const;
  [[nodiscard]] FamilyText part(const Part& part) const {
    return {part.text, offset_ + part.offset, indices_, families_};
  }
  std::string expand_word(std::string_view word);
  /// What a call stands for that indices decide, with its bracket at `open`; none: the word is none of these.
  std::optional<std::string> expand_call(std::string_view word, std::size_t open);
  std::string remainder(std::size_t open);
  [[nodiscard]] std::vector<long> sizes_of(std::string_view family) const;
  std::string element(std::string_view family);
  std::string sum_or_product(std::string_view word);
  std::string decided_if();

  std::string_view text_;
  std::size_t offset_;
  const Indices& indices_;
  const Families& families_;
  std::size_t at_ = 0;
};

std::size_t FamilyText::closing(std::size_t open) const {
  int depth = 0;
  for (std::size_t k = open; k < text_.size(); ++k) {
    if (text_[k] == '(' || text_[k] == '[') ++depth;
    if ((text_[k] == ')' || text_[k] == ']') && --depth == 0) return k;
  }
  fail(open, fmt::format("'{}' is not closed; expected '{}'", text_[open],
                         text_[open] == '(' ? ')' : ']'));
}

/// The parts of a range of the text between separators that stand in no brackets.
std::vector<FamilyText::Part> FamilyText::split(std::size_t from, std::size_t to,
                                                char separator) const {
  std::vector<Part> parts;
  int depth = 0;
  std::size_t start = from;
  for (std::size_t k = from; k <= to; ++k) {
    const char c = k < to ? text_[k] : separator;
    depth += depth_step(c);
    if (c != separator || (depth != 0 && k < to)) continue;
    parts.push_back({text_.substr(start, k - start), start});
    start = k + 1;
  }
  return parts;
}

std::string FamilyText::expand() {
  std::string result;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (starts_word(c)) {
      const std::string_view word = word_at(text_, at_);
      result += expand_word(word);
    } else if (std::isdigit(static_cast<unsigned char>(c))) {  // 1e5 holds no word
      const std::size_t from = at_;
      at_ = end_of_number(text_, at_);
      result += text_.substr(from, at_ - from);
    } else {
      result += c;
      ++at_;
    }
  }
  return result;
}

std::string FamilyText::expand_word(std::string_view word) {
  const std::size_t next = skip_space(text_, at_ + word.size());
  const char after = next < text_.size() ? text_[next] : '\0';
  if (after == '[') return element(word);
  if (families_.sizes.contains(word))
    fail(at_, fmt::format("'{0}' is a family; expected one of its elements, as in {0}[1]", word));
  if (after == '(')
    if (std::optional<std::string> call = expand_call(word, next)) return *std::move(call);
  at_ += word.size();
  const auto index = indices_.find(word);
  if (index == indices_.end()) return std::string(word);
  return index->second < 0 ? fmt::format("({})", index->second) : fmt::format("{}", index->second);
}

std::optional<std::string> FamilyText::expand_call(std::string_view word, std::size_t open) {
  if (word == "sum" || word == "prod") return sum_or_product(word);
  if (word == "if") return decided_if();
  if (word == "mod") return remainder(open);
  return std::nullopt;
}

/// mod(i, 2) as its number.
std::string FamilyText::remainder(std::size_t open) {
  const std::size_t close = closing(open);
  const double number =
      IndexExpression(text_.substr(at_, close + 1 - at_), offset_ + at_, indices_, families_)
          .value();
  at_ = close + 1;
  return fmt::format("{}", number);
}

/// Of the family whose name begins here; 0 for each index of multipliers, which end where their laws do.
std::vector<long> FamilyText::sizes_of(std::string_view family) const {
  if (const auto known = families_.sizes.find(family); known != families_.sizes.end()) return known->second;
  if (const auto known = families_.multipliers.find(family); known != families_.multipliers.end())
    return std::vector<long>(known->second, 0);
  std::vector<std::string> names;
  for (const auto& [name, sizes] : families_.sizes) names.push_back(name);
  for (const auto& [name, indices] : families_.multipliers) names.push_back(name);
  fail(at_, fmt::format("'{}' is no family; expected {}{}", family,
                        names.empty() ? "a variable with size = \"N\""
                                      : "one of " + fmt::format("{}", fmt::join(names, ", ")),
                        suggestion(std::string(family), names)));
}

/// x[i-1] as x[2].
std::string FamilyText::element(std::string_view family) {
  const std::size_t start = at_;
  const std::vector<long> sizes = sizes_of(family);
  const std::size_t open = skip_space(text_, at_ + family.size()), close = closing(open);
  const std::vector<Part> parts = split(open + 1, close, ',');
  if (parts.size() != sizes.size())
    fail(start, fmt::format("{} has {} indices; expected {}",
                            text_.substr(start, close + 1 - start), parts.size(), sizes.size()));
  std::string result = std::string(family) + "[";
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const long value = whole_number(parts[k].text, indices_, families_);
    if (sizes[k] > 0 && (value < 1 || value > sizes[k]))
      fail(parts[k].offset, fmt::format("index {} of '{}' is {}; expected 1 to {}",
                                        trimmed(parts[k].text), family, value, sizes[k]));
    result += fmt::format("{}{}", k > 0 ? "," : "", value);
  }
  at_ = close + 1;
  return result + "]";
}

/// Where the first range of "i in a:b, j in c:d" ends: at a comma outside of brackets, or at the end.
std::size_t end_of_first_range(std::string_view ranges) {
  int depth = 0;
  std::size_t comma = 0;
  while (comma < ranges.size() && (ranges[comma] != ',' || depth > 0)) {
    depth += depth_step(ranges[comma]);
    ++comma;
  }
  return comma;
}

/// An index and its bounds, "i in 1:N".
struct IndexRange {
  std::string name;
  long first, last;
};

/// Has the name a meaning without the index?
bool is_taken(const std::string& name, const Indices& outer, const Families& families) {
  return outer.contains(name) || families.sizes.contains(name) ||
         !std::isnan(families.parameter(name)) || is_reserved_word(name);
}

/// Reads "i in 1:N"; bounds may hold the `outer` indices.
IndexRange read_range(std::string_view text, std::size_t offset, const Indices& outer,
                      const Families& families) {
  const auto fail = [&](const std::string& message) { throw FamilyError(message, offset); };
  const std::string name(word_at(text, 0));
  const std::string_view rest = trimmed(text.substr(name.size()));
  const std::size_t colon = rest.find(':');
  const bool has_in = rest.starts_with("in") && rest.size() >= 3 && !continues_word(rest[2]);
  if (!is_name(name) || !has_in || colon == std::string_view::npos)
    fail(fmt::format("found '{}'; expected an index and its bounds, as in i in 1:N", text));
  if (is_taken(name, outer, families))
    fail(fmt::format("'{}' is the name of something else; expected another index", name));
  const long first = whole_number(rest.substr(2, colon - 2), outer, families);
  const long last = whole_number(rest.substr(colon + 1), outer, families);
  if (last - first >= most_elements)
    fail(fmt::format("{} has {} values; expected at most {}", text, last - first + 1, most_elements));
  return {name, first, last};
}

/// Calls visit(indices) for all values of "i in a:b, j in c:d"; later ranges may hold earlier
/// indices.
void for_each_index(std::string_view ranges, std::size_t offset, const Indices& outer,
                    const Families& families, const std::function<void(const Indices&)>& visit) {
  const std::size_t comma = end_of_first_range(ranges);
  const IndexRange own = read_range(trimmed(ranges.substr(0, comma)), offset, outer, families);
  Indices indices = outer;
  for (long value = own.first; value <= own.last; ++value) {
    indices[own.name] = value;
    if (comma < ranges.size())
      for_each_index(ranges.substr(comma + 1), offset + comma + 1, indices, families, visit);
    else
      visit(indices);
  }
}

/// The colon that ends the ranges of "i in 1:N, j in 1:i: BODY", npos: none.
std::size_t end_of_ranges(std::string_view text) {
  int depth = 0;
  std::size_t colons = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    depth += depth_step(text[k]);
    if (depth != 0) continue;
    if (text[k] == ',') colons = 0;
    if (text[k] == ':' && ++colons == 2) return k;
  }
  return std::string_view::npos;
}

/// "(a + b + c)", one n-ary line.
std::string FamilyText::sum_or_product(std::string_view word) {
  const std::size_t open = skip_space(text_, at_ + word.size()), close = closing(open);
  const std::string_view inner = text_.substr(open + 1, close - open - 1);
  const std::size_t colon = end_of_ranges(inner);
  if (colon == std::string_view::npos)
    fail(at_, fmt::format("'{}' has no index; expected {}(i in 1:N: ...)", word, word));
  std::string result;
  for_each_index(
      inner.substr(0, colon), offset_ + open + 1, indices_, families_, [&](const Indices& indices) {
        result += result.empty() ? "(" : (word == "sum" ? " + " : "*");
        FamilyText body(inner.substr(colon + 1), offset_ + open + 2 + colon, indices, families_);
        result += "(" + std::string(trimmed(body.expand())) + ")";
      });
  at_ = close + 1;
  return result.empty() ? (word == "sum" ? "0" : "1") : result + ")";
}

/// if(c, a, b): one of a and b where indices decide, the other is not looked at.
std::string FamilyText::decided_if() {
  const std::size_t open = skip_space(text_, at_ + 2), close = closing(open);
  const std::vector<Part> parts = split(open + 1, close, ',');
  at_ = close + 1;
  std::optional<bool> decided;
  if (parts.size() == 3)
    decided =
        IndexExpression(parts[0].text, offset_ + parts[0].offset, indices_, families_).condition();
  if (decided) {
    FamilyText taken = part(parts[*decided ? 1 : 2]);
    return "(" + std::string(trimmed(taken.expand())) + ")";
  }
  std::string result = "if(";
  for (std::size_t k = 0; k < parts.size(); ++k) {
    FamilyText each = part(parts[k]);
    result += (k > 0 ? "," : "") + each.expand();
  }
  return result + ")";
}

/// The number of indices in "[i, j+1]"; 0 where the bracket closes before the end, as in "[i] + v[i]".
std::size_t indices_in(std::string_view brackets) {
  std::size_t indices = 1;
  int depth = 0;
  for (const char c : brackets.substr(0, brackets.size() - 1)) {
    depth += depth_step(c);
    if (depth == 0) return 0;
    if (c == ',' && depth == 1) ++indices;
  }
  return indices;
}

/// The family of a text that is one element, "u[i]" or "u[i, j+1]", and has no size.
std::pair<std::string, std::size_t> element_family(std::string_view text, const Families& families) {
  const std::string_view element = trimmed(text);
  const std::size_t open = element.find('[');
  if (open == std::string_view::npos || !element.ends_with(']')) return {};
  const std::string name(trimmed(element.substr(0, open)));
  if (!is_name(name) || is_reserved_word(name) || families.sizes.contains(name)) return {};
  return {name, indices_in(element.substr(open))};
}

}  // namespace

std::pair<std::string, std::size_t> declared_family(std::string_view law, const Families& families) {
  const std::string_view given = trimmed(law);
  if (!given.starts_with("for ")) return {};
  const std::size_t colon = end_of_ranges(given.substr(4));
  if (colon == std::string_view::npos) return {};
  const std::string_view body = trimmed(given.substr(4 + colon + 1));
  const std::size_t perp = find_word(body, "perp");
  if (perp == std::string_view::npos) {
    const std::size_t in = find_word(body, "in");
    return element_family(body.substr(0, in == std::string_view::npos ? 0 : in), families);
  }
  const std::size_t left = body.find("<="), right = body.rfind(">=");
  if (left > perp || right == std::string_view::npos || right < perp) return {};
  auto first = element_family(body.substr(left + 2, perp - left - 2), families);
  if (first.second > 0) return first;
  return element_family(body.substr(perp + 4, right - perp - 4), families);
}

std::string expand_indices(std::string_view text, const Indices& indices,
                           const Families& families) {
  return FamilyText(text, 0, indices, families).expand();
}

std::vector<ExpandedText> expand_family(std::string_view text, const Families& families) {
  const std::string_view given = trimmed(text);
  if (!given.starts_with("for") || given.size() < 4 || continues_word(given[3]))
    return {{expand_indices(text, {}, families), {}}};
  const std::string_view rest = given.substr(4);
  const auto offset = static_cast<std::size_t>(rest.data() - text.data());
  const std::size_t colon = end_of_ranges(rest);
  if (colon == std::string_view::npos)
    throw FamilyError("'for' has no end of its indices; expected for i in 1:N: and an equation",
                      offset);
  const std::string_view body = rest.substr(colon + 1);
  std::vector<ExpandedText> list;
  std::optional<FamilyTemplate> ready;
  for_each_index(rest.substr(0, colon), offset, {}, families, [&](const Indices& indices) {
    if (list.empty()) ready = FamilyTemplate::of(trimmed(body), indices, families);
    std::optional<std::string> element = ready ? ready->at(indices) : std::nullopt;
    if (!element) element = trimmed(FamilyText(body, offset + colon + 1, indices, families).expand());
    list.push_back({*std::move(element), text_of(indices)});
  });
  return list;
}

}  // namespace perp
