#pragma once

#include <cstddef>

namespace perp {

/// Numbers of variables, rows and laws are int or Eigen's; containers of the standard library count
/// otherwise.
template <class Integer>
constexpr std::size_t at(Integer i) {
  return static_cast<std::size_t>(i);
}

}  // namespace perp
