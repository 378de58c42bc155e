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
  const Integer unit = pow(Integer(10), static_cast<unsigned>(rest));
  const std::string leading = Integer((number + unit / 2) / unit).str();
  return fmt::format("about {}.{}e{}", leading[0], leading.substr(1, leading_digits - 1),
                     rest + leading.size() - 1);
}

Json count_to_json(const Integer& number) {
  if (number <= exact_in_json) return static_cast<std::int64_t>(number);
  return number.str();
}

}  // namespace perp::cli
