#pragma once

#include <string>
#include <vector>

#include <perp/models/language/model.hpp>

namespace perp {

/// Something a map varies, over `count` values evenly spaced from `first` to `last`.
struct MapAxis {
  std::string name;  ///< a parameter, a variable (its start), or run.h
  double first = 0, last = 0;
  int count = 0;

  /// (first (count − 1 − k) + last k) / (count − 1): over [−a, a] exactly antisymmetric, with an
  /// exact 0 in the middle.
  [[nodiscard]] double value(int k) const;
};

/// Throws InvalidInput unless the model has all these names, each is varied once, and the whole
/// grid is of a size that can be computed.
void check_axes(const std::vector<MapAxis>& axes, const Model& model);

}  // namespace perp
