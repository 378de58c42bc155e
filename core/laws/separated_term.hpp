#pragma once

#include <perp/core/law.hpp>

namespace perp {

/// λ = w, whatever it is: a name for a part of the equations that is computed by itself. Reading a model writes it.
Law separated_term();

/// Has the law a choice or a multiplier to show? A constraint has none, nor has a separated term.
bool is_shown(const Law& law);

}  // namespace perp
