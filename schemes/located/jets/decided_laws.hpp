#pragma once

#include <functional>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/schemes/located/jets/array/array_structure.hpp>

namespace perp {

/// A number that is known to an error.
struct Known {
  double value = 0, error = 0;
};

/// The arguments of laws at λ, known to this error, with decided laws in their branches of `mode`; each with a bound of what
/// may be missing of it.
using ArgumentsAt = std::function<std::vector<Known>(const Mode& mode, const Vector& lambda, const Vector& error)>;

/// For each law the branch that its argument decides, whatever the others do: w is a function of t and of given
/// variables, of its own λ with a constant factor d, and of multipliers that decided laws tell, one after the other:
///     w = w0 + d λ,   a w + b λ = c,
/// on one branch well inside of its ranges, on the others well outside. -1: not decided. `fixed`: the branches of laws
/// that are on one already, -1 of the others; those say nothing where their arguments do not agree. `ended`: laws that are
/// not decided, whatever their arguments are.
std::vector<int> decided_laws(const std::vector<Law>& laws, const ArrayStructure& structure, const ArgumentsAt& arguments,
                              const std::vector<int>& fixed, const std::vector<int>& ended);

}  // namespace perp
