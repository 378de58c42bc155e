#pragma once

#include <string>
#include <vector>

namespace perp {

/// The rule that chooses between several solutions of a step; named in every result.
enum class Selector {
  keep_mode,  ///< the solution in the present mode if there is one, else minimal norm, [RAB] Remark
              ///< 4
  continuation,  ///< the solution on the path that begins in the present state at h = 0
  minimal_norm,  ///< min ‖E (x⁺ - x)‖ over the whole solution set, [RAB] eq. (31)
  first          ///< whatever the solver returns: for problems known to have one solution
};

/// Its name in model files, e.g. "keep_mode".
const char* to_string(Selector selector);

/// Every selector, in the order in which they are listed to people.
const std::vector<Selector>& selectors();
/// Their names in that order, "keep_mode, ...".
std::string selector_names();

/// Throws InvalidInput with the nearest known name.
Selector selector_from(const std::string& name);

}  // namespace perp
