#pragma once

#include <utility>
#include <vector>

#include <perp/schemes/located/radau/mode_flow.hpp>

namespace perp {

/// Rows of a mode without derivatives and as many unknowns that they determine: rows that are not
/// affine in the unknowns together, with those that determine what these hold. What connects them
/// is in one group.
struct RootGroup {
  std::vector<Eigen::Index> rows{}, unknowns{};  ///< of H and y
  std::vector<std::pair<int, int>> entries{};  ///< of ∂H/∂y: its number among the places of the
                                               ///< flow, and where it is, row after row
  std::size_t first = 0;                       ///< of its matrix among those of all groups

  [[nodiscard]] int size() const { return static_cast<int>(rows.size()); }
};

/// The groups of these rows of the mode set in the flow and the unknowns they determine, as many.
std::vector<RootGroup> root_groups(const ModeFlow& flow, const std::vector<Eigen::Index>& rows,
                                   const std::vector<Eigen::Index>& unknowns);

/// Does one row that only rises or falls with its unknown determine it? It has no two roots apart
/// then.
[[nodiscard]] bool has_one_root(const ModeFlow& flow, const RootGroup& group);

}  // namespace perp
