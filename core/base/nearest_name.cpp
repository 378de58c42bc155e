#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

/// Of one letter by another, in halves: a difference of case only costs 1.
int replacement_cost(char a, char b) {
  if (a == b) return 0;
  const auto low = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return low(a) == low(b) ? 1 : 2;
}

/// Do the letters end in two that are exchanged?
bool ends_in_swap(std::string_view a, std::string_view b) {
  if (a.size() < 2 || b.size() < 2) return false;
  return a[a.size() - 1] == b[b.size() - 2] && a[a.size() - 2] == b[b.size() - 1];
}

/// Edit distance in halves: insertion, deletion, replacement and swap of neighbours cost 2.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = 2 * static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = 2 * static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 2, d[i][j - 1] + 2,
                          d[i - 1][j - 1] + replacement_cost(a[i - 1], b[j - 1])});
      if (ends_in_swap(a.substr(0, i), b.substr(0, j)))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 2);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view found, std::span<const std::string> known) {
  constexpr std::size_t longest = 64;
  if (found.empty() || found.size() > longest) return {};
  std::string best;
  int smallest = static_cast<int>(std::max<std::size_t>(found.size(), 2)) + 1;
  for (const std::string& name : known) {
    if (name.size() > longest) continue;
    int distance = edit_distance(found, name);
    // A name that continues what was typed is meant more often than one of the same distance.
    if (found.size() >= 3 && name.starts_with(found)) distance = std::min(distance, 2);
    if (distance < smallest) {
      smallest = distance;
      best = name;
    }
  }
  return best;
}

std::string suggestion(std::string_view found, std::span<const std::string> known) {
  const std::string name = nearest_name(found, known);
  return name.empty() ? std::string{} : "; did you mean '" + name + "'?";
}

std::size_t find_name(const std::string& name, const std::vector<std::string>& known,
                      std::string_view kind) {
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end())
    throw InvalidInput(fmt::format("unknown {} '{}'; expected {}{}{}", kind, name,
                                   known.size() > 1 ? "one of " : "", fmt::join(known, ", "),
                                   suggestion(name, known)));
  return static_cast<std::size_t>(found - known.begin());
}

}  // namespace perp
