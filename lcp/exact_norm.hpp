#pragma once

#include <string>
#include <vector>

namespace perp {

/// A weighted Euclidean norm over some coordinates of (u, λ), squared:
///     Σ_k weight_k (y_index_k - center_k)²
struct WeightedNorm {
  std::vector<int> indices;
  std::vector<double> weights;  ///< one for each index, >= 0
  std::vector<double> center;   ///< one for each index
};

/// conv(vertices) + cone(rays) + span(lines), at least one vertex; vertices as fractions, rays and
/// lines as integers.
struct ExactGenerators {
  std::vector<std::vector<std::string>> vertices;
  std::vector<std::vector<double>> rays;
  std::vector<std::vector<double>> lines;
};

/// The least squared norm over the union of the polyhedra, as a fraction, e.g. "141/32": an active set
/// of generators as in `least_norm`, in rational arithmetic, hence exact and finite. Empty where there
/// is no polyhedron, or where a direction has an entry beyond 2^53, which a double need not hold exactly.
std::string exact_least_square(const std::vector<ExactGenerators>& pieces,
                               const WeightedNorm& norm);

}  // namespace perp
