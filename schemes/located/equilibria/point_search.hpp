#pragma once

#include <algorithm>
#include <vector>

#include <perp/schemes/located/equilibria/equilibria.hpp>
#include <perp/schemes/located/equilibria/rest_starts.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>
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
        jets_(system) {
    jets_.set_scales(scales_of(system, t, x, options));
  }

  /// Calls `look` with every start of a mode.
  template <class Look>
  void from_starts(const Mode& mode, const Look& look) const {
    RestStarts starts(x_, scales(), nominal(), options_.reach, options_.seed);
    for (int k = 0; k < options_.starts; ++k) look(starts(k, laws_, mode));
  }

  /// The units of time, x and λ: they measure steps and where starts lie.
  [[nodiscard]] const JetScales& scales() const { return jets_.scales(); }

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

 private:
  /// Of x, 1 where it is missing.
  [[nodiscard]] Vector nominal() const {
    const Vector ones = Vector::Ones(x_.size());
    return options_.scale.size() > 0 ? Vector((options_.scale.array() > 0).select(options_.scale, ones)) : ones;
  }
  static JetScales scales_of(const Dcs& system, double t, const Vector& x, const EquilibriumOptions& options) {
    const Vector known = options.scale.size() > 0 ? options.scale : Vector(Vector::Zero(system.n()));
    const ModelScales scales = model_scales(system, x, {t, inf}, known);
    return {scales.fastest, scales.x, scales.lambda};  // a point has no time but that of its equations
  }

 protected:
  const std::vector<Law>& laws_;
  double t_;
  const Vector& x_;
  const EquilibriumOptions& options_;
  ConsistentJets jets_;
  RankNewton newton_{RankNewton::Open::nearest};
};

}  // namespace perp
