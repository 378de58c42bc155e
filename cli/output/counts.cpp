#include <fmt/format.h>

#include <perp/cli/output/counts.hpp>

namespace perp::cli {
namespace {

constexpr std::size_t most_digits = 24;    // of a count that is shown whole
constexpr std::size_t leading_digits = 4;  // of one that is not
constexpr long exact_in_json = 1L << 53;   // readers of JSON take numbers as doubles

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

Json count_to_json(const Integer& number) {
  if (number <= exact_in_json) return std::stol(number.str());
  return number.str();
}

}  // namespace perp::cli
