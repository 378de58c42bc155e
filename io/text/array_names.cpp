// Names of elements of arrays.
#include <fmt/format.h>
#include <charconv>

#include <perp/io/text/array_names.hpp>

namespace perp::io {

namespace {

constexpr std::size_t most_names = 40;  // that are told one by one

}  // namespace

std::string array_of(const std::string& name) {
  const std::size_t bracket = name.find('[');
  return bracket == std::string::npos || name.back() != ']' ? "" : name.substr(0, bracket);
}

std::optional<std::vector<int>> indices_of(const std::string& name) {
  if (array_of(name).empty()) return std::nullopt;
  std::vector<int> indices;
  const char* at = name.data() + name.find('[');
  const char* const end = name.data() + name.size() - 1;
  while (at < end) {
    int index = 0;
    const auto [rest, fault] = std::from_chars(at + 1, end, index);
    if (fault != std::errc() || (rest != end && *rest != ',')) return std::nullopt;
    indices.push_back(index);
    at = rest;
  }
  return indices;
}

std::string range_of_array(const std::string& first, const std::string& last, std::size_t count) {
  const auto low = indices_of(first), high = indices_of(last);
  if (!low || !high || low->size() != high->size() || array_of(first) != array_of(last)) return {};
  std::string text;
  double elements = 1;
  for (std::size_t k = 0; k < low->size(); ++k) {
    elements *= 1.0 + (*high)[k] - (*low)[k];
    text += fmt::format("{}{}:{}", k > 0 ? "," : "", (*low)[k], (*high)[k]);
  }
  return elements == static_cast<double>(count) ? fmt::format("{}[{}]", array_of(first), text) : "";
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  const auto tell = [&](const std::string& name) { text += (text.empty() ? "" : ", ") + name; };
  for (std::size_t from = 0, to = 0; from < names.size(); from = to) {
    const std::string array = array_of(names[from]);
    to = from + 1;
    while (names.size() > most_names && !array.empty() && to < names.size() && array_of(names[to]) == array) ++to;
    if (const std::string range = to - from > 1 ? range_of_array(names[from], names[to - 1], to - from) : ""; !range.empty())
      tell(range);
    else
      for (std::size_t k = from; k < to; ++k) tell(names[k]);
  }
  return text;
}

}  // namespace perp::io
