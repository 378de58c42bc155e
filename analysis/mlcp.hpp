#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/lcp/mlcp.hpp>
#include <perp/lcp/nearest/nearest_search.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp {

/// A piece of the whole problem: one piece of every block put together.
struct WholePiece {
  std::vector<std::string> active_sets;       ///< of the modes that hold it
  int dimension = 0;                          ///< 0: a point
  std::vector<std::vector<double>> vertices;  ///< points (u, λ); with rays and lines they span it
  std::vector<std::vector<double>> rays;      ///< directions to one side
  std::vector<std::vector<double>> lines;     ///< directions to both sides
  std::vector<std::vector<std::string>> exact_vertices;  ///< as fractions; empty: not known
};

/// In which arithmetic vertices are given; which solutions there are is decided exactly in both.
enum class VertexArithmetic { by_size, rational, floating };

/// All solutions of one problem.
struct MlcpAnswer {
  SolutionSet set{};                  ///< block by block
  std::vector<WholePiece> pieces{};   ///< of the whole problem
  bool is_exact = false;              ///< the vertices are known as fractions too
  Status status = Status::never_run;  ///< not_solved: a coordinate is beyond the largest double
  std::optional<ExactMinimum>
      minimum{};  ///< of the norm, where one is given and there is a solution
};

/// Enumerates the problem. Fractions are the default of small problems. `weighted_norm`: the norm
/// whose least value is computed from the exact generators. Throws InvalidInput: too many pieces.
MlcpAnswer all_solutions(const Mlcp& problem, const EnumerateOptions& limits,
                         VertexArithmetic arithmetic, const WeightedNorm* weighted_norm);

/// ‖u‖₂, of a problem without u ‖λ‖₂.
Norm euclidean_norm(const Mlcp& problem);

/// The letters L, F, U, X of the branches of a mode.
std::string active_set(const Mlcp& problem, const Mode& mode);

}  // namespace perp
