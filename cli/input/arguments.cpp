#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <perp/cli/input/arguments.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/input_text.hpp>

namespace perp::cli {

using namespace io;
namespace {

struct Time {
  double value = 0;
  int line = 1;
  std::string text{};
};

/// The times of a text and the line each stands in.
std::vector<Time> times_of(const std::string& text, const std::string& what, bool is_file) {
  std::vector<Time> times;
  int line = 1;
  std::size_t k = 0;
  while (k < text.size()) {
    if (text[k] == '\n') ++line;
    if (text[k] == '#') {
      while (k < text.size() && text[k] != '\n') ++k;
      continue;
    }
    if (std::string_view(" \t\r\n,;").find(text[k]) != std::string_view::npos) {
      ++k;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t\r\n,;#", k), text.size());
    const std::string place =
        is_file ? fmt::format("{}:{}:{}: a time", what, line, line_and_column(text, k).second)
                : what;
    const std::string time = text.substr(k, end - k);
    times.push_back({parse_number(time, place), line, time});
    k = end;
  }
  return times;
}

/// Of a file of times.
std::string text_of_times(const std::string& name) {
  if (!std::filesystem::exists(name))
    throw InvalidInput(fmt::format("--times {}: this is no list of numbers, and there is no such "
                                   "file; expected times as in 0,0.5,1",
                                   name));
  return read_file(name);
}

/// Are these times, not the name of a file?
bool is_list_of_times(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,+-eE \t") == std::string::npos;
}

/// Where a time stands, for messages.
std::string place_of(const Time& time, const std::string& text, bool is_list) {
  return is_list ? "--times" : fmt::format("{}:{}:1", text, time.line);
}

/// How much deeper in parentheses the text is behind this character.
int deeper(char c) { return (c == '(' || c == '[' ? 1 : 0) - (c == ')' || c == ']' ? 1 : 0); }

/// FIRST:LAST:COUNT of --h, evenly spaced on a logarithmic scale.
std::vector<double> spaced_lengths(const std::string& text) {
  const auto parts = split_points(text);
  if (!parts) throw InvalidInput(fmt::format("--h {}: expected FIRST:LAST:COUNT, as in 1e-3:1:20", text));
  const double from = parse_number((*parts)[0], "--h");
  const double to = parse_number((*parts)[1], "--h");
  const double count = parse_number((*parts)[2], "--h");
  if (!is_count(count, 1000))
    throw InvalidInput(fmt::format(
        "--h {}: the count is {}; expected a whole number from 2 to 1000", text, count));
  if (!(from > 0 && to > 0 && from != to))
    throw InvalidInput(fmt::format("--h {}: expected two different positive ends", text));
  std::vector<double> lengths;
  for (int k = 0; k < static_cast<int>(count); ++k) {
    const double share = k / (count - 1);
    lengths.push_back(from * std::pow(to / from, share));
  }
  lengths.front() = from;
  lengths.back() = to;
  return lengths;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t k = 0; k <= text.size(); ++k) {
    const char c = k < text.size() ? text[k] : ',';
    depth += deeper(c);
    if (c != ',' || (depth > 0 && k < text.size())) continue;
    parts.emplace_back(trimmed(text.substr(from, k - from)));
    from = k + 1;
  }
  return parts;
}

Override parse_assignment(std::string_view text, std::string_view option) {
  const std::size_t equals = text.find('=');
  const std::string_view key = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || key.empty() || trimmed(text.substr(equals + 1)).empty())
    throw InvalidInput(fmt::format("{} {}: expected NAME=VALUE", option, text));
  return {std::string(key), std::string(trimmed(text.substr(equals + 1)))};
}

std::vector<double> parse_times(const std::string& text, std::vector<std::string>* texts) {
  const bool is_list = is_list_of_times(text);
  const std::string source = is_list ? text : text_of_times(text);
  const auto found = times_of(source, is_list ? "--times" : text, !is_list);
  if (found.empty()) throw InvalidInput(fmt::format("--times {}: there is no time in it", text));
  std::vector<double> times;
  for (const Time& time : found) {
    if (!times.empty() && time.value <= times.back())
      throw InvalidInput(fmt::format("{}: times must increase but {} follows {}", place_of(time, text, is_list),
                                     time.value, times.back()));
    times.push_back(time.value);
    if (texts != nullptr) texts->push_back(time.text);
  }
  return times;
}

double parse_duration(const std::string& text, const std::string& option) {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 && c != 'e'; });
  const std::string number(text.begin(), end), unit(end, text.end());
  constexpr std::pair<std::string_view, double> units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}};
  for (const auto& [name, seconds] : units)
    if (unit == name && !number.empty()) {
      const double duration = parse_number(number, option) * seconds;
      if (duration > 0 && duration < 1e9) return duration;
    }
  throw InvalidInput(fmt::format("{} {}: expected a time above 0, as in 10s, 500ms, 5min or 2h", option, text));
}

std::optional<std::array<std::string, 3>> split_points(const std::string& range) {
  const std::size_t one = range.find(':');
  const std::size_t two = one == std::string::npos ? one : range.find(':', one + 1);
  if (two == std::string::npos) return std::nullopt;
  return std::array{range.substr(0, one), range.substr(one + 1, two - one - 1), range.substr(two + 1)};
}

bool is_count(double number, double most) { return number >= 2 && number <= most && number == std::floor(number); }

void check_max_nodes(const std::optional<long>& max_nodes) {
  if (max_nodes && *max_nodes <= 0)
    throw InvalidInput(fmt::format("--max-nodes must be positive but is {}", *max_nodes));
}

std::vector<double> parse_step_lengths(const std::string& text) {
  std::vector<double> lengths;
  if (text.find(':') != std::string::npos)
    lengths = spaced_lengths(text);
  else
    for (const std::string& part : split_list(text)) lengths.push_back(parse_number(part, "--h"));
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  for (const double h : lengths)
    if (h <= 0) throw InvalidInput(fmt::format("--h is {}; expected positive numbers", h));
  if (std::adjacent_find(lengths.begin(), lengths.end()) != lengths.end())
    throw InvalidInput(fmt::format("--h {}: a step length stands there twice", text));
  return lengths;
}

}  // namespace perp::cli
