#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/schemes/mechanical/mechanical_system.hpp>

namespace perp {

/// Newton's impact law for all contacts of a mechanical system that touch at one moment:
///     M (v⁺ − v⁻) = Gᵀ P,   0 ≤ U_i⁺ + e_i U_i⁻ ⊥ P_i ≥ 0,   U = G v + g_t
/// in each part of a Dcs that is such a system (see ContactPart), whatever stands beside it.
class Impact {
 public:
  /// Empty where no part is a mechanical system with unilateral contacts (see MechanicalSystem).
  /// `restitution`: e, one per law; empty: 0. Throws InvalidInput with the name of a law whose e > 0
  /// cannot be honoured. `names` of variables are for its message.
  static std::optional<Impact> of(const Dcs& system, const std::vector<double>& restitution,
                                  const std::vector<std::string>& names = {});

  struct Result {
    Vector x;               ///< after the impact: velocities changed only
    std::vector<int> laws;  ///< contacts with P > 0
  };
  /// The impact at (t, x). Empty if no touching contact closes, or its problem has no solution.
  /// `largest`: |x| at its largest so far, the sizes of positions and velocities.
  std::optional<Result> operator()(double t, const Vector& x, const Vector& largest);
  /// The state after an impact of exactly these contacts, wherever their gaps are: the smooth map
  /// that the impact is near (t, x).
  Vector map(double t, const Vector& x, const std::vector<int>& laws);
  /// The same without restitution: with these velocities the contacts stay closed.
  Vector rest(double t, const Vector& x, const std::vector<int>& laws);

 private:
  struct Part {
    std::vector<int> variables, laws;  // of the whole system
    std::optional<MechanicalSystem> system;
    std::vector<double> restitution;
  };
  explicit Impact(std::vector<Part> parts) : parts_(std::move(parts)) {}

  struct Moment {
    MechanicalSystem::Contacts contacts;
    Vector v;  // velocities
    Vector U;  // of the gaps
  };
  struct Problem {
    Matrix response;  // A⁻¹ B, a column for each contact
    Matrix M;         // G A⁻¹ B
    Vector U;         // of these contacts
    Vector rebound;   // (1 + e) U
  };
  static Moment at(Part& part, double t, const Vector& x);
  static Problem problem(Part& part, double t, const Vector& x, const Moment& now,
                         const std::vector<int>& laws);
  Vector pushed(double t, const Vector& x, const std::vector<int>& laws, Vector Problem::*change);
  static double length_of(const Part& part, const MechanicalSystem::Contacts& contacts, int i, const Vector& largest);
  static double speed_of(const Part& part, const MechanicalSystem::Contacts& contacts, int i, const Vector& largest);
  static std::optional<Result> impact(Part& part, double t, const Vector& x,
                                      const Vector& largest);
  static Vector at_rest(Part& part, double t, const Vector& x, const std::vector<int>& laws);
  static Vector pushed(const Part& part, Vector x, const Problem& problem, const Vector& P);

  std::vector<Part> parts_;
};

}  // namespace perp
