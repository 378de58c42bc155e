#pragma once

#include <string>
#include <vector>

#include <perp/cli/input/model_options.hpp>
#include <perp/cli/maps/axis.hpp>
#include <perp/cli/maps/quantity.hpp>

namespace perp::cli {

/// What a map shows over which grid.
struct MapRequest {
  ModelOptions model;
  std::vector<Axis> axes{};
  std::vector<std::vector<Override>> states{};  ///< of --at, at least one; empty: the model's start
  const Quantity* quantity = nullptr;
  int threads = 1;
};

/// A quantity over a grid, the last axis fastest.
struct ParameterMap {
  std::vector<Axis> axes{};
  std::vector<std::string> columns;  ///< with several states "name_1", "name_2", ...
  std::vector<double> numbers;       ///< points × columns
  std::vector<int> region;           ///< of each point, an index into `regions`
  std::vector<std::string>
      regions;          ///< in the order of their first point; of several states "a | b"
  long not_proved = 0;  ///< points whose answer carries no proof

  [[nodiscard]] std::size_t points() const { return region.size(); }
  /// Position on an axis of a point.
  [[nodiscard]] int index(std::size_t point, std::size_t axis) const;
};

/// The map; its content does not depend on the number of threads. Throws InvalidInput, naming the
/// first point of the grid that is wrong.
ParameterMap compute(const MapRequest& request);

}  // namespace perp::cli
