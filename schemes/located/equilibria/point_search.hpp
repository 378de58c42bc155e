#pragma once

#include <algorithm>
#include <vector>

#include <perp/schemes/located/equilibria/equilibria.hpp>
#include <perp/schemes/located/equilibria/rest_starts.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/newton/rank_newton.hpp>

namespace perp {

/// What searches for points of modes share: equilibria, tangent points.
class PointSearch {
 protected:
  PointSearch(const Dcs& system, double t, const Vector& x, const EquilibriumOptions& options)
      : laws_(system.laws),
        t_(t),
        x_(x),
        options_(options),
        scale_(options.scale.size() > 0 ? options.scale : Vector(Vector::Ones(system.n()))),
        jets_(system) {
    jets_.set_scales({1, scale_, {}});
  }

  /// Calls `look` with every start of a mode.
  template <class Look>
  void from_starts(const Mode& mode, const Look& look) const {
    RestStarts starts(x_, scale_, options_.reach, options_.seed);
    for (int k = 0; k < options_.starts; ++k) look(starts(k, laws_, mode));
  }

  /// Points by their x, lexicographically.
  template <class Point>
  static void sort(std::vector<Point>& points) {
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return std::lexicographical_compare(a.x.begin(), a.x.end(), b.x.begin(), b.x.end());
    });
  }

  [[nodiscard]] const Branch& branch(const Mode& mode, std::size_t i) const {
    return laws_[i].branches[static_cast<std::size_t>(mode[i])];
  }

  const std::vector<Law>& laws_;
  double t_;
  const Vector& x_;
  const EquilibriumOptions& options_;
  Vector scale_;
  ConsistentJets jets_;
  RankNewton newton_{RankNewton::Open::nearest};
};

}  // namespace perp
