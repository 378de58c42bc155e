#pragma once

#include <functional>
#include <string>
#include <vector>

#include <perp/analysis/maps/axis.hpp>
#include <perp/analysis/maps/quantity.hpp>
#include <perp/models/language/model.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp {

/// What a map shows over which grid.
struct MapRequest {
  /// The model with these overrides, and these starts of variables. Called by several threads.
  std::function<Model(const std::vector<Override>& set, const std::vector<Override>& start)> read{};
  std::vector<MapAxis> axes{};                  ///< what is varied, the last fastest
  std::vector<std::vector<Override>> states{};  ///< at least one; empty: the model's start
  const MapQuantity* quantity = nullptr;        ///< what is asked at every point
  int threads = 1;                              ///< that share the points
};

/// A quantity over a grid, the last axis fastest.
struct ParameterMap {
  std::vector<MapAxis> axes{};       ///< as in the request
  std::vector<std::string> columns;  ///< with several states "name_1", "name_2", ...
  std::vector<double> numbers;       ///< points × columns
  std::vector<int> region;           ///< of each point, an index into `regions`
  std::vector<std::string>
      regions;          ///< in the order of their first point; of several states "a | b"
  long not_proved = 0;  ///< points whose answer carries no proof

  /// Number of points of the grid.
  [[nodiscard]] std::size_t points() const { return region.size(); }
  /// Position on an axis of a point.
  [[nodiscard]] int index(std::size_t point, std::size_t axis) const;
};

/// The map; its content does not depend on the number of threads. Throws InvalidInput, naming the
/// first point of the grid that is wrong.
ParameterMap parameter_map(const MapRequest& request);

}  // namespace perp
