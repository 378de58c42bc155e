#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/lcp/mlcp.hpp>
#include <perp/lcp/polyhedra/polyhedron.hpp>

namespace perp {

/// A weighted Euclidean norm over some coordinates of (u, λ), squared:
///     Σ_k weight_k (y_index_k - center_k)²
struct WeightedNorm {
  std::vector<int> indices;
  std::vector<double> weights;  ///< one for each index, >= 0
  std::vector<double> center;   ///< one for each index
};

/// ‖W (y - center)‖² with weights of the rows of W, in rational numbers.
struct ExactNorm {
  std::vector<std::vector<Rational>> W;
  std::vector<Rational> weights;
  std::vector<Rational> center;

  /// That of doubles, as they are.
  static ExactNorm of(const Matrix& W, const Vector& center);
  /// The distance from `center` in the coordinates first, first + 1, ..., first + count - 1.
  static ExactNorm of_coordinates(std::size_t first, std::size_t count,
                                  std::vector<Rational> center);
};

/// The point of a polyhedron at which it is least (one of them where W leaves several).
struct ExactNearest {
  Rational square;
  std::vector<Rational> y;
};

ExactNearest exact_nearest(const Generators<Rational>& piece, const ExactNorm& norm);

/// √ of a square as a double, at most an ulp off.
double root(const Rational& square);

/// The least norm over the union of the solutions of some modes.
struct ExactMinimum {
  std::string square;         ///< a fraction, e.g. "141/32"
  double value_squared = nan;  ///< the double nearest to it
  std::vector<std::vector<double>> minimisers;  ///< in the coordinates of the norm, different ones
};

/// Exact and finite, by an active set of generators in rational arithmetic; nothing where no mode has
/// solutions. A mode whose generators are too many is an InvalidInput.
std::optional<ExactMinimum> exact_minimum(const Mlcp& problem, const std::vector<Mode>& modes,
                                          const WeightedNorm& norm);

}  // namespace perp
