#pragma once

#include <optional>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/interval/interval.hpp>

namespace perp::lowering {

/// Parameters of a model as the numbers that they are.
struct ExactParameters {
  std::vector<enclosure::Interval> intervals{};  ///< that contain them
  /// Those that are one rational number; the last ones may be missing.
  std::vector<std::optional<Rational>> rationals{};
};

}  // namespace perp::lowering
