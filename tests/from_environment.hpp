#pragma once

#include <cstdlib>
#include <string>

namespace perp::test {

/// A number that a campaign sets in the environment; else the usual one.
template <class Number>
Number from_environment(const char* name, Number usual) {
  const char* value = std::getenv(name);
  return value == nullptr ? usual : static_cast<Number>(std::stoul(value));
}

}  // namespace perp::test
