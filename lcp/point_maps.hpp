#pragma once

#include <vector>

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// One point that solves a problem, with all modes that have it.
struct ModalPoint {
  std::vector<long double> y;  ///< (u, λ)
  std::vector<Mode> modes;
};

/// All solutions of a small problem for many right-hand sides q, where they are points: the inverse
/// of each mode's equations is made once, y = K r(q). Where a decision is not clear by a wide
/// margin (a singular mode that may be consistent, a range missed by little) nothing is decided.
class PointMaps {
 public:
  /// Most modes that inverses are made for.
  static constexpr double most_modes = 64;

  /// Not `usable` if a mode is neither clearly singular nor well conditioned.
  explicit PointMaps(const Mlcp& problem);

  [[nodiscard]] bool usable() const { return usable_; }

  /// All solutions for q = (q1, q2), different ones apart. False where the margins do not decide.
  [[nodiscard]] bool solve(const std::vector<long double>& q, std::vector<ModalPoint>& points);

  /// Right-hand sides that a call of `solve` tries.
  [[nodiscard]] long modes() const { return static_cast<long>(maps_.size()); }

 private:
  using Real = long double;

  /// A quantity of a mode that has a range: row·r(q) (+ q2_i for a w).
  struct Watched {
    std::vector<Real> row;
    int w = -1;  ///< index of q2 to add, -1 for a λ
    Range range;
  };
  struct ModeMap {
    Mode mode;
    std::vector<Real> a, c;                    ///< of the laws' branches
    std::vector<std::vector<Real>> rows;       ///< K, n×n; empty: singular
    std::vector<std::vector<Real>> conflicts;  ///< singular: left null vectors
    std::vector<Watched> watched;
  };
  enum class Answer { yes, no, unclear };

  bool add_mode(const Mode& mode);
  bool invert(std::vector<std::vector<Real>>& matrix, ModeMap& map) const;
  void watch(ModeMap& map) const;
  [[nodiscard]] Answer admits(const ModeMap& map, const std::vector<Real>& q,
                              const std::vector<Real>& r) const;
  [[nodiscard]] bool passes(const std::vector<Real>& q, const std::vector<Real>& y);

  Mlcp problem_;  ///< scaled; q is that of the last residual
  Scaling unit_;
  std::vector<Real> unknown_scale_, row_scale_;
  std::vector<ModeMap> maps_;
  bool usable_ = false;
};

}  // namespace perp
