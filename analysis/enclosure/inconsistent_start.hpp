#pragma once

#include <fmt/format.h>
#include <string>

#include <perp/core/base/error.hpp>

namespace perp::enclosure {

/// No point of the start is in any mode: equations without derivatives, or ranges of laws, forbid
/// all of them.
class InconsistentStart : public InvalidInput {
 public:
  /// `equation`: the one of the system that is not fulfilled, from 0, with the reason; −1: there is
  /// none.
  InconsistentStart(int equation, const std::string& reason)
      : InvalidInput(equation < 0
                         ? fmt::format("the start is in no mode: {}", reason)
                         : fmt::format("the start does not fulfil equation {}, or what its "
                                       "derivative asks for; {}",
                                       equation + 1, reason)),
        equation_(equation),
        reason_(reason) {}

  [[nodiscard]] int equation() const { return equation_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  int equation_;
  std::string reason_;
};

}  // namespace perp::enclosure
