#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Two surfaces of one quantity at which binaries of a sub-problem change in opposite directions.
struct SurfacePair {
  std::string first, second;  ///< g = 0 of the two faces, as formulas
  double distance = 0;        ///< in units of the first: > 0 a band, 0 one surface, < 0 a gap
};

/// What a sub-problem says of its binaries.
struct BinaryBlock {
  int block = -1;             ///< of the structure
  std::vector<int> binaries;  ///< increasing
  /// For each value of the binaries (bits in their order) what its constraints become: "x1 - u4 <= 0";
  /// empty where there are more than 4 binaries.
  std::vector<std::vector<std::string>> faces;
  std::vector<SurfacePair> pairs;  ///< of all its faces, each once
};

/// The law that stands for a binary.
struct BinaryLaw {
  std::string name;    ///< "step", "hysteresis", "gap", "binary"; empty: none
  std::string reason;  ///< why there is none
};

/// Faces and distances of those of the first `most` sub-problems that have binaries, in their order.
std::vector<BinaryBlock> binary_blocks(const HybridModel& model, const HybridStructure& structure,
                                       int most);

/// Of every binary.
std::vector<BinaryLaw> binary_laws(const HybridModel& model);

}  // namespace perp
