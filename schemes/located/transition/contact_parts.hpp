#pragma once

#include <string>
#include <vector>

#include <perp/core/dcs.hpp>

namespace perp {

/// Variables, equations and contacts of a Dcs that influence each other at an impact, as a system of
/// their own. Multipliers of bounded laws (relays, friction of given size) have no impulse, and
/// differential variables outside that a force depends on do not jump: they are held at 0 and connect
/// nothing. Rows that only give an output, an algebraic variable that no other row holds, are left out.
struct ContactPart {
  Dcs system;
  std::vector<int> variables;  ///< of the whole system, in the order of the part
  std::vector<int> laws;       ///< the same
  std::string objection{};     ///< why it has no impacts; empty: nothing is known against it
};

/// The parts of a Dcs that have laws 0 ≤ w ⊥ λ ≥ 0.
std::vector<ContactPart> contact_parts(const Dcs& system);

}  // namespace perp
