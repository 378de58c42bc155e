// Numbers as JSON: what every writer of this folder shares.
#include <fmt/format.h>
#include <cmath>

#include <perp/io/json.hpp>

namespace perp::io {
namespace {

constexpr long exact_in_json = 1L << 53;  // readers of JSON take numbers as doubles

}  // namespace

Json to_json(double value) {
  if (std::isnan(value)) return nullptr;  // not known
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

Json to_json(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(to_json(value));
  return list;
}

Json count_to_json(const Integer& number) {
  if (number <= exact_in_json) return std::stol(number.str());
  return number.str();
}

}  // namespace perp::io
