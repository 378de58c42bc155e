// Matrices of [system] by rows, by entries, and with an entry that is a parameter of a text that is read again and again.
#include <fmt/format.h>
#include <sstream>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {
namespace {

/// The numbers of "[[a, b], [c, d]]" as they are written, row by row.
std::vector<std::vector<std::string>> numbers_of(const std::string& list) {
  std::vector<std::vector<std::string>> result;
  std::string number;
  for (const char c : list.substr(1, list.size() - 2)) {
    if (c == '[') result.emplace_back();
    if ((c == ',' || c == ']') && !number.empty()) result.back().push_back(std::exchange(number, {}));
    if (c != '[' && c != ']' && c != ',' && c != ' ') number += c;
  }
  return result;
}

/// The text with its matrices by entries; zeros are left out.
std::string by_entries(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool is_matrix = line.size() > 6 && std::string("EABCD").find(line[0]) != std::string::npos && line.substr(1, 5) == " = [[";
    if (!is_matrix) {
      result += line + "\n";
      continue;
    }
    std::string entries;
    const auto numbers = numbers_of(line.substr(4));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      for (std::size_t j = 0; j < numbers[i].size(); ++j)
        if (std::stod(numbers[i][j]) != 0)
          entries += fmt::format("{}[{}, {}, {}]", entries.empty() ? "" : ", ", i + 1, j + 1, numbers[i][j]);
    result += fmt::format("{} = {{ entries = [{}] }}\n", line[0], entries);
  }
  return result;
}

/// The text with the first entry of A that is not 0 as a parameter p; its number.
std::pair<std::string, std::string> with_parameter(std::string text) {
  const std::size_t begin = text.find("\nA = [[") + 5, end = text.find('\n', begin);
  std::size_t first = begin;
  while ((first = text.find_first_not_of("[], ", first)) < end) {
    const std::size_t last = text.find_first_of("], ", first);
    const std::string number = text.substr(first, last - first);
    if (std::stod(number) != 0) {
      text.replace(first, last - first, "\"p\"");
      text.insert(text.find("[variables]"), "[parameters]\np = 0.5\n");
      return {text, number};
    }
    first = last;
  }
  return {};
}

/// What a text that was read with other numbers of p before reads as with this one.
Outcome bound_again(const std::string& text, const std::string& number, SchemeName scheme) {
  const ModelText again(text, "random.toml");
  for (const char* other : {"0.25", "0.75"}) static_cast<void>(again.read({{"p", other}}));
  return run(again.read({{"p", number}}), scheme);
}

}  // namespace

Judgement judge_system(Subject& subject, SchemeName scheme, std::mt19937& random) {
  if (!has_matrices(subject.model())) return {};
  const std::string given = matrix_text(subject.model());
  const auto [text, number] = with_parameter(given);
  const bool is_bound = random() % 2 == 0 && !text.empty();
  Judgement judgement;
  judgement.other = is_bound ? text : by_entries(given);
  const Outcome here = run(given, scheme), there = is_bound ? bound_again(text, number, scheme) : run(judgement.other, scheme);
  if (here.is_slow || there.is_slow) return judgement;
  const Correspondence by = identity(static_cast<int>(subject.model().variables.size()));
  judgement.what = difference(here, there, by, closeness_of(scheme));
  judgement.same_bits = judgement.what.empty() && (!here.refusal.empty() || same_bits(here, there, by));
  if (judgement.what.empty() && !judgement.same_bits) judgement.what = "not the same to the bit";
  judgement.verdict = judgement.what.empty() ? Verdict::same : Verdict::different;
  return judgement;
}

}  // namespace perp::relations
