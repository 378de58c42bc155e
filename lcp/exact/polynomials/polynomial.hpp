#pragma once

#include <vector>

#include <perp/core/base/rational.hpp>

namespace perp {

/// a_0 + a_1 x + ...: the factor of x^k in place k, the last one not 0.
using Polynomial = std::vector<Rational>;

/// Takes away the factors 0 of the highest powers.
inline void trim(Polynomial& a) {
  while (!a.empty() && a.back() == 0) a.pop_back();
}

}  // namespace perp
