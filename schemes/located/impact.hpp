#pragma once

#include <optional>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/schemes/mechanical_system.hpp>

namespace perp {

/// Newton's impact law for all contacts of a mechanical system that touch at one moment:
///     M (v⁺ − v⁻) = Gᵀ P,   0 ≤ U_i⁺ + e_i U_i⁻ ⊥ P_i ≥ 0,   U = G v + g_t
class Impact {
 public:
  /// Empty where the system is no mechanical one with unilateral contacts (see MechanicalSystem).
  /// `restitution`: e, one per law; empty: 0.
  static std::optional<Impact> of(const Dcs& system, const std::vector<double>& restitution);

  struct Result {
    Vector x;               ///< after the impact: velocities changed only
    std::vector<int> laws;  ///< contacts with P > 0
  };
  /// The impact at (t, x). Empty if no touching contact closes, or its problem has no solution.
  std::optional<Result> operator()(double t, const Vector& x);
  /// The state after an impact of exactly these contacts, wherever their gaps are: the smooth map
  /// that the impact is near (t, x).
  Vector map(double t, const Vector& x, const std::vector<int>& laws);

 private:
  Impact(MechanicalSystem system, std::vector<double> restitution)
      : system_(std::move(system)), restitution_(std::move(restitution)) {}

  struct Moment {
    MechanicalSystem::Contacts contacts;
    Vector v;  // velocities
    Vector U;  // of the gaps
  };
  struct Problem {
    Matrix response;  // A⁻¹ B, a column for each contact
    Matrix M;         // G A⁻¹ B
    Vector rebound;   // (1 + e) U
  };
  Moment at(double t, const Vector& x);
  Problem problem(double t, const Vector& x, const Moment& now, const std::vector<int>& laws);
  [[nodiscard]] Vector pushed(Vector x, const Problem& problem, const Vector& P) const;

  MechanicalSystem system_;
  std::vector<double> restitution_;
};

}  // namespace perp
