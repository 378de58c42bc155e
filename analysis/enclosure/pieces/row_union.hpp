#pragma once

#include <perp/analysis/enclosure/enclose.hpp>

namespace perp::enclosure {

/// The row holds also what the other one does, of the same time: hulls, the modes of both, `unique` where
/// both are.
void widen(EnclosureRow& row, const EnclosureRow& other);

}  // namespace perp::enclosure
