#pragma once

#include <string>

#include <perp/core/base/error.hpp>

namespace perp::enclosure {

/// No point of the start is in any mode: equations without derivatives, or ranges of laws, forbid all
/// of them.
class InconsistentStart : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

}  // namespace perp::enclosure
