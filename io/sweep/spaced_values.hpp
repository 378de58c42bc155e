#pragma once

#include <string>
#include <vector>

namespace perp::io {

/// The values of FIRST:LAST:COUNT, or FIRST:LAST:COUNT:log; `what` names them in messages. Throws InvalidInput.
std::vector<double> spaced_values(const std::string& text, const std::string& what);

}  // namespace perp::io
