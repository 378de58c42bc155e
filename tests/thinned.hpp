#pragma once

#include <vector>

namespace perp::test {

#ifdef __SANITIZE_ADDRESS__
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

/// The stride through a family of cases that run the same code: 1, and under the address sanitizer, which is some ten
/// times slower, the given one.
constexpr int stride_of_cases(int sanitized) { return is_sanitized ? sanitized : 1; }

/// Every stride-th of the cases, see stride_of_cases().
template <class Case>
std::vector<Case> thinned(const std::vector<Case>& cases, int sanitized) {
  std::vector<Case> kept;
  for (std::size_t k = 0; k < cases.size(); k += static_cast<std::size_t>(stride_of_cases(sanitized)))
    kept.push_back(cases[k]);
  return kept;
}

}  // namespace perp::test
