#pragma once

#include <string>
#include <vector>

#include <perp/models/language/model.hpp>

namespace perp {

/// What is found at one point of a map.
struct MapAnswer {
  std::vector<double> numbers;  ///< one for each column; inf: a continuum; NaN: not known
  std::string region;           ///< in words: points of equal words are one region of the picture
  bool is_proved = true;        ///< false: a search was ended by its budget, or cannot decide
};

/// Something a map shows.
struct MapQuantity {
  const char* name;                  ///< of --what
  const char* meaning;               ///< in a few words
  std::vector<const char*> columns;  ///< names of the numbers of an answer
  /// For the start of the model at its start time. Throws InvalidInput.
  MapAnswer (*ask)(const Model& model);
  std::vector<std::string> run_keys{};  ///< that it depends on; empty: those of the scheme
};

/// All of them.
const std::vector<MapQuantity>& map_quantities();

/// Throws InvalidInput with the nearest known name.
const MapQuantity& map_quantity(const std::string& name);

}  // namespace perp
