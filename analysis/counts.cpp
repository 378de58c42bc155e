// Numbers of solutions in words; what is not proved is "found".
#include <fmt/format.h>

#include <perp/analysis/counts.hpp>

namespace perp {
namespace {

constexpr std::size_t most_digits = 24;    // of a count that is shown whole
constexpr std::size_t leading_digits = 4;  // of one that is not

/// Of a search that did not end.
std::string found_text(long count) {
  if (count == 0) return "none found";
  return count == 1 ? "one found" : fmt::format("{} found", count);
}

}  // namespace

std::string short_count(const Integer& number) {
  const std::string digits = number.str();
  if (digits.size() <= most_digits) return digits;
  const std::size_t rest = digits.size() - leading_digits;
  const int up = digits[leading_digits] >= '5' ? 1 : 0;
  const std::string leading = std::to_string(std::stoi(digits.substr(0, leading_digits)) + up);
  return fmt::format("about {}.{}e{}", leading[0], leading.substr(1, leading_digits - 1),
                     rest + leading.size() - 1);
}

std::string describe_count(Multiplicity multiplicity, long count, bool complete) {
  if (!complete && multiplicity != Multiplicity::continuum)
    return found_text(count);
  switch (multiplicity) {
    case Multiplicity::none: return "none";
    case Multiplicity::unique: return "unique";
    case Multiplicity::finite: return fmt::format("several ({})", count);
    case Multiplicity::continuum: return "a continuum";
  }
  return "unknown";
}

}  // namespace perp
