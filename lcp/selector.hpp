#pragma once

#include <string>

namespace perp {

/// The rule that chooses between several solutions of a step; named in every result.
enum class Selector {
  keep_mode,  ///< the solution in the present mode if there is one, else minimal norm, [RAB] Remark
              ///< 4
  minimal_norm,  ///< min ‖E (x⁺ - x)‖ over the whole solution set, [RAB] eq. (31)
  first          ///< whatever the solver returns: for problems known to have one solution
};

const char* to_string(Selector selector);

/// Throws InvalidInput with the nearest known name.
Selector selector_from(const std::string& name);

}  // namespace perp
