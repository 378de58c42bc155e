#pragma once

#include <span>
#include <vector>

#include <perp/models/language/lowering/switches.hpp>

namespace perp::lowering {

/// The law that serves a switch.
struct Decision {
  enum class Kind { none, own, sign, step, absolute, positive_part, merged };

  Kind kind = Kind::none;
  double beta = 0;  ///< of a merged one: λ ∈ |w| + β sign(w)

  [[nodiscard]] Law law(const Switch& of) const;
};

/// The switches that equations need, directly or through the arguments of others, in their order,
/// and what serves them. `equations` and `others` are lines; what the others ask decides only where
/// equations ask nothing.
struct Decisions {
  std::vector<int> live;            ///< switches
  std::vector<Decision> of_switch;  ///< of all switches
};
Decisions decide(Algebra& algebra, const Switches& switches, std::span<const int> equations,
                 std::span<const int> others);

/// The value of a basis of a switch whose law is decided, from its multiplier and its argument. In
/// equations a merged law takes the place of the kink, and the jump that belongs to it is left out.
int basis_line(Algebra& algebra, const Decision& decision, Basis basis, int multiplier,
               int argument, bool in_equations);

}  // namespace perp::lowering
